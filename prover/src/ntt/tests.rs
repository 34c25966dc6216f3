//! Transforms against the sum that defines them, against each other, and the quotient against a
//! product of polynomials.

use super::*;
use proptest::prelude::*;

fn scalars(count: usize, seed: u64) -> Vec<Scalar> {
    let mut value = Scalar::from(seed) + Scalar::from(3);
    let step = |_| {
        value = value.square() + Scalar::from(seed ^ 0x5bd1);
        value
    };
    (0..count).map(step).collect()
}

fn at(coefficients: &[Scalar], point: Scalar) -> Scalar {
    coefficients
        .iter()
        .rev()
        .fold(Scalar::ZERO, |sum, &next| sum * point + next)
}

fn naive(coefficients: &[Scalar], shift: Scalar, omega: Scalar) -> Vec<Scalar> {
    let point = |index: usize| shift * omega.pow_vartime([index as u64]);
    (0..coefficients.len())
        .map(|index| at(coefficients, point(index)))
        .collect()
}

#[test]
fn a_domain_has_a_root_of_exactly_its_order() {
    for log2 in 0..18 {
        let domain = Domain::new(log2).unwrap();
        assert_eq!(domain.size(), 1 << log2);
        assert_eq!(domain.generator().pow_vartime([1_u64 << log2]), Scalar::ONE);
        if log2 > 0 {
            assert_eq!(
                domain.generator().pow_vartime([1_u64 << (log2 - 1)]),
                -Scalar::ONE
            );
        }
    }
}

#[test]
fn what_is_too_large_or_of_another_length_is_refused() {
    let error = Domain::new(33).unwrap_err();
    assert!(matches!(error, ProverError::DomainTooLarge { log2: 33 }));
    let domain = Domain::new(3).unwrap();
    let error = domain.fft(&mut scalars(7, 1)).unwrap_err();
    assert!(matches!(
        error,
        ProverError::DomainLength {
            expected: 8,
            found: 7
        }
    ));
    assert!(domain.icoset_fft(&mut scalars(16, 1)).is_err());
    let (mut a, mut b) = (scalars(8, 1), scalars(9, 2));
    assert!(domain.quotient(&mut a, &mut b, |_| ()).is_err());
}

#[test]
fn transforms_are_the_sums_that_define_them() {
    for log2 in 0..9 {
        let domain = Domain::new(log2).unwrap();
        let coefficients = scalars(domain.size(), u64::from(log2));
        let mut values = coefficients.clone();
        domain.fft(&mut values).unwrap();
        assert_eq!(
            values,
            naive(&coefficients, Scalar::ONE, domain.generator()),
            "2^{log2}"
        );
        let mut values = coefficients.clone();
        domain.coset_fft(&mut values).unwrap();
        let coset = naive(&coefficients, Scalar::from(7), domain.generator());
        assert_eq!(values, coset, "coset, 2^{log2}");
    }
}

#[test]
fn large_transforms_have_the_right_value_at_a_few_points() {
    for log2 in [12, 13, 16] {
        let domain = Domain::new(log2).unwrap();
        let coefficients = scalars(domain.size(), 5);
        let mut values = coefficients.clone();
        domain.fft(&mut values).unwrap();
        for index in [0, 1, 2, 77, domain.size() / 2, domain.size() - 1] {
            let point = domain.generator().pow_vartime([index as u64]);
            assert_eq!(
                values[index],
                at(&coefficients, point),
                "2^{log2} at {index}"
            );
        }
    }
}

#[test]
fn there_and_back_is_where_one_was() {
    for log2 in 0..15 {
        let domain = Domain::new(log2).unwrap();
        let before = scalars(domain.size(), 9);
        let mut values = before.clone();
        domain.fft(&mut values).unwrap();
        domain.ifft(&mut values).unwrap();
        assert_eq!(values, before, "2^{log2}");
        domain.coset_fft(&mut values).unwrap();
        domain.icoset_fft(&mut values).unwrap();
        assert_eq!(values, before, "coset, 2^{log2}");
    }
}

#[test]
fn extremes_of_the_field_survive() {
    let domain = Domain::new(8).unwrap();
    for value in [Scalar::ZERO, Scalar::ONE, -Scalar::ONE] {
        let before = vec![value; 256];
        let mut values = before.clone();
        domain.fft(&mut values).unwrap();
        assert_eq!(values[0], value * Scalar::from(256));
        assert!(values[1..].iter().all(|value| *value == Scalar::ZERO));
        domain.ifft(&mut values).unwrap();
        assert_eq!(values, before);
    }
}

