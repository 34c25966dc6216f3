//! The state machine under any schedule: no job lost, every job ends once, the lines are taken from
//! their heads, memory comes back.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

type Machine = Sched<u64, u64, u64>;

fn machine(host_bytes: u64) -> Machine {
    Sched::new(Limits {
        host_bytes,
        waiting: 64,
        reports: 1000,
    })
}

fn spec(id: &str, priority: Priority, partitions: u64) -> JobSpec<u64> {
    JobSpec {
        id: id.to_owned(),
        kind: "test".to_owned(),
        priority,
        circuits: (0..partitions).collect(),
    }
}

fn submit(machine: &mut Machine, id: &str, priority: Priority, partitions: u64) -> u64 {
    let bytes = vec![1; usize::try_from(partitions).expect("small")];
    let submitted = machine.submit(spec(id, priority, partitions), &bytes, 0);
    submitted.expect("accepted")
}

/// Leads one partition through all stations.
fn pass(machine: &mut Machine, now_us: u64) -> Key {
    let (task, circuit, bytes) = machine.start_synth(now_us).expect("one waits");
    assert!(
        machine
            .end_leg(Leg::Synthesis, task.key, Ok(circuit), now_us)
            .states
            .is_empty()
    );
    let (task, state) = machine.start_device(now_us).expect("one is queued");
    drop(machine.end_leg(Leg::Device, task.key, Ok(state), now_us));
    let (task, state) = machine.start_finish(now_us).expect("one is proved");
    machine.release(bytes);
    drop(machine.end_finish(task.key, Ok(state), now_us));
    task.key
}

#[test]
fn partitions_go_by_priority_then_job_then_partition() {
    let mut machine = machine(100);
    submit(&mut machine, "low", Priority::Low, 2);
    submit(&mut machine, "first", Priority::Normal, 2);
    submit(&mut machine, "second", Priority::Normal, 1);
    submit(&mut machine, "urgent", Priority::Critical, 1);
    let order: Vec<(u64, u32)> = (0..6)
        .map(|now_us| pass(&mut machine, now_us))
        .map(|key| (key.job, key.partition))
        .collect();
    assert_eq!(order, [(3, 0), (1, 0), (1, 1), (2, 0), (0, 0), (0, 1)]);
    let ends: Vec<String> = machine
        .take_news()
        .into_iter()
        .map(|(id, _)| id.to_string())
        .collect();
    assert_eq!(ends, ["urgent", "first", "second", "low"]);
}

#[test]
fn the_head_waits_for_memory_and_is_not_overtaken() {
    let mut machine = machine(10);
    let big = machine.submit(spec("big", Priority::Normal, 2), &[8, 8], 0);
    assert_eq!(big, Ok(0));
    let small = machine.submit(spec("small", Priority::Normal, 1), &[1], 0);
    assert_eq!(small, Ok(1));
    let (task, circuit, bytes) = machine.start_synth(0).expect("the first");
    assert!(
        machine.start_synth(0).is_none(),
        "8 + 8 > 10, and 1 is behind"
    );
    drop(machine.end_leg(Leg::Synthesis, task.key, Ok(circuit), 0));
    assert!(
        machine.start_synth(0).is_none(),
        "memory is held in the queue"
    );
    machine.release(bytes);
    let (task, ..) = machine.start_synth(0).expect("the second");
    assert_eq!((task.key.job, task.key.partition), (0, 1));
}

#[test]
fn what_cannot_be_accepted_is_refused_with_its_reason() {
    let mut machine = machine(10);
    submit(&mut machine, "a", Priority::Normal, 60);
    let refused = |machine: &mut Machine, id: &str, bytes: &[u64]| {
        let spec = spec(id, Priority::Normal, bytes.len() as u64);
        let error = machine.submit(spec, bytes, 0).expect_err("refused");
        error.to_string()
    };
    assert!(refused(&mut machine, "b", &[]).contains("no partitions"));
    assert!(refused(&mut machine, "a", &[1]).contains("is open"));
    assert!(refused(&mut machine, "b", &[1, 11]).contains("raise the budget"));
    assert!(refused(&mut machine, "b", &[1; 5]).contains("60 partitions wait and 64 may"));
    drop(machine.close(false, 0));
    assert!(refused(&mut machine, "b", &[1]).contains("shuts down"));
}

