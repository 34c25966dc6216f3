//! One typed line of any class: what `grammar` makes of the text that `scan` delivers.
//! Everything is borrowed from the line.

use std::borrow::Cow;

use crate::event::{Event, Place};
use crate::timing::Timing;

mod engine;

pub use engine::{
    BudgetNote, BudgetStep, EngineMessage, FinTiming, Flight, GpuTiming, Pacer, Params, ParamsKind,
    ParamsStep, PinnedPool, PinnedStep, Stage,
};

/// What one line says.
#[derive(Clone, Debug, PartialEq)]
pub enum Record<'a> {
    /// A `TIMELINE` line.
    Event(Event<'a>),
    /// A `CUZK_TIMING` or `CUZK_NTT_H` line.
    Timing(Timing<'a>),
    /// A line of tracing-subscriber or `env_logger`.
    Log(LogLine<'a>),
    /// A panic, a CUDA error, an abort.
    Trouble(TroubleLine<'a>),
    /// A line of the benchmark client.
    Bench(BenchLine),
    /// A memory-budget line of the engine in prose.
    Budget(Cow<'a, str>),
    /// Anything else; counted and located by the ledger, not typed.
    Foreign,
}

/// Level of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// TRACE
    Trace,
    /// DEBUG
    Debug,
    /// INFO
    Info,
    /// WARN
    Warn,
    /// ERROR
    Error,
}

/// A line of a logging library, escapes removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine<'a> {
    /// Time stamp.
    pub stamp: Option<Stamp>,
    /// Level.
    pub level: Level,
    /// Target, such as `cuzk_core::engine`.
    pub target: Cow<'a, str>,
    /// The message, before the event's own fields.
    pub message: Cow<'a, str>,
    /// Fields of the enclosing spans, outermost first, then the event's own; keys repeat.
    pub fields: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl LogLine<'_> {
    /// The innermost value of a field, quotes and `Some(..)` removed.
    pub fn field(&self, key: &str) -> Option<&str> {
        let value = self
            .fields
            .iter()
            .rev()
            .find(|(name, _)| name == key)?
            .1
            .as_ref();
        let value = value
            .strip_prefix("Some(")
            .and_then(|v| v.strip_suffix(')'))
            .unwrap_or(value);
        Some(
            value
                .strip_prefix('"')
                .and_then(|v| v.strip_suffix('"'))
                .unwrap_or(value),
        )
    }

    /// The innermost value of a field as a number.
    pub fn number<T: std::str::FromStr>(&self, key: &str) -> Option<T> {
        self.field(key)?.parse().ok()
    }

    /// The job that the line is about, from its own fields or its spans.
    pub fn job(&self) -> Option<&str> {
        self.field("job_id")
    }

    /// GPU, worker and partition that the line is about.
    pub fn place(&self) -> Place {
        Place {
            gpu: self.number("gpu"),
            worker: self.number("worker_id"),
            partition: self.number("partition"),
        }
    }
}

/// A time stamp of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp {
    /// Microseconds since 1970-01-01T00:00:00 of the stamp's own clock.
    pub unix_us: i64,
    /// Whether the stamp says that it is UTC (or gives an offset, already applied). Without it
    /// the clock is the host's local one and must not be compared with UTC stamps.
    pub utc: bool,
}

/// A line that reports trouble outside the logging library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TroubleLine<'a> {
    /// What kind.
    pub kind: TroubleKind,
    /// CUDA error code, from the text or the number.
    pub code: Option<i32>,
    /// The telling part of the line: the panic's message or place, the error text.
    pub text: Cow<'a, str>,
    /// Source file and line named by the message.
    pub site: Option<Cow<'a, str>>,
}

/// Kinds of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TroubleKind {
    /// `thread '..' panicked at ..`; the message may be on this line or the next.
    Panic,
    /// A line of a panic's message behind its header, if it tells nothing more special.
    PanicMessage,
    /// A failed CUDA call.
    Cuda,
    /// A failed `OpenCL` call.
    OpenCl,
    /// `terminate called`, `fatal runtime error`, a signal, the kernel's out-of-memory killer.
    Abort,
}

/// A line of the benchmark client.
#[derive(Clone, Debug, PartialEq)]
pub enum BenchLine {
    /// `=== Batch Benchmark ===` and the like.
    Header,
    /// `count:`
    Count(u64),
    /// `concurrency:`
    Concurrency(u64),
    /// One proof: `[i/N] STATUS — S.Ss (prove=.. ms, queue=.. ms)`
    Proof {
        /// i, 1-based, in submit order.
        index: u64,
        /// N.
        of: u64,
        /// `COMPLETED`, `FAILED`, ...
        completed: bool,
        /// The status word.
        status: String,
        /// Wall time in seconds.
        wall_s: f64,
        /// Sum over partitions; 0 on any failure, which then means nothing.
        prove_ms: u64,
        /// Queue wait.
        queue_ms: u64,
    },
    /// `completed:` of the summary.
    Completed(u64),
    /// `failed:` of the summary.
    Failed(u64),
    /// `total time:` in seconds.
    TotalTime(f64),
    /// `throughput:` in proofs a minute.
    Throughput(f64),
    /// Any other line of its output.
    Other,
}
