//! Names of the phases and which is a part of which. A part is never summed with its whole.

/// Phase and the phase it is a part of. Where the whole is not in a log (older versions print
/// fewer), the next one up takes its place.
const PARENTS: [(&str, &str); 31] = [
    ("split_vectors", "setup_to_split"),
    ("setup_to_split", "pre_lock_cpu"),
    ("pre_lock_cpu", "total_start_fn"),
    ("mutex_wait", "total_start_fn"),
    ("mutex_held", "total_start_fn"),
    ("total_start_fn", "pre_destructor"),
    ("prestage", "mutex_held"),
    ("prestage_sync", "prestage"),
    ("prestage_trim", "prestage"),
    ("prestage_alloc", "prestage"),
    ("prestage_upload", "prestage"),
    ("gpu_total", "mutex_held"),
    ("ntt_msm_h", "gpu_total"),
    ("barrier_wait", "gpu_total"),
    ("batch_add", "gpu_total"),
    ("tail_msm", "gpu_total"),
    ("ntt_h_total", "ntt_msm_h"),
    ("d_b_alloc", "ntt_h_total"),
    ("ntt_kernels", "ntt_h_total"),
    ("coset_intt_sync", "ntt_h_total"),
    ("msm_init", "ntt_h_total"),
    ("msm_invoke", "ntt_h_total"),
    ("msm_dtor", "ntt_h_total"),
    ("pre_destructor", "gpu_ms"),
    ("quotient", "gpu_ms"),
    ("msm_h", "gpu_ms"),
    ("msm_l", "gpu_ms"),
    ("msm_a", "gpu_ms"),
    ("msm_b_g1", "gpu_ms"),
    ("msm_b_g2", "gpu_ms"),
    ("epilogue", "pre_destructor"),
];

/// CPU work beside the GPU thread of the same call.
const BESIDE: [&str; 2] = ["prep_msm", "b_g2_msm"];

/// The phase that `name` is a part of, whether or not a log has it.
pub fn parent(name: &str) -> Option<&'static str> {
    if BESIDE.contains(&name) {
        return Some("gpu_ms");
    }
    let found = PARENTS.iter().find(|(part, _)| *part == name);
    found.map(|(_, whole)| *whole)
}

/// The nearest phase around `name` for which `present` holds.
pub fn nearest_parent(name: &str, present: impl Fn(&str) -> bool) -> Option<&'static str> {
    let mut around = parent(name);
    while let Some(whole) = around {
        if present(whole) {
            return Some(whole);
        }
        around = parent(whole);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chain_ends() {
        for (part, _) in PARENTS {
            let depth = std::iter::successors(parent(part), |name| parent(name)).count();
            assert!((1..8).contains(&depth), "{part}: {depth}");
        }
    }

    #[test]
    fn a_missing_whole_is_skipped() {
        let old = ["gpu_total", "ntt_msm_h", "gpu_ms"];
        let present = |name: &str| old.contains(&name);
        assert_eq!(nearest_parent("d_b_alloc", present), Some("ntt_msm_h"));
        assert_eq!(nearest_parent("gpu_total", present), Some("gpu_ms"));
        assert_eq!(nearest_parent("prep_msm", present), Some("gpu_ms"));
        assert_eq!(nearest_parent("gpu_ms", present), None);
        assert_eq!(nearest_parent("synth", present), None);
    }
}
