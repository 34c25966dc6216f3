//! `golden history` and `golden plot`: records of merges, and tables of others.

use std::fmt::Write as _;

use super::{BASE, Desk, GOOD};
use crate::json;

/// Forty rows, slower by a tenth from the twentieth on; the key changes at the thirtieth.
fn table() -> String {
    let mut text = "day,commit,load,took,cycles\n".to_owned();
    for at in 0..40 {
        let level = if at < 20 { 100.0 } else { 110.0 };
        let ms = level + [0.0, 0.4, -0.3, 0.2, -0.4, 0.1, 0.3][at % 7];
        let cycles = if at < 30 { 7 } else { 9 };
        let (month, day) = (1 + at / 28, 1 + at % 28);
        writeln!(text, "2025-{month:02}-{day:02},c{at},fib,{ms},{cycles}").expect("memory");
    }
    text
}

const COLUMNS: [&str; 10] = [
    "--column",
    "commit=commit",
    "--column",
    "time=day",
    "--column",
    "phase=load",
    "--column",
    "key=cycles",
    "--column",
    "value=took:ms",
];

#[test]
fn records_are_appended_and_read() {
    let desk = Desk::new();
    let none = desk.golden(&["history"]);
    assert!(
        none.code == 4 && none.err.contains("no history"),
        "{}",
        none.err
    );
    let base = desk.file("base.jsonl", &BASE.text());
    for commit in ["a", "b"] {
        let args = ["history", &base, "--commit", commit, "--time", "2025-01-01"];
        let said = desk.golden(&args);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    }
    let said = desk.golden(&["history", "--format", "json"]);
    let found = json(&said);
    assert_eq!(
        (&found["schema"], &found["points"]),
        (&"cuzk.history/1".into(), &2.into())
    );
    assert_eq!(found["phases"].as_array().map(Vec::len), Some(8));
    let nothing = desk.file("none.jsonl", &GOOD.text().replace("\"verified\":true,", ""));
    assert_eq!(
        desk.golden(&["history", &nothing]).code,
        2,
        "nothing verified, nothing kept"
    );
}

#[test]
fn a_table_of_others_shows_its_step_and_its_change_of_shape() {
    let desk = Desk::new();
    let file = desk.file("theirs.csv", &table());
    let said = desk.golden(
        &[
            &["history", "--history", &file, "--format", "json"],
            &COLUMNS[..],
        ]
        .concat(),
    );
    assert_eq!(said.code, 0, "{}", said.err);
    let changes = json(&said)["phases"][0]["changes"].clone();
    assert_eq!(changes[0]["cause"], "c20", "{changes}");
    assert!(
        (changes[0]["ratio"].as_f64().unwrap_or(0.0) - 1.1).abs() < 0.01,
        "{changes}"
    );
    assert_eq!(changes[1]["cause"], "shape", "{changes}");
    let text = desk.golden(&[&["history", "--history", &file], &COLUMNS[..]].concat());
    assert!(
        text.out.contains("+10.0 %  c20") && text.out.contains("other work"),
        "{}",
        text.out
    );
    let wrong = desk.golden(&["history", "--history", &file, "--column", "value=took"]);
    assert!(
        wrong.code == 2 && wrong.err.contains("took:ms"),
        "{}",
        wrong.err
    );
    let odd = desk.golden(&["history", "--history", &file, "--column", "value=tock:ms"]);
    assert!(odd.code == 2 && odd.err.contains("tock"), "{}", odd.err);
}

#[test]
fn the_schema_describes_every_key() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../docs/schemas/cuzk.history-1.json"
    );
    let text = std::fs::read_to_string(path).expect("the schema");
    let schema: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let desk = Desk::new();
    let file = desk.file("theirs.csv", &table());
    let args = ["history", "--history", &file, "--format", "json"];
    let found = json(&desk.golden(&[&args, &COLUMNS[..]].concat()));
    let phase = &schema["properties"]["phases"]["items"];
    let change = &phase["properties"]["changes"]["items"];
    for (schema, value) in [
        (&schema, &found),
        (phase, &found["phases"][0]),
        (change, &found["phases"][0]["changes"][0]),
    ] {
        let keys: Vec<&String> = value.as_object().expect("an object").keys().collect();
        let required = schema["required"].as_array().expect("a list");
        assert_eq!(keys.len(), required.len(), "{keys:?}");
        assert!(
            keys.iter()
                .all(|key| schema["properties"][*key].is_object()),
            "{keys:?}"
        );
    }
}

