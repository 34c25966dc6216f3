//! The passes of a transform on a device: where each loads and stores its points, and by which
//! powers it multiplies them before and after. What a pass computes stands in `ntt.cu`; here is no
//! device, so that the order can be checked anywhere. `bits` are the passes' binary logarithms, as
//! [`split`](super::tables::split) has them.
//!
//! A transform over a coset of generator g multiplies coefficient j by g^j. With
//! j = k0 + k1·2^b0 + k2·2^(b0 + b1) that is a power of g a pass, by the row that is the
//! coefficient's in it. The passes of an inverse transform multiply by theirs when they store, and
//! those of a forward one when they load: there the powers between two passes are multiplied by
//! anyway, and a table has the products. What is left is the last factor, 2^b2 values, on the pass
//! that has no table.

/// Where the points of a pass's small transforms lie: transform q begins at
/// (q / 2^bits)·outer + (q mod 2^bits)·inner, its points are `step` apart.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// From one run of transforms to the next.
    pub outer: u64,
    /// From one transform to the next.
    pub inner: u64,
    /// From one point to the next.
    pub step: u64,
    /// Binary logarithm of a run.
    pub bits: u32,
    /// Nothing: the struct is as long on the device.
    pub pad: u32,
}

impl Walk {
    /// Where transform q begins.
    pub const fn start(&self, q: u64) -> u64 {
        (q >> self.bits) * self.outer + (q & ((1 << self.bits) - 1)) * self.inner
    }
}

/// What a pass multiplies a point by, or a frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    /// Nothing.
    None,
    /// A power of the domain's root, number of the row times number of the column; over a coset
    /// also the generator to the number of the row.
    Outer,
    /// The same for the inner passes, and 1/n.
    Inner,
    /// Over a coset, the generator's power by the row alone.
    Rows,
}

/// Which way a transform goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From coefficients to values.
    Forward,
    /// From values to coefficients, 1/n included.
    Inverse,
}

/// One pass: 2^(log2 − bits) transforms of 2^bits points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Binary logarithm of a transform's points.
    pub bits: u32,
    /// Where the points are.
    pub load: Walk,
    /// Where the frequencies go.
    pub store: Walk,
    /// Factor of the points.
    pub before: Factor,
    /// Factor of the frequencies.
    pub after: Factor,
    /// Binary logarithm of the columns: the places of one row.
    pub columns: u32,
    /// Whether it loads from the second buffer.
    pub from_second: bool,
    /// Whether it stores to the second buffer.
    pub to_second: bool,
}

/// From natural to natural order. Over a coset the passes of a forward transform are those from the
/// in-place order, the first of them from one buffer into a second; of all others the last is.
pub fn natural(bits: [u32; 3], way: Way, coset: bool) -> Vec<Pass> {
    if coset && way == Way::Forward {
        let mut passes = from_in_place(bits, true);
        for (number, pass) in passes.iter_mut().enumerate() {
            if number == 0 {
                pass.load = last_walks(bits).1;
            }
            pass.from_second = number > 0;
            pass.to_second = true;
        }
        return passes;
    }
    let mut passes = to_in_place(bits, coset);
    if let Some(last) = passes.last_mut() {
        last.store = last_walks(bits).1;
        last.to_second = true;
    }
    passes
}

/// From the natural order to that of [`frequency`](super::tables::frequency), in one buffer. Over a
/// coset the results are multiplied: that is for an inverse transform.
pub fn to_in_place(bits: [u32; 3], coset: bool) -> Vec<Pass> {
    let mut passes = decimation(bits);
    if let Some(last) = passes.last_mut() {
        last.load = last_walks(bits).0;
        last.store = last.load;
        if coset {
            last.after = Factor::Rows;
        }
    }
    passes
}

/// From the order of [`frequency`](super::tables::frequency) to the natural one, in one buffer.
/// Over a coset the points are multiplied: that is for a forward transform.
pub fn from_in_place(bits: [u32; 3], coset: bool) -> Vec<Pass> {
    let mut passes = to_in_place(bits, coset);
    for pass in &mut passes {
        (pass.before, pass.after) = (pass.after, Factor::None);
    }
    passes.reverse();
    passes
}

/// The passes over columns `[before][pass][after]`, in place, factors when storing.
fn decimation(bits: [u32; 3]) -> Vec<Pass> {
    let mut columns = bits.iter().sum::<u32>();
    let pass = |(number, own): (usize, u32)| {
        columns -= own;
        let walk = Walk {
            outer: 1 << (columns + own),
            inner: 1,
            step: 1 << columns,
            bits: columns,
            pad: 0,
        };
        Pass {
            bits: own,
            load: walk,
            store: walk,
            before: Factor::None,
            after: match (columns, number) {
                (0, _) => Factor::None,
                (_, 0) => Factor::Outer,
                _ => Factor::Inner,
            },
            columns,
            from_second: false,
            to_second: false,
        }
    };
    let passes = bits.into_iter().filter(|&own| own > 0);
    passes.enumerate().map(pass).collect()
}

