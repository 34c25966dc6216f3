//! Memory of a device: buffers and views of them, copies in stream order, and host memory that the
//! device reads directly.

use std::sync::Arc;

use cudarc::driver::{CudaContext, DriverError, result, sys};

use super::{Device, bind, call};
use crate::ProverError;

/// Types that are plain words, so that they may be copied to the device and back as bytes.
///
/// # Safety
/// No padding, no invalid bit patterns, no pointers of the host.
pub unsafe trait Plain: Copy {}

// SAFETY: integers.
unsafe impl Plain for u8 {}
// SAFETY: integers.
unsafe impl Plain for u32 {}
// SAFETY: integers.
unsafe impl Plain for u64 {}
// SAFETY: transparent over blst's four 64-bit limbs; values below r are the caller's care.
unsafe impl Plain for blstrs::Scalar {}
// SAFETY: transparent over blst's coordinates, 64-bit limbs.
unsafe impl Plain for blstrs::G1Affine {}
// SAFETY: transparent over blst's coordinates, 64-bit limbs.
unsafe impl Plain for blstrs::G2Affine {}
// SAFETY: transparent over blst's coordinates, 64-bit limbs.
unsafe impl Plain for blstrs::G1Projective {}
// SAFETY: transparent over blst's coordinates, 64-bit limbs.
unsafe impl Plain for blstrs::G2Projective {}

/// One allocation, freed once.
#[derive(Debug)]
struct Allocation {
    context: Arc<CudaContext>,
    ptr: sys::CUdeviceptr,
    freed: bool,
}

impl Allocation {
    fn free(&mut self) -> Result<(), DriverError> {
        if std::mem::replace(&mut self.freed, true) {
            return Ok(());
        }
        bind(&self.context)?;
        // SAFETY: the address came from `malloc_sync` of this context and is freed once: the flag
        // above says so. Freeing waits for the work that is in flight.
        unsafe { result::free_sync(self.ptr) }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        let freed = self.free();
        self.context.record_err(freed);
    }
}

/// Device memory: a whole allocation, or a view of a part of one. The allocation is freed when the
/// buffer and all views of it are gone, or by [`free`](Self::free).
#[derive(Debug)]
pub struct Buffer {
    allocation: Arc<Allocation>,
    ptr: sys::CUdeviceptr,
    bytes: usize,
    view: bool,
}

impl Buffer {
    /// The device address.
    pub fn ptr(&self) -> u64 {
        self.ptr
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// A view of `bytes` bytes from byte `offset` on. It keeps the allocation alive.
    ///
    /// # Errors
    /// [`ProverError::DeviceLength`] if the buffer ends before.
    pub fn slice(&self, offset: u64, bytes: u64) -> Result<Self, ProverError> {
        let end = length(offset.saturating_add(bytes));
        check_fits("bytes of a buffer", self.bytes, end)?;
        Ok(Self {
            allocation: Arc::clone(&self.allocation),
            ptr: self.ptr + offset,
            bytes: length(bytes),
            view: true,
        })
    }

    /// Frees the allocation and says what the driver said. Of a view, ends only the view.
    ///
    /// # Errors
    /// [`ProverError::DeviceViews`] if views of it are left: it is then freed with the last of
    /// them. [`ProverError::DeviceCall`] with the driver's code, for which an error of earlier work
    /// on the device is a reason too.
    pub fn free(self) -> Result<(), ProverError> {
        let (bytes, view) = (self.bytes, self.view);
        if view {
            return Ok(());
        }
        let views = Arc::strong_count(&self.allocation) - 1;
        match Arc::try_unwrap(self.allocation) {
            Ok(mut allocation) => call(|| format!("freeing {bytes} bytes"), allocation.free()),
            Err(_) => Err(ProverError::DeviceViews { bytes, views }),
        }
    }
}

impl Device {
    /// Allocates `bytes` of device memory, not cleared.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`], out of memory included.
    pub fn alloc(&self, bytes: usize) -> Result<Buffer, ProverError> {
        let bytes = bytes.max(16);
        let what = || format!("allocating {bytes} bytes");
        self.bound(what)?;
        // SAFETY: a plain allocation; the pointer is owned by the buffer returned.
        let ptr = call(what, unsafe { result::malloc_sync(bytes) })?;
        Ok(Buffer {
            allocation: Arc::new(Allocation {
                context: Arc::clone(&self.context),
                ptr,
                freed: false,
            }),
            ptr,
            bytes,
            view: false,
        })
    }

    /// A new buffer with the contents of `data`.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`].
    pub fn upload<T: Plain>(&self, data: &[T]) -> Result<Buffer, ProverError> {
        let buffer = self.alloc(size_of_val(data))?;
        self.write(&buffer, data)?;
        Ok(buffer)
    }

