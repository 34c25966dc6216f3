//! CUDA error codes in words: name, meaning, and whether the error is sticky, that is whether
//! every later call of the process fails with it. Only codes that logs of provers really show;
//! an unknown code keeps its number. codes of `OpenCL` are negative and have names of their own.

/// What one code means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CudaCode {
    /// Number, as in `cudaError_t`.
    pub code: i32,
    /// Name in the runtime's header.
    pub name: &'static str,
    /// Plain words.
    pub meaning: &'static str,
    /// Every later call of the process fails too.
    pub sticky: bool,
}

const fn row(code: i32, name: &'static str, meaning: &'static str, sticky: bool) -> CudaCode {
    CudaCode {
        code,
        name,
        meaning,
        sticky,
    }
}

const CODES: [CudaCode; 30] = [
    row(
        1,
        "cudaErrorInvalidValue",
        "an argument is out of range, for example a pointer freed twice",
        false,
    ),
    row(
        2,
        "cudaErrorMemoryAllocation",
        "out of device memory",
        false,
    ),
    row(
        3,
        "cudaErrorInitializationError",
        "the driver could not be initialised",
        false,
    ),
    row(
        4,
        "cudaErrorCudartUnloading",
        "the runtime is shutting down",
        false,
    ),
    row(
        9,
        "cudaErrorInvalidConfiguration",
        "a kernel was launched with an impossible grid",
        false,
    ),
    row(
        35,
        "cudaErrorInsufficientDriver",
        "the driver is older than the CUDA runtime needs",
        false,
    ),
    row(
        46,
        "cudaErrorDevicesUnavailable",
        "all devices are busy or in exclusive use",
        false,
    ),
    row(
        98,
        "cudaErrorInvalidDeviceFunction",
        "the binary has no code for this function on this GPU",
        false,
    ),
    row(100, "cudaErrorNoDevice", "no CUDA device was found", false),
    row(
        101,
        "cudaErrorInvalidDevice",
        "there is no device with this number",
        false,
    ),
    row(
        201,
        "cudaErrorDeviceUninitialized",
        "the context is not valid",
        false,
    ),
    row(
        209,
        "cudaErrorNoKernelImageForDevice",
        "the binary has no code for this GPU's architecture",
        false,
    ),
    row(
        214,
        "cudaErrorECCUncorrectable",
        "the GPU's memory has an uncorrectable error",
        true,
    ),
    row(
        220,
        "cudaErrorNvlinkUncorrectable",
        "NVLink has an uncorrectable error",
        true,
    ),
    row(
        304,
        "cudaErrorOperatingSystem",
        "a call of the operating system failed",
        false,
    ),
    row(
        400,
        "cudaErrorInvalidResourceHandle",
        "a stream or event does not belong to this context",
        false,
    ),
    row(
        600,
        "cudaErrorNotReady",
        "the work is not finished yet",
        false,
    ),
    row(
        700,
        "cudaErrorIllegalAddress",
        "a kernel read or wrote memory that it does not own",
        true,
    ),
    row(
        701,
        "cudaErrorLaunchOutOfResources",
        "the kernel needs more registers or threads than there are",
        false,
    ),
    row(
        702,
        "cudaErrorLaunchTimeout",
        "the kernel ran longer than the display watchdog allows",
        true,
    ),
    row(
        709,
        "cudaErrorContextIsDestroyed",
        "the context was destroyed",
        true,
    ),
    row(
        710,
        "cudaErrorAssert",
        "an assertion in a kernel failed",
        true,
    ),
    row(
        712,
        "cudaErrorHostMemoryAlreadyRegistered",
        "the host memory is registered already",
        false,
    ),
    row(
        713,
        "cudaErrorHostMemoryNotRegistered",
        "the host memory is not registered",
        false,
    ),
    row(
        714,
        "cudaErrorHardwareStackError",
        "a kernel overran its stack",
        true,
    ),
    row(
        715,
        "cudaErrorIllegalInstruction",
        "a kernel met an illegal instruction",
        true,
    ),
    row(
        716,
        "cudaErrorMisalignedAddress",
        "a kernel used a misaligned address",
        true,
    ),
    row(
        718,
        "cudaErrorInvalidPc",
        "a kernel jumped to an invalid address",
        true,
    ),
    row(
        719,
        "cudaErrorLaunchFailure",
        "a kernel failed while it ran",
        true,
    ),
    row(
        999,
        "cudaErrorUnknown",
        "the driver names no reason; its kernel log may",
        true,
    ),
];

/// The entry of a code, if it is known. sppark negates codes; both signs are found.
pub fn lookup(code: i32) -> Option<&'static CudaCode> {
    let code = code.checked_abs()?;
    CODES.iter().find(|row| row.code == code)
}

/// "700, cudaErrorIllegalAddress: a kernel ...", or the bare number.
pub fn describe(code: i32) -> String {
    lookup(code).map_or_else(
        || format!("CUDA error {code}"),
        |row| format!("CUDA error {} ({}): {}", row.code, row.name, row.meaning),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_and_unique() {
        assert!(CODES.windows(2).all(|pair| pair[0].code < pair[1].code));
    }

    #[test]
    fn the_codes_of_real_logs_are_named() {
        assert!(describe(2).contains("out of device memory"));
        assert!(describe(-700).contains("cudaErrorIllegalAddress"));
        assert!(lookup(700).is_some_and(|row| row.sticky));
        assert!(lookup(712).is_some_and(|row| !row.sticky));
        assert_eq!(describe(12345), "CUDA error 12345");
        assert_eq!(lookup(i32::MIN), None);
    }
}