/// Where the last pass loads, neighbouring transforms being neighbours in the natural order, and
/// where its frequencies belong in that order.
fn last_walks(bits: [u32; 3]) -> (Walk, Walk) {
    let (first, middle, last) = match bits {
        [first, last, 0] => (first, 0, last),
        [first, middle, last] => (first, middle, last),
    };
    let load = Walk {
        outer: 1 << last,
        inner: 1 << (middle + last),
        step: 1,
        bits: first,
        pad: 0,
    };
    let natural = Walk {
        outer: 1 << first,
        inner: 1,
        step: 1 << (first + middle),
        bits: first,
        pad: 0,
    };
    (load, natural)
}

#[cfg(test)]
mod tests {
    use blstrs::Scalar;
    use ff::{Field as _, PrimeField as _};

    use super::*;
    use crate::ntt::Domain;
    use crate::plan::tables::{LOG2_RANGE, frequency, split};

    fn root_of_order(log2: u32) -> Scalar {
        (log2..Scalar::S).fold(Scalar::ROOT_OF_UNITY, |root, _| root.square())
    }

    fn powers(base: Scalar, count: usize) -> Vec<Scalar> {
        std::iter::successors(Some(Scalar::ONE), |power| Some(power * base))
            .take(count)
            .collect()
    }

    /// Does the passes one after the other, as the kernels do, with the CPU's small transforms.
    struct Twin {
        bits: [u32; 3],
        way: Way,
        /// Powers of the root of this direction.
        roots: Vec<Scalar>,
        /// Powers of the coset's generator, or of its inverse.
        coset: Vec<Scalar>,
        /// 1/n or one.
        scale: Scalar,
        on_coset: bool,
    }

    fn log2(bits: [u32; 3]) -> u32 {
        bits.iter().sum()
    }

    impl Twin {
        fn new(bits: [u32; 3], way: Way, g: Scalar, on_coset: bool) -> Self {
            let inverse = |base: Scalar| base.invert().expect("not zero");
            let turned = |base: Scalar| match way {
                Way::Forward => base,
                Way::Inverse => inverse(base),
            };
            let n = 1_u32 << log2(bits);
            Self {
                bits,
                way,
                roots: powers(turned(root_of_order(log2(bits))), n as usize),
                coset: powers(turned(g), n as usize),
                scale: match way {
                    Way::Forward => Scalar::ONE,
                    Way::Inverse => inverse(Scalar::from(u64::from(n))),
                },
                on_coset,
            }
        }

        fn factor(&self, pass: &Pass, factor: Factor, q: u64, row: u64) -> Scalar {
            let column = q & ((1 << pass.columns) - 1);
            let power = |exponent: u64| {
                self.roots[usize::try_from(exponent).expect("small") % self.roots.len()]
            };
            let rows = |pass_before: u32| {
                let exponent = usize::try_from(row << pass_before).expect("small");
                if self.on_coset {
                    self.coset[exponent]
                } else {
                    Scalar::ONE
                }
            };
            let [first, middle, last] = self.bits;
            // 1/n goes with the last table that there is.
            match (factor, last) {
                (Factor::None, _) => Scalar::ONE,
                (Factor::Outer, 0) => power(row * column) * self.scale * rows(0),
                (Factor::Outer, _) => power(row * column) * rows(0),
                // The root of the inner points is a power of the whole one's.
                (Factor::Inner, _) => power((row * column) << first) * self.scale * rows(first),
                (Factor::Rows, 0) => rows(first),
                (Factor::Rows, _) => rows(first + middle),
            }
        }

        fn run(&self, passes: &[Pass], values: &[Scalar]) -> Vec<Scalar> {
            let mut buffers = [values.to_vec(), vec![Scalar::from(5); values.len()]];
            for pass in passes {
                let domain = Domain::new(pass.bits).expect("small");
                let data = &buffers[usize::from(pass.from_second)];
                let mut out = vec![Scalar::ZERO; data.len()];
                let points = 1_u64 << pass.bits;
                let at = |walk: &Walk, q: u64, row: u64| {
                    usize::try_from(walk.start(q) + row * walk.step).expect("small")
                };
                for q in 0..1_u64 << (log2(self.bits) - pass.bits) {
                    let mut x: Vec<Scalar> = (0..points)
                        .map(|row| {
                            let value = data[at(&pass.load, q, row)];
                            value * self.factor(pass, pass.before, q, row)
                        })
                        .collect();
                    domain.fft(&mut x).expect("as many as points");
                    if self.way == Way::Inverse {
                        x[1..].reverse();
                    }
                    for (row, value) in (0..points).zip(x) {
                        let value = value * self.factor(pass, pass.after, q, row);
                        out[at(&pass.store, q, row)] = value;
                    }
                }
                buffers[usize::from(pass.to_second)] = out;
            }
            let last = passes.last().expect("a pass");
            buffers[usize::from(last.to_second)].clone()
        }
    }

