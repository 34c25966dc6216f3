//! `run.panic`: threads that panicked for a reason which names neither memory nor CUDA.
//!
//! Panics with the same words (numbers aside) are one finding. A panic that says that a lock is
//! poisoned, or that another task died, is a consequence by its own words. Panics that name a
//! CUDA error are found by the finders of that error.

use std::collections::BTreeMap;

use tracefmt::finding::{Code, Severity};
use tracefmt::run::Trouble;

use super::super::classify::Topic;
use super::super::draft::{Draft, Role};
use super::super::scene::{Scene, many};

/// Words by which a panic says that it comes of another one.
const ECHOES: [&str; 4] = ["poison", "joinerror", "panicked with message", "recverror"];

pub(super) fn find(scene: &Scene<'_>) -> Vec<Draft> {
    let mut groups: BTreeMap<String, Vec<&Trouble>> = BTreeMap::new();
    for trouble in scene.about(Topic::Panic) {
        groups
            .entry(words(&trouble.text))
            .or_default()
            .push(trouble);
    }
    groups
        .into_iter()
        .filter_map(|(words, troubles)| draft(scene, &words, &troubles))
        .collect()
}

/// The text with its numbers taken out, so that two panics of one kind look the same.
fn words(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_ascii_digit())
        .collect::<String>()
        .to_lowercase()
}

fn draft(scene: &Scene<'_>, words: &str, troubles: &[&Trouble]) -> Option<Draft> {
    let first = *troubles.first()?;
    let echo = ECHOES.iter().any(|echo| words.contains(echo));
    let role = if echo { Role::Follower } else { Role::Primary };
    let count = troubles.len() as u64;
    let title = if count == 1 {
        "A thread panicked".to_owned()
    } else {
        format!("{count} threads panicked for the same reason")
    };
    let text: String = first.text.chars().take(200).collect();
    let echo = if echo {
        " By its own words it comes of another failure."
    } else {
        ""
    };
    let after = scene.run.tasks.iter().filter_map(|task| task.gpu_end);
    let after = after.filter(|end| end.line > first.line).count() as u64;
    let after = if scene.run.tasks.is_empty() {
        String::new()
    } else {
        format!(" {} after it.", ended(after))
    };
    let draft = Draft::new(Code::RunPanic, Severity::Error, role, title)
        .of_run(scene.run.index)
        .because(format!(
            "The first is {}: {text}.{echo}{after}",
            scene.spot(first.line)
        ))
        .fix(
            "Read the place that the panic names; run with RUST_BACKTRACE=1 to see how it was \
             reached. The task that held it is lost: submit its job again.",
        )
        .counting(troubles.len())
        .quoting(troubles.iter().map(|trouble| trouble.line));
    Some(scene.place(draft, first))
}

fn ended(count: u64) -> String {
    match count {
        0 => "No partition ended".to_owned(),
        n => format!("{} still ended", many(n, "partition")),
    }
}
