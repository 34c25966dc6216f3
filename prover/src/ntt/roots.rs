//! The roots that a transform multiplies by, in the order in which its blocks come.
//!
//! A transform splits X^L − c into X^(L/2) − s and X^(L/2) + s with s² = c, so a block has one
//! root for all its butterflies. Block j of every level has the same s whatever the level is:
//! `roots[j]` is a root of unity of j's bits read backwards.

use blstrs::Scalar;
use ff::Field;
use rayon::prelude::*;

use super::PIECE;
use crate::scalars::Scalars;

/// s for every block; those of the modulus X^n + 1 follow on those of X^n − 1.
///
/// Holds 32 bytes a point of the domain.
#[derive(Debug, Clone)]
pub(super) struct Roots {
    roots: Scalars,
    minus_first: Scalar,
}

impl Roots {
    /// For 2^`log2` points, every root times `scale`; `of_order(k)` is a root of unity of order
    /// 2^k, the square of that for k + 1.
    pub(super) fn new(log2: u32, scale: Scalar, of_order: impl Fn(u32) -> Scalar) -> Self {
        let mut roots = Scalars::zeros(1 << log2);
        roots[0] = scale;
        for level in 0..log2 {
            let turn = of_order(level + 2);
            let (before, next) = roots.split_at_mut(1 << level);
            let both = next.par_iter_mut().zip(before);
            both.with_min_len(PIECE)
                .for_each(|(next, before)| *next = *before * turn);
        }
        Self {
            roots,
            minus_first: -scale,
        }
    }

    /// s of a block.
    pub(super) fn forward(&self, block: usize) -> &Scalar {
        &self.roots[block]
    }

    /// −1/s of a block: within a level, inverses are the roots in reverse order, negated.
    pub(super) fn backward(&self, block: usize) -> &Scalar {
        match block.checked_ilog2() {
            Some(level) => &self.roots[(3 << level) - 1 - block],
            None => &self.minus_first,
        }
    }

    /// The ratio of the roots to roots of unity.
    pub(super) fn scale(&self) -> Scalar {
        self.roots.first().copied().unwrap_or(Scalar::ONE)
    }
}
