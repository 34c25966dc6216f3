//! The specification of schedules against the types: no op and no key is written down wrongly or
//! left out, and the examples are read as they are meant.

mod doc;

use tracefmt::ops::{Op, Schedule, read_step};

use doc::{code, table};

const DOC: &str = include_str!("../../docs/ops-format.md");

#[test]
fn the_ops_and_their_keys_are_those_of_the_type() {
    let written: Vec<_> = table(DOC, "| op | keys | is |")
        .into_iter()
        .map(|row| {
            let keys = row[1].split(", ").map(|key| key.trim_matches(['[', ']']));
            let keys: Vec<_> = keys.filter(|key| !key.is_empty()).collect();
            (code(row[0]), keys)
        })
        .collect();
    let typed: Vec<_> = Op::names()
        .map(|name| (name, Op::keys_of(name).to_vec()))
        .collect();
    assert_eq!(written, typed);
}

/// Keys in brackets may be missing, the others may not.
#[test]
fn the_keys_without_brackets_are_needed() {
    let value = |key: &str| match key {
        "name" => r#""x""#.to_owned(),
        "reads" | "writes" => "[1]".to_owned(),
        "unwind" => "true".to_owned(),
        _ => "1".to_owned(),
    };
    for row in table(DOC, "| op | keys | is |") {
        let name = code(row[0]);
        let keys: Vec<_> = row[1].split(", ").filter(|key| !key.is_empty()).collect();
        for left_out in &keys {
            let optional = left_out.starts_with('[');
            let rest = keys.iter().filter(|key| *key != left_out);
            let rest = rest.map(|key| key.trim_matches(['[', ']']));
            let mut line = format!("{{\"op\":\"{name}\"");
            for key in rest {
                line += &[",\"", key, "\":", &value(key)].concat();
            }
            line.push('}');
            assert_eq!(
                read_step(1, line.as_bytes()).is_ok(),
                optional,
                "{left_out} of {line}"
            );
        }
    }
}

#[test]
fn the_keys_of_every_op_are_known() {
    for row in table(DOC, "| key | is |") {
        for key in row[0].split(", ") {
            let key = code(key);
            let value = match key {
                "job" | "buf" => r#""x""#,
                "on_error" => r#""fallback:x""#,
                _ => "1",
            };
            let line = format!("{{\"op\":\"ctxSync\",\"{key}\":{value}}}");
            let step = read_step(1, line.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
            assert!(step.extra().is_empty(), "{key} is no key of the format");
        }
    }
}

#[test]
fn the_examples_are_schedules_without_unknown_keys() {
    let blocks = DOC.split("```json\n").skip(1);
    let blocks: Vec<_> = blocks.filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks.len(), 2);
    for text in blocks {
        let schedule = Schedule::read(text.as_bytes()).expect("a schedule");
        assert_eq!(schedule.steps.len() + 1, text.lines().count(), "{text}");
        assert!(
            schedule.steps.iter().all(|step| step.extra().is_empty()),
            "{text}"
        );
    }
}
