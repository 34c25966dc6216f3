//! The grammar over real excerpts and simulated runs, where the environment says where they lie.

use std::path::PathBuf;

use tracefmt::event::What;
use tracefmt::grammar::{parse, parse_event, parse_log, parse_timing};
use tracefmt::record::Record;
use tracefmt::scan::{Class, Line, Sink, scan_slice};
use tracefmt::timing::TimingWhat;

/// The folder of inputs; none, with a word about it, where it is not given.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn inputs() -> Option<PathBuf> {
    let folder = std::env::var_os("CUZK_INPUTS").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: CUZK_INPUTS is not set");
    }
    folder
}

/// Lines of a file, without line ends and without the numbers that `grep -n` puts in front.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == b'\n').map(|line| {
        let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
        match line.get(digits) {
            Some(b':') if digits > 0 => &line[digits + 1..],
            _ => line,
        }
    })
}

#[test]
fn untorn_runs_are_typed_without_a_rest() {
    let Some(folder) = inputs() else { return };
    let mut events = 0;
    for entry in std::fs::read_dir(folder.join("runs")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let log = path.extension().is_some_and(|kind| kind == "log");
        // Torn lines are put together in `scan`.
        if !log || name.contains("torn") || name.contains("mono") {
            continue;
        }
        let cut = ["killed", "grepn"].iter().any(|word| name.contains(word));
        let bytes = std::fs::read(&path).unwrap();
        let mut odd = Vec::new();
        for line in lines(&bytes) {
            let text = String::from_utf8_lossy(line);
            if line.starts_with(b"TIMELINE,") {
                match parse_event(line).map(|event| event.what) {
                    None | Some(What::Other { .. }) => odd.push(text),
                    Some(_) => events += 1,
                }
            } else if line.starts_with(b"CUZK_") {
                if let TimingWhat::Other { .. } = parse_timing(line).what {
                    odd.push(text);
                }
            } else if line.starts_with(b"\x1b[2m") || line.starts_with(b"[2m") {
                match parse_log(line) {
                    Some(log) if !log.target.is_empty() && !log.message.is_empty() => {}
                    _ => odd.push(text),
                }
            }
        }
        assert!(odd.len() <= usize::from(cut), "{name}: {odd:#?}");
    }
    assert!(events > 1000, "{events} events");
}

#[test]
fn stamped_lines_of_the_excerpts_are_log_lines() {
    let Some(folder) = inputs() else { return };
    let mut seen = 0;
    for entry in std::fs::read_dir(folder.join("logs")).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        // The last line of an excerpt is often cut.
        let body = bytes.trim_ascii_end();
        let last = body.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        for line in lines(&body[..last]) {
            if line.starts_with(b"20") && line.get(4) == Some(&b'-') || line.starts_with(b"[20") {
                let text = String::from_utf8_lossy(line);
                let log = parse_log(line).unwrap_or_else(|| panic!("{text}"));
                assert!(log.stamp.is_some() && !log.message.is_empty(), "{text}");
                seen += 1;
            }
        }
    }
    assert!(seen > 80, "{seen} lines");
}

/// Collects the lines of our classes that the grammar leaves untyped.
#[derive(Default)]
struct Untyped {
    typed: usize,
    odd: Vec<String>,
}

impl Sink for Untyped {
    fn line(&mut self, line: &Line<'_>) {
        let typed = match parse(line.class, line.text) {
            // A panic's notes and backtrace say nothing that a record could hold.
            Record::Foreign => matches!(
                line.class,
                Class::Torn | Class::Foreign | Class::Ops | Class::Panic
            ),
            Record::Event(event) => !matches!(event.what, What::Other { .. }),
            Record::Timing(timing) => !matches!(timing.what, TimingWhat::Other { .. }),
            _ => true,
        };
        if typed {
            self.typed += 1;
        } else if !line.cut {
            let text = String::from_utf8_lossy(line.text);
            self.odd
                .push(format!("{}: {:?} {text}", line.number, line.class));
        }
    }
}

#[test]
fn scanned_runs_are_typed_without_a_rest() {
    let Some(folder) = inputs() else { return };
    let mut typed = 0;
    for entry in std::fs::read_dir(folder.join("runs")).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|kind| kind == "log" || kind == "txt")
        {
            let mut sink = Untyped::default();
            scan_slice(&std::fs::read(&path).unwrap(), &mut sink);
            assert!(sink.odd.is_empty(), "{}: {:#?}", path.display(), sink.odd);
            typed += sink.typed;
        }
    }
    assert!(typed > 10_000, "{typed} lines");
}
