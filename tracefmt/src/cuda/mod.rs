//! Error codes of the CUDA runtime: number, name, text, and whether every later call fails too.
//!
//! Logs give the number, the name or the text, seldom two of them; this is the one table that
//! joins them. Names and texts are those that `cudaGetErrorName` and
//! `cudaGetErrorString` of CUDA 13 give. Which codes are sticky is the vendor's
//! word, not measured here.

/// One error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CudaError {
    /// Number, the same for the runtime and the driver where both have it.
    pub code: i32,
    /// Name in the runtime's header, such as `cudaErrorMemoryAllocation`.
    pub name: &'static str,
    /// Name in the driver's header, such as `CUDA_ERROR_OUT_OF_MEMORY`; empty where it has none.
    pub driver_name: &'static str,
    /// What `cudaGetErrorString` says.
    pub text: &'static str,
    /// Whether the context is lost: every later call gives an error until the process ends.
    pub sticky: bool,
}

/// The error of a number.
pub fn by_code(code: i32) -> Option<&'static CudaError> {
    let at = ERRORS
        .binary_search_by_key(&code, |error| error.code)
        .ok()?;
    ERRORS.get(at)
}

/// The error of a name of the runtime or of the driver.
pub fn by_name(name: &str) -> Option<&'static CudaError> {
    ERRORS
        .iter()
        .find(|error| error.name == name || !name.is_empty() && error.driver_name == name)
}

/// The error of a text, exactly as the runtime says it.
pub fn by_text(text: &str) -> Option<&'static CudaError> {
    ERRORS.iter().find(|error| error.text == text)
}

/// The error whose text begins this text; the longest one, where several do.
pub fn by_prefix(text: &str) -> Option<&'static CudaError> {
    ERRORS
        .iter()
        .filter(|error| text.starts_with(error.text))
        .max_by_key(|error| error.text.len())
}

/// Whether an error of this number leaves a context in which nothing works any more.
pub fn is_sticky(code: i32) -> bool {
    by_code(code).is_some_and(|error| error.sticky)
}

macro_rules! errors {
    ($($code:literal $name:ident $driver:literal $sticky:ident $text:literal;)+) => {
        /// The table, sorted by code.
        pub const ERRORS: &[CudaError] = &[$(CudaError {
            code: $code,
            name: stringify!($name),
            driver_name: $driver,
            text: $text,
            sticky: errors!(@ $sticky),
        },)+];
    };
    (@ sticky) => { true };
    (@ passes) => { false };
}

