//! Tables made on the processor and passes done there as the kernels do them, against the
//! processor's own transforms: what is left to the device is the arithmetic of a pass.

use rayon::prelude::*;

use super::tables::{Exponents, Maker, SCALE_PLACE, SCALE_TWIDDLE, Side, Spec};
use super::*;
use crate::ntt::Domain;
use crate::plan::tables::frequency;

type Table = Vec<Scalar>;

struct OnHost;

/// scale·base^e for e below n.
fn powers(base: Scalar, scale: Scalar, n: u64) -> impl Iterator<Item = Scalar> {
    let powers = std::iter::successors(Some(scale), move |power| Some(*power * base));
    (0..n).zip(powers).map(|(_, power)| power)
}

impl Maker for OnHost {
    type Table = Table;

    fn powers(&mut self, spec: &Spec, n: u64) -> Result<Table, ProverError> {
        let power = |base: Scalar, exponent: u64| base.pow_vartime([exponent]);
        Ok(match spec.exponents {
            Exponents::Multiples(stride) => {
                assert_eq!(spec.rows, Scalar::ONE, "there are no rows");
                powers(power(spec.base, stride), spec.scale, n).collect()
            }
            Exponents::Products(bits) => (0..n >> bits)
                .flat_map(|row| {
                    let scale = spec.scale * power(spec.rows, row);
                    powers(power(spec.base, row), scale, 1 << bits)
                })
                .collect(),
        })
    }

    fn constants(&mut self, base: Scalar, n: u64) -> Result<Table, ProverError> {
        Ok(powers(base, Scalar::ONE, n).collect())
    }
}

fn at(place: u64) -> usize {
    usize::try_from(place).expect("small")
}

fn factor(side: &Side<'_, Table>, pass: &Pass, q: u64, row: u64) -> Scalar {
    let column = q & ((1 << pass.columns) - 1);
    let own = side.rows.map_or(Scalar::ONE, |rows| rows[at(row)]);
    let exponent = match side.kind {
        SCALE_TWIDDLE => row * column,
        SCALE_PLACE => (row << pass.columns) + column,
        _ => return own,
    };
    let low = side.low.expect("a table");
    own * match side.high {
        None => low[at(exponent)],
        Some(high) => {
            low[at(exponent & ((1 << side.low_bits) - 1))] * high[at(exponent >> side.low_bits)]
        }
    }
}

/// A domain and one direction of its transforms, on it or over the coset that the processor has.
struct Twin {
    log2: u32,
    way: Way,
    direction: Direction<Table>,
}

impl Twin {
    fn new(log2: u32, whole: u32, way: Way, coset: bool) -> Self {
        let turn = turn(log2, way, coset.then(|| Scalar::from(7)));
        let direction = Direction::new(&mut OnHost, &turn, (log2, whole)).expect("it is made");
        Self {
            log2,
            way,
            direction,
        }
    }

    fn run(&self, passes: &[Pass], values: &[Scalar]) -> Vec<Scalar> {
        let mut buffers = [values.to_vec(), vec![Scalar::from(5); values.len()]];
        for pass in passes {
            let data = &buffers[usize::from(pass.from_second)];
            let mut out = vec![Scalar::ZERO; data.len()];
            let domain = Domain::new(pass.bits).expect("small");
            let [load, store] = self.direction.sides(pass);
            for q in 0..1_u64 << (self.log2 - pass.bits) {
                let mut x: Vec<Scalar> = (0..1_u64 << pass.bits)
                    .map(|row| {
                        let value = data[at(pass.load.start(q) + row * pass.load.step)];
                        value * factor(&load, pass, q, row)
                    })
                    .collect();
                domain.fft(&mut x).expect("as many as points");
                if self.way == Way::Inverse {
                    x[1..].reverse();
                }
                for (row, value) in (0..).zip(x) {
                    let place = at(pass.store.start(q) + row * pass.store.step);
                    out[place] = value * factor(&store, pass, q, row);
                }
            }
            buffers[usize::from(pass.to_second)] = out;
        }
        let last = passes.last().expect("a pass");
        buffers[usize::from(last.to_second)].clone()
    }
}

fn random(n: u64) -> Vec<Scalar> {
    let step = Scalar::from(0x9e37_79b9_7f4a_7c15).square();
    powers(step, step, n).collect()
}

/// What the processor makes of values.
fn want(log2: u32, way: Way, coset: bool, values: &[Scalar]) -> Vec<Scalar> {
    let (cpu, mut values) = (Domain::new(log2).expect("small"), values.to_vec());
    match (way, coset) {
        (Way::Forward, false) => cpu.fft(&mut values),
        (Way::Inverse, false) => cpu.ifft(&mut values),
        (Way::Forward, true) => cpu.coset_fft(&mut values),
        (Way::Inverse, true) => cpu.icoset_fft(&mut values),
    }
    .expect("lengths fit");
    values
}

#[test]
fn transforms_by_their_tables_are_the_processors() {
    let sizes = [10, 11, 13, 16, 19];
    let cases = sizes.into_iter().flat_map(|log2| {
        let kinds = [false, true].map(|coset| [Way::Forward, Way::Inverse].map(|way| (way, coset)));
        let wholes = [27, log2 - 1];
        wholes.map(|whole| {
            kinds
                .as_flattened()
                .to_vec()
                .into_iter()
                .map(move |of| (log2, whole, of))
        })
    });
    let cases: Vec<_> = cases.flatten().collect();
    cases
        .into_par_iter()
        .for_each(|(log2, whole, (way, coset))| {
            let (values, bits) = (random(1 << log2), split(log2));
            let twin = Twin::new(log2, whole, way, coset);
            let said = format!("2^{log2}, whole to 2^{whole}, {way:?}, coset {coset}");
            let found = twin.run(&passes::natural(bits, way, coset), &values);
            assert!(found == want(log2, way, coset, &values), "{said}");
            // In place, in the way that the quotient goes.
            match way {
                Way::Inverse => {
                    let found = twin.run(&passes::to_in_place(bits, coset), &values);
                    let want = want(log2, way, coset, &values);
                    let right = |(place, value)| value == &want[at(frequency(place, bits))];
                    assert!((0..).zip(&found).all(right), "{said}, in place");
                }
                Way::Forward => {
                    let place = |place| values[at(frequency(place, bits))];
                    let moved: Vec<Scalar> = (0..1_u64 << log2).map(place).collect();
                    let found = twin.run(&passes::from_in_place(bits, coset), &moved);
                    assert!(found == want(log2, way, coset, &values), "{said}, in place");
                }
            }
        });
}

#[test]
fn the_roots_of_a_pass_are_of_order_512() {
    for way in [Way::Forward, Way::Inverse] {
        let Twin { direction, .. } = Twin::new(12, 27, way, true);
        let root = root_of_order(9);
        let base = match way {
            Way::Forward => root,
            Way::Inverse => root.invert().expect("not zero"),
        };
        assert_eq!(
            direction.roots,
            powers(base, Scalar::ONE, 512).collect::<Vec<_>>()
        );
        let eighths = [64, 128, 192].map(|e: usize| Constant::new(direction.roots[e]));
        assert_eq!(direction.w8, eighths);
    }
}
