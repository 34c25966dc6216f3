//! A step: an op, whose it is, what follows a failure, and what was recorded of it.

use std::fmt;

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
    Fallback(String),
}

impl OnError {
    /// Reads `abort`, `ignore` or `fallback:<label>`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "abort" => Some(Self::Abort),
            "ignore" => Some(Self::Ignore),
            _ => match text.strip_prefix("fallback:") {
                Some(label) if !label.is_empty() => Some(Self::Fallback(label.to_owned())),
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
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The operation.
    pub op: Op,
    /// The GPU worker that runs it.
    pub worker: Option<u32>,
    /// The host thread, where a worker has several.
    pub thread: Option<u64>,
    /// The job it belongs to; arbitrary text.
    pub job: Option<String>,
    /// The partition of that job.
    pub partition: Option<u32>,
    /// The name of the buffer concerned.
    pub buf: Option<String>,
    /// The card, as an index into the header's list; absent means 0.
    pub gpu: Option<u32>,
    /// What follows a failure.
    pub on_error: OnError,
    /// What was recorded.
    pub truth: Truth,
    /// Keys that this version does not know, kept as they are.
    pub extra: Extra,
}

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
            thread: None,
            job: None,
            partition: None,
            buf: None,
            gpu: None,
            on_error: OnError::Abort,
            truth: Truth::default(),
            extra: Extra::new(),
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
        self.buf = Some(buf.to_owned());
        self
    }

    /// The same step with another consequence of failure.
    #[must_use]
    pub fn or_else(mut self, on_error: OnError) -> Self {
        self.on_error = on_error;
        self
    }

    /// Whether a key is one that the format defines for this step.
    pub(super) fn defines(&self, key: &str) -> bool {
        COMMON_KEYS.contains(&key) || Op::keys_of(self.op.name()).contains(&key)
    }
}
