//! The kernels compile for every architecture that the backend names, and those that do the work
//! keep all they need in registers. Needs NVRTC on the library path and no GPU; without it the
//! test says that it was skipped.

#![cfg(feature = "cuda")]

use prover::ProverError;
use prover::cuda::UNITS;

/// Compute capabilities of Ampere, Ada, Hopper and Blackwell cards.
const CAPABILITIES: [(i32, i32); 4] = [(8, 0), (8, 9), (9, 0), (12, 0)];

/// Bytes that a kernel may keep outside registers. Additions over Fp2 need more than the 255 that a
/// thread can have, the small batches of `normalise` are arrays by design, and a pass of a
/// transform at two blocks a multiprocessor may miss by a register or two.
fn may_spill(kernel: &str) -> u32 {
    if kernel.contains("_g2") || kernel.contains("normalise") {
        return 256;
    }
    if kernel.starts_with("ntt_pass") {
        64
    } else {
        0
    }
}

/// (kernel, bytes of spilled stores) from the assembler's report.
fn spills(report: &str) -> Vec<(String, u32)> {
    let mut kernel = String::new();
    let mut found = Vec::new();
    for line in report.lines() {
        if let Some((_, rest)) = line.split_once("entry function '") {
            rest.split('\'')
                .next()
                .unwrap_or_default()
                .clone_into(&mut kernel);
        }
        if let Some((before, _)) = line.split_once(" bytes spill stores") {
            let bytes = before.rsplit(' ').next().unwrap_or_default();
            found.push((kernel.clone(), bytes.parse().unwrap_or(u32::MAX)));
        }
    }
    found
}

#[test]
fn kernels_compile_without_spills() {
    let mut bad = Vec::new();
    for unit in UNITS {
        for capability in CAPABILITIES {
            let report = match unit.report(capability, &[]) {
                Err(ProverError::KernelBuild { log, .. }) if log.contains("library path") => {
                    eprintln!("skipped: {log}");
                    return;
                }
                other => other.map_err(|error| error.to_string()),
            };
            let found = report.as_deref().map(spills).unwrap_or_default();
            assert!(
                !found.is_empty(),
                "{} {capability:?}: {report:?}",
                unit.name
            );
            bad.extend(
                found
                    .into_iter()
                    .filter(|(kernel, bytes)| *bytes > may_spill(kernel))
                    .map(|spill| (capability, spill)),
            );
        }
    }
    assert!(bad.is_empty(), "kernels spill: {bad:?}");
}

#[test]
fn the_report_is_read() {
    let report = "ptxas info : Compiling entry function 'a_g1' for 'sm_90'\n\
                  ptxas info : Function properties for a_g1\n\
                  8 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n";
    assert_eq!(spills(report), [("a_g1".to_owned(), 12)]);
}
