//! A fake work: proofs are numbers, and every part says what is to go wrong with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::device::{Streamed, Work};
use crate::plan::{Kernel, Phase, Sizes};

/// What goes wrong with a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    SynthFails,
    SynthPanics,
    KernelFails(Phase),
    KernelPanics(Phase),
    AssemblyFails,
    AssemblyPanics,
    WrongProof,
    /// The device is busy with it until the job is given up.
    Endless,
}

/// A partition: a number, the size of its domain, and its trouble.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) number: u64,
    pub(super) log_domain: u32,
    pub(super) trouble: Option<Trouble>,
}

impl Part {
    pub(super) fn good(number: u64) -> Self {
        Self {
            number,
            log_domain: 14,
            trouble: None,
        }
    }

    pub(super) fn bad(number: u64, trouble: Trouble) -> Self {
        Self {
            trouble: Some(trouble),
            ..Self::good(number)
        }
    }
}

/// Counts the states that are alive.
#[derive(Debug, Default)]
pub(super) struct Fake {
    alive: Arc<AtomicU64>,
    /// Kernels that run side by side, and the most that ever did.
    inside: AtomicU64,
    inside_max: AtomicU64,
    /// Whether endless kernels end.
    released: AtomicU64,
    /// Whether one was entered.
    entered: AtomicU64,
    /// What streams where there is no room for it, in three parts.
    key: Arc<[[u8; 32]; 3]>,
}

#[derive(Debug)]
pub(super) struct State {
    part: Part,
    phases: Vec<Phase>,
    alive: Arc<AtomicU64>,
    buffer: Vec<u8>,
}

impl Drop for State {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Fake {
    pub(super) fn states_alive(&self) -> u64 {
        self.alive.load(Ordering::SeqCst)
    }

    /// Where what streams lies.
    pub(super) fn key_ranges(&self) -> Vec<u64> {
        self.key.iter().map(|part| part.as_ptr() as u64).collect()
    }

    pub(super) fn kernels_side_by_side(&self) -> u64 {
        self.inside_max.load(Ordering::SeqCst)
    }

    /// Waits until an endless kernel runs.
    pub(super) fn await_endless(&self) {
        while self.entered.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
        }
    }

    pub(super) fn release_endless(&self) {
        self.released.store(1, Ordering::SeqCst);
    }
}

impl Work for Fake {
    type Circuit = Part;
    type State = State;
    type Proof = u64;

    fn sizes(&self, part: &Part) -> Sizes {
        Sizes::like_a_sector(1 << part.log_domain)
    }

    fn host_bytes(&self, _part: &Part) -> u64 {
        2
    }

    fn synthesize(&self, part: Part) -> Result<State, String> {
        assert_ne!(
            part.trouble,
            Some(Trouble::SynthPanics),
            "synthesis on purpose"
        );
        if part.trouble == Some(Trouble::SynthFails) {
            return Err("on purpose".to_owned());
        }
        self.alive.fetch_add(1, Ordering::SeqCst);
        Ok(State {
            part,
            phases: Vec::new(),
            alive: Arc::clone(&self.alive),
            buffer: vec![0; 64],
        })
    }

    fn pinned(&self, state: &State) -> Option<(u64, u64)> {
        Some((state.buffer.as_ptr() as u64, state.buffer.len() as u64))
    }

    fn streamed(&self, _state: &State) -> Option<Streamed> {
        let range = |part: &[u8; 32]| (part.as_ptr() as u64, 32);
        Some(Streamed {
            ranges: self.key.iter().map(range).collect(),
            owner: Arc::<[[u8; 32]; 3]>::clone(&self.key),
        })
    }

    fn kernel(&self, kernel: Kernel, state: &mut State) -> Result<(), String> {
        let inside = self.inside.fetch_add(1, Ordering::SeqCst) + 1;
        self.inside_max.fetch_max(inside, Ordering::SeqCst);
        thread::yield_now();
        self.inside.fetch_sub(1, Ordering::SeqCst);
        match state.part.trouble {
            Some(Trouble::KernelFails(phase)) if phase == kernel.phase => {
                return Err("on purpose".to_owned());
            }
            Some(Trouble::KernelPanics(phase)) => assert_ne!(phase, kernel.phase, "on purpose"),
            Some(Trouble::Endless) => {
                self.entered.store(1, Ordering::SeqCst);
                while self.released.load(Ordering::SeqCst) == 0 {
                    thread::yield_now();
                }
            }
            _ => {}
        }
        if kernel.is_last() {
            state.phases.push(kernel.phase);
        }
        Ok(())
    }

    fn again(&self, state: &mut State) {
        state.phases.clear();
    }

    fn assemble(&self, state: &mut State) -> Result<u64, String> {
        assert_ne!(
            state.part.trouble,
            Some(Trouble::AssemblyPanics),
            "assembly on purpose"
        );
        match state.part.trouble {
            Some(Trouble::AssemblyFails) => Err("on purpose".to_owned()),
            Some(Trouble::WrongProof) => Ok(u64::MAX),
            _ if state.phases == Phase::ALL => Ok(state.part.number),
            _ => Err(format!("phases are missing: {:?}", state.phases)),
        }
    }

    fn verify(&self, state: &State, proof: &u64) -> Result<bool, String> {
        Ok(state.part.number == *proof)
    }

    fn spoil(&self, proof: &u64) -> u64 {
        !proof
    }
}
