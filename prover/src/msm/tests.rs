//! The sums against the naive ones, on scalars and bases chosen to be awkward.

use super::*;
use ff::Field;
use group::{Curve as _, Group};
use proptest::prelude::*;

/// Splitmix64, so that a case is a seed.
struct Mix(u64);

impl Mix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    fn scalar(&mut self) -> Scalar {
        let mut sum = Scalar::from(self.next());
        for _ in 0..4 {
            sum = sum * Scalar::from(u64::MAX) + Scalar::from(self.next());
        }
        sum
    }

    /// One scalar of the given mix: the kinds that real witnesses and bad luck are made of.
    fn scalar_of(&mut self, kind: u8) -> Scalar {
        match kind {
            0 => Scalar::ZERO,
            1 => Scalar::ONE,
            2 => -Scalar::ONE,
            3 => Scalar::from(self.next() & 0xffff),
            4 => -Scalar::from(self.next() & 0xffff),
            5 => Scalar::from(self.next() >> 1),
            6 => Scalar::from(2).pow_vartime([self.next() % 255]),
            7 => Scalar::from(2).invert().unwrap_or(Scalar::ONE),
            _ => self.scalar(),
        }
    }
}

/// Bases of which every third repeats, opposes or extends a neighbour, or is infinity.
fn bases_g1(count: usize, mix: &mut Mix) -> Vec<G1Affine> {
    let mut sum = G1Projective::generator() * mix.scalar();
    let mut bases: Vec<G1Affine> = Vec::with_capacity(count);
    for _ in 0..count {
        sum = sum.double() + G1Projective::generator();
        bases.push(match (mix.next() % 12, bases.last()) {
            (0, Some(&last)) => last,
            (1, Some(&last)) => -last,
            (2, _) => G1Affine::identity(),
            _ => sum.to_affine(),
        });
    }
    bases
}

fn bases_g2(count: usize, mix: &mut Mix) -> Vec<G2Affine> {
    let mut sum = G2Projective::generator() * mix.scalar();
    let mut bases: Vec<G2Affine> = Vec::with_capacity(count);
    for _ in 0..count {
        sum = sum.double() + G2Projective::generator();
        bases.push(match (mix.next() % 12, bases.last()) {
            (0, Some(&last)) => last,
            (1, Some(&last)) => -last,
            (2, _) => G2Affine::identity(),
            _ => sum.to_affine(),
        });
    }
    bases
}

fn naive_g1(bases: &[G1Affine], scalars: &[Scalar]) -> G1Projective {
    bases
        .iter()
        .zip(scalars)
        .map(|(base, scalar)| base * scalar)
        .sum()
}

fn naive_g2(bases: &[G2Affine], scalars: &[Scalar]) -> G2Projective {
    bases
        .iter()
        .zip(scalars)
        .map(|(base, scalar)| base * scalar)
        .sum()
}

#[test]
fn nothing_sums_to_infinity() {
    assert_eq!(g1(&[], &[]), G1Projective::identity());
    assert_eq!(g2(&[], &[]), G2Projective::identity());
    assert_eq!(
        g1_gather(&[], &[Scalar::ONE], &[0]),
        G1Projective::identity()
    );
    let infinite = [G1Affine::identity(); 9];
    assert_eq!(
        g1(&infinite, &[Scalar::from(5); 9]),
        G1Projective::identity()
    );
}

#[test]
fn every_kind_of_scalar_alone_and_in_a_row() {
    let mut mix = Mix(7);
    for kind in 0..9 {
        for count in [1, 2, 3, 17, 100] {
            let bases = bases_g1(count, &mut mix);
            let scalars: Vec<Scalar> = (0..count).map(|_| mix.scalar_of(kind)).collect();
            assert_eq!(
                g1(&bases, &scalars),
                naive_g1(&bases, &scalars),
                "{kind} × {count}"
            );
        }
        let bases = bases_g2(33, &mut mix);
        let scalars: Vec<Scalar> = (0..33).map(|_| mix.scalar_of(kind)).collect();
        assert_eq!(
            g2(&bases, &scalars),
            naive_g2(&bases, &scalars),
            "{kind} in G2"
        );
    }
}

#[test]
fn one_base_and_one_scalar_repeated() {
    let mut mix = Mix(8);
    let base = bases_g1(1, &mut mix)[0];
    let scalar = mix.scalar();
    for count in [2_u32, 64, 1000] {
        let bases = vec![base; count as usize];
        let sum = g1(&bases, &vec![scalar; count as usize]);
        assert_eq!(sum, base * (scalar * Scalar::from(u64::from(count))));
        assert_eq!(
            g1(&bases, &vec![Scalar::ONE; count as usize]),
            base * Scalar::from(u64::from(count))
        );
    }
}

