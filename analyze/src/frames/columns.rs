//! Columns from iterators, and names of what has no column type of its own.

use polars::prelude::{Column, NamedFrom, Series};

use tracefmt::finding::Confidence;

/// A column; values that are options make one with nulls.
pub(super) fn column<T>(name: &str, values: impl Iterator<Item = T>) -> Column
where
    Series: NamedFrom<Vec<T>, [T]>,
{
    let values: Vec<T> = values.collect();
    Series::new(name.into(), values).into()
}

/// A confidence in a word.
pub(super) const fn sureness(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Certain => "certain",
        Confidence::Inferred => "inferred",
        Confidence::Ambiguous => "ambiguous",
    }
}
