//! The checked-in JSON Schemas against what the crate writes: every key that is written is
//! described, every key that is required is written.

use std::path::Path;

use golden::evidence::{Evidence, Rules};
use golden::gate::{Options, judge};
use golden::samples::{Run, Samples, Times, write_jsonl};
use golden::snapshot::Snapshot;
use golden::{Key, render};
use serde_json::Value;

fn schema(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs/schemas")
        .join(name);
    let text = std::fs::read_to_string(path).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Keys that the schema does not describe, and required ones that are not there.
fn differences(schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    match value {
        Value::Object(object) => {
            for (key, inner) in object {
                let place = format!("{at}.{key}");
                match (&schema["properties"][key], &schema["additionalProperties"]) {
                    (Value::Object(_), _) => {
                        found.extend(differences(&schema["properties"][key], inner, &place));
                    }
                    (_, Value::Object(_) | Value::Bool(true)) => {}
                    _ => found.push(format!("{place} is not described")),
                }
            }
            for key in schema["required"].as_array().into_iter().flatten() {
                if key.as_str().is_none_or(|key| !object.contains_key(key)) {
                    found.push(format!("{at}.{key} is required and missing"));
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                found.extend(differences(&schema["items"], item, &format!("{at}[]")));
            }
        }
        _ => {}
    }
    found
}

fn samples(letter: &str, factor: f64) -> Samples {
    let key = Key {
        gpu: Some("cpu".to_owned()),
        partitions: Some(4),
        ..Key::default()
    };
    let mut set = Samples {
        key,
        ..Samples::default()
    };
    for at in 0..4_u32 {
        let mut run = Run::new(&format!("{letter}{at}"));
        run.commit = Some("c".to_owned());
        run.exact.insert("vram_peak_bytes".to_owned(), 7);
        for phase in 0..7_u32 {
            let ms = (0..8_u32)
                .map(|i| 50.0 + f64::from((i * 7 + at * 5 + phase * 3) % 11) / 13.0)
                .map(|ms| if phase == 3 { ms * factor } else { ms })
                .collect();
            let times = Times {
                partitions: 4,
                ..Times::of_verified(ms)
            };
            run.phases.insert(format!("p{phase}"), times);
        }
        set.runs.push(run);
    }
    set
}

#[test]
fn the_verdict() {
    let schema = schema("cuzk.verdict-1.json");
    assert_eq!(schema["$id"], "cuzk.verdict/1");
    let mut golden = Snapshot::candidate(&Evidence::of(&samples("b", 1.0), Rules::default()));
    golden.anchor = Some(golden.anchor_here());
    let options = Options::default();
    let mut other = samples("c", 1.2);
    let mut shown = Vec::new();
    for gpu in ["cpu", "H200"] {
        other.key.gpu = Some(gpu.to_owned());
        let verdict = judge(
            Some(&golden),
            &Evidence::of(&other, options.rules),
            &options,
        );
        let text = render::json(&verdict).unwrap_or_default();
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        assert_eq!(differences(&schema, &value, "$"), [""; 0]);
        shown.push(value["verdict"].clone());
    }
    assert_eq!(shown, ["regression", "not_comparable"]);
}

#[test]
fn the_samples() {
    let schema = schema("cuzk.samples-1.json");
    assert_eq!(schema["$id"], "cuzk.samples/1");
    let mut bytes = Vec::new();
    assert!(write_jsonl(&samples("b", 1.0), &mut bytes).is_ok());
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.lines().count() > 200);
    for line in text.lines() {
        let value: Value = serde_json::from_str(line).unwrap_or_default();
        assert_eq!(differences(&schema, &value, "$"), [""; 0]);
    }
}
