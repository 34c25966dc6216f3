//! One CUDA device: its context, its streams and the launches of the kernels. Every return code is
//! looked at; an error is a value that names the call. Its memory is in [`memory`], copies beside
//! the computation in [`lanes`].
//!
//! Several threads may use one device: each call binds the context itself, and none waits for
//! more than its own stream. Allocating and freeing wait for the whole device by nature.

#![expect(
    unsafe_code,
    reason = "the CUDA driver is a C library; each block says why it is sound"
)]

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::path::Path;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaEvent, CudaFunction, CudaStream, DriverError, result, sys};
use cudarc::nvrtc::Ptx;
use rayon::prelude::*;

use super::kernels::{UNITS, Unit};
use crate::ProverError;
pub use lanes::{COPY_LANES, Upload};
pub use memory::{Buffer, Plain};
pub use staging::Staging;

mod lanes;
mod memory;
mod staging;

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

/// Versions of the driver's interface and of the driver, as far as they can be had.
pub fn versions() -> Vec<(&'static str, String)> {
    let mut versions = Vec::new();
    let mut number = 0;
    // SAFETY: the driver is there, a device was opened; the number outlives the call.
    let asked = unsafe { sys::cuDriverGetVersion(&raw mut number) };
    if asked.result().is_ok() {
        versions.push(("cuda", format!("{}.{}", number / 1000, number % 1000 / 10)));
    }
    let text = std::fs::read_to_string("/proc/driver/nvidia/version").unwrap_or_default();
    if let Some(driver) = driver_of(&text) {
        versions.push(("driver", driver.to_owned()));
    }
    versions
}

