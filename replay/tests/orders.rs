//! Exploration against trying every order one by one.
//!
//! The other side is the runner, which knows nothing of states, reduction or fingerprints: every
//! interleaving of the workers is laid out as a recorded order and run. What can come of any of
//! them, exploration must say, and nothing else.

#![expect(clippy::expect_used, reason = "a test may stop where it stands")]

use std::collections::BTreeSet;

use proptest::prelude::*;
use replay::explore::{Bounds, Exploration, explore};
use replay::life::Life;
use replay::run::{Options, Record, Stop};
use replay::vram::{H200_580, Profile, STRICT};
use tracefmt::ops::{Header, OnError, Op, Schedule, Step, Stream, Work};

/// What can come of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Passes,
    Fails,
    Stuck,
    Misuses,
}

fn explored(found: &Exploration) -> BTreeSet<Verdict> {
    let all = [
        (Verdict::Passes, &found.passing),
        (Verdict::Fails, &found.failing),
        (Verdict::Stuck, &found.stuck),
        (Verdict::Misuses, &found.misused),
    ];
    let seen = all.into_iter().filter(|(_, order)| order.is_some());
    seen.map(|(verdict, _)| verdict).collect()
}

/// The names that one worker gives, for some bytes, and that no way around passes over.
fn told(schedule: &Schedule) -> BTreeSet<(u32, u64)> {
    let key = |step: &Step| match step.op {
        Op::Malloc { id, bytes } | Op::MallocAsync { id, bytes, .. } => {
            Some(((step.gpu.unwrap_or(0), id), bytes))
        }
        _ => None,
    };
    let steps = &schedule.steps;
    let mut told: BTreeSet<(u32, u64)> = steps.iter().filter_map(key).map(|one| one.0).collect();
    for (at, step) in steps.iter().enumerate() {
        let Some((name, bytes)) = key(step) else {
            continue;
        };
        let of_other = |other: &Step| {
            other.worker != step.worker && key(other).is_some_and(|(other, _)| other == name)
        };
        let before = steps
            .iter()
            .take(at + 1)
            .filter(|other| other.worker == step.worker);
        let mut passed = false;
        for other in before {
            let is_label = matches!(other.op, Op::Label { .. });
            passed = (passed && !is_label) || matches!(other.on_error(), OnError::Fallback(_));
        }
        if bytes == 0 || passed || steps.iter().any(of_other) {
            told.remove(&name);
        }
    }
    told
}

/// What comes of an order, of whose buffers it can be told when they are freed.
fn run(schedule: &Schedule, whole: &Schedule, profile: Profile) -> BTreeSet<Verdict> {
    let record = Record::of(schedule, &Options::hypothetical(profile));
    let waits = |stop: &Stop| matches!(stop, Stop::Locked { .. } | Stop::Alone { .. });
    let failed = record.failed_allocations(schedule).next();
    let end = failed.map_or(usize::MAX, |(place, _, _)| place);
    // An order that ends early does not hold all that is made under a name.
    let told = told(whole);
    let life = Life::of(schedule, &record);
    let misused = life
        .double_frees
        .iter()
        .chain(&life.late_uses)
        .any(|misuse| {
            let buffer = life.buffers[misuse.buffer];
            misuse.place < end && told.contains(&(buffer.gpu, buffer.id))
        });
    let ends = if end < usize::MAX {
        Some(Verdict::Fails)
    } else if record.ending.stopped.iter().any(|(_, stop)| waits(stop)) {
        Some(Verdict::Stuck)
    } else {
        (!misused).then_some(Verdict::Passes)
    };
    let misused = misused.then_some(Verdict::Misuses);
    ends.into_iter().chain(misused).collect()
}

