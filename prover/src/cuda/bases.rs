//! Making bases on the device: sums of two tables (bases whose logarithms are known, for checks),
//! and tables of multiples that save windows of a sum.

#![expect(
    unsafe_code,
    reason = "launching kernels; each block says why it is sound"
)]

use super::device::{Buffer, Device, Grid, arg};
use super::msm::Curve;
use crate::ProverError;
use crate::plan::sums::SumShape;

/// Points that one thread brings to affine form with one inversion; `BATCH` of the kernels.
const BATCH: u64 = 8;
/// Points that are worked on at a time, so that scratch memory stays small.
pub(super) const CHUNK: u64 = 1 << 22;

pub(super) fn len(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Bytes of a point over Fp in four coordinates.
const XYZZ_BYTES: u64 = 192;

/// Scratch memory for chunks of n points.
fn scratch<C: Curve>(device: &Device, n: u64) -> Result<Buffer, ProverError> {
    device.alloc(len(CHUNK.min(n) * XYZZ_BYTES * C::LANES))
}

/// Puts n affine points at `to`, made by `kernel(offset, chunk, xyzz)` piece by piece, pieces that
/// the scratch memory holds.
fn in_chunks<C: Curve>(
    device: &Device,
    scratch: &Buffer,
    (to, n): (u64, u64),
    kernel: impl Fn(u64, u64, u64) -> Result<(), ProverError>,
) -> Result<(), ProverError> {
    let room = scratch.bytes() as u64 / (XYZZ_BYTES * C::LANES);
    let most = CHUNK.min(room).max(1);
    // One point at least has to fit.
    scratch.slice(0, XYZZ_BYTES * C::LANES)?;
    let mut done = 0;
    while done < n {
        let chunk = most.min(n - done);
        kernel(done, chunk, scratch.ptr())?;
        let out = to + done * size_of::<C::Affine>() as u64;
        // SAFETY: the scratch holds a chunk, the caller's buffer all n points.
        unsafe { normalise::<C>(device, scratch.ptr(), out, chunk) }?;
        done += chunk;
    }
    device.synchronize()
}

/// Brings n XYZZ points at `from` to affine form at `to`.
///
/// # Safety
/// Both places hold n points, until the kernel is done.
pub(super) unsafe fn normalise<C: Curve>(
    device: &Device,
    from: u64,
    to: u64,
    n: u64,
) -> Result<(), ProverError> {
    let args = [arg(&from), arg(&to), arg(&n)];
    let grid = Grid::over(n.div_ceil(BATCH) * C::LANES, 128);
    // SAFETY: the caller's promise.
    unsafe { device.launch(&format!("bases_normalise_{}", C::SUFFIX), grid, &args) }
}

/// `low[i mod len] + high[i / len]` for i < n, affine, with len the length of `low`. No two of a
/// pair may be equal.
///
/// # Errors
/// [`ProverError::DeviceLength`] if the tables make fewer than n, [`ProverError::DeviceCall`].
pub fn pair_sums<C: Curve>(
    device: &Device,
    low: &[C::Affine],
    high: &[C::Affine],
    n: u64,
) -> Result<Buffer, ProverError> {
    if (low.len() * high.len()) as u64 != n || !low.len().is_power_of_two() {
        return Err(ProverError::DeviceLength {
            what: "a table of sums",
            expected: len(n),
            found: low.len() * high.len(),
        });
    }
    let out = device.alloc(len(n) * size_of::<C::Affine>())?;
    let (low_buffer, high_buffer) = (device.upload(low)?, device.upload(high)?);
    let low_len = u32::try_from(low.len()).unwrap_or(u32::MAX);
    // The high points of a chunk are found from where it starts.
    let scratch = scratch::<C>(device, n)?;
    in_chunks::<C>(device, &scratch, (out.ptr(), n), |from, chunk, xyzz| {
        // A chunk starts at a multiple of the low table, so its high points are further on.
        let low = low_buffer.ptr();
        let skip = from / u64::from(low_len) * size_of::<C::Affine>() as u64;
        let high = high_buffer.ptr() + skip;
        let args = [
            arg(&low),
            arg(&high),
            arg(&xyzz),
            arg(&low_len),
            arg(&chunk),
        ];
        let name = format!("bases_pairs_{}", C::SUFFIX);
        // SAFETY: the tables hold what the chunk reads, the scratch a chunk.
        unsafe { device.launch(&name, Grid::over(chunk * C::LANES, 128), &args) }
    })?;
    Ok(out)
}

/// The tables of multiples that `shape` asks for: the points, then 2^d times the points, and so
/// on, with d = [`SumShape::table_doublings`].
///
/// # Errors
/// [`ProverError::DeviceLength`] if there are fewer points, [`ProverError::DeviceCall`].
pub fn tables<C: Curve>(
    device: &Device,
    points: &Buffer,
    shape: &SumShape,
) -> Result<Buffer, ProverError> {
    let bytes = shape.points * size_of::<C::Affine>() as u64;
    let out = device.alloc(len(bytes * u64::from(shape.tables)))?;
    device.copy(points, &out, len(bytes))?;
    multiply::<C>(device, &out, &scratch::<C>(device, shape.points)?, shape)?;
    Ok(out)
}

/// The same behind points that are there already, at the start of `tables`, through scratch memory
/// of any size.
///
/// # Errors
/// As [`tables`].
pub fn multiply<C: Curve>(
    device: &Device,
    tables: &Buffer,
    scratch: &Buffer,
    shape: &SumShape,
) -> Result<(), ProverError> {
    let (n, doublings) = (shape.points, shape.table_doublings());
    let bytes = n * size_of::<C::Affine>() as u64;
    let all = tables.slice(0, bytes * u64::from(shape.tables))?;
    for table in 1..u64::from(shape.tables) {
        let from = all.ptr() + (table - 1) * bytes;
        in_chunks::<C>(device, scratch, (from + bytes, n), |done, chunk, xyzz| {
            let input = from + done * size_of::<C::Affine>() as u64;
            let args = [arg(&input), arg(&xyzz), arg(&doublings), arg(&chunk)];
            let name = format!("bases_multiples_{}", C::SUFFIX);
            // SAFETY: the table before holds what the chunk reads, the scratch a chunk.
            unsafe { device.launch(&name, Grid::over(chunk * C::LANES, 128), &args) }
        })?;
    }
    Ok(())
}
