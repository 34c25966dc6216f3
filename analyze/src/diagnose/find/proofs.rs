//! `proof.invalid`: a proof was checked and does not hold.
//!
//! Self-checks of whole proofs, `PROOF_BAD` events of single partitions and panics that say that
//! verification failed. It does not see proofs that nobody checked: see `verification`.

use tracefmt::finding::{Code, PartitionRef, Severity};
use tracefmt::run::{LineRef, Trouble};

use super::super::classify::Topic;
use super::super::draft::{Draft, Role};
use super::super::scene::{Scene, many};

pub(super) fn find(scene: &Scene<'_>) -> Vec<Draft> {
    let run = scene.run;
    let mut lines: Vec<LineRef> = scene
        .about(Topic::BadProof)
        .map(|t: &Trouble| t.line)
        .collect();
    let mut names: Vec<PartitionRef> = Vec::new();
    for task in run.tasks.iter().filter(|task| task.verified == Some(false)) {
        names.push(scene.name(task));
    }
    lines.extend(run.bad_proofs.iter().map(|(_, line)| *line));
    for job in &run.jobs {
        if let Some((false, line)) = job.verified {
            lines.push(line);
            // A whole proof does not hold because partitions of it do not.
            if !names.iter().any(|name| name.job == job.id) {
                names.push(PartitionRef {
                    job: job.id.clone(),
                    partition: None,
                });
            }
        }
    }
    lines.sort_unstable();
    lines.dedup();
    if lines.is_empty() && names.is_empty() {
        return Vec::new();
    }
    let count = names.len().max(usize::from(names.is_empty()) * lines.len());
    let parts = names.iter().any(|name| name.partition.is_some());
    let noun = if parts { "partition" } else { "proof" };
    let held = if parts {
        scene.partitions.verified
    } else {
        scene.jobs.verified
    };
    let held = match held {
        0 => "No other proof of this run was found to hold.".to_owned(),
        1 => format!("1 {noun} of the same run holds."),
        n => format!("{} of the same run hold.", many(n, noun)),
    };
    let of = match (parts, names.len()) {
        (true, 1) => "The proof of a partition does".to_owned(),
        (true, n) => format!("The proofs of {n} partitions do"),
        (false, _) if count == 1 => "A proof does".to_owned(),
        (false, _) => format!("{count} proofs do"),
    };
    let title = format!("{of} not hold");
    vec![
        Draft::new(Code::ProofInvalid, Severity::Error, Role::Primary, title)
            .of_run(run.index)
            .because(format!(
                "The verifier rejects what the prover made, with no error on the way. {held} A \
                 phase that failed unseen (an allocation whose error was dropped) gives exactly \
                 this: a proof that is complete, fast and wrong."
            ))
            .fix(
                "Do not use timings of this run. Run `cuzk replay` on the log to look for \
                 swallowed allocation failures; prove the same input again to see whether it \
                 fails each time or now and then.",
            )
            .counting(count)
            .about(names)
            .quoting(lines),
    ]
}
