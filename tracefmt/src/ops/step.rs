//! A step: an op, whose it is, what follows a failure, and what was recorded of it.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::{Extra, Op};

/// What a worker does when its op fails.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum OnError {
    /// The worker stops; its later ops do not run.
    #[default]
    Abort,
    /// The worker goes on as if nothing had happened.
    Ignore,
    /// The worker goes on at the label of this name.
    Fallback(Box<str>),
}

impl OnError {
    /// Reads `abort`, `ignore` or `fallback:<label>`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "abort" => Some(Self::Abort),
            "ignore" => Some(Self::Ignore),
            _ => match text.strip_prefix("fallback:") {
                Some(label) if !label.is_empty() => Some(Self::Fallback(label.into())),
                _ => None,
            },
        }
    }
}

impl fmt::Display for OnError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Abort => out.write_str("abort"),
            Self::Ignore => out.write_str("ignore"),
            Self::Fallback(label) => write!(out, "fallback:{label}"),
        }
    }
}

/// What the driver answered when the step really ran; absent where nothing was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Truth {
    /// The CUDA result code.
    pub rc: Option<u32>,
    /// Free bytes as `cudaMemGetInfo` gave them after the step.
    pub free: Option<u64>,
    /// Bytes that the default pool had reserved after the step.
    pub pool_reserved: Option<u64>,
    /// Bytes that the driver counted as used in the pool after the step.
    pub pool_used: Option<u64>,
}

/// One op of a schedule.
///
/// A schedule of millions of ops is read through one after another, and the time that takes is
/// the time of loading each; so what decides how an op runs fills one line of a processor's
/// cache, and all else lies beside it, shared between copies of the step.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The operation.
    pub op: Op,
    /// The GPU worker that runs it.
    pub worker: Option<u32>,
    /// The card, as an index into the header's list; absent means 0.
    pub gpu: Option<u32>,
    /// The CUDA result code that was recorded; [`Step::truth`] gives all that was.
    pub rc: Option<u32>,
    /// None if it says nothing, so that equal steps are equal part by part.
    rest: Option<Arc<Rest>>,
}

/// A line of a cache: of a step that grows beyond it two are loaded, and loading steps is half of
/// what plain replay does. With 280 bytes a step it took 1.7 times as long.
const _: () = assert!(size_of::<Step>() <= 64);

/// What a run looks at when a step fails, or when it tells of it.
#[derive(Debug, Clone, PartialEq, Default)]
struct Rest {
    thread: Option<u64>,
    partition: Option<u32>,
    job: Option<Box<str>>,
    buf: Option<Box<str>>,
    on_error: OnError,
    /// None if it says nothing.
    rare: Option<Box<Rare>>,
}

/// What few steps say.
#[derive(Debug, Clone, PartialEq, Default)]
struct Rare {
    free: Option<u64>,
    pool_reserved: Option<u64>,
    pool_used: Option<u64>,
    extra: Extra,
}

/// The rest of a step that says no more than its op.
static NO_REST: Rest = Rest {
    thread: None,
    partition: None,
    job: None,
    buf: None,
    on_error: OnError::Abort,
    rare: None,
};

static NO_EXTRA: Extra = Extra::new();

/// The keys that may stand on any op.
pub(super) const COMMON_KEYS: &[&str] = &[
    "op",
    "worker",
    "thread",
    "job",
    "partition",
    "buf",
    "gpu",
    "on_error",
    "rc",
    "free",
    "pool_reserved",
    "pool_used",
];

impl Step {
    /// A step that says nothing but its op.
    pub fn new(op: Op) -> Self {
        Self {
            op,
            worker: None,
            gpu: None,
            rc: None,
            rest: None,
        }
    }

    /// The same step on a worker.
    #[must_use]
    pub fn on_worker(mut self, worker: u32) -> Self {
        self.worker = Some(worker);
        self
    }

    /// The same step about a named buffer.
    #[must_use]
    pub fn about(mut self, buf: &str) -> Self {
        self.set_buf(Some(buf));
        self
    }

