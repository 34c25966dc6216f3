//! Parts and unions of evidence, run by run.

use super::{Column, Evidence};

impl Column {
    /// The entries of some runs, in their order.
    fn part(&self, runs: &[usize]) -> Self {
        Self {
            quantum_ms: self.quantum_ms,
            partitions: self.partitions,
            warmup: pick(&self.warmup, runs),
            ln_ms: pick(&self.ln_ms, runs),
            n: pick(&self.n, runs),
            spread: pick(&self.spread, runs),
            phi: pick(&self.phi, runs),
            mean: pick(&self.mean, runs),
        }
    }

    fn extend(&mut self, other: &Self) {
        let known = |column: &Self| column.mean.len() == column.ln_ms.len();
        if known(self) && known(other) {
            self.mean.extend(&other.mean);
        } else {
            self.mean.clear();
        }
        self.quantum_ms = self.quantum_ms.max(other.quantum_ms);
        self.partitions = self.partitions.max(other.partitions);
        self.warmup.extend(&other.warmup);
        self.ln_ms.extend(&other.ln_ms);
        self.n.extend(&other.n);
        self.spread.extend(&other.spread);
        self.phi.extend(&other.phi);
    }
}

fn pick<T: Copy>(values: &[T], runs: &[usize]) -> Vec<T> {
    runs.iter()
        .filter_map(|run| values.get(*run))
        .copied()
        .collect()
}

impl Evidence {
    /// The evidence of some runs, by index; problems are not carried over.
    #[must_use]
    pub fn part(&self, runs: &[usize]) -> Self {
        Self {
            key: self.key.clone(),
            runs: runs
                .iter()
                .filter_map(|run| self.runs.get(*run))
                .cloned()
                .collect(),
            phases: self
                .phases
                .iter()
                .map(|(name, c)| (name.clone(), c.part(runs)))
                .collect(),
            exact: self.exact.clone(),
            unverified: self.unverified,
            problems: Vec::new(),
        }
    }

    /// The runs of both, for the phases that both have. A run name that is taken gets a suffix.
    #[must_use]
    pub fn joined(mut self, other: &Self) -> Self {
        self.phases
            .retain(|name, _| other.phases.contains_key(name));
        for (name, column) in &mut self.phases {
            if let Some(more) = other.phases.get(name) {
                column.extend(more);
            }
        }
        for run in &other.runs {
            let mut run = run.clone();
            while self.runs.iter().any(|known| known.id == run.id) {
                run.id.push('+');
            }
            self.runs.push(run);
        }
        for (name, value) in &other.exact {
            let most = self.exact.entry(name.clone()).or_insert(*value);
            *most = (*most).max(*value);
        }
        self.unverified |= other.unverified;
        self
    }
}