#[test]
fn a_failure_gives_up_what_waits_and_keeps_the_first_reason() {
    let mut machine = machine(100);
    let job = submit(&mut machine, "j", Priority::Normal, 4);
    submit(&mut machine, "other", Priority::Normal, 1);
    let started: Vec<_> = (0..3).filter_map(|_| machine.start_synth(0)).collect();
    let keys: Vec<Key> = started.iter().map(|(task, ..)| task.key).collect();
    drop(machine.end_leg(Leg::Synthesis, keys[0], Ok(7), 1));
    let own = |why: &str| Err(Failure::Own(why.to_owned()));
    let left = machine.end_leg(Leg::Synthesis, keys[1], own("first"), 2);
    assert_eq!((left.circuits, left.states), (vec![3], vec![7]));
    assert!(started[2].0.is_stopped());
    assert!(machine.take_news().is_empty(), "one is still in flight");
    drop(machine.end_leg(Leg::Synthesis, keys[2], own("second"), 3));
    let report = machine.take_report(job).expect("ended");
    assert_eq!(report.end, JobEnd::Failed("first".to_owned()));
    assert!(report.proofs.is_empty());
    assert!(machine.start_synth(4).is_some(), "the other job is alive");
}

#[test]
fn a_cancelled_job_ends_when_its_last_partition_is_back() {
    let mut machine = machine(100);
    let job = submit(&mut machine, "j", Priority::Normal, 2);
    let (task, circuit, _) = machine.start_synth(0).expect("the first");
    let (found, left) = machine.cancel("j", 1);
    assert!(found);
    assert_eq!(left.circuits, [1]);
    assert!(!machine.cancel("j", 1).0, "once is enough");
    assert!(machine.take_report(job).is_none());
    let left = machine.end_leg(Leg::Synthesis, task.key, Ok(circuit), 2);
    assert_eq!(left.states, [0]);
    let report = machine.take_report(job).expect("ended");
    assert_eq!(report.end, JobEnd::Cancelled);
    assert!(!machine.cancel("j", 3).0);
    assert!(!machine.expects(job));
}

#[test]
fn reports_are_kept_up_to_their_limit() {
    let mut machine = Machine::new(Limits {
        host_bytes: 10,
        waiting: 10,
        reports: 2,
    });
    for id in ["a", "b", "c"] {
        submit(&mut machine, id, Priority::Normal, 1);
        pass(&mut machine, 0);
    }
    let kept: Vec<bool> = (0..3).map(|job| machine.expects(job)).collect();
    assert_eq!(kept, [false, true, true]);
}

/// What may happen next.
#[derive(Debug, Clone, Copy)]
enum Act {
    Submit {
        priority: Priority,
        partitions: u64,
        bytes: u64,
    },
    Cancel(u64),
    StartSynth,
    StartDevice,
    StartFinish,
    /// A worker comes back: which, and how.
    End(usize, Come),
    Release(usize),
    Close(bool),
}

#[derive(Debug, Clone, Copy)]
enum Come {
    Well,
    Failed,
    Stopped,
}

