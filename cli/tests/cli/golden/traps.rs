//! Silent passes through the command line: a check of something that says nothing, or something
//! wrong, never ends with 0, and says why. The unbent input passes, so that the table cannot hold
//! by refusing everything.

use super::{BASE, Desk, GOOD, HEADER, Made, noise};

/// What a trap gives the gate.
enum Bent {
    /// One file of samples.
    Text(String),
    /// Files by name and content.
    Files(Vec<(&'static str, String)>),
    /// Flags beside the good file.
    Flags(&'static [&'static str]),
}

fn text(made: &Made, bend: impl Fn(u64, u64, u64, f64) -> f64) -> Bent {
    Bent::Text(made.bent(bend))
}

/// The good file with a text replaced, everywhere.
fn swapped(from: &str, to: &str) -> Bent {
    let good = GOOD.text();
    assert!(good.contains(from), "{from} is not in the file");
    Bent::Text(good.replace(from, to))
}

/// The good file without the lines that contain a word.
fn without(word: &str) -> Bent {
    let good = GOOD.text();
    let kept: Vec<&str> = good.lines().filter(|line| !line.contains(word)).collect();
    Bent::Text(kept.join("\n"))
}

/// The good file and another one.
fn beside(other: &str) -> Bent {
    Bent::Files(vec![
        ("good.jsonl", GOOD.text()),
        ("beside.txt", other.to_owned()),
    ])
}

/// Times that do not say what they should.
fn of_times() -> Vec<(&'static str, i32, Bent)> {
    let phase = |wanted: u64, change: fn(u64, f64) -> f64| {
        text(
            &GOOD,
            move |_, phase, at, ms| {
                if phase == wanted { change(at, ms) } else { ms }
            },
        )
    };
    vec![
        ("constant times in a phase", 3, phase(2, |_, _| 600.0)),
        (
            "constant times everywhere",
            3,
            text(&GOOD, |_, _, _, _| 845.0),
        ),
        (
            "zeros in a phase",
            3,
            phase(2, |at, ms| if at % 3 == 0 { 0.0 } else { ms }),
        ),
        ("a phase of zeros", 3, phase(2, |_, _| 0.0)),
        ("all zeros", 3, text(&GOOD, |_, _, _, _| 0.0)),
        (
            "a clock that goes backwards",
            3,
            phase(4, |at, ms| if at == 5 { -ms } else { ms }),
        ),
        ("a gain of 40 %", 3, phase(4, |_, ms| ms * 0.6)),
        (
            "everything 40 % faster",
            3,
            text(&GOOD, |_, _, _, ms| ms * 0.6),
        ),
        (
            "everything in seconds",
            3,
            text(&GOOD, |_, _, _, ms| ms * 1e-3),
        ),
        (
            "everything 10 % slower",
            3,
            text(&GOOD, |_, _, _, ms| ms * 1.1),
        ),
        ("one phase 10 % slower", 1, phase(4, |_, ms| ms * 1.1)),
        (
            "one phase faster, one slower",
            1,
            text(&GOOD, |_, phase, _, ms| match phase {
                1 => ms * 0.6,
                4 => ms * 1.1,
                _ => ms,
            }),
        ),
        (
            "noise that hides anything",
            3,
            text(&GOOD, |run, phase, _, ms| {
                if phase == 5 {
                    ms * (1.0 + 0.3 * noise(run + 77))
                } else {
                    ms
                }
            }),
        ),
    ]
}

/// Times that are no numbers.
fn of_text() -> Vec<(&'static str, i32, Bent)> {
    vec![
        (
            "NaN in a phase",
            3,
            swapped(
                "\"partition\":7,\"ms\":",
                "\"partition\":7,\"ms\":NaN,\"x\":",
            ),
        ),
        ("all NaN", 3, swapped("\"ms\":", "\"ms\":NaN,\"x\":")),
        ("null times", 3, swapped("\"ms\":", "\"ms\":null,\"x\":")),
        (
            "times as text",
            3,
            swapped(
                "\"partition\":3,\"ms\":",
                "\"partition\":3,\"ms\":\"1\",\"x\":",
            ),
        ),
        (
            "an infinite time",
            3,
            swapped(
                "\"partition\":7,\"ms\":",
                "\"partition\":7,\"ms\":1e999,\"x\":",
            ),
        ),
    ]
}

/// Runs and phases that are not what they should be.
fn of_runs() -> Vec<(&'static str, i32, Bent)> {
    let runs = |runs| text(&Made { runs, ..GOOD }, |_, _, _, ms| ms);
    let phases = |phases| text(&Made { phases, ..GOOD }, |_, _, _, ms| ms);
    let cut = |keep: usize| Bent::Text(GOOD.text().chars().take(keep).collect());
    vec![
        (
            "a header alone",
            4,
            Bent::Text("{\"schema\":\"cuzk.samples/1\"}\n".to_owned()),
        ),
        ("no runs", 3, Bent::Text(format!("{HEADER}\n"))),
        ("one run", 3, runs(1)),
        ("runs without times", 3, without("\"ms\"")),
        ("a phase is missing", 3, phases(7)),
        ("a phase is new", 3, phases(9)),
        ("a phase is renamed", 3, swapped("phase3", "phase_3")),
        (
            "a phase is missing in one run",
            3,
            without("\"run\":\"c2\",\"phase\":\"phase5\""),
        ),
        ("a cut log", 3, cut(GOOD.text().len() / 2)),
        ("cut in its first run", 3, cut(3_000)),
        (
            "all runs failed",
            3,
            swapped("\"exact\"", "\"complete\":false,\"exact\""),
        ),
        (
            "one run failed",
            3,
            swapped("\"c1\",\"exact\"", "\"c1\",\"complete\":false,\"exact\""),
        ),
        (
            "unverified",
            3,
            swapped("\"verified\":true", "\"verified\":false"),
        ),
        (
            "nothing said of verification",
            3,
            swapped("\"verified\":true,", ""),
        ),
        (
            "one run unverified",
            3,
            swapped("\"c1\",\"exact\"", "\"c1\",\"verified\":false,\"exact\""),
        ),
        ("the golden's own runs", 3, text(&BASE, |_, _, _, ms| ms)),
        (
            "the same runs under two names",
            3,
            Bent::Files(vec![("one.jsonl", GOOD.text()), ("two.jsonl", GOOD.text())]),
        ),
        (
            "lines that are no JSON",
            3,
            swapped("\"partition\":3,", "\"partition\":3;"),
        ),
        (
            "a file of noise",
            4,
            Bent::Text("hello\nworld\n".to_owned()),
        ),
        ("an empty file", 2, Bent::Text(String::new())),
    ]
}

/// Runs that are made up, and files that hold no time at all.
fn of_files() -> Vec<(&'static str, i32, Bent)> {
    let scaled = text(&BASE, |_, _, _, ms| ms * 1.002);
    vec![
        ("scaled copies", 3, scaled),
        ("prose beside the runs", 3, beside("Slow today.\nVery.\n")),
        ("an empty line beside the runs", 3, beside("\n")),
        (
            "a foreign table beside the runs",
            3,
            beside("name,price\napple,3\n"),
        ),
    ]
}

/// Other work, another machine, other figures, and what is no measurement at all.
fn of_keys() -> Vec<(&'static str, i32, Bent)> {
    let peak = |exact| text(&Made { exact, ..GOOD }, |_, _, _, ms| ms);
    vec![
        ("another GPU", 4, swapped("H200", "A100")),
        ("an unknown GPU", 4, swapped("\"gpu\":\"H200\",", "")),
        ("another domain", 4, swapped("134217728", "67108864")),
        (
            "other partitions in the key",
            4,
            swapped("\"partitions\":10", "\"partitions\":16"),
        ),
        (
            "fewer partitions as measured",
            4,
            without("\"partition\":9"),
        ),
        (
            "a field that only the candidate knows",
            4,
            Bent::Flags(&["--key", "driver=580.65"]),
        ),
        (
            "a key that is overruled",
            4,
            Bent::Flags(&["--key", "workers=2"]),
        ),
        (
            "another folder",
            4,
            Bent::Flags(&["--goldens", "elsewhere"]),
        ),
        (
            "a control that does not exist",
            3,
            Bent::Flags(&["--control", "calibration"]),
        ),
        (
            "a byte more at the peak",
            1,
            peak("{\"worker_peak_bytes\":14000000001}"),
        ),
        (
            "a byte less at the peak",
            3,
            peak("{\"worker_peak_bytes\":13999999999}"),
        ),
        ("no peak measured", 3, peak("{}")),
        (
            "another schema",
            2,
            swapped("cuzk.samples/1", "cuzk.samples/2"),
        ),
        ("no input", 2, Bent::Files(Vec::new())),
        ("a missing file", 2, Bent::Flags(&["no-such-file.jsonl"])),
        ("a folder", 2, Bent::Flags(&["."])),
        (
            "two machines",
            2,
            Bent::Files(vec![
                ("one.jsonl", GOOD.text()),
                (
                    "two.jsonl",
                    GOOD.text().replace("H200", "A100").replace("\"c", "\"d"),
                ),
            ]),
        ),
        ("a limit of nothing", 2, Bent::Flags(&["--limit", "0"])),
        ("an unknown flag", 2, Bent::Flags(&["--limits", "5"])),
    ]
}

fn desk() -> Desk {
    let desk = Desk::new();
    let base = desk.file("base.jsonl", &BASE.text());
    desk.accepted(&base);
    desk
}

#[test]
fn the_unbent_input_passes() {
    let desk = desk();
    let good = desk.file("good.jsonl", &GOOD.text());
    for ci in [false, true] {
        let said = desk.call(ci, &["check", &good]);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        assert!(said.out.starts_with("PASS"), "{}", said.out);
    }
}

#[test]
fn no_trap_passes_in_silence() {
    let desk = desk();
    let good = desk.file("good.jsonl", &GOOD.text());
    let traps: Vec<_> = of_times()
        .into_iter()
        .chain(of_text())
        .chain(of_runs())
        .chain(of_files())
        .chain(of_keys())
        .collect();
    assert!(traps.len() >= 50, "{}", traps.len());
    for (name, expected, bent) in traps {
        let mut args = vec!["check".to_owned()];
        match bent {
            Bent::Text(text) => args.push(desk.file("bent.jsonl", &text)),
            Bent::Files(files) => {
                args.extend(files.iter().map(|(file, text)| desk.file(file, text)));
            }
            Bent::Flags(flags) => {
                args.push(good.clone());
                args.extend(flags.iter().map(|flag| (*flag).to_owned()));
            }
        }
        let elsewhere = args.contains(&"--goldens".to_owned());
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let said = if elsewhere {
            crate::cuzk(&[&["golden"], &args[..]].concat())
        } else {
            desk.golden(&args)
        };
        let words = format!("{}{}", said.out, said.err);
        assert_eq!(said.code, expected, "{name}: {words}");
        assert!(!words.trim().is_empty(), "{name}: silent");
    }
}

#[test]
fn inputs_that_hold_nothing_are_named() {
    let desk = desk();
    let good = desk.file("good.jsonl", &GOOD.text());
    let mut args = vec!["check".to_owned(), good];
    for (name, text) in [
        ("notes.txt", "Slow.\n"),
        ("line.log", "\n"),
        ("a.csv", "a,b\n1,2\n"),
    ] {
        args.push(desk.file(name, text));
    }
    args.extend(["--inconclusive".to_owned(), "warn".to_owned()]);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let said = desk.golden(&args);
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
    for name in ["notes.txt", "line.log", "a.csv"] {
        let line = said.out.lines().find(|line| line.contains(name));
        let line = line.unwrap_or_default();
        assert!(
            line.starts_with("warning[gate.nothing_measured]"),
            "{}",
            said.out
        );
    }
}

#[test]
fn all_zero_is_said_in_words() {
    let desk = desk();
    let file = desk.file("zero.jsonl", &GOOD.bent(|_, _, _, _| 0.0));
    let said = desk.golden(&["check", &file]);
    assert_eq!(said.code, 3, "{}", said.out);
    assert!(said.out.contains("all times are 0"), "{}", said.out);
    for noise in ["copied", "not measured, but"] {
        assert!(!said.out.contains(noise), "{}", said.out);
    }
    let recorded = desk.golden(&["record", &file]);
    assert_eq!(recorded.code, 2, "{}", recorded.out);
    assert!(recorded.err.contains("all times are 0"), "{}", recorded.err);
}

#[test]
fn warn_lets_only_a_lack_of_runs_through() {
    let desk = desk();
    for (name, expected, bent) in of_times().into_iter().chain(of_text()).chain(of_runs()) {
        let Bent::Text(text) = bent else { continue };
        let file = desk.file("bent.jsonl", &text);
        let said = desk.golden(&["check", &file, "--inconclusive", "warn"]);
        let wanted = if name == "noise that hides anything" {
            0
        } else {
            expected
        };
        assert_eq!(said.code, wanted, "{name}: {}{}", said.out, said.err);
    }
}
