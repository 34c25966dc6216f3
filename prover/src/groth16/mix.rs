//! How many values of an assignment are bits: what decides the cost of its sums.

use blstrs::Scalar;
use ff::Field as _;
use rayon::prelude::*;
use serde::Serialize;

use super::Assignment;

/// Values of the auxiliary variables, counted. A partition of a real PoRep has 51 % zeros, 47 %
/// ones and 1.6 % others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Mix {
    /// How many are 0.
    pub zeros: usize,
    /// How many are 1.
    pub ones: usize,
    /// How many are anything else.
    pub dense: usize,
}

impl Mix {
    /// The mix of an assignment.
    pub fn of(assignment: &Assignment) -> Self {
        let one = |value: &Scalar| Self {
            zeros: usize::from(*value == Scalar::ZERO),
            ones: usize::from(*value == Scalar::ONE),
            dense: usize::from(*value != Scalar::ZERO && *value != Scalar::ONE),
        };
        let values = assignment.aux.par_iter().with_min_len(1 << 12);
        values.map(one).reduce(Self::default, |left, right| Self {
            zeros: left.zeros + right.zeros,
            ones: left.ones + right.ones,
            dense: left.dense + right.dense,
        })
    }

    /// Zeros, ones and others in percent of all; nothing of nothing.
    pub fn percent(&self) -> [f64; 3] {
        let all = (self.zeros + self.ones + self.dense).max(1) as f64;
        [self.zeros, self.ones, self.dense].map(|count| 100.0 * count as f64 / all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuits::by_name;
    use crate::groth16::Shape;

    fn mix(circuit: &str, log2: u32) -> Mix {
        let family = by_name(circuit, log2).expect("known");
        let (_, values) = Shape::record(family.example().circuit).expect("recorded");
        Mix::of(&values)
    }

    #[test]
    fn values_are_counted_once_each() {
        let aux = [0, 1, 1, 2, 3, 0, 1].map(Scalar::from).to_vec();
        let inputs = vec![Scalar::ONE];
        let mix = Mix::of(&Assignment { inputs, aux });
        assert_eq!((mix.zeros, mix.ones, mix.dense), (2, 3, 2));
        assert!(Mix::default().percent().iter().sum::<f64>().abs() < 1e-9);
    }

    #[test]
    fn circuits_have_the_mix_that_they_are_for() {
        let dense = mix("mimc", 8);
        assert_eq!((dense.zeros, dense.ones), (0, 0));
        let [zeros, ones, dense] = mix("sha256", 15).percent();
        assert!(
            dense < 0.01 && zeros > 30.0 && ones > 30.0,
            "{zeros} {ones} {dense}"
        );
        // A real partition: 51.3, 47.1 and 1.6.
        let [zeros, ones, dense] = mix("porep-shaped", 18).percent();
        assert!((zeros - 51.3).abs() < 5.0, "{zeros} % zeros");
        assert!((ones - 47.1).abs() < 5.0, "{ones} % ones");
        assert!((dense - 1.6).abs() < 1.0, "{dense} % others");
    }
}
