//! The curve arithmetic that parameters need and blstrs does not offer: coordinates, sums of
//! scattered points, subgroup membership. The only caller of blst's functions in this folder.
#![expect(
    unsafe_code,
    reason = "blst is a C library; each call says why it is sound"
)]

use blst::{blst_fp, blst_fp2, blst_p1, blst_p1_affine, blst_p2, blst_p2_affine};
use blstrs::{G1Affine, G2Affine};

/// A coordinate: an element of Fp or Fp2 in Montgomery form.
pub(crate) trait Coordinate: Copy + Default + PartialEq + Send + Sync {
    /// The element one.
    fn one() -> Self;
    /// The sum.
    fn add(&self, b: &Self) -> Self;
    /// The difference.
    fn sub(&self, b: &Self) -> Self;
    /// The product.
    fn mul(&self, b: &Self) -> Self;
    /// The square.
    fn square(&self) -> Self;
    /// The inverse, and zero for zero.
    fn inverse(&self) -> Self;
}

/// Wraps one blst function of two elements.
macro_rules! binary {
    ($name:ident, $function:path) => {
        #[inline]
        fn $name(&self, b: &Self) -> Self {
            let mut out = Self::default();
            // SAFETY: blst reads two elements and writes one; all three are live, and `out` is
            // another place than both inputs.
            unsafe { $function(&raw mut out, self, b) };
            out
        }
    };
}

/// Wraps one blst function of one element.
macro_rules! unary {
    ($name:ident, $function:path) => {
        #[inline]
        fn $name(&self) -> Self {
            let mut out = Self::default();
            // SAFETY: blst reads one element and writes one, both live and apart.
            unsafe { $function(&raw mut out, self) };
            out
        }
    };
}

impl Coordinate for blst_fp {
    fn one() -> Self {
        let (mut out, limbs) = (Self::default(), [1, 0, 0, 0, 0, 0]);
        // SAFETY: blst reads six limbs, which `limbs` has, and writes one element.
        unsafe { blst::blst_fp_from_uint64(&raw mut out, limbs.as_ptr()) };
        out
    }
    binary!(add, blst::blst_fp_add);
    binary!(sub, blst::blst_fp_sub);
    binary!(mul, blst::blst_fp_mul);
    unary!(square, blst::blst_fp_sqr);
    unary!(inverse, blst::blst_fp_eucl_inverse);
}

impl Coordinate for blst_fp2 {
    fn one() -> Self {
        Self {
            fp: [blst_fp::one(), blst_fp::default()],
        }
    }
    binary!(add, blst::blst_fp2_add);
    binary!(sub, blst::blst_fp2_sub);
    binary!(mul, blst::blst_fp2_mul);
    unary!(square, blst::blst_fp2_sqr);
    unary!(inverse, blst::blst_fp2_eucl_inverse);
}

/// An affine point of one of the two groups; the identity is (0, 0), as in blst.
pub(crate) trait Affine: Copy + Send + Sync {
    /// Of its coordinates.
    type Coordinate: Coordinate;

    /// Its coordinates.
    fn coordinates(&self) -> (Self::Coordinate, Self::Coordinate);
    /// The point of these coordinates, which the caller knows to lie on the curve.
    fn of(x: Self::Coordinate, y: Self::Coordinate) -> Self;
    /// The neutral point.
    fn identity() -> Self;
    /// The opposite point.
    fn negated(&self) -> Self;
    /// Whether the sum of `points` lies in the subgroup of prime order.
    fn sum_in_subgroup(points: &[&Self]) -> bool;
}

/// Implements [`Affine`] over blst's functions of one group.
macro_rules! affine {
    ($group:ty, $coordinate:ty, $raw:ident, $jacobian:ident, $add:path, $to:path, $in:path) => {
        impl Affine for $group {
            type Coordinate = $coordinate;

            #[inline]
            fn coordinates(&self) -> ($coordinate, $coordinate) {
                let raw: &$raw = self.as_ref();
                (raw.x, raw.y)
            }

            #[inline]
            fn of(x: $coordinate, y: $coordinate) -> Self {
                let mut point = Self::default();
                *point.as_mut() = $raw { x, y };
                point
            }

            fn identity() -> Self {
                Self::default()
            }

            #[inline]
            fn negated(&self) -> Self {
                -*self
            }

            fn sum_in_subgroup(points: &[&Self]) -> bool {
                let raw: Vec<*const $raw> = points
                    .iter()
                    .map(|point| std::ptr::from_ref::<$raw>(point.as_ref()))
                    .collect();
                let (mut sum, mut affine) = ($jacobian::default(), $raw::default());
                // SAFETY: `raw` holds as many pointers as it is said to, each to a point that
                // `points` borrows; blst writes the sum only.
                unsafe { $add(&raw mut sum, raw.as_ptr(), raw.len()) };
                // SAFETY: blst reads one point and writes another.
                unsafe { $to(&raw mut affine, &raw const sum) };
                // SAFETY: blst reads one point.
                unsafe { $in(&raw const affine) }
            }
        }
    };
}

affine!(
    G1Affine,
    blst_fp,
    blst_p1_affine,
    blst_p1,
    blst::blst_p1s_add,
    blst::blst_p1_to_affine,
    blst::blst_p1_affine_in_g1
);
affine!(
    G2Affine,
    blst_fp2,
    blst_p2_affine,
    blst_p2,
    blst::blst_p2s_add,
    blst::blst_p2_to_affine,
    blst::blst_p2_affine_in_g2
);

#[cfg(test)]
mod tests {
    use blstrs::{G1Projective, G2Projective, Scalar};
    use group::prime::PrimeCurveAffine as _;
    use group::{Curve as _, Group as _};

    use super::*;

    fn field<C: Coordinate + std::fmt::Debug>(a: C) {
        let one = C::one();
        assert_eq!(a.mul(&one), a);
        assert_eq!(a.mul(&a.inverse()), one);
        assert_eq!(a.mul(&a), a.square());
        assert_eq!(a.add(&a).sub(&a), a);
        assert_eq!(C::default().inverse(), C::default());
    }

    #[test]
    fn coordinates_are_a_field() {
        field(G1Affine::generator().coordinates().1);
        field(G2Affine::generator().coordinates().1);
    }

    #[test]
    fn a_point_is_what_its_coordinates_say() {
        let point = (G2Projective::generator() * Scalar::from(9)).to_affine();
        let (x, y) = point.coordinates();
        assert_eq!(G2Affine::of(x, y), point);
    }

    #[test]
    fn sums_of_members_are_members_and_of_none_is_too() {
        let g1: Vec<G1Affine> = (1..40u64)
            .map(|k| (G1Projective::generator() * Scalar::from(k)).to_affine())
            .collect();
        for count in [0, 1, 2, 39] {
            let points: Vec<&G1Affine> = g1.iter().take(count).collect();
            assert!(G1Affine::sum_in_subgroup(&points), "{count}");
        }
        let [p, minus] = [G1Affine::generator(), -G1Affine::generator()];
        assert!(G1Affine::sum_in_subgroup(&[&p, &minus]));
    }
}
