//! The quotient polynomial on the device, by six transforms in two vectors.
//!
//! With g^n = −1 the domain's vanishing polynomial is −2 everywhere on the coset of g, and
//! P = A·B mod (Xⁿ + 1) = C − 2H, so H = (C − P)/2: C need not be evaluated on the coset, and is
//! not wanted before A and B have become one vector.

#![expect(
    unsafe_code,
    reason = "launching kernels; each block says why it is sound"
)]

use blstrs::Scalar;
use ff::Field as _;

use super::arena::Arena;
use super::device::{Buffer, Device, Grid, arg};
use super::ntt::{Direction, Way, direction, root_of_order, run};
use crate::ProverError;
use crate::plan::passes::{from_in_place, to_in_place};
use crate::plan::tables::{domain_bytes, split};

/// Points of a side of the squares that `poly_natural` moves.
const SIDE_BITS: u32 = 4;

/// A domain with what its quotient needs.
#[derive(Debug)]
pub struct Quotient<'a> {
    device: &'a Device,
    log2: u32,
    /// From the values over the domain.
    inverse: Direction,
    /// To the values over the coset, and from them.
    coset: [Direction; 2],
}

impl<'a> Quotient<'a> {
    /// Makes the tables in an allocation of their own.
    ///
    /// # Errors
    /// As [`over`](Self::over), out of memory included.
    pub fn new(device: &'a Device, log2: u32, whole: u32) -> Result<Self, ProverError> {
        let bytes = usize::try_from(domain_bytes(log2, whole)).unwrap_or(usize::MAX);
        Self::over(device, log2, whole, &device.alloc(bytes)?)
    }

    /// Makes the tables of a domain of 2^log2 points and of its coset in `arena`, which has
    /// [`domain_bytes`] bytes. The quotient keeps the allocation alive.
    ///
    /// # Errors
    /// [`ProverError::DeviceDomain`] for a domain that the device does not do: it is for the CPU.
    /// [`ProverError::DeviceLength`] if the arena is too small; [`ProverError::DeviceCall`].
    pub fn over(
        device: &'a Device,
        log2: u32,
        whole: u32,
        arena: &Buffer,
    ) -> Result<Self, ProverError> {
        let mut arena = Arena::new(arena);
        let g = root_of_order(log2 + 1);
        let mut make = |of| direction(device, (log2, whole), of, &mut arena);
        Ok(Self {
            device,
            log2,
            inverse: make((Way::Inverse, None))?,
            coset: [
                make((Way::Forward, Some(g)))?,
                make((Way::Inverse, Some(g)))?,
            ],
        })
    }

    /// From the values of B in `a` and of A in `bc`, over the domain, to the n coefficients of H in
    /// `a`, natural order, canonical; `bc` is free afterwards. `fill_c` puts the values of C into
    /// the buffer it is given, on the stream, when A and B are no longer needed. Values may be
    /// below 2r. The last coefficient is zero for a witness that satisfies its constraints.
    ///
    /// # Errors
    /// [`ProverError::DeviceLength`], [`ProverError::DeviceCall`], and what `fill_c` returns.
    pub fn run(
        &self,
        a: &Buffer,
        bc: &Buffer,
        fill_c: impl FnOnce(&Buffer) -> Result<(), ProverError>,
    ) -> Result<(), ProverError> {
        let bits = split(self.log2);
        let back = |direction, coset, values: &Buffer| {
            let passes = to_in_place(bits, coset);
            run(self.device, self.log2, direction, &passes, [values, values])
        };
        let [forward, inverse] = &self.coset;
        for values in [a, bc] {
            back(&self.inverse, false, values)?;
            let passes = from_in_place(bits, true);
            run(self.device, self.log2, forward, &passes, [values, values])?;
        }
        let n = 1_u64 << self.log2;
        let grid = Grid::over(n, 256);
        let (a_ptr, bc_ptr) = (a.ptr(), bc.ptr());
        let launch = |name, grid, args: &[_]| {
            // SAFETY: the transforms above checked that a and bc hold n values each; the
            // arguments are what the kernels' heads say.
            unsafe { self.device.launch(name, grid, args) }
        };
        launch("poly_mul", grid, &[arg(&bc_ptr), arg(&a_ptr), arg(&n)])?;
        fill_c(a)?;
        back(&self.inverse, false, a)?;
        back(inverse, true, bc)?;
        let half = Scalar::from(2).invert().unwrap_or(Scalar::ONE);
        let half = blst::blst_fr::from(half).l;
        let args = [arg(&bc_ptr), arg(&a_ptr), arg(&bc_ptr), arg(&n), arg(&half)];
        launch("poly_sub_scale", grid, &args)?;
        let [first, middle, last] = self.passes();
        let args = [&bc_ptr, &a_ptr].map(arg);
        let bits = [&first, &middle, &last].map(arg);
        let squares = Grid {
            blocks: (1 << (first + last - 2 * SIDE_BITS), 1 << middle),
            threads: 256,
            shared: 0,
        };
        launch("poly_natural", squares, &[&args[..], &bits].concat())
    }

    /// The passes as `poly_natural` takes them: of two, none is in the middle.
    fn passes(&self) -> [u32; 3] {
        match split(self.log2) {
            [first, last, 0] => [first, 0, last],
            passes => passes,
        }
    }
}
