//! The specification of the trace format against the types: no event, key, timing or class is
//! written down wrongly or left out.

mod doc;

use std::collections::BTreeSet;

use tracefmt::event::EventKind;
use tracefmt::grammar::{parse_event, parse_log, parse_timing};
use tracefmt::scan::Class;
use tracefmt::timing::TimingWhat;
use tracefmt::writer::{write_event, write_timing};

use doc::{code, table};

const DOC: &str = include_str!("../../docs/trace-format.md");
const OURS: &str = include_str!("../testdata/own.log");
const OLD: &str = include_str!("../testdata/old.log");

#[test]
fn the_events_are_those_of_the_type_in_its_order() {
    let rows = table(DOC, "| event | who | meaning | own keys |");
    let written: Vec<_> = rows
        .iter()
        .map(|row| (code(row[0]), row[1], row[2]))
        .collect();
    let typed: Vec<_> = EventKind::ALL
        .iter()
        .map(|kind| {
            let who = if kind.is_own() { "ours" } else { "old" };
            (kind.as_str(), who, kind.meaning())
        })
        .collect();
    assert_eq!(written, typed);
}

/// The keys of a detail that are not common to all events.
fn keys(line: &str) -> BTreeSet<&str> {
    let detail = line.splitn(5, ',').nth(4).unwrap_or_default();
    let keys = detail.split(',').filter_map(|pair| pair.split('=').next());
    let common = ["", "gpu", "worker", "partition", "snap_partition", "t_us"];
    keys.filter(|key| !common.contains(key)).collect()
}

#[test]
fn the_keys_are_those_that_are_written() {
    for row in table(DOC, "| event | who | meaning | own keys |") {
        let name = code(row[0]);
        let cell: Vec<_> = row[3].split(", ").filter(|key| !key.is_empty()).collect();
        let needed: BTreeSet<_> = cell
            .iter()
            .copied()
            .filter(|key| !key.starts_with('['))
            .collect();
        let bare = || cell.iter().map(|key| key.trim_matches(['[', ']']));
        // `cfg.*` stands for any key that begins so.
        let any: Vec<_> = bare().filter_map(|key| key.strip_suffix('*')).collect();
        let all: BTreeSet<_> = bare().filter(|key| !key.ends_with('*')).collect();
        let mut seen = BTreeSet::new();
        let mark = format!(",{name},");
        for line in OURS.lines().filter(|line| line.contains(&mark)) {
            let keys = keys(line);
            assert!(needed.is_subset(&keys), "{name} needs {needed:?}: {line}");
            for key in keys {
                let open = any.iter().any(|prefix| key.starts_with(prefix));
                assert!(all.contains(key) || open, "{name} has no {key}: {line}");
                seen.insert(key);
            }
        }
        assert!(
            all.is_subset(&seen),
            "{name}: no example for all of {all:?}"
        );
    }
}

#[test]
fn a_missing_key_that_is_not_in_brackets_rejects_the_line() {
    for row in table(DOC, "| event | who | meaning | own keys |") {
        let mark = format!(",{},", code(row[0]));
        let line = OURS.lines().find(|line| line.contains(&mark)).unwrap();
        for key in row[3]
            .split(", ")
            .filter(|key| !key.is_empty() && !key.starts_with('['))
        {
            let (head, tail) = line.split_once(&format!(",{key}=")).unwrap();
            let rest = tail
                .split_once(',')
                .map_or(String::new(), |(_, rest)| format!(",{rest}"));
            let without = format!("{head}{rest}");
            assert_eq!(parse_event(without.as_bytes()), None, "{without}");
        }
    }
}

#[test]
fn the_timings_have_the_names_that_are_written() {
    let mut written = BTreeSet::new();
    for row in table(DOC, "| example | name | thread | versions |") {
        let timing = parse_timing(code(row[0]).as_bytes());
        assert_eq!(timing.what.name(), code(row[1]), "{}", row[0]);
        assert!(
            !matches!(timing.what, TimingWhat::Other { .. }),
            "{}",
            row[0]
        );
        written.insert(code(row[1]).to_owned());
    }
    let fixtures = OLD.lines().chain(OURS.lines());
    for line in fixtures.filter(|line| line.starts_with("CUZK_")) {
        let name = parse_timing(line.as_bytes()).what.name().to_owned();
        assert!(written.contains(&name), "{name} is not in the table");
    }
}

#[test]
fn every_old_detail_is_in_the_table() {
    let shapes: BTreeSet<_> = OLD
        .lines()
        .filter(|line| line.starts_with("TIMELINE"))
        .map(|line| {
            let event = parse_event(line.as_bytes()).unwrap();
            let (_, detail) = line.split_once(&format!("{},", event.job)).unwrap();
            let keys: Vec<_> = detail
                .split(',')
                .map(|pair| pair.split('=').next().unwrap())
                .collect();
            (event.what.kind().as_str(), keys.join(" "))
        })
        .collect();
    let mut written = BTreeSet::new();
    let mut event = "";
    for row in table(DOC, "| event | detail | versions |") {
        if !row[0].is_empty() {
            event = code(row[0]);
        }
        let cell = if row[1] == "the same" {
            "`worker=<w>` or `worker=<w>,partition=<n>`"
        } else {
            row[1]
        };
        for part in cell.split('`').skip(1).step_by(2) {
            let keys: Vec<_> = part
                .split(',')
                .map(|pair| pair.split('=').next().unwrap())
                .collect();
            written.insert((event, keys.join(" ")));
        }
        if cell.starts_with("nothing") {
            written.insert((event, String::new()));
        }
    }
    assert_eq!(written, shapes);
}

#[test]
fn the_classes_are_those_of_the_type() {
    let rows = table(DOC, "| class | lines |");
    let written: Vec<_> = rows.iter().map(|row| code(row[0])).collect();
    let typed: Vec<_> = Class::ALL.iter().map(|class| class.as_str()).collect();
    assert_eq!(written, typed);
}

#[test]
fn the_log_forms_are_read() {
    for row in table(DOC, "| form | example | clock |") {
        let log = parse_log(code(row[1]).as_bytes()).unwrap_or_else(|| panic!("{}", row[1]));
        let clock = log.stamp.map(|stamp| stamp.utc);
        let expected = match row[2] {
            "none" => None,
            "host-local" => Some(false),
            _ => Some(true),
        };
        assert_eq!(clock, expected, "{}", row[1]);
    }
}

#[test]
fn the_examples_come_back_to_the_byte() {
    let mut inside = false;
    let mut seen = 0;
    for line in DOC.lines() {
        if line.starts_with("```") {
            inside = line == "```trace";
        } else if inside {
            let mut written = Vec::new();
            if line.starts_with("TIMELINE") {
                let event = parse_event(line.as_bytes()).unwrap_or_else(|| panic!("{line}"));
                write_event(&mut written, &event);
            } else {
                write_timing(&mut written, &parse_timing(line.as_bytes()));
            }
            assert_eq!(String::from_utf8(written).unwrap(), line);
            seen += 1;
        }
    }
    assert!(seen >= 12, "{seen} lines");
}

#[test]
fn the_version_is_the_one_that_is_written() {
    let sentence = format!(
        "`TRACE_START` carries `version`, now {}.",
        tracefmt::VERSION
    );
    assert!(DOC.contains(&sentence));
}