#[test]
fn what_is_odd_in_a_history_is_said_with_its_line() {
    let desk = Desk::new();
    let base = desk.file("base.jsonl", &BASE.text());
    let add = |commit: &str, time: &str| {
        let args = ["history", &base, "--commit", commit, "--time", time];
        desk.golden(&args)
    };
    assert_eq!(add("aaaaaaa", "2025-01-02").code, 0);
    let twice = add("aaaaaaa", "2025-01-02");
    assert!(
        twice.err.contains("line 2: the same record as in line 1"),
        "{}",
        twice.err
    );
    let back = add("bbbbbbb", "2025-01-01T00:00:00Z");
    assert!(
        back.err.contains("line 3: the clock goes back"),
        "{}",
        back.err
    );
    let odd = add("ccccccc", "yesterday");
    assert!(odd.code == 2 && odd.err.contains("RFC 3339"), "{}", odd.err);
    let listed = json(&desk.golden(&["history", "--format", "json"]));
    assert_eq!(listed["points"], 2, "one is there twice");
}

#[cfg(feature = "plots")]
#[test]
fn a_candidate_is_drawn_beside_its_golden() {
    let desk = Desk::new();
    desk.accepted(&desk.file("base.jsonl", &BASE.text()));
    let slower = GOOD.bent(|_, phase, _, ms| if phase == 4 { ms * 1.1 } else { ms });
    let file = desk.file("slower.jsonl", &slower);
    let svg = desk.path("check.svg").to_string_lossy().into_owned();
    assert_eq!(desk.golden(&["check", &file, "--svg", &svg]).code, 1);
    let text = std::fs::read_to_string(&svg).expect("drawn");
    assert!(text.contains("REGRESSION") && text.contains("phase4"));
    assert_eq!(desk.golden(&["record", &file]).code, 0);
    let stored = desk.stored();
    let name = stored
        .iter()
        .find(|name| name.ends_with(".golden.new"))
        .expect("a candidate");
    let goldens = desk.path("goldens").to_string_lossy().into_owned();
    let path = desk.path("goldens").join("h200").join(name);
    let path = path.to_string_lossy();
    let (dir, page) = (desk.path("out"), desk.path("page.html"));
    let (dir_arg, page_arg) = (dir.to_string_lossy(), page.to_string_lossy());
    let args = [
        "plot",
        &path,
        "--goldens",
        &goldens,
        "--svg",
        &dir_arg,
        "--html",
        &page_arg,
    ];
    let said = desk.golden(&args);
    assert_eq!(said.code, 0, "{}", said.err);
    let drawn = dir.join(name.replace(".golden.new", ".svg"));
    let again = std::fs::read_to_string(drawn).expect("drawn");
    let dots = |text: &str| text.matches("<circle").count();
    assert!(again.contains("REGRESSION"), "the same verdict");
    let all = 8 * (8 + 6);
    assert_eq!(
        (dots(&again), dots(&text)),
        (all, all),
        "every run of both sides"
    );
    let html = std::fs::read_to_string(&page).expect("written");
    assert!(html.contains("All that the gate says") && html.contains("phase4 is slower"));
}

#[cfg(feature = "plots")]
#[test]
fn pictures_are_written() {
    let desk = Desk::new();
    let file = desk.file("theirs.csv", &table());
    let (svg, png) = (desk.path("svg"), desk.path("png"));
    let page = desk.path("page.html");
    let [svg_arg, png_arg, page_arg] = [&svg, &png, &page].map(|path| path.to_string_lossy());
    let args = [
        "plot", &file, "--svg", &svg_arg, "--png", &png_arg, "--html", &page_arg,
    ];
    let said = desk.golden(&[&args, &COLUMNS[..]].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    for name in ["phases", "before-and-after", "phase-fib"] {
        let text = std::fs::read_to_string(svg.join(format!("{name}.svg"))).expect("drawn");
        assert!(
            text.starts_with("<svg") && text.ends_with("</svg>\n"),
            "{name}"
        );
        let bytes = std::fs::read(png.join(format!("{name}.png"))).expect("drawn");
        assert_eq!(bytes.get(1..4), Some(&b"PNG"[..]), "{name}");
    }
    let html = std::fs::read_to_string(&page).expect("written");
    assert!(html.contains("+10.0 %") && html.contains("other work"));
    let odd = desk.golden(
        &[
            &["plot", &file, "--phase", "fob", "--html", &page_arg],
            &COLUMNS[..],
        ]
        .concat(),
    );
    assert!(
        odd.code == 2 && odd.err.contains("it has fib"),
        "{}",
        odd.err
    );
    assert_eq!(desk.golden(&["plot", &file]).code, 2, "nothing to write");
}

#[cfg(not(feature = "plots"))]
#[test]
fn a_build_without_plots_says_so() {
    let desk = Desk::new();
    let file = desk.file("theirs.csv", &table());
    let said = desk.golden(&["plot", &file, "--html", "x.html"]);
    assert!(said.code == 2 && said.err.contains("plots"), "{}", said.err);
}
