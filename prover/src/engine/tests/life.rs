//! Jobs that go well, fail, panic, are cancelled, and engines that shut down.

use std::collections::BTreeSet;

use proptest::prelude::*;
use tracefmt::event::What;
use tracefmt::run::{JobOutcome, RunEnd};

use super::work::Trouble;
use super::*;
use crate::plan::Phase;

fn good(count: u64) -> Vec<Part> {
    (0..count).map(Part::good).collect()
}

const TROUBLES: [Trouble; 8] = [
    Trouble::SynthFails,
    Trouble::SynthPanics,
    Trouble::KernelFails(Phase::Quotient),
    Trouble::KernelPanics(Phase::MsmA),
    Trouble::KernelFails(Phase::MsmBG2),
    Trouble::AssemblyFails,
    Trouble::AssemblyPanics,
    Trouble::WrongProof,
];

#[test]
fn a_batch_is_proved_verified_and_traced() {
    let bench = Bench::new(&config(&[]), 1024);
    let tickets: Vec<Ticket> = (0..5)
        .map(|job| bench.submit(&format!("job-{job}"), good(10)))
        .collect();
    for ticket in tickets {
        let report = bench.engine.wait(ticket).expect("a report");
        assert_eq!(report.end, JobEnd::Verified);
        assert_eq!(report.proofs, (0..10).collect::<Vec<u64>>());
        assert!(
            bench.engine.wait(ticket).is_none(),
            "a report is taken once"
        );
    }
    assert_eq!(bench.work.kernels_side_by_side(), 1, "the lock is one");
    let (status, run) = bench.close(Shutdown::Drain);
    assert_eq!((status.totals.verified, status.totals.failed), (5, 0));
    assert_eq!(run.end, RunEnd::Complete);
    assert_eq!(run.dialect.name, "own");
    assert_eq!(run.tasks.len(), 50);
    assert!(run.tasks.iter().all(|task| task.verified == Some(true)));
    assert!(
        run.jobs
            .iter()
            .all(|job| job.outcome == JobOutcome::Completed)
    );
    assert!(
        run.jobs
            .iter()
            .all(|job| job.verified.is_some_and(|(ok, _)| ok))
    );
    assert_eq!(run.torn.lost, []);
}

#[test]
fn a_healthy_run_replays_without_a_finding_and_agrees_with_the_model() {
    let bench = Bench::new(&config(&[]), 64);
    for job in 0..4 {
        bench.submit(&format!("job-{job}"), good(5));
    }
    let (_, run) = bench.close(Shutdown::Drain);
    let given = replay::lifecycle::Given::default();
    let report = replay::log::replay_run(&run, &given, "engine.log", None);
    let report = report.expect("a known driver").expect("memory events");
    assert_eq!(report.source, "events");
    assert_eq!(report.findings, []);
    assert!(report.truth.checked > 200, "{}", report.truth.checked);
    assert_eq!(report.truth.agree, report.truth.checked);
}

#[test]
fn each_trouble_fails_its_job_with_its_reason_and_no_other() {
    for trouble in TROUBLES {
        let bench = Bench::new(&config(&[]), 1024);
        let mut parts = good(6);
        parts[2] = Part::bad(2, trouble);
        let before = bench.submit("before", good(3));
        let bad = bench.submit("bad", parts);
        let after = bench.submit("after", good(3));
        let JobEnd::Failed(why) = bench.end_of(bad) else {
            panic!("{trouble:?} fails its job");
        };
        let expected = if trouble == Trouble::WrongProof {
            "does not verify"
        } else {
            "on purpose"
        };
        assert!(why.contains(expected), "{trouble:?}: {why}");
        assert_eq!(bench.end_of(before), JobEnd::Verified, "{trouble:?}");
        assert_eq!(bench.end_of(after), JobEnd::Verified, "{trouble:?}");
        let (_, run) = bench.close(Shutdown::Drain);
        let failed = run.tasks.iter().filter(|task| task.failure.is_some());
        assert_eq!(failed.count(), 1, "{trouble:?}");
    }
}

#[test]
fn workers_outlive_any_number_of_panics() {
    let bench = Bench::new(&config(&[]), 1024);
    for job in 0..30 {
        let trouble = TROUBLES[job % TROUBLES.len()];
        let ticket = bench.submit(&format!("bad-{job}"), vec![Part::bad(0, trouble)]);
        assert!(
            matches!(bench.end_of(ticket), JobEnd::Failed(_)),
            "{trouble:?}"
        );
    }
    let ticket = bench.submit("good", good(4));
    assert_eq!(bench.end_of(ticket), JobEnd::Verified);
    let (status, _) = bench.close(Shutdown::Drain);
    assert_eq!((status.totals.verified, status.totals.failed), (1, 30));
}

#[test]
fn a_cancelled_job_lets_the_others_go_on() {
    let bench = Bench::new(&config(&[]), 1024);
    let mut parts = good(5);
    parts[0] = Part::bad(0, Trouble::Endless);
    let endless = bench.submit("endless", parts);
    let other = bench.submit("other", good(3));
    bench.work.await_endless();
    assert!(bench.engine.cancel("endless"));
    assert!(!bench.engine.cancel("nobody"));
    assert!(
        bench.engine.poll(endless).is_none(),
        "it is still on the device"
    );
    bench.work.release_endless();
    assert_eq!(bench.end_of(endless), JobEnd::Cancelled);
    assert_eq!(bench.end_of(other), JobEnd::Verified);
    assert!(!bench.engine.cancel("endless"), "it is over");
    let (status, run) = bench.close(Shutdown::Drain);
    assert_eq!(status.totals.cancelled, 1);
    assert_eq!(run.jobs[0].outcome, JobOutcome::Cancelled);
}