/// A·B − C for polynomials of n coefficients, divided by Xⁿ − 1 by hand.
fn divided(a: &[Scalar], b: &[Scalar], c: &[Scalar]) -> Vec<Scalar> {
    let size = a.len();
    let mut product = vec![Scalar::ZERO; 2 * size];
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            product[i + j] += a * b;
        }
    }
    for (at, c) in c.iter().enumerate() {
        product[at] -= c;
    }
    let quotient = product[size..].to_vec();
    for (at, part) in quotient.iter().enumerate() {
        assert_eq!(
            product[at] + part,
            Scalar::ZERO,
            "the remainder is not zero"
        );
    }
    quotient
}

#[test]
fn the_quotient_is_what_long_division_gives() {
    for log2 in 0..8 {
        let domain = Domain::new(log2).unwrap();
        let (mut a, mut b) = (scalars(domain.size(), 21), scalars(domain.size(), 22));
        let c: Vec<Scalar> = a.iter().zip(&b).map(|(a, b)| a * b).collect();
        let coefficients = |values: &[Scalar]| {
            let mut values = values.to_vec();
            domain.ifft(&mut values).unwrap();
            values
        };
        let expected = divided(&coefficients(&a), &coefficients(&b), &coefficients(&c));
        let fill = |values: &mut [Scalar]| values.copy_from_slice(&c);
        domain.quotient(&mut a, &mut b, fill).unwrap();
        assert_eq!(a, expected, "2^{log2}");
        assert_eq!(a[domain.size() - 1], Scalar::ZERO);
    }
}

#[test]
fn the_plain_and_the_wide_way_agree() {
    for log2 in 6..16 {
        let (plain, domain) = (
            Domain::with(log2, None).unwrap(),
            Domain::new(log2).unwrap(),
        );
        let [mut a, mut b, mut c] = [1, 2, 3].map(|seed| scalars(domain.size(), seed));
        let mut plainly = [a.clone(), b.clone(), c.clone()];
        domain.fft(&mut a).unwrap();
        domain.icoset_fft(&mut b).unwrap();
        domain.coset_fft(&mut c).unwrap();
        plain.fft(&mut plainly[0]).unwrap();
        plain.icoset_fft(&mut plainly[1]).unwrap();
        plain.coset_fft(&mut plainly[2]).unwrap();
        assert_eq!([&a, &b, &c], plainly.each_ref(), "2^{log2}");
        let fill = |values: &mut [Scalar]| values.copy_from_slice(&c);
        domain.quotient(&mut a, &mut b, fill).unwrap();
        let [left, right, _] = &mut plainly;
        plain.quotient(left, right, fill).unwrap();
        assert_eq!(a, *left, "quotient, 2^{log2}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_transform_is_linear(log2 in 0_u32..12, seed: u64, factor: u64) {
        let domain = Domain::new(log2).unwrap();
        let (mut left, mut right) = (scalars(domain.size(), seed), scalars(domain.size(), factor));
        let factor = Scalar::from(factor);
        let mut both: Vec<Scalar> = left.iter().zip(&right).map(|(a, b)| a + b * factor).collect();
        domain.coset_fft(&mut left).unwrap();
        domain.coset_fft(&mut right).unwrap();
        domain.coset_fft(&mut both).unwrap();
        let sums: Vec<Scalar> = left.iter().zip(&right).map(|(a, b)| a + b * factor).collect();
        prop_assert_eq!(both, sums);
    }

    #[test]
    fn a_product_of_values_is_a_cyclic_convolution(log2 in 0_u32..6, seed: u64) {
        let domain = Domain::new(log2).unwrap();
        let size = domain.size();
        let (a, b) = (scalars(size, seed), scalars(size, !seed));
        let mut expected = vec![Scalar::ZERO; size];
        for (i, a) in a.iter().enumerate() {
            for (j, b) in b.iter().enumerate() {
                expected[(i + j) % size] += a * b;
            }
        }
        let (mut left, mut right) = (a, b);
        domain.fft(&mut left).unwrap();
        domain.fft(&mut right).unwrap();
        left.iter_mut().zip(&right).for_each(|(a, b)| *a *= b);
        domain.ifft(&mut left).unwrap();
        prop_assert_eq!(left, expected);
    }
}
