//! The recursion of a transform, forward (coefficients in natural order to values in bit-reversed
//! order) and back. Blocks are halved until they fit the cache without anyone asking its size;
//! large ones are shared between threads.

use super::roots::Roots;
use super::wide::Wide;
use blstrs::Scalar;
use rayon::prelude::*;

/// Blocks below this are not shared.
const SHARED_MIN: usize = 1 << 13;
/// What one thread takes of a quarter at a time.
const PIECE: usize = 1 << 10;
/// The smallest domain that the wide instructions are used on.
pub(super) const WIDE_MIN: usize = 64;

/// A transform with its roots. `block` is 0 for the modulus X^n − 1 and 1 for X^n + 1.
#[derive(Debug, Clone)]
pub(super) struct Transform {
    pub(super) roots: Roots,
    pub(super) wide: Option<Wide>,
}

impl Transform {
    /// Coefficients to values; without factors.
    pub(super) fn forward(&self, values: &mut [Scalar], block: usize) {
        match self.wide {
            Some(wide) => self.forward_wide(wide, values, block),
            None => self.forward_plain(values, block),
        }
    }

    /// Values to coefficients, times the number of them.
    pub(super) fn backward(&self, values: &mut [Scalar], block: usize) {
        match self.wide {
            Some(wide) => self.backward_wide(wide, values, block),
            None => self.backward_plain(values, block),
        }
    }

    fn forward_plain(&self, values: &mut [Scalar], block: usize) {
        let (low, high) = values.split_at_mut(values.len() / 2);
        if low.is_empty() {
            return;
        }
        let root = self.roots.forward(block);
        let both = low.par_iter_mut().zip(high.par_iter_mut());
        both.with_min_len(PIECE).for_each(|(a, b)| {
            let turned = *b * root;
            *b = *a - turned;
            *a += turned;
        });
        halves(low, high, |half, which| {
            self.forward_plain(half, 2 * block + which);
        });
    }

    fn backward_plain(&self, values: &mut [Scalar], block: usize) {
        let (low, high) = values.split_at_mut(values.len() / 2);
        if low.is_empty() {
            return;
        }
        halves(low, high, |half, which| {
            self.backward_plain(half, 2 * block + which);
        });
        let root = self.roots.backward(block);
        let both = low.par_iter_mut().zip(high.par_iter_mut());
        both.with_min_len(PIECE).for_each(|(a, b)| {
            let less = *b - *a;
            *a += *b;
            *b = less * root;
        });
    }

    fn forward_wide(&self, wide: Wide, values: &mut [Scalar], block: usize) {
        if let Ok(values) = <&mut [Scalar; WIDE_MIN]>::try_from(&mut *values) {
            wide.forward_quarters(quarters(values), self.roots_of(block, Roots::forward));
            for (at, sixteen) in values.chunks_mut(16).enumerate() {
                let (low, high) = sixteen.split_at_mut(8);
                wide.forward_halves(low, high, self.roots.forward(4 * block + at));
            }
            return wide.forward_blocks(values, 8 * block, &self.roots);
        }
        if values.len() == 2 * WIDE_MIN {
            let (low, high) = values.split_at_mut(WIDE_MIN);
            wide.forward_halves(low, high, self.roots.forward(block));
            self.forward_wide(wide, low, 2 * block);
            return self.forward_wide(wide, high, 2 * block + 1);
        }
        let roots = self.roots_of(block, Roots::forward);
        pieces(quarters(values), |pieces| {
            wide.forward_quarters(pieces, roots);
        });
        each(values, |quarter, which| {
            self.forward_wide(wide, quarter, 4 * block + which);
        });
    }

    fn backward_wide(&self, wide: Wide, values: &mut [Scalar], block: usize) {
        if let Ok(values) = <&mut [Scalar; WIDE_MIN]>::try_from(&mut *values) {
            wide.backward_blocks(values, 8 * block, &self.roots);
            for (at, sixteen) in values.chunks_mut(16).enumerate() {
                let (low, high) = sixteen.split_at_mut(8);
                wide.backward_halves(low, high, self.roots.backward(4 * block + at));
            }
            let roots = self.roots_of(block, Roots::backward);
            return wide.backward_quarters(quarters(values), roots);
        }
        if values.len() == 2 * WIDE_MIN {
            let (low, high) = values.split_at_mut(WIDE_MIN);
            self.backward_wide(wide, low, 2 * block);
            self.backward_wide(wide, high, 2 * block + 1);
            return wide.backward_halves(low, high, self.roots.backward(block));
        }
        each(values, |quarter, which| {
            self.backward_wide(wide, quarter, 4 * block + which);
        });
        let roots = self.roots_of(block, Roots::backward);
        pieces(quarters(values), |pieces| {
            wide.backward_quarters(pieces, roots);
        });
    }

    /// The root of a block and those of its halves.
    fn roots_of<'a>(
        &'a self,
        block: usize,
        root: impl Fn(&'a Roots, usize) -> &'a Scalar,
    ) -> [&'a Scalar; 3] {
        [block, 2 * block, 2 * block + 1].map(|block| root(&self.roots, block))
    }
}

fn quarters(values: &mut [Scalar]) -> [&mut [Scalar]; 4] {
    let (low, high) = values.split_at_mut(values.len() / 2);
    let (first, second) = low.split_at_mut(low.len() / 2);
    let (third, fourth) = high.split_at_mut(high.len() / 2);
    [first, second, third, fourth]
}

/// Runs `work` over pieces of the quarters that lie alike, on all threads if there is much to do.
fn pieces(quarters: [&mut [Scalar]; 4], work: impl Fn([&mut [Scalar]; 4]) + Sync) {
    if quarters[0].len() < SHARED_MIN {
        return work(quarters);
    }
    let [a, b, c, d] = quarters.map(|quarter| quarter.par_chunks_mut(PIECE));
    let alike = a.zip(b).zip(c).zip(d);
    alike.for_each(|(((a, b), c), d)| work([a, b, c, d]));
}

fn halves(low: &mut [Scalar], high: &mut [Scalar], work: impl Fn(&mut [Scalar], usize) + Sync) {
    if low.len() < SHARED_MIN {
        work(low, 0);
        return work(high, 1);
    }
    rayon::join(|| work(low, 0), || work(high, 1));
}

/// Runs `work` over every quarter.
fn each(values: &mut [Scalar], work: impl Fn(&mut [Scalar], usize) + Sync) {
    let length = values.len() / 4;
    if length < SHARED_MIN {
        let quarters = values.chunks_mut(length).enumerate();
        return quarters.for_each(|(which, quarter)| work(quarter, which));
    }
    let quarters = values.par_chunks_mut(length).enumerate();
    quarters.for_each(|(which, quarter)| work(quarter, which));
}