fn act() -> impl Strategy<Value = Act> {
    let priority = prop_oneof![
        Just(Priority::Low),
        Just(Priority::Normal),
        Just(Priority::High),
        Just(Priority::Critical),
    ];
    let come =
        prop_oneof![6 => Just(Come::Well), 1 => Just(Come::Failed), 1 => Just(Come::Stopped)];
    prop_oneof![
        3 => (priority, 1_u64..6, 1_u64..5)
            .prop_map(|(priority, partitions, bytes)| Act::Submit { priority, partitions, bytes }),
        1 => (0_u64..12).prop_map(Act::Cancel),
        6 => Just(Act::StartSynth),
        5 => Just(Act::StartDevice),
        5 => Just(Act::StartFinish),
        12 => (any::<usize>(), come).prop_map(|(which, come)| Act::End(which, come)),
        6 => any::<usize>().prop_map(Act::Release),
        1 => any::<bool>().prop_map(Act::Close),
    ]
}

/// A partition in a worker's hands, and at which station.
#[derive(Debug, Clone, Copy)]
struct InHand {
    key: Key,
    station: u8,
    payload: u64,
}

/// Plays the workers, and keeps the books that the machine is held against.
#[derive(Debug)]
struct World {
    machine: Machine,
    hands: Vec<InHand>,
    /// Bytes of every partition that holds memory.
    held: Vec<u64>,
    accepted: BTreeSet<u64>,
    ended: BTreeMap<String, u32>,
}

impl World {
    fn new() -> Self {
        Self {
            machine: machine(10),
            hands: Vec::new(),
            held: Vec::new(),
            accepted: BTreeSet::new(),
            ended: BTreeMap::new(),
        }
    }

    fn play(&mut self, act: Act, now_us: u64) {
        match act {
            Act::Submit {
                priority,
                partitions,
                bytes,
            } => {
                let id = format!("j{now_us}");
                let bytes = vec![bytes; usize::try_from(partitions).expect("small")];
                let spec = spec(&id, priority, partitions);
                if let Ok(job) = self.machine.submit(spec, &bytes, now_us) {
                    self.accepted.insert(job);
                }
            }
            Act::Cancel(job) => {
                let id = self.machine.jobs.get(&job).map(|job| job.id.to_string());
                drop(self.machine.cancel(&id.unwrap_or_default(), now_us));
            }
            Act::StartSynth => self.start_synth(now_us),
            Act::StartDevice => {
                let head = self.machine.queued.first_key_value().map(|(key, _)| *key);
                let started = self.machine.start_device(now_us);
                self.take(started, head, 1);
            }
            Act::StartFinish => {
                let head = self.machine.finishing.front().map(|(key, _)| *key);
                let started = self.machine.start_finish(now_us);
                self.take(started, head, 2);
            }
            Act::End(which, come) => self.end(which, come, now_us),
            Act::Release(which) => {
                // A payload is gone: only what no line or hand holds may give its memory back.
                let [_, queued, finishing] = self.machine.lengths();
                let in_use = queued + finishing + self.hands.len();
                if self.held.len() > in_use {
                    let bytes = self.held.swap_remove(which % self.held.len());
                    self.machine.release(bytes);
                }
            }
            Act::Close(now) => drop(self.machine.close(now && now_us > 20, now_us)),
        }
        for (id, _) in self.machine.take_news() {
            *self.ended.entry(id.to_string()).or_default() += 1;
        }
    }

    fn start_synth(&mut self, now_us: u64) {
        let head = self.machine.waiting.first_key_value();
        let head = head.map(|(key, waiting)| (*key, waiting.bytes));
        match self.machine.start_synth(now_us) {
            Some((task, payload, bytes)) => {
                assert_eq!(Some((task.key, bytes)), head, "the head of the line");
                self.held.push(bytes);
                let (key, station) = (task.key, 0);
                self.hands.push(InHand {
                    key,
                    station,
                    payload,
                });
            }
            None => assert!(
                head.is_none_or(|(_, bytes)| bytes + self.machine.used_bytes > 10),
                "a head that fits is taken"
            ),
        }
    }

    fn take(&mut self, started: Option<(Task, u64)>, head: Option<Key>, station: u8) {
        assert_eq!(started.as_ref().map(|(task, _)| task.key), head);
        if let Some((task, payload)) = started {
            let key = task.key;
            self.hands.push(InHand {
                key,
                station,
                payload,
            });
        }
    }

