//! Factors that a transform on a device knows beforehand, as its kernels take them (`fr.cuh`): the
//! factor w itself, not in Montgomery form, and floor(w·2^256 / r). By the second a product needs
//! only the limbs that decide it (V. Shoup's method). Not here: the product.

use blstrs::Scalar;

/// −1/r mod 2^256.
const MINUS_INVERSE: [u32; 8] = [
    0xffff_ffff,
    0xffff_fffe,
    0xfffe_5bfd,
    0x53ba_5bff,
    0x0004_ec06,
    0x181b_2c17,
    0xd7bf_2839,
    0x3d44_3ab0,
];

/// A factor and its quotient, 32-bit limbs, the lowest first.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant {
    /// The factor, below r.
    pub factor: [u32; 8],
    /// floor(factor·2^256 / r).
    pub quotient: [u32; 8],
}

impl Constant {
    /// 32-bit words of one.
    pub const WORDS: usize = 16;

    /// Of a scalar. Its Montgomery form is w·2^256 − quotient·r, so quotient and form are each
    /// other's by −1/r mod 2^256.
    pub fn new(factor: Scalar) -> Self {
        let mut plain = [0; 8];
        for (limb, bytes) in plain.iter_mut().zip(factor.to_bytes_le().as_chunks().0) {
            *limb = u32::from_le_bytes(*bytes);
        }
        let form = blst::blst_fr::from(factor).l;
        let form = std::array::from_fn(|at| (form[at / 2] >> (32 * (at % 2)) & 0xffff_ffff) as u32);
        Self {
            factor: plain,
            quotient: low_product(form, MINUS_INVERSE),
        }
    }

    /// Factor, then quotient.
    pub fn words(&self) -> [u32; Self::WORDS] {
        std::array::from_fn(|at| match at.checked_sub(8) {
            None => self.factor[at],
            Some(at) => self.quotient[at],
        })
    }
}

/// a·b mod 2^256.
fn low_product(a: [u32; 8], b: [u32; 8]) -> [u32; 8] {
    let mut product = [0_u32; 8];
    for (at, limb) in a.into_iter().enumerate() {
        let mut carry = 0_u64;
        for (slot, other) in product.iter_mut().skip(at).zip(b) {
            carry += u64::from(limb) * u64::from(other) + u64::from(*slot);
            *slot = (carry & 0xffff_ffff) as u32;
            carry >>= 32;
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use ff::Field as _;
    use num_bigint::BigUint;

    use super::*;

    #[test]
    fn factors_and_quotients_are_those_of_big_integers() {
        let r = BigUint::from_bytes_le(&(-Scalar::ONE).to_bytes_le()) + 1_u32;
        let mut factors = vec![Scalar::ZERO, Scalar::ONE, -Scalar::ONE, Scalar::from(2)];
        let step = Scalar::from(0x9e37_79b9_7f4a_7c15).square();
        factors.extend(std::iter::successors(Some(step), |last| Some(*last * step)).take(500));
        for factor in factors {
            let constant = Constant::new(factor);
            let number = BigUint::from_bytes_le(&factor.to_bytes_le());
            assert_eq!(BigUint::from_slice(&constant.factor), number);
            let quotient = (number << 256_u32) / &r;
            assert_eq!(BigUint::from_slice(&constant.quotient), quotient);
            let words = constant.words();
            assert_eq!(words[..8], constant.factor);
            assert_eq!(words[8..], constant.quotient);
        }
    }
}
