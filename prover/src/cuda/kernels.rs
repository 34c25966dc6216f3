//! The kernels' source, carried in the binary, and its way to machine code: NVRTC at first use,
//! kept in a folder under a name made of source, options, architecture and driver.
//!
//! A cache that cannot be read or written is no error: the kernels are compiled again.

#![expect(
    unsafe_code,
    reason = "NVRTC is a C library; each call is checked and each block says why it is sound"
)]

use std::ffi::CString;
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use cudarc::nvrtc::{result, sys};

use super::device::versions;
use crate::ProverError;

/// One compilation unit: its name and its source without the headers.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// The file's name, and the group where the unit is the file's part for one.
    pub name: &'static str,
    /// Its kernels.
    pub kernels: &'static [&'static str],
    source: &'static str,
    /// What picks the part of the file.
    part: &'static str,
}

const MSM_SUM: &str = include_str!("../../cuda/src/msm_sum.cu");
const BASES: &str = include_str!("../../cuda/src/bases.cu");
/// The parts of a file that has kernels for both groups.
const G1: &str = "#define ONLY_G1\n";
const G2: &str = "#define ONLY_G2\n";

const HEADERS: [&str; 7] = [
    include_str!("../../cuda/include/limbs.cuh"),
    include_str!("../../cuda/include/fr.cuh"),
    include_str!("../../cuda/include/fp.cuh"),
    include_str!("../../cuda/include/fp2.cuh"),
    include_str!("../../cuda/include/xyzz.cuh"),
    include_str!("../../cuda/include/window.cuh"),
    include_str!("../../cuda/include/memory.cuh"),
];

/// Every unit of the backend.
pub const UNITS: [Unit; 7] = [
    Unit {
        name: "msm_sort.cu",
        kernels: &[
            "msm_digits",
            "msm_count",
            "msm_offsets",
            "msm_partition",
            "msm_buckets",
            "msm_lengths",
            "msm_slots",
            "msm_items",
            "msm_big_items",
        ],
        source: include_str!("../../cuda/src/msm_sort.cu"),
        part: "",
    },
    Unit {
        name: "msm_sum.g1.cu",
        kernels: &[
            "msm_accumulate_g1",
            "msm_runs_g1",
            "msm_groups_g1",
            "msm_fold_g1",
            "msm_jacobian_g1",
        ],
        source: MSM_SUM,
        part: G1,
    },
    Unit {
        name: "msm_sum.g2.cu",
        kernels: &[
            "msm_accumulate_g2",
            "msm_runs_g2",
            "msm_groups_g2",
            "msm_fold_g2",
            "msm_jacobian_g2",
        ],
        source: MSM_SUM,
        part: G2,
    },
    Unit {
        name: "bases.g1.cu",
        kernels: &[
            "bases_pairs_g1",
            "bases_multiples_g1",
            "bases_fixed_g1",
            "bases_normalise_g1",
        ],
        source: BASES,
        part: G1,
    },
    Unit {
        name: "bases.g2.cu",
        kernels: &[
            "bases_pairs_g2",
            "bases_multiples_g2",
            "bases_fixed_g2",
            "bases_normalise_g2",
        ],
        source: BASES,
        part: G2,
    },
    Unit {
        name: "ntt.cu",
        kernels: &[
            "ntt_pass_5",
            "ntt_pass_6",
            "ntt_pass_7",
            "ntt_pass_8",
            "ntt_pass_9",
            "ntt_powers",
            "fr_canonical",
        ],
        source: include_str!("../../cuda/src/ntt.cu"),
        part: "",
    },
    Unit {
        name: "poly.cu",
        kernels: &["poly_mul", "poly_sub_scale", "poly_natural", "rows_times"],
        source: include_str!("../../cuda/src/poly.cu"),
        part: "",
    },
];

/// Machine code that was compiled with this crate: unit, compute capability, code.
type Built = &'static [(&'static str, (i32, i32), &'static [u8])];
#[cfg(feature = "nvcc")]
static BUILT: Built = include!(concat!(env!("OUT_DIR"), "/cubins.rs"));
#[cfg(not(feature = "nvcc"))]
static BUILT: Built = &[];

impl Unit {
    /// Whether parameters are made with its kernels.
    pub fn makes_parameters(&self) -> bool {
        self.name.starts_with("bases.")
    }

