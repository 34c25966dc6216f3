//! What the lines of one or more inputs mean together: daemon runs, jobs, partitions, prove
//! calls, and which timing line belongs to which call.
//!
//! This is the model that replay, the analyzer, the gate and the command line read. It holds no
//! text but job ids and trouble lines; everything else is numbers with line numbers, so that a
//! million partitions fit into a few hundred bytes each. Times are microseconds since the run's
//! epoch (`TIMELINE` offset 0); old dialects print milliseconds, so theirs end in three zeros.
//!
//! Building it is `run::assemble`; time intervals, idle causes and verdicts are not made here.

mod ahead;
mod assemble;
mod attribute;
mod bench;
mod benches;
mod both;
mod copies;
mod mark;
mod miscount;
mod place;
mod read;
mod step;

pub use assemble::{Builder, Part, Place, Stat, StatRun, StatSink};
pub use bench::{Bench, BenchProof};
pub use copies::Copies;
pub(crate) use mark::PlainMark;
pub use mark::{Iter as MarkIter, Mark, MarkKind, MarkStore};
pub use miscount::Miscount;
pub use place::{At, LineRef};
pub(crate) use read::is_ours;
pub use read::{ReadError, Reading, Source, Typist, join, read, read_input, read_opened};
pub use step::Step;

use crate::finding::Confidence;
use crate::foreign::ForeignTiming;
use crate::input::Damage;
use crate::pieces::Piece;

/// All inputs of one question, read and put together.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The inputs in the order given.
    pub inputs: Vec<Input>,
    /// Daemon runs, in order of input and line.
    pub runs: Vec<Run>,
}

/// One input file.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// As the user named it.
    pub path: String,
    /// Size on disk (compressed, if it is).
    pub file_bytes: u64,
    /// Size after decompression.
    pub bytes: u64,
    /// Number of lines.
    pub lines: u64,
    /// The files that it was joined from; empty when it is one file.
    pub pieces: Vec<Piece>,
    /// Timings of other programs; looked for only in an input without a run of the engine.
    pub foreign: Vec<ForeignTiming>,
}

impl Trace {
    /// The file of a line, as the user named it, and the line's number in that file; none for
    /// line 0 and for inputs that are not there.
    pub fn place(&self, at: LineRef) -> Option<(&str, u32)> {
        let input = self.inputs.get(at.input() as usize)?;
        if at.line == 0 {
            return None;
        }
        if input.pieces.is_empty() {
            return Some((&input.path, at.line));
        }
        let (path, line) = Piece::find(&input.pieces, u64::from(at.line))?;
        Some((path, u32::try_from(line).ok()?))
    }

    /// The line of an input or of one of its files, found again.
    pub fn line_at(&self, path: &str, line: u64) -> Option<LineRef> {
        (0_u32..).zip(&self.inputs).find_map(|(index, file)| {
            let line = if file.path == path {
                line
            } else {
                Piece::back(&file.pieces, path, line)?
            };
            let line = u32::try_from(line).ok()?;
            Some(LineRef::new(index, line))
        })
    }

    /// Whether lines come from more than one file, so that a number alone names none.
    pub fn has_several_files(&self) -> bool {
        self.inputs.len() > 1 || self.inputs.iter().any(|input| !input.pieces.is_empty())
    }
}

/// One life of a daemon.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Position in [`Trace::runs`].
    pub index: u32,
    /// First line of the run.
    pub first: LineRef,
    /// Last line of the run.
    pub last: LineRef,
    /// Wall clock at offset 0, microseconds since 1970 UTC; known from our own header or from
    /// stamps of neighbouring log lines.
    pub epoch_unix_us: Option<i64>,
    /// Which version of the engine wrote it.
    pub dialect: Dialect,
    /// What the log says of the machine and the configuration.
    pub config: Config,
    /// Jobs in order of first appearance.
    pub jobs: Vec<Job>,
    /// Partitions of all jobs, in order of first appearance.
    pub tasks: Vec<Task>,
    /// Prove calls, in order of `GPU_START`.
    pub calls: Vec<Call>,
    /// Timing lines, in file order, with their values and candidates.
    pub marks: MarkStore,
    /// For each call, where its marks begin in [`Run::mark_order`]; one more entry than calls.
    pub mark_starts: Vec<u32>,
    /// Indices into [`Run::marks`], grouped by call.
    pub mark_order: Vec<u32>,
    /// Panics, CUDA errors, fallbacks, warnings: in file order.
    pub troubles: Vec<Trouble>,
    /// Memory, lock and synchronisation events of our own traces, in file order.
    pub device_events: Vec<DeviceEvent>,
    /// What the benchmark client printed about this run.
    pub bench: Option<Bench>,
    /// How the run ends.
    pub end: RunEnd,
    /// Largest time seen, microseconds.
    pub last_us: i64,
    /// Lines that other writers tore: repaired, and lost for good.
    pub torn: Torn,
    /// `TIMELINE` lines whose fields cannot be read: they count in no figure.
    pub unread: Unread,
    /// Lines with a time or a phase that no clock gives: it is cut to what can be added up.
    pub unbelieved: Unread,
    /// Where our writer's counts are not those of the log.
    pub miscount: Option<Miscount>,
    /// A trace of ours without its `TRACE_START`: its beginning is missing.
    pub lacks_start: bool,
    /// A trace of ours without its `TRACE_END`: it was cut, or its writer died.
    pub lacks_end: bool,
    /// Events that are there more than once, as the same lines.
    pub copies: Copies,
    /// What is wrong with the archive that the log was unpacked from: of every run where bytes may
    /// be wrong, of the last where it ends too early or something else follows.
    pub damage: Option<Damage>,
    /// The `PROOF_BAD` lines of single partitions, with their tasks.
    pub bad_proofs: Vec<(u32, LineRef)>,
}

