//! CUDA error codes in a sentence, as findings say them. The table of codes is `tracefmt`'s.

/// "CUDA error 700 (cudaErrorIllegalAddress: an illegal memory access was encountered)", or the
/// bare number of an unknown code. sppark negates codes; both signs are found.
pub(crate) fn describe(code: i32) -> String {
    let known = code.checked_abs().and_then(tracefmt::cuda::by_code);
    known.map_or_else(
        || format!("CUDA error {code}"),
        |error| format!("CUDA error {} ({}: {})", error.code, error.name, error.text),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_of_real_logs_are_named() {
        assert!(describe(2).contains("out of memory"));
        assert!(describe(-700).contains("cudaErrorIllegalAddress"));
        assert_eq!(describe(12345), "CUDA error 12345");
        assert_eq!(describe(i32::MIN), "CUDA error -2147483648");
    }
}
