//! One CUDA device: its context, its stream, its memory and the launches of the kernels. Every
//! return code is looked at; an error is a value that names the call.

#![expect(
    unsafe_code,
    reason = "the CUDA driver is a C library; each block says why it is sound"
)]

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::path::Path;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaEvent, CudaFunction, CudaStream, result, sys};
use cudarc::nvrtc::Ptx;
use rayon::prelude::*;

use super::kernels::UNITS;
use crate::ProverError;

/// Says plainly whether a CUDA device can be used here, and why not.
///
/// # Errors
/// [`ProverError::NoDevice`] if there is no driver, no device, or the driver says no.
pub fn available() -> Result<usize, ProverError> {
    let no = |why: String| ProverError::NoDevice { why };
    // SAFETY: only asks the loader whether the library is there.
    if !unsafe { sys::is_culib_present() } {
        return Err(no(
            "the driver's library libcuda is not on this machine".to_owned()
        ));
    }
    let count = CudaContext::device_count().map_err(|code| no(format!("{code:?}")))?;
    match usize::try_from(count) {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(no("the driver is there but lists no device".to_owned())),
    }
}

fn call<T>(
    what: impl FnOnce() -> String,
    result: Result<T, cudarc::driver::DriverError>,
) -> Result<T, ProverError> {
    result.map_err(|code| ProverError::DeviceCall {
        call: what(),
        code: format!("{:?}", code.0),
    })
}

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

/// A device with its kernels loaded.
#[derive(Debug)]
pub struct Device {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    functions: BTreeMap<&'static str, CudaFunction>,
}

/// Device memory of one allocation, freed with its owner.
#[derive(Debug)]
pub struct Buffer {
    context: Arc<CudaContext>,
    ptr: sys::CUdeviceptr,
    bytes: usize,
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
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.context.record_err(self.context.bind_to_thread());
        // SAFETY: the address came from `malloc_sync` of this context and is freed once, here;
        // freeing waits for the work that is in flight.
        self.context
            .record_err(unsafe { result::free_sync(self.ptr) });
    }
}

/// A kernel argument: the address of a value that outlives the launch call.
pub(crate) fn arg<T: Copy>(value: &T) -> *mut c_void {
    std::ptr::from_ref(value).cast_mut().cast()
}

/// How a kernel is launched: blocks in x and y, threads a block, bytes of shared memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub blocks: (u32, u32),
    pub threads: u32,
    pub shared: u32,
}

impl Grid {
    /// One thread an element.
    pub(crate) fn over(elements: u64, threads: u32) -> Self {
        let blocks = elements.div_ceil(u64::from(threads)).max(1);
        Self {
            blocks: (u32::try_from(blocks).unwrap_or(u32::MAX), 1),
            threads,
            shared: 0,
        }
    }
}

impl Device {
    /// Opens device number `ordinal`, compiling the kernels that the cache folder does not have.
    ///
    /// `defines` overrides constants of the kernels (`NAME=value`), for measurements.
    ///
    /// # Errors
    /// [`ProverError::NoDevice`], [`ProverError::KernelBuild`] or [`ProverError::DeviceCall`].
    pub fn open(
        ordinal: usize,
        defines: &[String],
        cache: Option<&Path>,
    ) -> Result<Self, ProverError> {
        let count = available()?;
        if ordinal >= count {
            return Err(ProverError::NoDevice {
                why: format!("number {ordinal} was asked for, there are {count}"),
            });
        }
        let context = call(|| "opening a context".into(), CudaContext::new(ordinal))?;
        let stream = call(|| "making a stream".into(), context.new_stream())?;
        let capability = call(
            || "reading the capability".into(),
            context.compute_capability(),
        )?;
        let mut functions = BTreeMap::new();
        let codes: Vec<Result<Vec<u8>, ProverError>> = UNITS
            .par_iter()
            .map(|unit| unit.cubin(capability, defines, cache))
            .collect();
        for (unit, code) in UNITS.iter().zip(codes) {
            let code = code?;
            let load = || format!("loading the kernels of {}", unit.name);
            let module = call(load, context.load_module(Ptx::from_binary(code)))?;
            for &name in unit.kernels {
                let function = call(|| format!("finding {name}"), module.load_function(name))?;
                functions.insert(name, function);
            }
        }
        Ok(Self {
            context,
            stream,
            functions,
        })
    }

    /// The device's name as the driver has it.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`].
    pub fn name(&self) -> Result<String, ProverError> {
        call(|| "reading the name".into(), self.context.name())
    }

    /// Most bytes of shared memory that one block can have.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`].
    pub(crate) fn shared_memory(&self) -> Result<u32, ProverError> {
        let most = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        let bytes = call(
            || "reading the shared memory".into(),
            self.context.attribute(most),
        )?;
        Ok(u32::try_from(bytes).unwrap_or(48 << 10))
    }

    /// Free and total bytes of memory.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`].
    pub fn memory(&self) -> Result<(usize, usize), ProverError> {
        call(|| "reading free memory".into(), self.context.mem_get_info())
    }

