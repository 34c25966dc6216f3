//! The result of a comparison, `cuzk.comparison/1`. Fields may be added, never changed.

use serde::{Deserialize, Serialize};

/// Schema name of [`Comparison`].
pub const SCHEMA: &str = "cuzk.comparison/1";

/// Two runs side by side: A is the reference, ratios are B over A.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// [`SCHEMA`].
    pub schema: String,
    /// Inputs of A and of B.
    pub inputs: [Vec<String>; 2],
    /// Whether times may be compared at all; if not, `phases` is empty.
    pub comparable: bool,
    /// Why not: each names what differs, with both values.
    pub reasons: Vec<String>,
    /// Names of the settings below that differ; those in `reasons` included.
    pub differs: Vec<String>,
    /// Both configurations, in a fixed order.
    pub settings: Vec<Setting>,
    /// Phases that either side has, sorted by name.
    pub phases: Vec<PhaseComparison>,
    /// Proofs over time.
    pub throughput: Throughput,
}

/// One line of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Name.
    pub name: String,
    /// Value in A; null where the log does not say.
    pub a: Option<String>,
    /// Value in B.
    pub b: Option<String>,
    /// Whether a difference forbids the comparison of times.
    pub shape: bool,
}

impl Setting {
    /// Whether both sides say something, and not the same.
    pub fn conflicts(&self) -> bool {
        self.a.is_some() && self.b.is_some() && self.a != self.b
    }
}

/// One phase on both sides, milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseComparison {
    /// Name, such as `ntt_msm_h`.
    pub phase: String,
    /// The phase that this one is a part of; never sum the two.
    pub nested_in: Option<String>,
    /// Durations in A.
    pub a_n: u64,
    /// Durations in B.
    pub b_n: u64,
    /// Median in A; null if A lacks the phase.
    pub a_ms: Option<f64>,
    /// Median in B.
    pub b_ms: Option<f64>,
    /// B over A; null if a side has no positive duration.
    pub ratio: Option<f64>,
    /// Lower end of the 95 % interval; null if the samples allow none.
    pub low: Option<f64>,
    /// Upper end of the 95 % interval.
    pub high: Option<f64>,
}

impl PhaseComparison {
    /// Whether the interval excludes 1.
    pub fn differs(&self) -> bool {
        self.low.is_some_and(|low| low > 1.0) || self.high.is_some_and(|high| high < 1.0)
    }
}

/// Proofs over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Throughput {
    /// Completed proofs in A.
    pub a_proofs: u64,
    /// Completed proofs in B.
    pub b_proofs: u64,
    /// Completed proofs a minute of A, from the first synthesis to the last event.
    pub a_per_minute: Option<f64>,
    /// The same of B.
    pub b_per_minute: Option<f64>,
    /// B over A; above 1 is faster. Null if a side completed nothing.
    pub ratio: Option<f64>,
}
