//! Reads logs and analyzes them, for measuring both together: `analyze_log LOG...`.
//! Prints how much there was; the results themselves are the command line's business.

use std::io::Write as _;

use tracefmt::run::{Source, read};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sources: Vec<Source> = std::env::args_os()
        .skip(1)
        .map(|path| Source::Path(path.into()))
        .collect();
    let (trace, _) = read(&sources)?;
    let peak_of_reading = peak_kib();
    let marks: usize = trace.runs.iter().map(|run| run.marks.len()).sum();
    let found = analyze::analyze(&trace, &analyze::Options::default());
    let mut out = std::io::stdout();
    writeln!(
        out,
        "{} runs, {marks} timing lines, {} regions, {} gaps, {} phase rows",
        trace.runs.len(),
        found.regions.len(),
        found.gpus.iter().map(|gpu| gpu.idle.len()).sum::<usize>(),
        found.phases.len(),
    )?;
    if let Some((reading, all)) = peak_of_reading.zip(peak_kib()) {
        writeln!(
            out,
            "peak memory: {reading} KiB after reading, {all} KiB in all"
        )?;
    }
    Ok(())
}

/// Peak memory of this process so far, where the system tells.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