#[test]
fn a_shutdown_cancels_or_drains() {
    for how in [Shutdown::Drain, Shutdown::Cancel] {
        let bench = Bench::new(&config(&[]), 1024);
        for job in 0..10 {
            bench.submit(&format!("job-{job}"), good(10));
        }
        let (status, run) = bench.close(how);
        let Totals {
            verified,
            failed,
            cancelled,
            ..
        } = status.totals;
        assert_eq!((verified + cancelled, failed), (10, 0));
        assert!(how == Shutdown::Cancel || cancelled == 0);
        let ends = run.jobs.iter().filter(|job| job.ended.is_some());
        assert_eq!(ends.count(), 10, "each says how it ended");
    }
}

#[test]
fn queue_and_memory_keep_to_their_bounds() {
    let mut few = config(&[]);
    few.limits.host_bytes = 4;
    let bench = Bench::new(&few, 1024);
    for job in 0..6 {
        bench.submit(&format!("job-{job}"), good(6));
    }
    let (status, run) = bench.close(Shutdown::Drain);
    assert!((2..=4).contains(&status.host_peak), "{}", status.host_peak);
    let order: Vec<(u32, Option<u32>)> = run
        .tasks
        .iter()
        .map(|task| (task.job, task.partition))
        .collect();
    assert!(order.is_sorted(), "heads only: {order:?}");
    let mut picked: Vec<_> = run.tasks.iter().collect();
    picked.sort_by_key(|task| task.pickup.map(|at| at.line));
    let late = picked.windows(4).filter(|four| {
        let key = |at: usize| (four[at].job, four[at].partition);
        key(3) < key(0)
    });
    assert_eq!(
        late.count(),
        0,
        "no partition is overtaken by more than are in flight"
    );
}

#[test]
fn nothing_starts_without_workers() {
    let work = Arc::new(Fake::default());
    let tracer = Arc::new(Tracer::silent(Arc::new(SystemClock::new())));
    let none = Engine::start(work, Vec::new(), tracer, &config(&[]));
    let error = none.expect_err("no device");
    assert_eq!(
        error.to_string(),
        "expected at least one device, found none"
    );
}

#[test]
fn a_job_that_fits_nowhere_is_refused_at_once() {
    let bench = Bench::new(&config(&[]), 64);
    let spec = JobSpec {
        id: "huge".to_owned(),
        kind: "fake".to_owned(),
        priority: Priority::Normal,
        circuits: vec![Part {
            log_domain: 27,
            ..Part::good(0)
        }],
    };
    let error = bench.engine.submit(spec).expect_err("no card is so small");
    assert!(error.to_string().contains("larger card"), "{error}");
    bench.close(Shutdown::Drain);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Random batches with random trouble and cancellations: every job ends once, as it must.
    #[test]
    fn every_job_ends_as_it_must(
        jobs in prop::collection::vec(
            (prop::collection::vec(prop::option::weighted(0.1, 0_usize..8), 1..6), any::<bool>()),
            1..12,
        ),
    ) {
        let bench = Bench::new(&config(&[]), 256);
        let mut tickets = Vec::new();
        for (number, (parts, cancelled)) in jobs.iter().enumerate() {
            let parts: Vec<Part> = (0_u64..).zip(parts).map(|(at, trouble)| Part {
                trouble: trouble.map(|trouble| TROUBLES[trouble]),
                ..Part::good(at)
            }).collect();
            let is_good = parts.iter().all(|part| part.trouble.is_none());
            let id = format!("job-{number}");
            tickets.push((bench.submit(&id, parts), is_good, *cancelled && number % 3 == 0));
            if number % 3 == 0 && *cancelled {
                bench.engine.cancel(&id);
            }
        }
        for (ticket, is_good, cancelled) in &tickets {
            let end = bench.end_of(*ticket);
            match end {
                JobEnd::Verified => prop_assert!(is_good),
                JobEnd::Failed(_) => prop_assert!(!is_good),
                JobEnd::Cancelled => prop_assert!(cancelled),
            }
        }
        let (status, run) = bench.close(Shutdown::Drain);
        let Totals { verified, failed, cancelled, .. } = status.totals;
        prop_assert_eq!(verified + failed + cancelled, tickets.len() as u64);
        prop_assert_eq!(run.jobs.iter().filter(|job| job.ended.is_some()).count(), tickets.len());
        let ids: BTreeSet<u64> = run.device_events.iter().filter_map(|event| match &event.what {
            What::VramAlloc(alloc) => Some(alloc.id),
            _ => None,
        }).collect();
        let allocs = run.device_events.iter();
        let allocs = allocs.filter(|event| matches!(event.what, What::VramAlloc(_)));
        prop_assert_eq!(ids.len(), allocs.count(), "ids are unique");
    }
}