    fn end(&mut self, which: usize, come: Come, now_us: u64) {
        if self.hands.is_empty() {
            return;
        }
        let at = which % self.hands.len();
        let InHand {
            key,
            station,
            payload,
        } = self.hands.swap_remove(at);
        let made = match come {
            Come::Well => Ok(payload),
            Come::Failed => Err(Failure::Own("on purpose".to_owned())),
            // Workers stop only when they are told to.
            Come::Stopped if self.machine.is_wanted(key) => Ok(payload),
            Come::Stopped => Err(Failure::Stopped),
        };
        drop(match station {
            0 => self.machine.end_leg(Leg::Synthesis, key, made, now_us),
            1 => self.machine.end_leg(Leg::Device, key, made, now_us),
            _ => self.machine.end_finish(key, made, now_us),
        });
    }

    /// What holds between any two acts.
    fn audit(&self) {
        let machine = &self.machine;
        assert_eq!(machine.used_bytes, self.held.iter().sum::<u64>());
        assert!(machine.used_bytes <= 10);
        let mut places: BTreeMap<Key, PartState> = BTreeMap::new();
        let mut put = |key: Key, state: PartState| {
            assert_eq!(places.insert(key, state), None, "in two places: {key:?}");
        };
        for key in machine.waiting.keys() {
            put(*key, PartState::Waiting);
        }
        for key in machine.queued.keys() {
            put(*key, PartState::Queued);
        }
        for (key, _) in &machine.finishing {
            put(*key, PartState::Finishing);
        }
        for hand in &self.hands {
            let states = [
                PartState::Synthesizing,
                PartState::Proving,
                PartState::Finishing,
            ];
            put(hand.key, states[usize::from(hand.station)]);
        }
        for (number, job) in &machine.jobs {
            let mut open = 0;
            for (partition, part) in (0..).zip(&job.parts) {
                let key = Key {
                    priority: Reverse(job.priority),
                    job: *number,
                    partition,
                };
                let place = places.remove(&key);
                let shown = (!part.state.is_final()).then_some(part.state);
                assert_eq!(place, shown, "{key:?}");
                open += usize::from(place.is_some());
            }
            assert!(open > 0, "an open job has an open partition");
        }
        assert!(places.is_empty(), "partitions of no job: {places:?}");
        let open: Vec<&u64> = machine.jobs.keys().collect();
        assert_eq!(
            self.ended.len() + open.len(),
            self.accepted.len(),
            "no job is lost"
        );
        assert!(
            self.ended.values().all(|count| *count == 1),
            "each ends once"
        );
    }

    /// Lets everything that is left come to its end.
    fn drain(&mut self, mut now_us: u64) {
        drop(self.machine.close(false, now_us));
        for _ in 0..10_000 {
            now_us += 1;
            for act in [
                Act::StartSynth,
                Act::StartDevice,
                Act::StartFinish,
                Act::End(0, Come::Well),
                Act::Release(0),
            ] {
                self.play(act, now_us);
            }
            if self.machine.is_over() && self.held.is_empty() {
                return;
            }
        }
        panic!("it does not end: {self:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Any order of submissions, cancellations, failures and returns.
    #[test]
    fn no_job_is_lost_and_each_ends_once(acts in prop::collection::vec(act(), 1..120)) {
        let mut world = World::new();
        for (now_us, act) in (1_u64..).zip(&acts) {
            world.play(*act, now_us);
            world.audit();
        }
        world.drain(acts.len() as u64);
        world.audit();
        prop_assert_eq!(world.ended.len(), world.accepted.len());
        prop_assert_eq!(world.machine.used_bytes, 0);
        let Ended { verified, failed, cancelled, .. } = world.machine.ended;
        prop_assert_eq!(verified + failed + cancelled, world.accepted.len() as u64);
    }
}
