//! `run.aborted` and `host.oom_killed`: the process died by its own hand, or the kernel killed it
//! for lack of host memory.
//!
//! An abort that comes of an uncaught CUDA error or of a panic follows from that; one that comes
//! first is a cause of its own. The kernel's out-of-memory killer is never a lack of device
//! memory, although both lines say "out of memory". It does not see a kill -9: such a log is
//! merely cut, see `truncated`.

use tracefmt::finding::{Code, Severity};
use tracefmt::run::{RunEnd, Trouble, TroubleClass};

use super::super::classify::Topic;
use super::super::draft::{Draft, Role};
use super::super::scene::Scene;

pub(super) fn find(scene: &Scene<'_>) -> Vec<Draft> {
    [killed(scene), aborted(scene)]
        .into_iter()
        .flatten()
        .collect()
}

fn killed(scene: &Scene<'_>) -> Option<Draft> {
    let troubles: Vec<&Trouble> = scene.about(Topic::HostKill).collect();
    let first = *troubles.first()?;
    let title = if troubles.len() == 1 {
        "The kernel killed a process: the host ran out of memory".to_owned()
    } else {
        format!(
            "The kernel killed {} processes: the host ran out of memory",
            troubles.len()
        )
    };
    let size = resident_gib(&first.text).map_or_else(String::new, |gib| {
        format!(" The process held {gib:.1} GiB of memory of its own when it was killed.")
    });
    Some(
        Draft::new(Code::HostOomKilled, Severity::Error, Role::Primary, title)
            .of_run(scene.run.index)
            .because(format!(
                "The kernel's out-of-memory killer speaks in {}: main memory ran out, not the \
                 GPU's.{size}",
                scene.spot(first.line)
            ))
            .fix(
                "Run fewer partitions at once (partition_workers or the memory budget), or give \
                 the host more memory; each partition in flight needs about 16 GiB of a 32 GiB \
                 sector.",
            )
            .counting(troubles.len())
            .quoting(troubles.iter().map(|trouble| trouble.line)),
    )
}

/// The `anon-rss:<n>kB` of the kernel's line, in GiB.
fn resident_gib(text: &str) -> Option<f64> {
    let (_, rest) = text.split_once("anon-rss:")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let kib: u64 = digits.parse().ok()?;
    Some(kib as f64 / 1_048_576.0)
}

fn aborted(scene: &Scene<'_>) -> Option<Draft> {
    let troubles: Vec<&Trouble> = scene.about(Topic::Abort).collect();
    let first = match troubles.first() {
        Some(first) => first.line,
        // What the kernel killed did not abort by itself.
        None if scene.run.end == RunEnd::Aborted
            && scene.about(Topic::HostKill).next().is_none() =>
        {
            scene.run.last
        }
        None => return None,
    };
    // `terminate called ...` stands one line above the `what():` that names the error.
    let names_cause = |topic: &Topic, trouble: &Trouble| {
        matches!(
            topic,
            Topic::Sticky(_) | Topic::Cuda(_) | Topic::DeviceMemory
        ) && !matches!(trouble.kind, TroubleClass::Fallback | TroubleClass::Warning)
            && trouble.line.input() == first.input()
            && trouble.line.line <= first.line.saturating_add(3)
    };
    let panicked =
        |topic: &Topic, trouble: &Trouble| *topic == Topic::Panic && trouble.line < first;
    let explained = scene
        .troubles
        .iter()
        .any(|(topic, trouble)| names_cause(topic, trouble) || panicked(topic, trouble));
    let role = if explained {
        Role::Follower
    } else {
        Role::Primary
    };
    let why = if explained {
        "the error named beside it was not caught"
    } else {
        "no line before it names a cause"
    };
    Some(
        Draft::new(
            Code::RunAborted,
            Severity::Error,
            role,
            "The process aborted".to_owned(),
        )
        .of_run(scene.run.index)
        .because(format!("At {} the process dies; {why}.", scene.spot(first)))
        .fix(
            "Catch errors and exceptions at the border between C++ and Rust; a core dump or \
             coredumpctl shows the thread that died.",
        )
        .counting(troubles.len().max(1))
        .quoting(
            [first]
                .into_iter()
                .chain(troubles.iter().map(|trouble| trouble.line)),
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_says_how_much_the_process_held() {
        let gib = resident_gib("total-vm:5kB, anon-rss:138974336kB, file-rss:0kB");
        assert!(gib.is_some_and(|gib| (gib - 132.536).abs() < 0.001));
        assert_eq!(resident_gib("anon-rss:?"), None);
    }
}