/// Runs every interleaving of the workers' steps.
fn every_order(schedule: &Schedule, profile: Profile) -> BTreeSet<Verdict> {
    let mut programs: Vec<Vec<Step>> = Vec::new();
    for step in &schedule.steps {
        let worker = step.worker.unwrap_or(0) as usize;
        programs.resize_with(programs.len().max(worker + 1), Vec::new);
        programs[worker].push(step.clone());
    }
    let mut seen = BTreeSet::new();
    let mut next = vec![0; programs.len()];
    let mut order = Vec::new();
    extend(&programs, &mut next, &mut order, &mut |steps| {
        let one = Schedule::new(schedule.header.clone(), steps.to_vec());
        seen.extend(run(&one, schedule, profile));
    });
    seen
}

fn extend(
    programs: &[Vec<Step>],
    next: &mut Vec<usize>,
    order: &mut Vec<Step>,
    whole: &mut impl FnMut(&[Step]),
) {
    let mut more = false;
    for worker in 0..programs.len() {
        if let Some(step) = programs[worker].get(next[worker]) {
            more = true;
            order.push(step.clone());
            next[worker] += 1;
            extend(programs, next, order, whole);
            next[worker] -= 1;
            order.pop();
        }
    }
    if !more {
        whole(order);
    }
}

/// Ops over few names, so that workers meet.
fn op() -> impl Strategy<Value = Op> {
    let id = || 0_u64..3;
    let stream = || prop_oneof![(0_u64..2).prop_map(Stream::Id), Just(Stream::Legacy),];
    let bytes = prop_oneof![
        Just(1_u64 << 20),
        Just(1 << 30),
        Just(3 << 30),
        Just(5 << 30)
    ];
    let name = || prop_oneof![Just("a".to_owned()), Just("b".to_owned())];
    let memory = prop_oneof![
        3 => (id(), bytes.clone()).prop_map(|(id, bytes)| Op::Malloc { id, bytes }),
        2 => (id(), bytes, stream()).prop_map(|(id, bytes, stream)| Op::MallocAsync {
            id,
            bytes,
            stream,
        }),
        3 => id().prop_map(|id| Op::Free { id }),
        2 => (id(), stream()).prop_map(|(id, stream)| Op::FreeAsync { id, stream }),
    ];
    let order = prop_oneof![
        stream().prop_map(|stream| Op::StreamSync { stream }),
        Just(Op::CtxSync),
        (id(), stream()).prop_map(|(event, stream)| Op::EventRecord { event, stream }),
        (id(), stream()).prop_map(|(event, stream)| Op::StreamWait { event, stream }),
        id().prop_map(|event| Op::EventSync { event }),
        stream().prop_map(|stream| Op::Launch(Work::new(stream, vec![], vec![], None))),
        (id(), stream()).prop_map(|(id, stream)| Op::Launch(Work::new(
            stream,
            vec![id],
            vec![],
            None
        ))),
        Just(Op::Trim { keep: 0 }),
        Just(Op::SetThreshold { bytes: u64::MAX }),
        Just(Op::GetLastError),
        Just(Op::MemGetInfo {
            need: Some(4 << 30),
            margin: None,
        }),
    ];
    let host = prop_oneof![
        Just(Op::HostRegister {
            addr: 4096,
            bytes: 9 << 30
        }),
        Just(Op::HostUnregister { addr: 4096 }),
        Just(Op::HostUnmap {
            addr: 4096,
            bytes: 10
        }),
    ];
    let worker = prop_oneof![
        4 => name().prop_map(|name| Op::Lock { name: name.into() }),
        4 => name().prop_map(|name| Op::Unlock { name: name.into() }),
        1 => Just(Op::Barrier { name: "all".into(), n: 2 }),
        2 => Just(Op::Label { name: "out".into() }),
        1 => any::<bool>().prop_map(|unwind| Op::Panic { unwind }),
    ];
    prop_oneof![6 => memory, 3 => order, 1 => host, 4 => worker]
}

