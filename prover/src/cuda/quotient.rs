//! The quotient polynomial on the device, by six transforms.
//!
//! With g^n = −1 the domain's vanishing polynomial is −2 everywhere on the coset of g, and
//! P = A·B mod (Xⁿ + 1) = C − 2H, so H = (C − P)/2: C need not be evaluated on the coset.

#![expect(
    unsafe_code,
    reason = "launching kernels; each block says why it is sound"
)]

use blstrs::Scalar;
use ff::Field as _;

use super::device::{Buffer, Device, Grid, arg};
use super::ntt::{Coset, DeviceDomain, Way, root_of_order};
use crate::ProverError;

/// A domain with what its quotient needs.
#[derive(Debug)]
pub struct Quotient<'a> {
    device: &'a Device,
    domain: &'a DeviceDomain<'a>,
    coset: Coset,
}

impl<'a> Quotient<'a> {
    /// Makes the coset's tables.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`].
    pub fn new(device: &'a Device, domain: &'a DeviceDomain<'a>) -> Result<Self, ProverError> {
        let coset = domain.coset(root_of_order(domain.log2() + 1))?;
        Ok(Self {
            device,
            domain,
            coset,
        })
    }

    /// From the values of A, B, C over the domain to the n coefficients of H, in natural order in
    /// `c`. `a` and `b` are scratch afterwards. The last coefficient is zero for a witness that
    /// satisfies its constraints.
    ///
    /// # Errors
    /// [`ProverError::DeviceLength`], [`ProverError::DeviceCall`].
    pub fn run(&self, a: &Buffer, b: &Buffer, c: &Buffer) -> Result<(), ProverError> {
        let n = self.domain.size();
        for values in [a, b] {
            self.domain.to_in_place(Way::Inverse, values)?;
            self.domain
                .in_place_to_natural(Way::Forward, values, Some(&self.coset))?;
        }
        let (a_ptr, b_ptr, c_ptr) = (a.ptr(), b.ptr(), c.ptr());
        // SAFETY: the transforms above checked that a and b hold n values.
        unsafe {
            let args = [arg(&a_ptr), arg(&b_ptr), arg(&n)];
            self.device.launch("poly_mul", Grid::over(n, 256), &args)?;
        }
        self.domain
            .transform(Way::Inverse, a, b, Some(&self.coset))?;
        self.domain.transform(Way::Inverse, c, a, None)?;
        let half = Scalar::from(2).invert().unwrap_or(Scalar::ONE);
        let half = blst::blst_fr::from(half).l;
        // SAFETY: as above; c was checked by its transform.
        unsafe {
            let args = [arg(&c_ptr), arg(&a_ptr), arg(&b_ptr), arg(&n), arg(&half)];
            self.device
                .launch("poly_sub_scale", Grid::over(n, 256), &args)
        }
    }
}
