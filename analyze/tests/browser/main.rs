//! The report in a real browser: nothing wider than the page, no label outside its picture or on
//! top of another, at five widths and in both themes. Skipped, with a note, where there is no
//! chromium; `CUZK_CHROMIUM` names another one.
#![cfg(feature = "plots")]

#[path = "../sim/mod.rs"]
mod sim;

use std::path::{Path, PathBuf};
use std::process::Command;

use analyze::report::{Ledger, Report, html};
use serde_json::Value;
use sim::Size;

const WIDTHS: [u32; 5] = [1400, 985, 650, 390, 340];

fn chromium() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CUZK_CHROMIUM") {
        return Some(PathBuf::from(named));
    }
    let folders = std::env::var_os("PATH")?;
    let mut folders = std::env::split_paths(&folders);
    folders.find_map(|folder| {
        let names = ["chromium", "chromium-browser", "google-chrome"];
        names
            .into_iter()
            .map(|name| folder.join(name))
            .find(|path| path.is_file())
    })
}

#[expect(clippy::unwrap_used, reason = "a helper of tests")]
fn report(size: Size) -> String {
    let (mut trace, analysis) = sim::run(size);
    sim::with_panic(&mut trace);
    sim::with_memory(&mut trace, &analysis);
    let classes = vec![
        ("timeline".to_owned(), 300, 21_000),
        ("foreign".to_owned(), 9, 900),
    ];
    let report = Report {
        trace: &trace,
        analysis: &analysis,
        diagnosis: &sim::diagnosis(&trace),
        figures: &[],
        ledgers: &[Ledger { classes }],
    };
    html(&report).unwrap()
}

/// A page with the report in a frame of each width; frames are of this page's own origin, so
/// that the script may measure inside them.
fn bench(report: &str) -> String {
    let inner = report.replace('&', "&amp;").replace('"', "&quot;");
    let frames = WIDTHS.map(|width| {
        format!("<iframe width=\"{width}\" height=\"900\" srcdoc=\"{inner}\"></iframe>")
    });
    let style = "iframe{border:0;display:block;scrollbar-width:none}";
    let script = include_str!("measure.js");
    let frames = frames.join("\n");
    format!("<!doctype html><style>{style}</style>{frames}<script>{script}</script>")
}

#[expect(clippy::unwrap_used, clippy::panic, reason = "a helper of tests")]
fn measure(browser: &Path, page: &str, dark: bool) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    std::fs::write(&file, page).unwrap();
    let mut command = Command::new("timeout");
    command.arg("120").arg(browser).args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--hide-scrollbars",
        "--virtual-time-budget=20000",
        "--dump-dom",
    ]);
    if dark {
        command.arg("--blink-settings=preferredColorScheme=0");
    }
    let profile = folder.path().join("profile");
    command.arg(format!("--user-data-dir={}", profile.display()));
    command.arg(format!("file://{}", file.display()));
    let output = command.output().unwrap();
    let dom = String::from_utf8_lossy(&output.stdout);
    let result = dom
        .split_once("<pre id=\"result\">")
        .and_then(|(_, rest)| rest.split_once("</pre>"));
    let errors = String::from_utf8_lossy(&output.stderr);
    let Some((result, _)) = result else {
        panic!("no result from {}: {errors}", browser.display());
    };
    let result = result
        .replace("&quot;", "\"")
        .replace("&lt;", "<")
        .replace("&gt;", ">");
    serde_json::from_str(&result.replace("&amp;", "&")).unwrap()
}

#[expect(clippy::print_stdout, reason = "a helper of tests")]
fn check(name: &str, size: Size, dark: bool) -> Option<Value> {
    let Some(browser) = chromium() else {
        println!("skipped: no chromium on the PATH and CUZK_CHROMIUM is not set");
        return None;
    };
    let result = measure(&browser, &bench(&report(size)), dark);
    assert_eq!(result["bad"], Value::Array(Vec::new()), "{name}");
    assert_eq!(result["frames"], WIDTHS.len());
    assert!(result["texts"].as_u64() > Some(100), "{name}: {result}");
    Some(result)
}

#[test]
fn a_small_run_overflows_nowhere() {
    if let Some(result) = check("small", Size::SMALL, false) {
        assert_eq!(result["ground"], "rgb(255, 255, 255)");
    }
}

#[test]
fn a_large_run_overflows_nowhere() {
    check("large", Size::LARGE, false);
}

#[test]
fn a_dark_page_is_dark() {
    if let Some(result) = check("dark", Size::SMALL, true) {
        assert_eq!(result["ground"], "rgb(20, 23, 26)");
    }
}

/// The measure finds what it is there to find.
#[test]
fn a_broken_page_is_found_out() {
    let Some(browser) = chromium() else {
        println!("skipped: no chromium on the PATH and CUZK_CHROMIUM is not set");
        return;
    };
    let page = "<!doctype html><body style='margin:0'><div style='width:2000px'>x</div><figure>\
        <h3>t</h3><svg width='300' height='40' viewBox='0 0 300 40'>\
        <text x='10' y='20' font-size='12'>one label</text>\
        <text x='20' y='22' font-size='12'>another</text>\
        <text x='290' y='20' font-size='12'>outside</text>\
        <text x='10' y='38' font-size='5'>tiny</text></svg></figure>";
    let result = measure(&browser, &bench(page), false);
    let bad = result["bad"].to_string();
    for expected in [
        "scrolls to 2000",
        "leaves the page",
        "over",
        "leaves the picture",
        "pixels",
    ] {
        assert!(bad.contains(expected), "{expected}: {bad}");
    }
}
