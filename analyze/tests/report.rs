//! The HTML report: complete without network, escaped, small, and laid out without overflow in
//! a real browser, on a wide and a narrow screen.
#![cfg(feature = "plots")]

mod sim;

use analyze::report::{Ledger, Report, html};
use sim::{ODD_ID, Size};

#[expect(clippy::unwrap_used, reason = "a helper of tests")]
fn page(size: Size) -> String {
    let (mut trace, analysis) = sim::run(size);
    sim::with_panic(&mut trace);
    sim::with_memory(&mut trace, &analysis);
    let classes = [
        ("timeline", 300, 21_000),
        ("timing", 350, 18_000),
        ("foreign", 271, 64_555),
    ];
    let classes = classes.map(|(name, lines, bytes)| (name.to_owned(), lines, bytes));
    let ledger = Ledger {
        classes: classes.to_vec(),
    };
    let report = Report {
        trace: &trace,
        analysis: &analysis,
        diagnosis: &sim::diagnosis(&trace),
        figures: &[],
        ledgers: &[ledger],
    };
    html(&report).unwrap()
}

#[test]
fn the_page_needs_nothing_from_outside_and_is_small() {
    let page = page(Size::SMALL);
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    for outside in ["<link", "src=", "@import", "url(", "href=\"http"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(!page.contains("NaN"));
    let large = self::page(Size::LARGE);
    assert!(large.len() < 4_000_000, "{} bytes", large.len());
}

#[test]
fn text_of_the_log_cannot_become_markup() {
    let page = page(Size::SMALL);
    assert!(!page.contains(ODD_ID));
    assert_eq!(page.matches("</script>").count(), 1);
    assert_eq!(page.matches("</title></script>").count(), 0);
    assert!(page.contains("logs/run &amp; &lt;one&gt;.log.gz"));
    assert!(page.contains("err=2 &lt;&amp;&gt;"));
}

#[test]
fn the_root_stands_first_and_consequences_are_folded() {
    let page = page(Size::SMALL);
    let at = |needle: &str| {
        page.find(needle)
            .unwrap_or_else(|| panic!("{needle} is missing"))
    };
    assert!(at("40 of 50 partitions failed") < at("Root cause"));
    assert!(at("Root cause") < at("What to do: "));
    assert!(at("What to do: ") < at("GPU 0 waited 88.0\u{a0}s"));
    assert!(at("1 consequence of the above") < at("40 partitions were skipped"));
    assert!(at("40 partitions were skipped") < at("Waterfall of partitions"));
}

#[test]
fn it_can_be_written_for_a_person_to_look_at() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("small.html"), page(Size::SMALL)).unwrap();
    std::fs::write(folder.join("large.html"), page(Size::LARGE)).unwrap();
}