    /// The same step with another consequence of failure.
    #[must_use]
    pub fn or_else(mut self, on_error: OnError) -> Self {
        self.set_on_error(on_error);
        self
    }

    /// The host thread, where a worker has several.
    pub fn thread(&self) -> Option<u64> {
        self.rest().thread
    }

    /// Says which host thread.
    pub fn set_thread(&mut self, thread: Option<u64>) {
        if self.thread() != thread {
            self.change(|rest| rest.thread = thread);
        }
    }

    /// The job it belongs to; arbitrary text.
    pub fn job(&self) -> Option<&str> {
        self.rest().job.as_deref()
    }

    /// Says which job it belongs to.
    pub fn set_job(&mut self, job: Option<&str>) {
        if self.job() != job {
            self.change(|rest| rest.job = job.map(Box::from));
        }
    }

    /// The partition of that job.
    pub fn partition(&self) -> Option<u32> {
        self.rest().partition
    }

    /// Says which partition.
    pub fn set_partition(&mut self, partition: Option<u32>) {
        if self.partition() != partition {
            self.change(|rest| rest.partition = partition);
        }
    }

    /// The name of the buffer concerned.
    pub fn buf(&self) -> Option<&str> {
        self.rest().buf.as_deref()
    }

    /// Names the buffer concerned.
    pub fn set_buf(&mut self, buf: Option<&str>) {
        if self.buf() != buf {
            self.change(|rest| rest.buf = buf.map(Box::from));
        }
    }

    /// What follows a failure.
    pub fn on_error(&self) -> &OnError {
        &self.rest().on_error
    }

    /// Says what follows a failure.
    pub fn set_on_error(&mut self, on_error: OnError) {
        if self.on_error() != &on_error {
            self.change(|rest| rest.on_error = on_error);
        }
    }

    /// What was recorded.
    pub fn truth(&self) -> Truth {
        let rare = self.rest().rare.as_deref();
        Truth {
            rc: self.rc,
            free: rare.and_then(|rare| rare.free),
            pool_reserved: rare.and_then(|rare| rare.pool_reserved),
            pool_used: rare.and_then(|rare| rare.pool_used),
        }
    }

    /// Says what was recorded.
    pub fn set_truth(&mut self, truth: Truth) {
        self.rc = truth.rc;
        if self.truth() != truth {
            self.change_rare(|rare| {
                rare.free = truth.free;
                rare.pool_reserved = truth.pool_reserved;
                rare.pool_used = truth.pool_used;
            });
        }
    }

    /// Keys that this version does not know, kept as they are.
    pub fn extra(&self) -> &Extra {
        let rare = self.rest().rare.as_deref();
        rare.map_or(&NO_EXTRA, |rare| &rare.extra)
    }

    /// Says what else is known.
    pub fn set_extra(&mut self, extra: Extra) {
        if *self.extra() != extra {
            self.change_rare(|rare| rare.extra = extra);
        }
    }

    /// Adds a key that this version does not know.
    pub fn add_extra(&mut self, key: &str, value: Value) {
        self.change_rare(|rare| drop(rare.extra.insert(key.to_owned(), value)));
    }

    /// Whether a key is one that the format defines for this step.
    pub(super) fn defines(&self, key: &str) -> bool {
        COMMON_KEYS.contains(&key) || Op::keys_of(self.op.name()).contains(&key)
    }

    fn rest(&self) -> &Rest {
        self.rest.as_deref().unwrap_or(&NO_REST)
    }

    fn change(&mut self, change: impl FnOnce(&mut Rest)) {
        let rest = Arc::make_mut(self.rest.get_or_insert_default());
        change(rest);
        if *rest == NO_REST {
            self.rest = None;
        }
    }

    fn change_rare(&mut self, change: impl FnOnce(&mut Rare)) {
        self.change(|rest| {
            let rare = rest.rare.get_or_insert_default();
            change(rare);
            if **rare == Rare::default() {
                rest.rare = None;
            }
        });
    }
}