#[test]
fn opposite_bases_cancel() {
    let mut mix = Mix(9);
    let half = bases_g1(500, &mut mix);
    let scalars: Vec<Scalar> = (0..500).map(|_| mix.scalar_of(8)).collect();
    let bases: Vec<G1Affine> = half.iter().flat_map(|&base| [base, -base]).collect();
    let twice: Vec<Scalar> = scalars
        .iter()
        .flat_map(|&scalar| [scalar, scalar])
        .collect();
    assert_eq!(g1(&bases, &twice), G1Projective::identity());
}

#[test]
fn a_longer_list_is_cut_and_an_index_past_the_end_is_zero() {
    let mut mix = Mix(10);
    let bases = bases_g1(20, &mut mix);
    let scalars: Vec<Scalar> = (0..12).map(|_| mix.scalar()).collect();
    assert_eq!(g1(&bases, &scalars), naive_g1(&bases, &scalars));
    let sum = g1_gather(&bases, &scalars, &[11, 0, 12, u32::MAX, 0]);
    let zero = Scalar::ZERO;
    let picked = [scalars[11], scalars[0], zero, zero, scalars[0]];
    assert_eq!(sum, naive_g1(&bases, &picked));
}

#[test]
fn thousands_of_points_agree_with_blst() {
    let mut mix = Mix(11);
    for count in [1 << 10, 5000] {
        let bases = bases_g1(count, &mut mix);
        let scalars: Vec<Scalar> = (0..count).map(|_| mix.scalar()).collect();
        assert_eq!(g1(&bases, &scalars), naive_g1(&bases, &scalars));
    }
    let bases = bases_g2(1500, &mut mix);
    let scalars: Vec<Scalar> = (0..1500).map(|_| mix.scalar()).collect();
    assert_eq!(g2(&bases, &scalars), naive_g2(&bases, &scalars));
}

#[test]
fn the_assembly_and_the_wide_instructions_agree() {
    let mut mix = Mix(12);
    for count in [1, 9, 700, 3000] {
        let bases = bases_g1(count, &mut mix);
        let scalars: Vec<Scalar> = (0_u8..40)
            .cycle()
            .take(count)
            .map(|kind| mix.scalar_of(kind))
            .collect();
        let sum = pippenger::sum::<G1, field::Assembly>(&bases, terms(&scalars));
        assert_eq!(sum, naive_g1(&bases, &scalars), "{count} in G1");
        assert_eq!(sum, g1(&bases, &scalars), "{count} in G1");
    }
    let bases = bases_g2(300, &mut mix);
    let scalars: Vec<Scalar> = (0_u8..20)
        .cycle()
        .take(300)
        .map(|kind| mix.scalar_of(kind))
        .collect();
    let sum = pippenger::sum::<G2, Quadratic<field::Assembly>>(&bases, terms(&scalars));
    assert_eq!(sum, g2(&bases, &scalars));
    assert_eq!(sum, naive_g2(&bases, &scalars));
}

fn terms(scalars: &[Scalar]) -> Terms {
    Terms::sort(scalars.len(), |index| &scalars[index])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_mix_agrees_with_the_naive_sum(
        seed: u64,
        kinds in prop::collection::vec(0_u8..12, 0..200),
    ) {
        let mut mix = Mix(seed);
        let bases = bases_g1(kinds.len(), &mut mix);
        let scalars: Vec<Scalar> = kinds.iter().map(|&kind| mix.scalar_of(kind)).collect();
        prop_assert_eq!(g1(&bases, &scalars), naive_g1(&bases, &scalars));
    }

    #[test]
    fn gathered_is_the_sum_of_the_gathered(
        seed: u64,
        indices in prop::collection::vec(0_u32..50, 0..100),
    ) {
        let mut mix = Mix(seed);
        let values: Vec<Scalar> = (0..50).map(|kind| mix.scalar_of(kind % 12)).collect();
        let scalars: Vec<Scalar> = indices.iter().map(|&at| values[at as usize]).collect();
        let bases = bases_g1(indices.len(), &mut mix);
        let sum = g1_gather(&bases, &values, &indices);
        prop_assert_eq!(sum, naive_g1(&bases, &scalars));
        let bases = bases_g2(indices.len().min(30), &mut mix);
        let sum = g2_gather(&bases, &values, &indices);
        prop_assert_eq!(sum, naive_g2(&bases, &scalars));
    }

    #[test]
    fn the_sum_is_linear(seed: u64, count in 0_usize..150) {
        let mut mix = Mix(seed);
        let bases = bases_g1(count, &mut mix);
        let left: Vec<Scalar> = (0..count).map(|_| mix.scalar()).collect();
        let right: Vec<Scalar> = (0..count).map(|_| mix.scalar_of(3)).collect();
        let both: Vec<Scalar> = left.iter().zip(&right).map(|(a, b)| a + b).collect();
        prop_assert_eq!(g1(&bases, &both), g1(&bases, &left) + g1(&bases, &right));
    }
}
