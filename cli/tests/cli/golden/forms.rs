//! One verdict in five forms: they agree, and each is what its reader wants.

use super::{BASE, Desk, GOOD};
use crate::json;

fn slower() -> (Desk, String) {
    let desk = Desk::new();
    desk.accepted(&desk.file("base.jsonl", &BASE.text()));
    let slower = GOOD.bent(|_, phase, _, ms| if phase == 4 { ms * 1.1 } else { ms });
    let file = desk.file("slower.jsonl", &slower);
    (desk, file)
}

#[test]
fn every_form_says_the_same() {
    let (desk, file) = slower();
    for (form, words) in [
        ("text", &["REGRESSION", "phase4 is slower"][..]),
        ("json", &["\"cuzk.verdict/1\"", "\"regression\""]),
        (
            "markdown",
            &["### Golden timings: regression", "| phase4 |"],
        ),
        ("junit", &["<?xml", "<failure", "phase phase4"]),
        (
            "annotations",
            &[
                "::notice title=golden::REGRESSION",
                "::error title=golden",
                "phase4 is slower",
            ],
        ),
    ] {
        let said = desk.golden(&["check", &file, "--format", form]);
        assert_eq!(said.code, 1, "{form}");
        for word in words {
            assert!(said.out.contains(word), "{form}: no {word} in {}", said.out);
        }
    }
}

#[test]
fn files_hold_what_standard_output_would() {
    let (desk, file) = slower();
    let mut args = vec!["check".to_owned(), file.clone()];
    let forms = ["text", "json", "markdown", "junit", "annotations"];
    for form in forms {
        let path = desk.path(form).to_string_lossy().into_owned();
        args.extend(["--write".to_owned(), format!("{form}={path}")]);
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    assert_eq!(desk.golden(&args).code, 1);
    for form in forms {
        let written = std::fs::read_to_string(desk.path(form)).expect("it was written");
        assert_eq!(
            written,
            desk.golden(&["check", &file, "--format", form]).out
        );
    }
    let nowhere = desk.golden(&["check", &file, "--write", "json=/no/such/folder/x"]);
    assert_eq!(nowhere.code, 2, "{}", nowhere.err);
}

#[test]
fn the_json_has_what_the_contract_names() {
    let (desk, file) = slower();
    let verdict = json(&desk.golden(&["check", &file, "--format", "json"]));
    for key in [
        "schema",
        "verdict",
        "key",
        "baseline_runs",
        "candidate_runs",
        "phases",
        "machine",
    ] {
        assert!(!verdict[key].is_null(), "{key}");
    }
    let phase = &verdict["phases"][4];
    assert_eq!(
        (&phase["phase"], &phase["verdict"]),
        (&"phase4".into(), &"regression".into())
    );
    for key in ["ratio", "low", "high", "mde"] {
        assert!(phase[key].is_f64(), "{key}");
    }
    assert_eq!(verdict["baseline_runs"], 8);
}
