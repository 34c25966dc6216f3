//! A golden as TOML: sorted, floats rounded, so that a diff shows what changed and nothing else.

use std::path::Path;

use super::{SCHEMA, SCHEMA_OLDEST, Snapshot};
use crate::GoldenError;
use crate::evidence::Column;

/// Six decimals of log time are a ten-thousandth of a per cent.
pub(super) fn round(x: f64) -> f64 {
    let rounded = (x * 1e6).round() / 1e6;
    if rounded.is_finite() { rounded } else { x }
}

impl Column {
    /// The same without its first `skip` runs.
    pub(super) fn latest(&self, skip: usize) -> Self {
        Self {
            quantum_ms: self.quantum_ms,
            partitions: self.partitions,
            warmup: self.warmup[skip..].to_vec(),
            ln_ms: self.ln_ms[skip..].to_vec(),
            n: self.n[skip..].to_vec(),
            spread: self.spread[skip..].to_vec(),
            phi: self.phi[skip..].to_vec(),
            mean: self.mean.get(skip..).unwrap_or_default().to_vec(),
        }
    }

    /// The same as a text holds it.
    pub(super) fn rounded(&self) -> Self {
        let all = |values: &[f64]| values.iter().map(|x| round(*x)).collect();
        Self {
            quantum_ms: self.quantum_ms,
            partitions: self.partitions,
            warmup: self.warmup.clone(),
            ln_ms: all(&self.ln_ms),
            n: self.n.clone(),
            spread: all(&self.spread),
            phi: all(&self.phi),
            mean: all(&self.mean),
        }
    }

    /// Whether every column has one finite entry a run.
    fn whole(&self, runs: usize) -> bool {
        let lengths = [
            self.warmup.len(),
            self.n.len(),
            self.spread.len(),
            self.phi.len(),
            self.ln_ms.len(),
        ];
        lengths.iter().all(|length| *length == runs)
            && (self.mean.is_empty() || self.mean.len() == runs)
            && self.mean.iter().all(|x| x.is_finite())
            && self.ln_ms.iter().all(|x| x.is_finite())
            && self.quantum_ms.is_finite()
            && self.quantum_ms >= 0.0
    }
}

impl Snapshot {
    /// The text of the file.
    ///
    /// # Errors
    /// A value that TOML has no form for.
    pub fn to_toml(&self) -> Result<String, GoldenError> {
        let body = toml::to_string(self).map_err(|error| GoldenError::Encode {
            what: error.to_string(),
        })?;
        Ok(format!(
            "# Golden timings. Written by `cuzk golden accept`; do not edit.\n\
             # ln_ms: per run, the median of the natural logarithm of the time in ms.\n{body}"
        ))
    }

    /// Reads such a text; `path` only names it in errors.
    ///
    /// # Errors
    /// Another schema, text that is no TOML of this form, or columns that do not fit the runs.
    pub fn from_toml(text: &str, path: &Path) -> Result<Self, GoldenError> {
        let bad = |what: String| GoldenError::Snapshot {
            path: path.to_owned(),
            what,
        };
        let head: Head = toml::from_str(text).map_err(|error| bad(error.to_string()))?;
        if !(SCHEMA_OLDEST..=SCHEMA).contains(&head.schema) {
            return Err(GoldenError::Schema {
                expected: SCHEMA,
                found: head.schema,
            });
        }
        let snapshot: Self = toml::from_str(text).map_err(|error| bad(error.to_string()))?;
        let runs = snapshot.runs.len();
        for (name, column) in &snapshot.phases {
            if !column.whole(runs) {
                return Err(bad(format!(
                    "phase {name} does not have one entry for each run"
                )));
            }
        }
        Ok(snapshot)
    }
}

/// Enough of the file to know its schema.
#[derive(serde::Deserialize)]
struct Head {
    schema: u32,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::Key;
    use crate::evidence::RunInfo;
    use crate::snapshot::{Acceptance, Accepted, Anchor};
    use proptest::prelude::*;

    fn snapshot(ln_ms: Vec<f64>) -> Snapshot {
        let runs = ln_ms.len();
        let column = Column {
            quantum_ms: 1.0,
            partitions: 10,
            warmup: vec![1; runs],
            n: vec![9; runs],
            spread: vec![0.01; runs],
            phi: vec![-0.25; runs],
            mean: vec![0.02; runs],
            ln_ms: ln_ms.into_iter().map(round).collect(),
        };
        Snapshot {
            schema: SCHEMA,
            unverified: false,
            key: Key {
                gpu: Some("H200 \"x\"".to_owned()),
                domain: Some(1 << 27),
                ..Key::default()
            },
            accepted: Some(Acceptance {
                by: "a".to_owned(),
                ..Acceptance::default()
            }),
            anchor: Some(Anchor {
                runs,
                ..Anchor::default()
            }),
            exact: BTreeMap::from([("vram_peak_bytes".to_owned(), 1 << 34)]),
            phases: BTreeMap::from([("ntt msm, h".to_owned(), column)]),
            runs: (0..runs)
                .map(|at| RunInfo {
                    id: format!("b{at}"),
                    ..RunInfo::default()
                })
                .collect(),
            history: vec![Accepted {
                acceptance: Acceptance::default(),
                ratios: BTreeMap::from([("p".to_owned(), 1.03)]),
            }],
        }
    }

    proptest! {
        #[test]
        fn reading_what_was_written_is_the_identity(
            ln_ms in prop::collection::vec(-3.0_f64..12.0, 0..9),
        ) {
            let golden = snapshot(ln_ms);
            let text = golden.to_toml().unwrap();
            let back = Snapshot::from_toml(&text, Path::new("x")).unwrap();
            prop_assert_eq!(&back, &golden);
            prop_assert_eq!(back.to_toml().unwrap(), text);
        }
    }

    #[test]
    fn a_newer_schema_says_so_before_anything_else() {
        let error = Snapshot::from_toml("schema = 9\nnews = 1\n", Path::new("g.toml")).unwrap_err();
        assert!(error.to_string().contains("schema 9"), "{error}");
    }

    #[test]
    fn a_golden_of_the_first_schema_is_read() {
        let old = include_str!("../../testdata/schema-1.toml");
        let golden = Snapshot::from_toml(old, Path::new("g.toml")).unwrap();
        assert_eq!((golden.schema, golden.runs.len()), (1, 2));
        assert_eq!(golden.key.partition_workers, None);
        assert_eq!(golden.key.digest(), "4960e7d3", "its file keeps its name");
    }

    #[test]
    fn a_column_that_does_not_fit_is_refused() {
        let mut golden = snapshot(vec![1.0, 2.0]);
        golden.runs.pop();
        let text = golden.to_toml().unwrap();
        let error = Snapshot::from_toml(&text, Path::new("g.toml"))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("g.toml") && error.contains("ntt msm, h"),
            "{error}"
        );
        assert!(Snapshot::from_toml("", Path::new("g.toml")).is_err());
    }
}