    /// Allocates `bytes` of device memory, not cleared.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`], out of memory included.
    pub fn alloc(&self, bytes: usize) -> Result<Buffer, ProverError> {
        let what = || format!("allocating {bytes} bytes");
        call(what, self.context.bind_to_thread())?;
        // SAFETY: a plain allocation; the pointer is owned by the buffer returned.
        let ptr = call(what, unsafe { result::malloc_sync(bytes.max(16)) })?;
        Ok(Buffer {
            context: Arc::clone(&self.context),
            ptr,
            bytes: bytes.max(16),
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
        // On the stream, and waited for: the copy of `cuMemcpyHtoD` from pageable memory may still
        // be under way when it returns, and this stream does not wait for the one it is on.
        let what = || format!("copying {} bytes to the device", size_of_val(data));
        call(what, self.context.bind_to_thread())?;
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
        self.synchronize()?;
        let bytes = size_of_val(data);
        // SAFETY: the buffer has at least as many bytes; the copy is done when the call returns.
        call(
            || format!("copying {bytes} bytes from the device"),
            unsafe { result::memcpy_dtoh_sync(data, buffer.ptr) },
        )
    }

    /// Copies `bytes` from one buffer to another on the stream.
    ///
    /// # Errors
    /// [`ProverError::DeviceLength`], [`ProverError::DeviceCall`].
    pub fn copy(&self, from: &Buffer, to: &Buffer, bytes: usize) -> Result<(), ProverError> {
        check_fits("a copy", from.bytes.min(to.bytes), bytes)?;
        // SAFETY: both buffers have as many bytes.
        call(|| format!("copying {bytes} bytes on the device"), unsafe {
            result::memcpy_dtod_async(to.ptr, from.ptr, bytes, self.stream.cu_stream())
        })
    }

    /// Sets every byte of `buffer` to `value`, on the stream.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`].
    pub fn fill(&self, buffer: &Buffer, value: u8) -> Result<(), ProverError> {
        // SAFETY: the length is the buffer's own.
        call(|| format!("filling {} bytes", buffer.bytes), unsafe {
            result::memset_d8_async(buffer.ptr, value, buffer.bytes, self.stream.cu_stream())
        })
    }

    /// Clears the first `bytes` of `buffer`, on the stream.
    ///
    /// # Errors
    /// [`ProverError::DeviceLength`] if it is shorter, [`ProverError::DeviceCall`].
    pub fn fill_bytes(&self, buffer: &Buffer, bytes: u64) -> Result<(), ProverError> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        check_fits("a clearing", buffer.bytes, bytes)?;
        // SAFETY: the buffer has as many bytes.
        call(|| format!("clearing {bytes} bytes"), unsafe {
            result::memset_d8_async(buffer.ptr, 0, bytes, self.stream.cu_stream())
        })
    }

    /// Waits until the stream has done all it was given.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`], an error of an earlier kernel or free included.
    pub fn synchronize(&self) -> Result<(), ProverError> {
        call(
            || "waiting for the stream".into(),
            self.stream.synchronize(),
        )?;
        call(|| "an earlier free".into(), self.context.check_err())
    }

    /// A mark in the stream, for [`elapsed_ms`](Self::elapsed_ms).
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`].
    pub fn mark(&self) -> Result<CudaEvent, ProverError> {
        let flags = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
        call(
            || "recording an event".into(),
            self.stream.record_event(flags),
        )
    }

    /// Milliseconds of device time between two marks; waits for the second.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`].
    pub fn elapsed_ms(&self, from: &CudaEvent, to: &CudaEvent) -> Result<f64, ProverError> {
        let what = || "reading an event".to_owned();
        call(what, self.context.bind_to_thread())?;
        call(what, from.elapsed_ms(to)).map(f64::from)
    }

    /// Puts a kernel on the stream.
    ///
    /// # Safety
    /// `args` are the addresses of the kernel's arguments, in order, each of its type, and what
    /// they point to on the device is there, long enough for this grid, until the kernel is done.
    pub(crate) unsafe fn launch(
        &self,
        name: &str,
        grid: Grid,
        args: &[*mut c_void],
    ) -> Result<(), ProverError> {
        let what = || format!("launching {name} with {grid:?}");
        let function = self
            .functions
            .get(name)
            .ok_or_else(|| ProverError::DeviceCall {
                call: what(),
                code: "no such kernel".to_owned(),
            })?;
        if grid.shared > 48 << 10 {
            let most =
                sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            let bytes = i32::try_from(grid.shared).unwrap_or(i32::MAX);
            call(what, function.set_attribute(most, bytes))?;
        }
        call(what, self.context.bind_to_thread())?;
        let mut args = args.to_vec();
        // SAFETY: the caller's promise.
        call(what, unsafe {
            result::launch_kernel(
                function.cu_function(),
                (grid.blocks.0, grid.blocks.1, 1),
                (grid.threads, 1, 1),
                grid.shared,
                self.stream.cu_stream(),
                &mut args,
            )
        })
    }
}

fn check_fits(what: &'static str, expected: usize, found: usize) -> Result<(), ProverError> {
    if found > expected {
        return Err(ProverError::DeviceLength {
            what,
            expected,
            found,
        });
    }
    Ok(())
}
