//! What is made before the crate is compiled: the wire interface in Rust, without an installed
//! protoc, when the daemon is built; the kernels' machine code, when feature `nvcc` asks for it.

/// Why something could not be made.
type Outcome = Result<(), Box<dyn std::error::Error>>;

#[cfg_attr(
    not(any(feature = "serve", feature = "nvcc")),
    expect(
        clippy::unnecessary_wraps,
        reason = "only what a feature makes can fail"
    )
)]
fn main() -> Outcome {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "serve")]
    wire()?;
    #[cfg(feature = "nvcc")]
    kernels::build()?;
    Ok(())
}

#[cfg(feature = "serve")]
fn wire() -> Outcome {
    use std::path::Path;

    use prost::Message as _;

    const PROTO: &str = "proto/cuzk/v1/proving.proto";
    println!("cargo::rerun-if-changed={PROTO}");
    let files = protox::compile([PROTO], ["proto"])?;
    let out = std::env::var("OUT_DIR")?;
    // What reflection answers with.
    std::fs::write(
        Path::new(&out).join("descriptors.bin"),
        files.encode_to_vec(),
    )?;
    tonic_prost_build::configure()
        .build_transport(false)
        .compile_fds(files)?;
    Ok(())
}

/// The kernels by nvcc, for every architecture in `CUZK_CUDA_ARCHS` (numbers, between commas), by
/// the compiler in `NVCC` or the one on the path.
#[cfg(feature = "nvcc")]
mod kernels {
    use std::fmt::Write as _;
    use std::path::{Path, PathBuf};
    use std::process::Command;
    use std::sync::{Mutex, PoisonError};

    use super::Outcome;

    /// Units as `src/cuda/kernels.rs` has them: name, file, what picks its part of the file.
    const UNITS: &str = include_str!("cuda/units.txt");
    const ARCHS: &str = "80,89,90,120";

    struct Job {
        unit: &'static str,
        file: &'static str,
        define: Option<&'static str>,
        arch: u32,
        to: PathBuf,
    }

    pub(crate) fn build() -> Outcome {
        for watched in ["cuda/include", "cuda/src", "cuda/units.txt"] {
            println!("cargo::rerun-if-changed={watched}");
        }
        for asked in ["NVCC", "CUZK_CUDA_ARCHS"] {
            println!("cargo::rerun-if-env-changed={asked}");
        }
        let out = PathBuf::from(std::env::var("OUT_DIR")?);
        let jobs = jobs(&out)?;
        let workers = std::env::var("NUM_JOBS")?.parse().unwrap_or(1_usize);
        let (next, failed) = (Mutex::new(jobs.iter()), Mutex::new(Vec::new()));
        let take = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    while let Some(job) = take() {
                        if let Err(why) = compile(job) {
                            let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                            failed.push(why);
                        }
                    }
                });
            }
        });
        let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        if !failed.is_empty() {
            return Err(failed.join("\n").into());
        }
        let mut table = String::from("&[\n");
        for Job { unit, arch, .. } in &jobs {
            let (name, major, minor) = (file_name(unit, *arch), arch / 10, arch % 10);
            let code = format!("include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}\"))");
            writeln!(table, "(\"{unit}\", ({major}, {minor}), {code}),")?;
        }
        std::fs::write(out.join("cubins.rs"), table + "]\n")?;
        Ok(())
    }

    fn file_name(unit: &str, arch: u32) -> String {
        format!("{unit}.sm_{arch}.cubin")
    }

    fn jobs(out: &Path) -> Result<Vec<Job>, Box<dyn std::error::Error>> {
        let archs = std::env::var("CUZK_CUDA_ARCHS").unwrap_or_else(|_| ARCHS.to_owned());
        let mut jobs = Vec::new();
        for arch in archs.split(',') {
            let arch: u32 = arch.trim().parse()?;
            for line in UNITS.lines() {
                let mut words = line.split_whitespace();
                let (Some(unit), Some(file)) = (words.next(), words.next()) else {
                    return Err(
                        format!("cuda/units.txt: expected a name and a file: {line}").into(),
                    );
                };
                jobs.push(Job {
                    unit,
                    file,
                    define: words.next(),
                    arch,
                    to: out.join(file_name(unit, arch)),
                });
            }
        }
        Ok(jobs)
    }

    fn compile(job: &Job) -> Result<(), String> {
        let compiler = std::env::var("NVCC").unwrap_or_else(|_| "nvcc".to_owned());
        let mut command = Command::new(&compiler);
        command
            .args(["--cubin", "-std=c++17", "-Icuda/include"])
            .arg(format!("-arch=sm_{}", job.arch))
            .arg("-o")
            .arg(&job.to)
            .args(job.define.map(|define| format!("-D{define}")))
            .arg(Path::new("cuda/src").join(job.file));
        let output = command
            .output()
            .map_err(|error| format!("expected nvcc at {compiler} (set NVCC): {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        let log = String::from_utf8_lossy(&output.stderr);
        Err(format!("{} for sm_{}: {log}", job.unit, job.arch))
    }
}
