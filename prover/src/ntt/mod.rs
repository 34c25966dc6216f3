//! Number-theoretic transforms over the scalar field of BLS12-381, and the quotient polynomial
//! that Groth16 makes with them. Runs on the rayon pool it is called from.

use crate::ProverError;
use blstrs::Scalar;
use ff::{Field, PrimeField};
use rayon::prelude::*;

#[cfg(test)]
mod tests;

/// The largest domain: 2^32 divides r − 1, 2^33 does not.
pub const LOG2_MAX: u32 = 32;
/// The coset of [`Domain::coset_fft`] is 7·H, as Filecoin's parameters have it.
pub const COSET_GENERATOR: u64 = 7;

/// The subgroup of order 2^log2 of the field, with what transforms over it need.
///
/// Every transform takes and gives values in natural order: `values[i]` is the coefficient of xⁱ,
/// or the value at ωⁱ.
#[derive(Debug, Clone)]
pub struct Domain {
    log2: u32,
    omega: Scalar,
    size_inverse: Scalar,
    /// ω^i for i below half the size.
    roots: Vec<Scalar>,
    roots_inverse: Vec<Scalar>,
}

impl Domain {
    /// The domain of 2^`log2` points.
    ///
    /// # Errors
    ///
    /// [`ProverError::DomainTooLarge`] above [`LOG2_MAX`].
    pub fn new(log2: u32) -> Result<Self, ProverError> {
        let omega = Self::root(log2)?;
        let half = (1_usize << log2) / 2;
        let omega_inverse = omega.pow_vartime([(1_u64 << log2) - 1]);
        let mut size_inverse = Scalar::ONE;
        for _ in 0..log2 {
            size_inverse *= Scalar::TWO_INV;
        }
        Ok(Self {
            log2,
            omega,
            size_inverse,
            roots: powers(omega, half),
            roots_inverse: powers(omega_inverse, half),
        })
    }

    /// How many points there are.
    pub fn size(&self) -> usize {
        1 << self.log2
    }

    /// ω, the generator of the domain.
    pub fn generator(&self) -> Scalar {
        self.omega
    }

    /// Coefficients to values on the domain.
    ///
    /// # Errors
    ///
    /// [`ProverError::DomainLength`] when there are not as many values as points.
    pub fn fft(&self, values: &mut [Scalar]) -> Result<(), ProverError> {
        self.check(values)?;
        decimate(values, &self.roots);
        reverse(values, self.log2);
        Ok(())
    }

    /// Values on the domain to coefficients.
    ///
    /// # Errors
    ///
    /// As [`Domain::fft`].
    pub fn ifft(&self, values: &mut [Scalar]) -> Result<(), ProverError> {
        self.check(values)?;
        decimate(values, &self.roots_inverse);
        reverse(values, self.log2);
        values
            .par_iter_mut()
            .with_min_len(1024)
            .for_each(|value| *value *= self.size_inverse);
        Ok(())
    }

    /// Coefficients to values on the coset 7·H.
    ///
    /// # Errors
    ///
    /// As [`Domain::fft`].
    pub fn coset_fft(&self, values: &mut [Scalar]) -> Result<(), ProverError> {
        self.check(values)?;
        scale(values, Scalar::from(COSET_GENERATOR));
        self.fft(values)
    }

    /// Values on the coset 7·H to coefficients.
    ///
    /// # Errors
    ///
    /// As [`Domain::fft`].
    pub fn icoset_fft(&self, values: &mut [Scalar]) -> Result<(), ProverError> {
        self.ifft(values)?;
        // Seven is not zero, so it has an inverse.
        let inverse = Scalar::from(COSET_GENERATOR)
            .invert()
            .unwrap_or(Scalar::ONE);
        scale(values, inverse);
        Ok(())
    }