fn step() -> impl Strategy<Value = Step> {
    let on_error = prop_oneof![
        2 => Just(OnError::Ignore),
        1 => Just(OnError::Abort),
        1 => Just(OnError::Fallback("out".into())),
    ];
    (op(), on_error, prop_oneof![4 => Just(0_u32), 1 => Just(1)]).prop_map(|(op, on_error, gpu)| {
        let mut step = Step::new(op).or_else(on_error);
        step.gpu = Some(gpu);
        step
    })
}

/// A worker's ops, as they come or all under one lock.
fn program(ops: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Step>> {
    let steps = proptest::collection::vec(step(), ops);
    (steps, any::<bool>()).prop_map(|(mut steps, locked)| {
        let name = || "gpu".into();
        if locked {
            steps.insert(0, Step::new(Op::Lock { name: name() }));
            steps.push(Step::new(Op::Unlock { name: name() }));
        }
        steps
    })
}

fn schedule(workers: usize, ops: std::ops::Range<usize>) -> impl Strategy<Value = Schedule> {
    proptest::collection::vec(program(ops), workers).prop_map(|programs| {
        let mut header = Header::one_gpu(8 << 30, 0);
        header.gpus = vec![header.gpus[0].clone(); 2];
        let mut steps = Vec::new();
        for (worker, program) in programs.into_iter().enumerate() {
            let worker = u32::try_from(worker).expect("few");
            steps.extend(program.into_iter().map(|step| step.on_worker(worker)));
        }
        Schedule::new(header, steps)
    })
}

fn check(schedule: &Schedule, profile: Profile) -> Result<(), TestCaseError> {
    let found = explore(schedule, profile, Bounds::default());
    prop_assert!(found.is_complete());
    let verdicts = explored(&found);
    prop_assert_eq!(&verdicts, &every_order(schedule, profile));
    prop_assert!(
        verdicts.is_superset(&run(schedule, schedule, profile)),
        "the order as it stands"
    );
    for (wanted, order) in [
        (Verdict::Fails, &found.failing),
        (Verdict::Stuck, &found.stuck),
        (Verdict::Passes, &found.passing),
        (Verdict::Misuses, &found.misused),
    ] {
        let Some(order) = order else { continue };
        let steps = order.iter().map(|at| schedule.steps[*at].clone()).collect();
        let one = Schedule::new(schedule.header.clone(), steps);
        let verdict = run(&one, schedule, profile);
        // Those who wait in a stuck order have not taken the step that they wait for.
        prop_assert!(
            verdict.contains(&wanted) || matches!(wanted, Verdict::Stuck | Verdict::Misuses),
            "{order:?}: {verdict:?}"
        );
    }
    Ok(())
}

/// A worker that holds nothing dies first, and says whether it unwinds.
fn after_a_death(schedule: &Schedule, unwind: bool) -> Schedule {
    let mut steps = vec![Step::new(Op::Panic { unwind }).on_worker(9)];
    steps.extend(schedule.steps.iter().cloned());
    Schedule::new(schedule.header.clone(), steps)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Who holds what is kept in mind from the first unwinding worker on, here from the first
    /// step or from a later one.
    #[test]
    fn it_does_not_matter_from_when_on_it_is_known_who_holds_what(
        (schedule, steps) in schedule(3, 0..12).prop_flat_map(|schedule| {
            let steps = Just(schedule.steps.clone()).prop_shuffle();
            (Just(schedule), steps)
        }),
    ) {
        let shuffled = Schedule::new(schedule.header.clone(), steps);
        let options = Options::hypothetical(H200_580);
        let record = |unwind| Record::of(&after_a_death(&shuffled, unwind), &options);
        prop_assert_eq!(record(true), record(false));
    }

    #[test]
    fn two_workers_can_come_to_what_exploration_says(schedule in schedule(2, 0..5)) {
        check(&schedule, H200_580)?;
    }

    #[test]
    fn three_workers_can_come_to_what_exploration_says(schedule in schedule(3, 0..3)) {
        check(&schedule, STRICT)?;
    }
}