    fn random(n: usize) -> Vec<Scalar> {
        let step = Scalar::from(0x9e37_79b9_7f4a_7c15).square();
        powers(step, n + 1)[1..].to_vec()
    }

    /// Passes of any size: what the walks do does not depend on it.
    const SPLITS: [[u32; 3]; 8] = [
        [5, 5, 0],
        [6, 5, 0],
        [3, 2, 0],
        [2, 3, 0],
        [3, 3, 3],
        [4, 3, 2],
        [2, 3, 4],
        [5, 5, 1],
    ];

    #[test]
    fn natural_transforms_are_the_cpus() {
        for bits in SPLITS {
            let cpu = Domain::new(log2(bits)).expect("small");
            let values = random(1 << log2(bits));
            for way in [Way::Forward, Way::Inverse] {
                for coset in [false, true] {
                    let mut want = values.clone();
                    match (way, coset) {
                        (Way::Forward, false) => cpu.fft(&mut want),
                        (Way::Inverse, false) => cpu.ifft(&mut want),
                        (Way::Forward, true) => cpu.coset_fft(&mut want),
                        (Way::Inverse, true) => cpu.icoset_fft(&mut want),
                    }
                    .expect("lengths fit");
                    let twin = Twin::new(bits, way, Scalar::from(7), coset);
                    let found = twin.run(&natural(bits, way, coset), &values);
                    assert!(found == want, "{bits:?}, {way:?}, coset {coset}");
                }
            }
        }
    }

    #[test]
    fn the_in_place_order_is_that_of_frequency() {
        for bits in SPLITS {
            let cpu = Domain::new(log2(bits)).expect("small");
            let values = random(1 << log2(bits));
            for coset in [false, true] {
                let mut want = values.clone();
                if coset {
                    cpu.icoset_fft(&mut want).expect("lengths fit");
                } else {
                    cpu.ifft(&mut want).expect("lengths fit");
                }
                let twin = Twin::new(bits, Way::Inverse, Scalar::from(7), coset);
                let found = twin.run(&to_in_place(bits, coset), &values);
                for (place, value) in (0..).zip(&found) {
                    let number = usize::try_from(frequency(place, bits)).expect("small");
                    assert!(
                        *value == want[number],
                        "{bits:?}, coset {coset}, place {place}"
                    );
                }
            }
        }
    }

    #[test]
    fn there_and_to_the_coset() {
        for bits in SPLITS {
            let cpu = Domain::new(log2(bits)).expect("small");
            let values = random(1 << log2(bits));
            for coset in [false, true] {
                let mut want = values.clone();
                if coset {
                    cpu.ifft(&mut want).expect("lengths fit");
                    cpu.coset_fft(&mut want).expect("lengths fit");
                }
                let g = Scalar::from(7);
                let there = Twin::new(bits, Way::Inverse, g, false);
                let there = there.run(&to_in_place(bits, false), &values);
                let back = Twin::new(bits, Way::Forward, g, coset);
                let found = back.run(&from_in_place(bits, coset), &there);
                assert!(found == want, "{bits:?}, coset {coset}");
            }
        }
    }

    #[test]
    fn natural_transforms_leave_their_buffer_once() {
        for log2 in LOG2_RANGE {
            let bits = split(log2);
            for passes in [to_in_place(bits, true), from_in_place(bits, true)] {
                let in_place =
                    |pass: &Pass| !pass.from_second && !pass.to_second && pass.load == pass.store;
                assert!(passes.iter().all(in_place));
            }
            for (way, coset) in [
                (Way::Forward, false),
                (Way::Forward, true),
                (Way::Inverse, true),
            ] {
                let passes = natural(bits, way, coset);
                let from: Vec<bool> = passes.iter().map(|pass| pass.from_second).collect();
                let to: Vec<bool> = passes.iter().map(|pass| pass.to_second).collect();
                assert_eq!((from.first(), to.last()), (Some(&false), Some(&true)));
                assert_eq!(from[1..], to[..to.len() - 1]);
                assert!(to.is_sorted());
                // Where places change, the buffer does.
                let moves = |pass: &&Pass| pass.load != pass.store;
                assert!(
                    passes
                        .iter()
                        .filter(moves)
                        .all(|pass| !pass.from_second && pass.to_second)
                );
            }
        }
    }

    #[test]
    fn a_coset_costs_one_product_a_point() {
        for log2 in LOG2_RANGE {
            let bits = split(log2);
            let factors = |passes: &[Pass]| {
                let of =
                    |pass: &Pass| [pass.before, pass.after].map(|of| u32::from(of != Factor::None));
                passes.iter().flat_map(of).sum::<u32>()
            };
            for way in [Way::Forward, Way::Inverse] {
                let [plain, coset] = [false, true].map(|coset| factors(&natural(bits, way, coset)));
                assert_eq!(coset, plain + 1);
            }
        }
    }
}