    /// The coefficients of (A·B − C)/(Xⁿ − 1), left in `a`; `a`, `b` and `c` are the values of the
    /// three on the domain, and `b` and `c` are left as scratch. The last coefficient is zero.
    ///
    /// Six transforms: with ζⁿ = −1 the values of A·B on ζ·H give P = A·B mod (Xⁿ + 1), and
    /// since A·B = C + H·(Xⁿ − 1), P = C − 2H.
    ///
    /// # Errors
    ///
    /// As [`Domain::fft`], for the first of the three that has another length, and
    /// [`ProverError::DomainTooLarge`] for 2^32 points, where there is no ζ. When A·B − C is not
    /// divisible, which no satisfied circuit makes it, the result means nothing.
    pub fn quotient(
        &self,
        a: &mut [Scalar],
        b: &mut [Scalar],
        c: &mut [Scalar],
    ) -> Result<(), ProverError> {
        let zeta = self.half_root()?;
        for side in [&mut *a, &mut *b] {
            self.ifft(side)?;
            scale(side, zeta);
            self.fft(side)?;
        }
        self.ifft(c)?;
        a.par_iter_mut()
            .zip(&*b)
            .with_min_len(1024)
            .for_each(|(a, b)| *a *= b);
        self.ifft(a)?;
        scale(a, zeta.invert().unwrap_or(Scalar::ONE));
        let half = Scalar::TWO_INV;
        a.par_iter_mut()
            .zip(&*c)
            .with_min_len(1024)
            .for_each(|(p, c)| *p = (c - *p) * half);
        Ok(())
    }

    /// ζ with ζⁿ = −1, a root of unity of twice the order.
    fn half_root(&self) -> Result<Scalar, ProverError> {
        Self::root(self.log2 + 1)
    }

    fn root(log2: u32) -> Result<Scalar, ProverError> {
        if log2 > LOG2_MAX {
            return Err(ProverError::DomainTooLarge { log2 });
        }
        let mut omega = Scalar::ROOT_OF_UNITY;
        for _ in log2..LOG2_MAX {
            omega = omega.square();
        }
        Ok(omega)
    }

    fn check(&self, values: &[Scalar]) -> Result<(), ProverError> {
        if values.len() == self.size() {
            return Ok(());
        }
        Err(ProverError::DomainLength {
            expected: self.size(),
            found: values.len(),
        })
    }
}

/// `base`⁰ to `base`^(count−1).
fn powers(base: Scalar, count: usize) -> Vec<Scalar> {
    let mut power = Scalar::ONE;
    let step = |_| {
        let now = power;
        power *= base;
        now
    };
    (0..count).map(step).collect()
}

/// Multiplies `values[i]` by `base`^i.
fn scale(values: &mut [Scalar], base: Scalar) {
    const PIECE: usize = 1 << 12;
    values
        .par_chunks_mut(PIECE)
        .enumerate()
        .for_each(|(piece, values)| {
            let mut power = base.pow_vartime([(piece * PIECE) as u64]);
            for value in values {
                *value *= power;
                power *= base;
            }
        });
}

/// Decimation in frequency: natural order in, bit-reversed order out.
fn decimate(values: &mut [Scalar], roots: &[Scalar]) {
    let half = values.len() / 2;
    if half == 0 {
        return;
    }
    let stride = roots.len() / half;
    let (low, high) = values.split_at_mut(half);
    low.par_iter_mut()
        .zip(&mut *high)
        .with_min_len(1024)
        .enumerate()
        .for_each(|(at, (a, b))| {
            let sum = *a + *b;
            *b = (*a - *b) * roots[at * stride];
            *a = sum;
        });
    rayon::join(|| decimate(low, roots), || decimate(high, roots));
}

/// Swaps every value with the one at its index read backwards.
fn reverse(values: &mut [Scalar], log2: u32) {
    for at in 0..values.len() {
        let other = at.reverse_bits() >> (usize::BITS - log2).min(usize::BITS - 1);
        if at < other {
            values.swap(at, other);
        }
    }
}