    /// The whole text that the compiler sees: headers in order, includes and pragmas dropped.
    pub fn text(&self) -> String {
        let lines = HEADERS.iter().chain([&self.source]);
        lines
            .flat_map(|text| text.lines())
            .filter(|line| !line.starts_with("#include") && !line.starts_with("#pragma once"))
            .fold(self.part.to_owned(), |text, line| text + line + "\n")
    }

    /// Machine code that was compiled with this crate.
    fn built(&self, (major, minor): (i32, i32)) -> Option<&'static [u8]> {
        let mut built = BUILT.iter();
        let own = built.find(|(name, of, _)| *name == self.name && *of == (major, minor));
        own.map(|(_, _, code)| *code)
    }

    /// Machine code for the compute capability `major.minor`: compiled with this crate, else from
    /// the cache folder, else compiled now and kept there.
    ///
    /// # Errors
    /// [`ProverError::KernelBuild`] with the compiler's log.
    pub fn cubin(
        &self,
        capability: (i32, i32),
        defines: &[String],
        cache: Option<&Path>,
    ) -> Result<Vec<u8>, ProverError> {
        if let (Some(code), []) = (self.built(capability), defines) {
            return Ok(code.to_vec());
        }
        let text = self.text();
        let options = options(&text, capability, defines);
        let place = |driver: &str| {
            let name = file_name(self.name, (&text, &options), driver);
            cache.map(|folder| folder.join(name))
        };
        let kept = place(&driver());
        // What a machine without a driver compiled ahead is as good.
        let ahead = place("");
        let known = |path: &Option<PathBuf>| path.as_deref().and_then(read_kept);
        if let Some(code) = known(&kept).or_else(|| known(&ahead)) {
            return Ok(code);
        }
        let (code, _) = compile(self.name, &text, &options)?;
        if let Some(path) = kept {
            keep(&path, &code);
        }
        Ok(code)
    }

    /// The assembler's report on registers, stack and spills, for a build without cache.
    ///
    /// # Errors
    /// [`ProverError::KernelBuild`] with the compiler's log.
    pub fn report(
        &self,
        capability: (i32, i32),
        defines: &[String],
    ) -> Result<String, ProverError> {
        let text = self.text();
        let mut options = options(&text, capability, defines);
        options.push("--ptxas-options=-v".to_owned());
        compile(self.name, &text, &options).map(|(_, log)| log)
    }
}

/// Where compiled kernels are kept: `CUZK_KERNEL_CACHE`, else the user's cache folder.
pub fn default_cache() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("CUZK_KERNEL_CACHE") {
        return Some(folder.into());
    }
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))?;
    Some(base.join("cuzk").join("kernels"))
}

/// A definition goes to the units that know its name, so that the others stay in the cache.
fn options(text: &str, (major, minor): (i32, i32), defines: &[String]) -> Vec<String> {
    let known = |define: &&String| {
        let name = define.split('=').next().unwrap_or_default();
        text.contains(&format!("#ifndef {name}\n"))
    };
    let mut options = vec![
        format!("--gpu-architecture=sm_{major}{minor}"),
        "--std=c++17".to_owned(),
    ];
    let defines = defines.iter().filter(known);
    options.extend(defines.map(|define| format!("-D{define}")));
    options
}

/// The driver that is here, in words; empty without one.
fn driver() -> String {
    // SAFETY: only asks the loader whether the library is there.
    if !unsafe { cudarc::driver::sys::is_culib_present() } {
        return String::new();
    }
    let versions = versions().into_iter();
    let words: Vec<String> = versions
        .map(|(of, version)| format!("{of} {version}"))
        .collect();
    words.join(", ")
}

fn file_name(name: &str, (text, options): (&str, &[String]), driver: &str) -> String {
    let mut hasher = std::hash::DefaultHasher::new();
    (text, options, env!("CARGO_PKG_VERSION")).hash(&mut hasher);
    if !driver.is_empty() {
        driver.hash(&mut hasher);
    }
    format!("{name}-{:016x}.cubin", hasher.finish())
}

fn read_kept(path: &Path) -> Option<Vec<u8>> {
    std::fs::read(path)
        .ok()
        .filter(|code| code.starts_with(b"\x7fELF"))
}

/// Written under another name first, so that no reader sees half a file.
fn keep(path: &Path, code: &[u8]) {
    let Some(folder) = path.parent() else { return };
    let half = path.with_extension(format!("{}.part", std::process::id()));
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&half, code))
        .and_then(|()| std::fs::rename(&half, path));
    if written.is_err() {
        drop(std::fs::remove_file(&half));
    }
}