/// The driver's version from what it says of itself: the first word of digits and dots.
fn driver_of(text: &str) -> Option<&str> {
    let is_version = |word: &&str| {
        word.contains('.')
            && word
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    text.split_whitespace().find(is_version)
}

fn call<T>(
    what: impl FnOnce() -> String,
    result: Result<T, DriverError>,
) -> Result<T, ProverError> {
    result.map_err(|code| ProverError::DeviceCall {
        call: what(),
        code: format!("{:?}", code.0),
        rc: code.0 as i32,
    })
}

/// Makes the context the calling thread's. Unlike cudarc's own way it does not report what another
/// thread's drop left behind: that is for [`Device::synchronize`].
fn bind(context: &CudaContext) -> Result<(), DriverError> {
    if result::ctx::get_current()? == Some(context.cu_ctx()) {
        return Ok(());
    }
    // SAFETY: the context is alive as long as the reference.
    unsafe { result::ctx::set_current(context.cu_ctx()) }
}

/// A device with its kernels loaded.
#[derive(Debug)]
pub struct Device {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    lanes: [Arc<CudaStream>; COPY_LANES],
    functions: BTreeMap<&'static str, CudaFunction>,
    footprint: Footprint,
}

/// Device memory that nobody allocated, in bytes, as free memory fell while the device was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Machine code of the kernels.
    pub modules: u64,
    /// Stack and spilled registers of all threads that the card can hold.
    pub local: u64,
    /// All that was in use when opening ended: these, the context, and other programs' memory.
    pub baseline: u64,
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
        Self::opened(ordinal, &UNITS.iter().collect::<Vec<_>>(), defines, cache)
    }

    /// Opens a device for the making of parameters: only the kernels that this takes are compiled
    /// and loaded. Other work on it fails with the name of its kernel.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_for_setup(ordinal: usize, cache: Option<&Path>) -> Result<Self, ProverError> {
        let units = UNITS.iter().filter(|unit| unit.makes_parameters());
        Self::opened(ordinal, &units.collect::<Vec<_>>(), &[], cache)
    }

    fn opened(
        ordinal: usize,
        units: &[&Unit],
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
        let stream = || call(|| "making a stream".into(), context.new_stream());
        let (compute, lanes) = (stream()?, [stream()?, stream()?]);
        let mut device = Self {
            stream: compute,
            lanes,
            functions: BTreeMap::new(),
            footprint: Footprint::default(),
            context,
        };
        let (start, total) = device.memory()?;
        device.load(units, defines, cache)?;
        let (loaded, _) = device.memory()?;
        device.warm()?;
        let (free, _) = device.memory()?;
        device.footprint = Footprint {
            modules: start.saturating_sub(loaded) as u64,
            local: loaded.saturating_sub(free) as u64,
            baseline: total.saturating_sub(free) as u64,
        };
        Ok(device)
    }

    /// Compiles what is not in the cache, on all cores, and loads every kernel: one that is loaded
    /// while another runs may stop it.
    fn load(
        &mut self,
        units: &[&Unit],
        defines: &[String],
        cache: Option<&Path>,
    ) -> Result<(), ProverError> {
        let capability = call(
            || "reading the capability".into(),
            self.context.compute_capability(),
        )?;
        let codes: Vec<Result<Vec<u8>, ProverError>> = units
            .par_iter()
            .map(|unit| unit.cubin(capability, defines, cache))
            .collect();
        for (unit, code) in units.iter().zip(codes) {
            let code = code?;
            let load = || format!("loading the kernels of {}", unit.name);
            let module = call(load, self.context.load_module(Ptx::from_binary(code)))?;
            for &name in unit.kernels {
                let function = call(|| format!("finding {name}"), module.load_function(name))?;
                self.functions.insert(name, function);
            }
        }
        Ok(())
    }

    /// Launches, over nothing, the kernels that keep most outside registers: the driver takes
    /// memory for that when such a kernel runs for the first time.
    fn warm(&self) -> Result<(), ProverError> {
        let (null, none) = (0_u64, 0_u64);
        let (sets, vectors, len) = (0_u32, 1_u32, 2_u32);
        let fold = [arg(&null), arg(&null), arg(&sets), arg(&vectors), arg(&len)];
        let normalise = [arg(&null), arg(&null), arg(&none)];
        for (name, args) in [
            ("msm_fold_g1", &fold[..]),
            ("msm_fold_g2", &fold[..]),
            ("bases_normalise_g1", &normalise[..]),
            ("bases_normalise_g2", &normalise[..]),
        ] {
            if !self.functions.contains_key(name) {
                continue;
            }
            // SAFETY: no sets and no points: every thread leaves before it reads anything.
            unsafe { self.launch(name, Grid::over(1, 128), args) }?;
        }
        self.synchronize()
    }

    /// What the card's memory held when the device was opened, our own share apart.
    pub fn footprint(&self) -> Footprint {
        self.footprint
    }

    /// Bytes in use on the card before any allocation of ours; [`Footprint::baseline`].
    pub fn baseline(&self) -> u64 {
        self.footprint.baseline
    }

    /// Binds the context to the calling thread.
    fn bound(&self, what: impl FnOnce() -> String) -> Result<(), ProverError> {
        call(what, bind(&self.context))
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
        let what = || "reading the shared memory".to_owned();
        let bytes = call(what, self.context.attribute(most))?;
        Ok(u32::try_from(bytes).unwrap_or(48 << 10))
    }

    /// Free and total bytes of memory.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`].
    pub fn memory(&self) -> Result<(usize, usize), ProverError> {
        let what = || "reading free memory".to_owned();
        self.bound(what)?;
        call(what, result::mem_get_info())
    }

    /// Waits until the stream has done all it was given.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`], an error of an earlier kernel or free included.
    pub fn synchronize(&self) -> Result<(), ProverError> {
        let what = || "waiting for the stream".to_owned();
        self.bound(what)?;
        // SAFETY: the stream is alive as long as the device.
        call(what, unsafe {
            result::stream::synchronize(self.stream.cu_stream())
        })?;
        call(|| "an earlier free".into(), self.context.check_err())
    }

    /// A mark in the stream, for [`elapsed_ms`](Self::elapsed_ms).
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`].
    pub fn mark(&self) -> Result<CudaEvent, ProverError> {
        let what = || "recording an event".to_owned();
        self.bound(what)?;
        let flags = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
        call(what, self.stream.record_event(flags))
    }

    /// Milliseconds of device time between two marks; waits for the second.
    ///
    /// # Errors
    /// [`ProverError::DeviceCall`].
    pub fn elapsed_ms(&self, from: &CudaEvent, to: &CudaEvent) -> Result<f64, ProverError> {
        let what = || "reading an event".to_owned();
        self.bound(what)?;
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
                rc: sys::CUresult::CUDA_ERROR_NOT_FOUND as i32,
            })?;
        self.bound(what)?;
        if grid.shared > 48 << 10 {
            let most =
                sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            let bytes = i32::try_from(grid.shared).unwrap_or(i32::MAX);
            call(what, function.set_attribute(most, bytes))?;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_may_share_a_device_and_its_memory() {
        fn shared<T: Send + Sync>() {}
        shared::<Device>();
        shared::<Buffer>();
        shared::<Upload>();
    }

    #[test]
    fn a_device_that_is_not_there_is_an_error() {
        let opened = Device::open(usize::MAX, &[], None);
        assert!(
            matches!(opened, Err(ProverError::NoDevice { .. })),
            "{opened:?}"
        );
    }

    #[test]
    fn a_grid_has_a_block_for_the_last_few() {
        let blocks = [0, 1, 256, 257].map(|elements| Grid::over(elements, 256).blocks.0);
        assert_eq!(blocks, [1, 1, 1, 2]);
        assert_eq!(Grid::over(u64::MAX, 1).blocks.0, u32::MAX);
    }

    #[test]
    fn the_version_of_the_driver_is_found() {
        let text = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release \
                    Build  (root@vm)  Tue Mar 10\nGCC version:  gcc version 13.3.0";
        assert_eq!(driver_of(text), Some("580.159.04"));
        assert_eq!(driver_of(""), None);
    }
}
