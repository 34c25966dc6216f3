//! The machine as Linux and `nvidia-smi` show it.

use std::ffi::OsStr;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;
use std::{fs, io};

use super::{Built, GpuMemory, Machine, Process};

/// Reads `/proc`, binds a port for a moment, and asks `nvidia-smi`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Linux;

impl Machine for Linux {
    fn daemons(&self) -> Result<Vec<Process>, String> {
        let listed = fs::read_dir("/proc").map_err(|error| format!("/proc: {error}"))?;
        let mut found: Vec<Process> = listed
            .filter_map(Result::ok)
            .filter_map(|entry| {
                let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
                let line = fs::read(entry.path().join("cmdline")).ok()?;
                daemon_of(pid, &line)
            })
            .filter(|process| process.pid != std::process::id())
            .collect();
        found.sort_by_key(|process| process.pid);
        Ok(found)
    }

    fn port_is_free(&self, port: u16) -> Result<bool, String> {
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(_listener) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(false),
            Err(error) => Err(format!("port {port}: {error}")),
        }
    }

    fn gpu_memory(&self) -> Result<Vec<GpuMemory>, String> {
        let query = [
            "--query-gpu=index,memory.used,memory.total",
            "--format=csv,noheader,nounits",
        ];
        match Command::new("nvidia-smi").args(query).output() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(format!("nvidia-smi: {error}")),
            Ok(output) if output.status.success() => {
                parse_memory(&String::from_utf8_lossy(&output.stdout))
            }
            Ok(output) => Err(format!(
                "nvidia-smi ended with {}: {}",
                output.status,
                String::from_utf8_lossy(&output.stdout).trim()
            )),
        }
    }

    fn built(&self, binary: &Path, sources: &Path) -> Result<Built, String> {
        let mut newest = None;
        newest_source(sources, &mut newest)?;
        Ok(Built {
            binary_ms: changed_ms(binary)?,
            newest_source: newest.map(|(ms, path)| (path, ms)),
        })
    }
}

/// The process, if its command line is that of a proving daemon: ours, or the predecessor's.
pub(super) fn daemon_of(pid: u32, cmdline: &[u8]) -> Option<Process> {
    let words: Vec<String> = cmdline
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty())
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    let name = Path::new(words.first()?).file_name()?.to_str()?;
    let serves = match name {
        "cuzk" => words.get(1..)?.iter().any(|word| word == "serve"),
        "cuzk-daemon" => true,
        _ => false,
    };
    serves.then(|| Process {
        pid,
        command: words.join(" "),
    })
}

/// Lines of `index, used, total`; MiB.
pub(super) fn parse_memory(text: &str) -> Result<Vec<GpuMemory>, String> {
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let fields: Option<Vec<u64>> = line.split(',').map(|f| f.trim().parse().ok()).collect();
            match fields.as_deref() {
                Some(&[gpu, used_mib, total_mib]) => Ok(GpuMemory {
                    gpu: u32::try_from(gpu).map_err(|error| format!("GPU {gpu}: {error}"))?,
                    used_mib,
                    total_mib,
                }),
                _ => Err(format!(
                    "expected index, used and total MiB from nvidia-smi, found {line:?}"
                )),
            }
        })
        .collect()
}

/// What a build reads: Rust and CUDA sources, manifests, the lock file.
fn is_source(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str);
    matches!(
        extension,
        Some("rs" | "cu" | "cuh" | "toml" | "lock" | "proto")
    )
}

fn newest_source(folder: &Path, newest: &mut Option<(u64, PathBuf)>) -> Result<(), String> {
    let listed = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in listed {
        let entry = entry.map_err(|error| format!("{}: {error}", folder.display()))?;
        let (path, name) = (entry.path(), entry.file_name());
        let hidden = name.to_str().is_some_and(|name| name.starts_with('.'));
        let kind = entry
            .file_type()
            .map_err(|error| format!("{}: {error}", path.display()))?;
        if kind.is_dir() && !hidden && name != "target" {
            newest_source(&path, newest)?;
        } else if kind.is_file() && is_source(&path) {
            let found = (changed_ms(&path)?, path);
            if newest.as_ref().is_none_or(|newest| found > *newest) {
                *newest = Some(found);
            }
        }
    }
    Ok(())
}

fn changed_ms(path: &Path) -> Result<u64, String> {
    let say = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let changed = fs::metadata(path)
        .and_then(|metadata| metadata.modified())
        .map_err(|error| say(&error))?;
    let since = changed
        .duration_since(UNIX_EPOCH)
        .map_err(|error| say(&error))?;
    u64::try_from(since.as_millis()).map_err(|error| say(&error))
}
