//! The product of a matrix with a witness on the device, from the form in which the CPU keeps the
//! matrix. Resident, or streamed through a buffer that holds only some rows at a time.

#![expect(
    unsafe_code,
    reason = "launching kernels; each block says why it is sound"
)]

use super::arena::Arena;
use super::device::{Buffer, Device, Grid, arg};
use crate::ProverError;
use crate::groth16::Matrix;
use crate::plan::rows::rows_that_fit;

pub use crate::plan::rows::rows_bytes;

const SCALAR_BYTES: u64 = 32;
const THREADS: u32 = 256;

/// Consecutive rows of a matrix on a device, with its table of coefficients.
#[derive(Debug)]
pub struct Rows<'a> {
    device: &'a Device,
    ends: Buffer,
    words: Buffer,
    coefficients: Buffer,
    first: u64,
    count: u64,
    /// Number of the first word.
    start: u32,
}

/// A product to be made: the witness on the device, where it goes, and how far.
#[derive(Clone, Copy, Debug)]
pub struct Product<'a> {
    /// Inputs, then auxiliary variables, canonical.
    pub witness: &'a Buffer,
    /// How many inputs there are.
    pub inputs: u64,
    /// Receives the values, below 2r.
    pub out: &'a Buffer,
    /// Values to write: those behind the last row are zero.
    pub domain: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct RowsArgs {
    ends: u64,
    words: u64,
    coefficients: u64,
    witness: u64,
    out: u64,
    rows: u64,
    start: u32,
    inputs: u32,
}

impl<'a> Rows<'a> {
    /// Copies a whole matrix into `buffer`, which has [`rows_bytes`] bytes. The rows keep the
    /// allocation alive.
    ///
    /// # Errors
    /// [`ProverError::DeviceLength`] if it does not fit, [`ProverError::DeviceCall`].
    pub fn load(device: &'a Device, matrix: &Matrix, buffer: &Buffer) -> Result<Self, ProverError> {
        let mut arena = Arena::new(buffer);
        let coefficients = arena.take(matrix.coefficients().len() as u64 * SCALAR_BYTES)?;
        device.write(&coefficients, matrix.coefficients())?;
        Self::piece(device, matrix, (0, matrix.rows()), (coefficients, arena))
    }

    /// Copies the rows from `first` to `next`; the table of coefficients is there.
    fn piece(
        device: &'a Device,
        matrix: &Matrix,
        (first, next): (usize, usize),
        (coefficients, mut arena): (Buffer, Arena<'_>),
    ) -> Result<Self, ProverError> {
        let end_of = |row: usize| matrix.ends().get(row).copied().unwrap_or(0);
        let end_before = |row: usize| row.checked_sub(1).map_or(0, end_of);
        let (start, end) = (end_before(first), end_before(next));
        let ends = matrix.ends().get(first..next).unwrap_or(&[]);
        let words = matrix.words().get(start as usize..end as usize);
        let words = words.unwrap_or(&[]);
        let on_device = Self {
            device,
            ends: arena.take(size_of_val(ends) as u64)?,
            words: arena.take(size_of_val(words) as u64)?,
            coefficients,
            first: first as u64,
            count: ends.len() as u64,
            start,
        };
        device.write(&on_device.ends, ends)?;
        device.write(&on_device.words, words)?;
        Ok(on_device)
    }

    /// `out[row]` = row · witness for every row, and zero from the last row to `domain`. The
    /// witness is the inputs, `inputs` many, then the auxiliary variables, canonical, and has every
    /// variable that the matrix names: it is of the matrix's own circuit.
    ///
    /// # Errors
    /// [`ProverError::DeviceLength`] if `out` is shorter than the domain or the domain than the
    /// matrix; [`ProverError::DeviceCall`].
    pub fn times(
        &self,
        witness: &Buffer,
        inputs: u64,
        out: &Buffer,
        domain: u64,
    ) -> Result<(), ProverError> {
        let product = Product {
            witness,
            inputs,
            out,
            domain,
        };
        self.launch(&product)?;
        pad(self.device, &product, self.first + self.count)
    }

    /// As [`load`](Self::load) and [`times`](Self::times), with as many rows at a time as `buffer`
    /// holds beside the table of coefficients. A piece waits for the product of the one before.
    ///
    /// # Errors
    /// [`ProverError::DeviceLength`] if not even one row fits; else as the two.
    pub fn times_streamed(
        device: &'a Device,
        matrix: &Matrix,
        buffer: &Buffer,
        product: &Product<'_>,
    ) -> Result<(), ProverError> {
        let table = matrix.coefficients().len() as u64 * SCALAR_BYTES;
        let coefficients = Arena::new(buffer).take(table)?;
        device.write(&coefficients, matrix.coefficients())?;
        let mut first = 0;
        while first < matrix.rows() {
            let next = rows_that_fit(matrix, first, buffer.bytes() as u64);
            if next == first {
                return Err(ProverError::DeviceLength {
                    what: "a row and the table of coefficients, in bytes",
                    expected: buffer.bytes(),
                    found: matrix.row(first).count() * 8 + matrix.coefficients().len() * 32,
                });
            }
            let mut arena = Arena::new(buffer);
            let coefficients = arena.take(table)?;
            let piece = Self::piece(device, matrix, (first, next), (coefficients, arena))?;
            piece.launch(product)?;
            first = next;
        }
        pad(device, product, matrix.rows() as u64)
    }

    fn launch(&self, product: &Product<'_>) -> Result<(), ProverError> {
        if self.count == 0 {
            return Ok(());
        }
        let out = product
            .out
            .slice(self.first * SCALAR_BYTES, self.count * SCALAR_BYTES)?;
        let args = RowsArgs {
            ends: self.ends.ptr(),
            words: self.words.ptr(),
            coefficients: self.coefficients.ptr(),
            witness: product.witness.ptr(),
            out: out.ptr(),
            rows: self.count,
            start: self.start,
            inputs: u32::try_from(product.inputs).unwrap_or(u32::MAX),
        };
        // SAFETY: the pieces are there as the matrix has them, `out` has a place for each row, and
        // the witness has every variable: the caller's promise.
        unsafe {
            let grid = Grid::over(self.count, THREADS);
            self.device.launch("rows_times", grid, &[arg(&args)])
        }
    }
}

/// Zeros from value number `rows` to the end of the domain.
fn pad(device: &Device, product: &Product<'_>, rows: u64) -> Result<(), ProverError> {
    let Some(count) = product.domain.checked_sub(rows) else {
        return Err(ProverError::DeviceLength {
            what: "a domain for the rows of a matrix",
            expected: usize::try_from(product.domain).unwrap_or(usize::MAX),
            found: usize::try_from(rows).unwrap_or(usize::MAX),
        });
    };
    let rest = product
        .out
        .slice(rows * SCALAR_BYTES, count * SCALAR_BYTES)?;
    if count == 0 {
        return Ok(());
    }
    device.fill(&rest, 0)
}
