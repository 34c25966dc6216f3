//! The kernels compile for every architecture that the backend names, and those that do the work
//! keep all they need in registers. Needs NVRTC on the library path and no GPU; without it the
//! test says that it was skipped, or fails where `CUZK_NVRTC_REQUIRED` is set.

#![cfg(feature = "cuda")]

use prover::ProverError;
use prover::clock::{Clock as _, SystemClock};
use prover::cuda::{UNITS, Unit};
use rayon::prelude::*;

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

/// What the assembler says of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Use {
    kernel: String,
    registers: u32,
    stack: u32,
    spilled: u32,
}

/// The number before ` words` in a line of the report.
fn before(line: &str, words: &str) -> Option<u32> {
    let (number, _) = line.split_once(words)?;
    number.rsplit(' ').next()?.parse().ok()
}

fn uses(report: &str) -> Vec<Use> {
    let mut found: Vec<Use> = Vec::new();
    for line in report.lines() {
        if let Some((_, rest)) = line.split_once("entry function '") {
            found.push(Use {
                kernel: rest.split('\'').next().unwrap_or_default().to_owned(),
                ..Use::default()
            });
        }
        let Some(last) = found.last_mut() else {
            continue;
        };
        // Functions that are called are reported between a kernel's first line and its registers.
        last.stack = last
            .stack
            .max(before(line, " bytes stack frame").unwrap_or(0));
        last.spilled = last
            .spilled
            .max(before(line, " bytes spill stores").unwrap_or(0));
        last.registers = last.registers.max(before(line, " registers").unwrap_or(0));
    }
    found
}

/// One unit for one architecture: what its kernels use, and the seconds that it took.
fn compile(unit: &Unit, capability: (i32, i32)) -> Result<(Vec<Use>, f64), ProverError> {
    let clock = SystemClock::new();
    let report = unit.report(capability, &[])?;
    Ok((uses(&report), clock.now_us() as f64 / 1e6))
}

#[test]
fn kernels_compile_without_spills() {
    let pairs: Vec<(Unit, (i32, i32))> = UNITS
        .iter()
        .flat_map(|unit| CAPABILITIES.map(|capability| (*unit, capability)))
        .collect();
    let compiled: Vec<_> = pairs
        .into_par_iter()
        .map(|(unit, capability)| (unit, capability, compile(&unit, capability)))
        .collect();
    let mut bad = Vec::new();
    for (unit, (major, minor), compiled) in compiled {
        let (uses, seconds) = match compiled {
            Err(ProverError::KernelBuild { log, .. }) if log.contains("library path") => {
                assert!(
                    std::env::var_os("CUZK_NVRTC_REQUIRED").is_none(),
                    "the kernels were to be compiled: {log}"
                );
                eprintln!("skipped: {log}");
                return;
            }
            Err(error) => panic!("{} for sm_{major}{minor}: {error}", unit.name),
            Ok(compiled) => compiled,
        };
        println!("{} sm_{major}{minor}: {seconds:.1} s", unit.name);
        for of in &uses {
            println!(
                "    {:<22} {:>3} registers, {:>4} bytes of stack, {:>3} spilled",
                of.kernel, of.registers, of.stack, of.spilled
            );
        }
        let named: Vec<&str> = uses.iter().map(|of| of.kernel.as_str()).collect();
        for kernel in unit.kernels {
            assert!(named.contains(kernel), "{kernel} is not in {}", unit.name);
        }
        bad.extend(
            uses.into_iter()
                .filter(|of| of.spilled > may_spill(&of.kernel)),
        );
    }
    assert!(bad.is_empty(), "kernels spill: {bad:#?}");
}

#[test]
fn the_report_is_read() {
    let report = "ptxas info : Compiling entry function 'a_g1' for 'sm_90'\n\
                  ptxas info : Function properties for a_g1\n\
                  8 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n\
                  ptxas info : Used 168 registers, used 0 barriers, 8 bytes cumulative stack\n";
    let expected = Use {
        kernel: "a_g1".to_owned(),
        registers: 168,
        stack: 8,
        spilled: 12,
    };
    assert_eq!(uses(report), [expected]);
}