impl Run {
    /// Whether it is a trace of ours that holds what its `TRACE_END` counts: no line is lost.
    pub fn is_counted(&self) -> bool {
        let own = self.dialect.name == "own";
        own && !self.lacks_start && !self.lacks_end && self.miscount.is_none()
    }

    /// Whether the last line is a piece of one: what it said is lost.
    pub fn ends_in_a_piece(&self) -> bool {
        self.torn.lost.contains(&self.last)
    }

    /// The timing lines of a call, in file order.
    #[inline]
    pub fn marks_of(&self, call: usize) -> impl Iterator<Item = Mark> {
        let order = self.order_of(call);
        order
            .iter()
            .filter_map(|index| self.marks.get(*index as usize))
    }

    /// How many timing lines a call has.
    pub fn marks_len(&self, call: usize) -> usize {
        self.order_of(call).len()
    }

    #[inline]
    fn order_of(&self, call: usize) -> &[u32] {
        let bounds = self
            .mark_starts
            .get(call)
            .zip(self.mark_starts.get(call + 1));
        let range = bounds.map_or(0..0, |(from, to)| *from as usize..*to as usize);
        self.mark_order.get(range).unwrap_or_default()
    }

    /// Rebuilds [`Run::mark_starts`] and [`Run::mark_order`] after owners have changed.
    pub fn index_marks(&mut self) {
        (self.mark_starts, self.mark_order) = self.marks.by_call(self.calls.len());
    }
}

/// Torn lines of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Torn {
    /// Lines that were put together again.
    pub repaired: Vec<LineRef>,
    /// Fragments that nothing completes.
    pub lost: Vec<LineRef>,
}

/// Lines that cannot be taken as they are: how many, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// How many there are.
    pub count: u64,
    /// The first of them, at most [`Unread::KEPT_MAX`].
    pub lines: Vec<LineRef>,
}

impl Unread {
    /// How many lines are kept.
    pub const KEPT_MAX: usize = 4096;

    fn push(&mut self, line: LineRef) {
        self.count += 1;
        if self.lines.len() < Self::KEPT_MAX {
            self.lines.push(line);
        }
    }
}

/// Which version of the engine wrote the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// `phase4` to `phase8`, `phase9-v0`, `phase9-v1`, `phase9-v2`, `phase9`, `phase9-fine`,
    /// `phase11`, `phase12`, `cache`, `head`, `own`, or `unknown`.
    pub name: &'static str,
    /// How sure.
    pub confidence: Confidence,
    /// The features that decide it.
    pub why: String,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            name: "unknown",
            confidence: Confidence::Ambiguous,
            why: String::new(),
        }
    }
}

/// What the log says of machine and configuration; all optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// GPU ordinals seen, sorted.
    pub gpus: Vec<u32>,
    /// Number of GPU workers seen.
    pub workers: u32,
    /// `worker -> gpu` where the log says so, indexed by worker.
    pub gpu_of_worker: Vec<Option<u32>>,
    /// Domain size in elements.
    pub domain: Option<u64>,
    /// `lot_of_memory=`.
    pub lot_of_memory: Option<bool>,
    /// Device memory in bytes, from our own header.
    pub vram_bytes: Option<u64>,
    /// Free device memory, bytes: at the start by our own header, or at the first partition as
    /// `prestage_vram` prints it in whole MiB.
    pub free_bytes: Option<u64>,
    /// Device name.
    pub device: Option<String>,
    /// Build id.
    pub build: Option<String>,
    /// Further `key=value` pairs, sorted by key.
    pub more: Vec<(String, String)>,
}

/// One job.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// Id as the client gave it.
    pub id: String,
    /// `porep-c2`, `snap-update`, `window-post`, `winning-post`, or as the log says.
    pub kind: Option<String>,
    /// Accepted by the scheduler.
    pub submitted: Option<At>,
    /// Proof assembled, or failure reported.
    pub ended: Option<At>,
    /// Whether the log says that it completed or failed.
    pub outcome: JobOutcome,
    /// The failure's own words.
    pub error: Option<String>,
    /// Indices into [`Run::tasks`], in order of first appearance.
    pub tasks: Vec<u32>,
    /// Number of partitions that the log announces, if it does.
    pub partitions: Option<u32>,
    /// Bytes of the whole proof, where the log says so.
    pub proof_len: Option<u64>,
    /// A self-check of the whole proof, or `PROOF_OK`/`PROOF_BAD` with `partition=all`.
    pub verified: Option<(bool, LineRef)>,
    /// The last `PROOF_OK` or `PROOF_BAD` of it or of one of its partitions.
    pub checked: Option<At>,
}