errors! {
    1 cudaErrorInvalidValue "CUDA_ERROR_INVALID_VALUE" passes "invalid argument";
    2 cudaErrorMemoryAllocation "CUDA_ERROR_OUT_OF_MEMORY" passes "out of memory";
    3 cudaErrorInitializationError "CUDA_ERROR_NOT_INITIALIZED" passes "initialization error";
    4 cudaErrorCudartUnloading "CUDA_ERROR_DEINITIALIZED" passes "driver shutting down";
    9 cudaErrorInvalidConfiguration "" passes "invalid configuration argument";
    35 cudaErrorInsufficientDriver "" passes
        "CUDA driver version is insufficient for CUDA runtime version";
    46 cudaErrorDevicesUnavailable "CUDA_ERROR_DEVICE_UNAVAILABLE" passes
        "CUDA-capable device(s) is/are busy or unavailable";
    98 cudaErrorInvalidDeviceFunction "" passes "invalid device function";
    100 cudaErrorNoDevice "CUDA_ERROR_NO_DEVICE" passes "no CUDA-capable device is detected";
    101 cudaErrorInvalidDevice "CUDA_ERROR_INVALID_DEVICE" passes "invalid device ordinal";
    200 cudaErrorInvalidKernelImage "CUDA_ERROR_INVALID_IMAGE" passes
        "device kernel image is invalid";
    201 cudaErrorDeviceUninitialized "CUDA_ERROR_INVALID_CONTEXT" passes "invalid device context";
    209 cudaErrorNoKernelImageForDevice "CUDA_ERROR_NO_BINARY_FOR_GPU" passes
        "no kernel image is available for execution on the device";
    214 cudaErrorECCUncorrectable "CUDA_ERROR_ECC_UNCORRECTABLE" passes
        "uncorrectable ECC error encountered";
    222 cudaErrorUnsupportedPtxVersion "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" passes
        "the provided PTX was compiled with an unsupported toolchain.";
    226 cudaErrorContained "CUDA_ERROR_CONTAINED" sticky
        "Invalid access of peer GPU memory over nvlink or a hardware error";
    304 cudaErrorOperatingSystem "CUDA_ERROR_OPERATING_SYSTEM" passes
        "OS call failed or operation not supported on this OS";
    400 cudaErrorInvalidResourceHandle "CUDA_ERROR_INVALID_HANDLE" passes "invalid resource handle";
    600 cudaErrorNotReady "CUDA_ERROR_NOT_READY" passes "device not ready";
    700 cudaErrorIllegalAddress "CUDA_ERROR_ILLEGAL_ADDRESS" sticky
        "an illegal memory access was encountered";
    701 cudaErrorLaunchOutOfResources "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES" passes
        "too many resources requested for launch";
    702 cudaErrorLaunchTimeout "CUDA_ERROR_LAUNCH_TIMEOUT" sticky
        "the launch timed out and was terminated";
    709 cudaErrorContextIsDestroyed "CUDA_ERROR_CONTEXT_IS_DESTROYED" passes "context is destroyed";
    710 cudaErrorAssert "CUDA_ERROR_ASSERT" sticky "device-side assert triggered";
    712 cudaErrorHostMemoryAlreadyRegistered "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED" passes
        "part or all of the requested memory range is already mapped";
    713 cudaErrorHostMemoryNotRegistered "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED" passes
        "pointer does not correspond to a registered memory region";
    714 cudaErrorHardwareStackError "CUDA_ERROR_HARDWARE_STACK_ERROR" sticky "hardware stack error";
    715 cudaErrorIllegalInstruction "CUDA_ERROR_ILLEGAL_INSTRUCTION" sticky
        "an illegal instruction was encountered";
    716 cudaErrorMisalignedAddress "CUDA_ERROR_MISALIGNED_ADDRESS" sticky "misaligned address";
    717 cudaErrorInvalidAddressSpace "CUDA_ERROR_INVALID_ADDRESS_SPACE" sticky
        "operation not supported on global/shared address space";
    718 cudaErrorInvalidPc "CUDA_ERROR_INVALID_PC" sticky "invalid program counter";
    719 cudaErrorLaunchFailure "CUDA_ERROR_LAUNCH_FAILED" sticky "unspecified launch failure";
    720 cudaErrorCooperativeLaunchTooLarge "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE" passes
        "too many blocks in cooperative launch";
    721 cudaErrorTensorMemoryLeak "CUDA_ERROR_TENSOR_MEMORY_LEAK" sticky
        "tensor memory not completely freed";
    800 cudaErrorNotPermitted "CUDA_ERROR_NOT_PERMITTED" passes "operation not permitted";
    801 cudaErrorNotSupported "CUDA_ERROR_NOT_SUPPORTED" passes "operation not supported";
    802 cudaErrorSystemNotReady "CUDA_ERROR_SYSTEM_NOT_READY" passes "system not yet initialized";
    803 cudaErrorSystemDriverMismatch "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" passes
        "system has unsupported display driver / cuda driver combination";
    810 cudaErrorMpsClientTerminated "CUDA_ERROR_MPS_CLIENT_TERMINATED" sticky
        "the MPS client has been terminated by the server";
    999 cudaErrorUnknown "CUDA_ERROR_UNKNOWN" passes "unknown error";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_every_error_is_found_three_ways() {
        assert!(ERRORS.is_sorted_by(|a, b| a.code < b.code));
        for error in ERRORS {
            assert_eq!(by_code(error.code), Some(error));
            assert_eq!(by_name(error.name), Some(error));
            assert_eq!(by_text(error.text), Some(error));
            if !error.driver_name.is_empty() {
                assert_eq!(by_name(error.driver_name), Some(error));
            }
        }
        assert_eq!(by_code(0), None);
        assert_eq!(by_name(""), None);
        assert_eq!(by_text("Out of memory"), None);
    }

    #[test]
    fn out_of_memory_passes_and_a_bad_access_stays() {
        let sticky: Vec<i32> = ERRORS.iter().filter(|e| e.sticky).map(|e| e.code).collect();
        let expected = [226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810];
        assert_eq!(sticky, expected);
        assert!(!is_sticky(2) && !is_sticky(712) && !is_sticky(12345));
    }

    #[test]
    fn the_longest_text_wins() {
        let text = "operation not supported on global/shared address space: x";
        assert_eq!(by_prefix(text).map(|error| error.code), Some(717));
        assert_eq!(
            by_prefix("operation not supported!").map(|error| error.code),
            Some(801)
        );
        assert_eq!(by_prefix("no such text"), None);
    }
}
