//! Tables of the specifications, for the tests that hold them to the types.

/// The body rows of the document's table with this head, cells trimmed.
pub(crate) fn table(doc: &'static str, head: &str) -> Vec<Vec<&'static str>> {
    let rows = doc.lines().skip_while(|line| *line != head).skip(2);
    let rows: Vec<_> = rows
        .take_while(|line| line.starts_with('|'))
        .map(|row| row.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert!(!rows.is_empty(), "no table {head}");
    rows
}

/// A cell without the signs of code.
pub(crate) fn code(cell: &str) -> &str {
    cell.trim_matches('`')
}