    /// Copies `data` to the start of `buffer`, after what the stream was given before.
    ///
    /// # Errors
    /// [`ProverError::DeviceLength`] if it does not fit, [`ProverError::DeviceCall`].
    pub fn write<T: Plain>(&self, buffer: &Buffer, data: &[T]) -> Result<(), ProverError> {
        check_fits("an upload", buffer.bytes, size_of_val(data))?;
        if data.is_empty() {
            return Ok(());
        }
        // On the stream, and waited for: the copy of `cuMemcpyHtoD` from pageable memory may still
        // be under way when it returns, and this stream does not wait for the one it is on.
        let what = || format!("copying {} bytes to the device", size_of_val(data));
        self.bound(what)?;
        // SAFETY: the buffer has at least as many bytes; `data` outlives the wait below.
        call(what, unsafe {
            result::memcpy_htod_async(buffer.ptr, data, self.stream.cu_stream())
        })?;
        self.synchronize()
    }

    /// Copies the start of `buffer` into `data`, after what the stream was given before.
    ///
    /// # Errors
    /// [`ProverError::DeviceLength`] if the buffer is shorter, [`ProverError::DeviceCall`].
    pub fn read<T: Plain>(&self, buffer: &Buffer, data: &mut [T]) -> Result<(), ProverError> {
        check_fits("a download", buffer.bytes, size_of_val(data))?;
        let bytes = size_of_val(data);
        let what = || format!("copying {bytes} bytes from the device");
        self.bound(what)?;
        // SAFETY: the buffer has at least as many bytes; `data` outlives the wait below.
        call(what, unsafe {
            result::memcpy_dtoh_async(data, buffer.ptr, self.stream.cu_stream())
        })?;
        self.synchronize()
    }

    /// Copies `bytes` from one buffer to another on the stream.
    ///
    /// # Errors
    /// [`ProverError::DeviceLength`], [`ProverError::DeviceCall`].
    pub fn copy(&self, from: &Buffer, to: &Buffer, bytes: usize) -> Result<(), ProverError> {
        check_fits("a copy", from.bytes.min(to.bytes), bytes)?;
        let what = || format!("copying {bytes} bytes on the device");
        self.bound(what)?;
        // SAFETY: both buffers have as many bytes.
        call(what, unsafe {
            result::memcpy_dtod_async(to.ptr, from.ptr, bytes, self.stream.cu_stream())
        })
    }

    /// Sets every byte of `buffer` to `value`, on the stream.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`].
    pub fn fill(&self, buffer: &Buffer, value: u8) -> Result<(), ProverError> {
        if buffer.bytes == 0 {
            return Ok(());
        }
        let what = || format!("filling {} bytes", buffer.bytes);
        self.bound(what)?;
        // SAFETY: the length is the buffer's own.
        call(what, unsafe {
            result::memset_d8_async(buffer.ptr, value, buffer.bytes, self.stream.cu_stream())
        })
    }

    /// Clears the first `bytes` of `buffer`, on the stream.
    ///
    /// # Errors
    /// [`ProverError::DeviceLength`] if it is shorter, [`ProverError::DeviceCall`].
    pub fn fill_bytes(&self, buffer: &Buffer, bytes: u64) -> Result<(), ProverError> {
        self.fill(&buffer.slice(0, bytes)?, 0)
    }

    /// Pins the `bytes` of host memory at `addr`, for every device: copies from and to it then need
    /// no staging and can run beside the computation.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`], for memory that is pinned already or cannot be.
    ///
    /// # Safety
    /// The memory is mapped, and stays where it is until [`unregister`](Self::unregister).
    pub unsafe fn register(&self, addr: u64, bytes: u64) -> Result<(), ProverError> {
        let what = || format!("pinning {bytes} bytes of host memory");
        self.bound(what)?;
        let start = std::ptr::with_exposed_provenance_mut(length(addr));
        let flags = sys::CU_MEMHOSTREGISTER_PORTABLE;
        // SAFETY: the caller's promise.
        let registered = unsafe { sys::cuMemHostRegister_v2(start, length(bytes), flags) };
        call(what, registered.result())
    }

    /// Ends the pinning of the host memory at `addr`.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`], for memory that is not pinned.
    ///
    /// # Safety
    /// `addr` was given to [`register`](Self::register), and no copy from or to that memory is
    /// under way.
    pub unsafe fn unregister(&self, addr: u64) -> Result<(), ProverError> {
        let what = || "unpinning host memory".to_owned();
        self.bound(what)?;
        let start = std::ptr::with_exposed_provenance_mut(length(addr));
        // SAFETY: the caller's promise.
        let ended = unsafe { sys::cuMemHostUnregister(start) };
        call(what, ended.result())
    }
}

/// A count of bytes on the device as the host counts.
fn length(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

pub(super) fn check_fits(
    what: &'static str,
    expected: usize,
    found: usize,
) -> Result<(), ProverError> {
    if found > expected {
        return Err(ProverError::DeviceLength {
            what,
            expected,
            found,
        });
    }
    Ok(())
}
