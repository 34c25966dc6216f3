//! The walk through candidates with scripted keys.

use std::collections::VecDeque;

use golden::samples::{Run, Samples, Times};
use golden::verbs::{Place, Recording};

use super::*;

/// Keys and lines given before, words kept for after.
#[derive(Default)]
struct Script {
    keys: VecDeque<Key>,
    lines: VecDeque<&'static str>,
    said: String,
}

impl Script {
    fn of(keys: &str, lines: &[&'static str]) -> Self {
        Self {
            keys: keys.chars().map(Key::Char).collect(),
            lines: lines.iter().copied().collect(),
            said: String::new(),
        }
    }
}

impl Asked for Script {
    fn say(&mut self, text: &str) -> io::Result<()> {
        self.said.push_str(text);
        Ok(())
    }

    fn key(&mut self) -> io::Result<Key> {
        self.keys
            .pop_front()
            .ok_or_else(|| io::Error::other("no key is left"))
    }

    fn line(&mut self) -> io::Result<String> {
        let line = self.lines.pop_front().map(str::to_owned);
        line.ok_or_else(|| io::Error::other("no line is left"))
    }
}

/// Six runs of seven phases, one of them `factor` times slower.
fn samples(salt: u32, factor: f64) -> Samples {
    let mut set = Samples::default();
    for at in 0..6_u32 {
        let mut run = Run::new(&format!("r{salt}-{at}"));
        for phase in 0..7_u32 {
            let ms = (0..9_u32)
                .map(|i| 50.0 + f64::from((i * 7 + at * 5 + phase * 3 + salt) % 11) / 13.0)
                .map(|ms| if phase == 3 { ms * factor } else { ms })
                .collect();
            run.phases
                .insert(format!("p{phase}"), Times::of_verified(ms));
        }
        set.runs.push(run);
    }
    set
}

fn record(store: &Store, set: &Samples) {
    let with = (Recording::Fresh, Place::Workstation);
    verbs::record(store, set, with, &Options::default()).unwrap();
}

/// Walks through what is there; the candidates left open, or the error, and what was said.
fn walk(store: &Store, mut script: Script) -> (Result<usize, CliError>, String) {
    let options = Options::default();
    let walk = Walk {
        store,
        options: &options,
        place: Place::Workstation,
        decision: Decision::default(),
    };
    let items = verbs::review(store, &options).unwrap();
    let open = walk.through(&items, &mut script);
    (open, script.said)
}

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    (folder, store)
}

#[test]
fn one_key_accepts() {
    let (_folder, store) = store();
    record(&store, &samples(1, 1.0));
    let (open, said) = walk(&store, Script::of("xa", &[]));
    assert_eq!(open.unwrap(), 0, "{said}");
    assert!(
        said.contains("[1 of 1]") && said.contains("accepted"),
        "{said}"
    );
    assert_eq!(store.goldens().unwrap().len(), 1);
    assert!(store.candidates().unwrap().is_empty());
}

#[test]
fn one_key_rejects_and_one_leaves_it() {
    let (_folder, store) = store();
    record(&store, &samples(1, 1.0));
    for keys in ["s", "q"] {
        assert_eq!(walk(&store, Script::of(keys, &[])).0.unwrap(), 1);
    }
    assert_eq!(walk(&store, Script::of("r", &[])).0.unwrap(), 0);
    assert!(store.candidates().unwrap().is_empty() && store.goldens().unwrap().is_empty());
}

#[test]
fn a_slow_down_asks_for_its_reason() {
    let (_folder, store) = store();
    record(&store, &samples(1, 1.0));
    walk(&store, Script::of("a", &[])).0.unwrap();
    record(&store, &samples(2, 1.08));
    let (open, said) = walk(&store, Script::of("a", &["  "]));
    assert_eq!(open.unwrap(), 1, "an empty reason is none: {said}");
    assert!(said.contains("--reason"), "{said}");
    let (open, said) = walk(&store, Script::of("a", &["checks more"]));
    assert_eq!(open.unwrap(), 0, "{said}");
    let golden = &store.goldens().unwrap()[0].1;
    assert_eq!(golden.accepted.as_ref().unwrap().reason, "checks more");
}

#[test]
fn a_spent_budget_asks_again() {
    let (_folder, store) = store();
    record(&store, &samples(1, 1.0));
    walk(&store, Script::of("a", &[])).0.unwrap();
    record(&store, &samples(2, 1.2));
    assert_eq!(walk(&store, Script::of("ax", &["why"])).0.unwrap(), 1);
    let (open, said) = walk(&store, Script::of("am", &["release"]));
    assert_eq!(open.unwrap(), 0, "{said}");
    let golden = &store.goldens().unwrap()[0].1;
    assert_eq!(golden.anchor.as_ref().unwrap().runs, 6);
}

#[test]
fn a_terminal_that_breaks_off_is_an_error() {
    let (_folder, store) = store();
    record(&store, &samples(1, 1.0));
    assert!(walk(&store, Script::of("", &[])).0.is_err());
    assert_eq!(store.candidates().unwrap().len(), 1, "nothing was decided");
}