/// How a job ended, as far as the log says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobOutcome {
    /// The log ends before the job does.
    #[default]
    Open,
    /// Its proof was assembled, or all its partitions ended.
    Completed,
    /// It failed.
    Failed,
    /// The client or the operator cancelled it.
    Cancelled,
}

/// One partition of a job on its way, or one monolithic proof.
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// Index into [`Run::jobs`].
    pub job: u32,
    /// Partition; none for a monolithic proof.
    pub partition: Option<u32>,
    /// Worker that picked it up.
    pub worker: Option<u32>,
    /// GPU of that worker.
    pub gpu: Option<u32>,
    /// `SYNTH_START`.
    pub synth_start: Option<At>,
    /// `SYNTH_END`.
    pub synth_end: Option<At>,
    /// `synth_ms=`.
    pub synth_ms: Option<u64>,
    /// `CHAN_SEND` or `GPU_QUEUE`.
    pub queued: Option<At>,
    /// `GPU_PICKUP`.
    pub pickup: Option<At>,
    /// `GPU_START`.
    pub gpu_start: Option<At>,
    /// `GPU_END`.
    pub gpu_end: Option<At>,
    /// `gpu_ms=`.
    pub gpu_ms: Option<u64>,
    /// What became of it.
    pub outcome: Outcome,
    /// The line of its own failure, if it has one.
    pub failure: Option<LineRef>,
    /// Its own `PROOF_OK` or `PROOF_BAD`.
    pub verified: Option<bool>,
    /// How often each of its events came once more than it may: a duplicate partition.
    pub repeats: u32,
}

/// What became of a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// `SYNTH_START` without an end: synthesis failed, or the log ends in it.
    #[default]
    Synthesizing,
    /// Synthesized, not yet handed over.
    Synthesized,
    /// Handed over, never picked up.
    Queued,
    /// Picked up, never started, and no line says why.
    PickedUp,
    /// Started, never ended.
    Proving,
    /// Ended with success.
    Completed,
    /// Failed with its own reason.
    Failed,
    /// Skipped because its job had failed already.
    Skipped,
    /// Ended, but its job had failed already.
    Discarded,
}

/// One prove call: from `GPU_START` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Index into [`Run::tasks`].
    pub task: u32,
    /// Worker.
    pub worker: Option<u32>,
    /// GPU.
    pub gpu: Option<u32>,
    /// How sure it is that the GPU-thread lines attributed to this call are its own.
    pub confidence: Confidence,
    /// Position in the order of the GPU's lock, from 0, where known.
    pub lock_seq: Option<u32>,
    /// Its `GPU_START`.
    pub start: At,
}

/// A line of trouble: everything that the articles' `grep` sought, and what it missed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What kind.
    pub kind: TroubleClass,
    /// The line.
    pub line: LineRef,
    /// Time, where the line or its neighbours give one.
    pub us: Option<i64>,
    /// CUDA error code.
    pub code: Option<i32>,
    /// The line's telling text.
    pub text: String,
    /// Job, as an index into [`Run::jobs`].
    pub job: Option<u32>,
    /// Task, as an index into [`Run::tasks`].
    pub task: Option<u32>,
}

/// Kinds of trouble lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TroubleClass {
    /// `host_register=fallback` or `prestage_setup=fallback`.
    Fallback,
    /// `prestage_setup=skip_vram`.
    SkipVram,
    /// A panic of a thread.
    Panic,
    /// A CUDA error.
    Cuda,
    /// The process died of it, as far as the line says.
    Abort,
    /// The error line of a failed partition, job or task.
    Failure,
    /// `skipping ... for failed job`, `discarding ...`: consequences.
    Consequence,
    /// A self-check or verification that failed.
    BadProof,
    /// Another line of level ERROR.
    Error,
    /// Another line of level WARN of the engine.
    Warning,
}

/// A memory, lock or synchronisation event of our own traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceEvent {
    /// When, and on which line.
    pub at: At,
    /// Job, as an index into [`Run::jobs`].
    pub job: Option<u32>,
    /// GPU, worker, partition.
    pub place: crate::event::Place,
    /// What.
    pub what: crate::event::What<'static>,
}

/// How a run ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunEnd {
    /// All jobs seen came to their end, or `TRACE_END` is there.
    #[default]
    Complete,
    /// The last line is cut: the process was killed or the copy broke off.
    Cut,
    /// Another daemon starts in the same file while jobs are open.
    Restarted,
    /// The log ends while jobs are open, without a sign of death.
    Open,
    /// A line says that the process aborted.
    Aborted,
}