/// An NVRTC program, destroyed with its owner.
struct Program(sys::nvrtcProgram);

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the program was created by `create_program` and is destroyed once, here.
        let destroyed = unsafe { result::destroy_program(self.0) };
        debug_assert!(destroyed.is_ok(), "destroying a live program");
    }
}

/// Machine code and the compiler's log.
fn compile(
    what: &'static str,
    text: &str,
    options: &[String],
) -> Result<(Vec<u8>, String), ProverError> {
    let failed = |log: String| ProverError::KernelBuild { what, log };
    // SAFETY: only asks the loader whether the library is there.
    if !unsafe { sys::is_culib_present() } {
        return Err(failed(
            "libnvrtc, the CUDA run-time compiler, is not on the library path".to_owned(),
        ));
    }
    let source = CString::new(text).map_err(|nul| failed(nul.to_string()))?;
    let name = CString::new(what).map_err(|nul| failed(nul.to_string()))?;
    let program = result::create_program(&source, Some(&name))
        .map(Program)
        .map_err(|code| failed(code.to_string()))?;
    // SAFETY: the program lives until the end of this function.
    let compiled = unsafe { result::compile_program(program.0, options) };
    // SAFETY: as above.
    let log = unsafe { result::get_program_log(program.0) }
        .map(|bytes| text_of(&bytes))
        .unwrap_or_default();
    compiled.map_err(|code| failed(format!("{code}\n{log}")))?;
    let mut len = 0_usize;
    // SAFETY: the program is compiled; `len` outlives the call.
    unsafe { sys::nvrtcGetCUBINSize(program.0, &raw mut len) }
        .result()
        .map_err(|code| failed(code.to_string()))?;
    let mut code = vec![0_u8; len];
    // SAFETY: `code` has the number of bytes that the library asked for.
    unsafe { sys::nvrtcGetCUBIN(program.0, code.as_mut_ptr().cast()) }
        .result()
        .map_err(|code| failed(code.to_string()))?;
    Ok((code, log))
}

fn text_of(chars: &[std::ffi::c_char]) -> String {
    let bytes: Vec<u8> = chars.iter().map(|&c| c.cast_unsigned()).collect();
    String::from_utf8_lossy(&bytes)
        .trim_end_matches('\0')
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the build script compiles.
    const LISTED: &str = include_str!("../../cuda/units.txt");

    #[test]
    fn the_build_script_knows_every_unit() {
        let listed: Vec<&str> = LISTED
            .lines()
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        assert_eq!(listed, UNITS.map(|unit| unit.name));
    }

    #[test]
    fn what_is_kept_is_named_by_all_that_it_hangs_on() {
        let options = |arch: &str| vec![arch.to_owned()];
        let (old, new) = (options("sm_80"), options("sm_90"));
        let names = [
            file_name("a.cu", ("text", &old), ""),
            file_name("b.cu", ("text", &old), ""),
            file_name("a.cu", ("other", &old), ""),
            file_name("a.cu", ("text", &new), ""),
            file_name("a.cu", ("text", &old), "driver 580;"),
            file_name("a.cu", ("text", &old), "driver 590;"),
        ];
        let different: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(different.len(), names.len(), "{names:?}");
    }

    #[test]
    fn parameters_take_the_kernels_of_the_bases_only() {
        let units = UNITS.iter().filter(|unit| unit.makes_parameters());
        let kernels: Vec<&str> = units.flat_map(|unit| unit.kernels).copied().collect();
        for group in ["g1", "g2"] {
            for kernel in ["bases_fixed", "bases_normalise"] {
                assert!(kernels.contains(&format!("{kernel}_{group}").as_str()));
            }
        }
        assert!(kernels.iter().all(|name| name.starts_with("bases_")));
    }

    #[test]
    fn what_was_compiled_ahead_is_whole_and_taken() {
        for (name, capability, code) in BUILT {
            assert!(code.starts_with(b"\x7fELF"), "{name} {capability:?}");
            let unit = UNITS.into_iter().find(|unit| unit.name == *name);
            let taken = unit.and_then(|unit| unit.cubin(*capability, &[], None).ok());
            assert_eq!(taken.as_deref(), Some(*code), "{name} {capability:?}");
        }
        assert_eq!(BUILT.is_empty(), !cfg!(feature = "nvcc"));
        assert_eq!(BUILT.len() % UNITS.len(), 0);
    }
}
