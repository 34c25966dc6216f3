//! What the client of a benchmark printed of a run.

use super::LineRef;

/// What the benchmark client printed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bench {
    /// First line of its output.
    pub line: LineRef,
    /// `count:`
    pub count: Option<u64>,
    /// `concurrency:`
    pub concurrency: Option<u64>,
    /// Wall seconds and prove milliseconds of each proof, with its status word and line.
    pub proofs: Vec<BenchProof>,
    /// `total time:` in seconds.
    pub total_s: Option<f64>,
    /// `completed:`
    pub completed: Option<u64>,
    /// `failed:`
    pub failed: Option<u64>,
    /// Proofs a minute.
    pub throughput: Option<f64>,
}

/// One proof of the benchmark client.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchProof {
    /// 1-based, in submit order.
    pub index: u64,
    /// `COMPLETED`, `FAILED`, ...
    pub status: String,
    /// Wall time in seconds.
    pub wall_s: f64,
    /// Sum over partitions, milliseconds; 0 on any failure.
    pub prove_ms: u64,
    /// Its line.
    pub line: LineRef,
}
