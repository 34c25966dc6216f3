//! Writes the seed corpora `seeds/<target>/` from the strategies of the property tests, the same
//! files every time: `cargo run --release --example seeds` in this folder.

use std::fs;
use std::io;
use std::path::Path;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use tracefmt::{event, ops, timing, writer};

const SEEDS: usize = 24;

fn draw<S: Strategy>(strategy: &S, runner: &mut TestRunner) -> S::Value {
    strategy.new_tree(runner).expect("a value").current()
}

fn save(target: &str, index: usize, bytes: &[u8]) -> io::Result<()> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target);
    fs::create_dir_all(&dir)?;
    fs::write(dir.join(format!("{index:03}")), bytes)
}

/// Times in the forms that the gate reads, and a history of them.
fn times(index: usize) -> String {
    let ms = |at: usize| 100 + (at * 37 + index * 11) % 23;
    let runs = 2 + index % 4;
    match index % 6 {
        0 => (0..runs)
            .map(|at| format!("{{\"run\":\"b{at}\",\"phase\":\"ntt\",\"ms\":{}}}\n", ms(at)))
            .collect(),
        1 => format!(
            "{{\"sampling_mode\":\"Linear\",\"iters\":[1.0,2.0],\"times\":[{}e6,{}e6]}}",
            ms(0),
            2 * ms(1)
        ),
        2 => format!(
            "{{\"results\":[{{\"command\":\"p\",\"times\":[0.{},0.{}]}}]}}",
            ms(0),
            ms(1)
        ),
        3 => (0..runs).fold("run,phase,ms,partition\n".to_owned(), |text, at| {
            text + &format!("b{at},msm,{},{at}\n", ms(at))
        }),
        4 => (0..4 * runs)
            .map(|at| {
                let level = format!("{{\"ln_ms\":4.{},\"error\":0.01}}", ms(at));
                format!(
                    "{{\"commit\":\"c{at}\",\"time\":\"2026-11-{:02}\",\"key\":\"k\",\
                     \"runs\":2,\"phases\":{{\"ntt\":{level}}}}}\n",
                    1 + at
                )
            })
            .collect(),
        _ => include_str!("../../golden/testdata/schema-1.toml").to_owned(),
    }
}

fn main() -> io::Result<()> {
    let mut runner = TestRunner::deterministic();
    for index in 0..SEEDS {
        let mut log = vec![7];
        for _ in 0..=index {
            writer::write_event(&mut log, &draw(&event::strategy::event(), &mut runner));
            log.push(b'\n');
            writer::write_event(&mut log, &draw(&event::strategy::legacy_event(), &mut runner));
            log.push(b'\n');
            writer::write_timing(&mut log, &draw(&timing::strategy::timing(), &mut runner));
            log.push(b'\n');
        }
        save("file", index, &log)?;
        let mut line = vec![u8::try_from(index % 10).unwrap_or_default()];
        writer::write_event(&mut line, &draw(&event::strategy::event(), &mut runner));
        save("line", index, &line)?;
        let schedule = draw(&ops::strategy::schedule(12), &mut runner);
        save("ops", index, &schedule.write(Vec::new())?)?;
        let chance: Vec<u8> = (0..512).map(|at| (at * 37 + index * 101) as u8).collect();
        save("round_trip", index, &chance)?;
        save("samples", index, times(index).as_bytes())?;
    }
    Ok(())
}
