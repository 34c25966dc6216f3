//! Number-theoretic transforms over the scalar field of BLS12-381, and the quotient polynomial
//! that Groth16 makes with them. Runs on the rayon pool it is called from.

use crate::ProverError;
use blstrs::Scalar;
use ff::{Field, PrimeField};
use rayon::prelude::*;
use reverse::reverse;
use roots::Roots;
use transform::{Transform, WIDE_MIN};
use wide::Wide;

mod reverse;
mod roots;
mod transform;
#[cfg(target_arch = "x86_64")]
mod wide;
#[cfg(not(target_arch = "x86_64"))]
#[path = "narrow.rs"]
mod wide;

#[cfg(test)]
mod tests;

/// The largest domain: 2^32 divides r − 1, 2^33 does not.
pub const LOG2_MAX: u32 = 32;
/// The coset of [`Domain::coset_fft`] is 7·H, as Filecoin's parameters have it.
pub const COSET_GENERATOR: u64 = 7;
/// What a thread takes at a time of work that is the same for every value.
const PIECE: usize = 1 << 12;

/// The subgroup of order 2^log2 of the field, with what transforms over it need: 32 bytes a point.
///
/// Every transform takes and gives values in natural order: `values[i]` is the coefficient of xⁱ,
/// or the value at ωⁱ. All work in place.
#[derive(Debug, Clone)]
pub struct Domain {
    log2: u32,
    omega: Scalar,
    size_inverse: Scalar,
    transform: Transform,
}

impl Domain {
    /// The domain of 2^`log2` points.
    ///
    /// # Errors
    ///
    /// [`ProverError::DomainTooLarge`] above [`LOG2_MAX`].
    pub fn new(log2: u32) -> Result<Self, ProverError> {
        let wide = Wide::new().filter(|_| log2 >= WIDE_MIN.ilog2());
        Self::with(log2, wide)
    }

    fn with(log2: u32, wide: Option<Wide>) -> Result<Self, ProverError> {
        let omega = root_of_order(log2).ok_or(ProverError::DomainTooLarge { log2 })?;
        let scale = wide.map_or(Scalar::ONE, |_| Scalar::from(Wide::SCALE));
        // The last roots, of order 2n, are of use only where there are such.
        let roots = Roots::new(log2, scale, |order| {
            root_of_order(order).unwrap_or(Scalar::ONE)
        });
        Ok(Self {
            log2,
            omega,
            size_inverse: Scalar::TWO_INV.pow_vartime([u64::from(log2)]),
            transform: Transform { roots, wide },
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
        self.transform.forward(values, 0);
        reverse(values);
        Ok(())
    }

    /// Values on the domain to coefficients.
    ///
    /// # Errors
    ///
    /// As [`Domain::fft`].
    pub fn ifft(&self, values: &mut [Scalar]) -> Result<(), ProverError> {
        self.check(values)?;
        reverse(values);
        self.transform.backward(values, 0);
        self.scale(values, self.size_inverse, Scalar::ONE);
        Ok(())
    }

    /// Coefficients to values on the coset 7·H.
    ///
    /// # Errors
    ///
    /// As [`Domain::fft`].
    pub fn coset_fft(&self, values: &mut [Scalar]) -> Result<(), ProverError> {
        self.check(values)?;
        self.scale(values, Scalar::ONE, Scalar::from(COSET_GENERATOR));
        self.fft(values)
    }

    /// Values on the coset 7·H to coefficients.
    ///
    /// # Errors
    ///
    /// As [`Domain::fft`].
    pub fn icoset_fft(&self, values: &mut [Scalar]) -> Result<(), ProverError> {
        self.check(values)?;
        reverse(values);
        self.transform.backward(values, 0);
        // Seven is not zero, so it has an inverse.
        let inverse = Scalar::from(COSET_GENERATOR)
            .invert()
            .unwrap_or(Scalar::ONE);
        self.scale(values, self.size_inverse, inverse);
        Ok(())
    }

    /// The coefficients of (A·B − C)/(Xⁿ − 1), left in `a`; `a` and `b` are the values of the two
    /// on the domain. Once `b` has done its part, `values_of_c` is called with it and overwrites
    /// all of it with the values of C: two vectors are enough. The last coefficient is zero.
    ///
    /// Six transforms: with ζⁿ = −1 the values of A·B on ζ·H give P = A·B mod (Xⁿ + 1), and
    /// since A·B = C + H·(Xⁿ − 1), P = C − 2H.
    ///
    /// # Errors
    ///
    /// As [`Domain::fft`], for the first of the two that has another length, and
    /// [`ProverError::DomainTooLarge`] for 2^32 points, where there is no ζ. When A·B − C is not
    /// divisible, which no satisfied circuit makes it, the result means nothing.
    pub fn quotient(
        &self,
        a: &mut [Scalar],
        b: &mut [Scalar],
        values_of_c: impl FnOnce(&mut [Scalar]),
    ) -> Result<(), ProverError> {
        if self.log2 >= LOG2_MAX {
            return Err(ProverError::DomainTooLarge {
                log2: self.log2 + 1,
            });
        }
        self.check(a)?;
        self.check(b)?;
        for side in [&mut *a, &mut *b] {
            reverse(side);
            self.transform.backward(side, 0);
            // n times its coefficients now; the roots of X^n + 1 follow in the table.
            self.transform.forward(side, 1);
        }
        self.multiply(a, b);
        self.transform.backward(a, 1);
        let half = self.size_inverse * Scalar::TWO_INV;
        let product = half * self.size_inverse.square() * self.transform.roots.scale();
        self.scale(a, -product, Scalar::ONE);
        let c = b;
        values_of_c(c);
        reverse(c);
        self.transform.backward(c, 0);
        self.scale(c, half, Scalar::ONE);
        a.par_iter_mut()
            .zip(&*c)
            .with_min_len(PIECE)
            .for_each(|(h, c)| *h += c);
        Ok(())
    }

    /// Multiplies `values[i]` by `first`·`base`^i.
    fn scale(&self, values: &mut [Scalar], first: Scalar, base: Scalar) {
        values
            .par_chunks_mut(PIECE)
            .enumerate()
            .for_each(|(piece, values)| {
                let mut power = first * base.pow_vartime([(piece * PIECE) as u64]);
                let mut next = || {
                    let now = power;
                    power *= base;
                    now
                };
                match self.transform.wide {
                    None => values.iter_mut().for_each(|value| *value *= next()),
                    Some(wide) => {
                        let scale = self.transform.roots.scale();
                        let first = std::array::from_fn(|_| next() * scale);
                        wide.scale(values, &first, &(base.pow_vartime([8]) * scale));
                    }
                }
            });
    }

    /// Multiplies `values[i]` by `others[i]`, and divides by the scale of the roots.
    fn multiply(&self, values: &mut [Scalar], others: &[Scalar]) {
        let pieces = values.par_chunks_mut(PIECE).zip(others.par_chunks(PIECE));
        pieces.for_each(|(values, others)| match self.transform.wide {
            None => values
                .iter_mut()
                .zip(others)
                .for_each(|(value, other)| *value *= other),
            Some(wide) => wide.multiply(values, others),
        });
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

/// A root of unity of order 2^`log2`.
fn root_of_order(log2: u32) -> Option<Scalar> {
    let more = LOG2_MAX.checked_sub(log2)?;
    Some((0..more).fold(Scalar::ROOT_OF_UNITY, |root, _| root.square()))
}
