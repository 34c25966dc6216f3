//! Inputs of every form through `record` and `check`.

use std::fmt::Write as _;

use super::{Desk, noise};
use crate::json;

/// A trace of ours of two proofs of four partitions; `last` cuts it or ends it.
fn trace(run: u64, factor: f64, verified: bool, last: &str) -> String {
    let mut text = format!(
        "TIMELINE,0,TRACE_START,,t_us=0,version=1,run=r{run},epoch_unix_us=1771475062996374,\
         build=1f2e3d,device=cpu,vram_total=0,vram_free=0,cfg.workers=1,cfg.circuit=tiny\n"
    );
    let mut at = 10;
    for job in 0..2_u64 {
        writeln!(
            text,
            "TIMELINE,{at},JOB_SUBMIT,j{job},t_us={at}000,kind=synthetic,partitions=4"
        )
        .expect("memory takes it");
        for partition in 0..4_u64 {
            let place = format!("gpu=0,worker=0,partition={partition}");
            let tag = format!("job=j{job} gpu=0 worker=0 partition={partition}");
            writeln!(text, "TIMELINE,{at},GPU_START,j{job},{place},t_us={at}000")
                .expect("memory takes it");
            for phase in 0..4_u64 {
                let seed = ((run * 2 + job) * 4 + partition) * 4 + phase + 5;
                let own = 40_000.0 * (phase + 1) as f64 * (1.0 + 0.01 * noise(seed));
                let us = if phase == 2 { own * factor } else { own };
                let (us, ms) = (us.round(), (us / 1000.0).floor());
                at += 30;
                writeln!(
                    text,
                    "CUZK_TIMING: phase=p{phase} ms={ms} us={us} {tag} t_us={at}000"
                )
                .expect("memory takes it");
            }
            at += 10;
            let noise = 400.0 * (1.0 + 0.01 * noise(run * 8 + job * 4 + partition));
            let ms = noise.round();
            let end = f64::from(at) * 1000.0 + (noise * 997.0).rem_euclid(8000.0).floor();
            writeln!(
                text,
                "TIMELINE,{at},GPU_END,j{job},{place},t_us={end},gpu_ms={ms}"
            )
            .expect("memory takes it");
        }
        if verified {
            writeln!(
                text,
                "TIMELINE,{at},PROOF_OK,j{job},partition=all,t_us={at}000"
            )
            .expect("memory takes it");
        }
        writeln!(
            text,
            "TIMELINE,{at},JOB_END,j{job},t_us={at}000,status=completed"
        )
        .expect("memory takes it");
    }
    text + last
}

const END: &str = "TIMELINE,9999,TRACE_END,,t_us=9999000,TRACE_START=1\n";

fn traces(desk: &Desk, letter: &str, factor: f64) -> Vec<String> {
    (0..6)
        .map(|run| {
            let seed = run + letter.bytes().map(u64::from).sum::<u64>() * 100;
            desk.file(
                &format!("{letter}{run}.log"),
                &trace(seed, factor, true, END),
            )
        })
        .collect()
}

fn with<'a>(verb: &'a str, files: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    let files = files.iter().map(String::as_str);
    [verb]
        .into_iter()
        .chain(files)
        .chain(more.iter().copied())
        .collect()
}

#[test]
fn traces_of_ours() {
    let desk = Desk::new();
    let base = traces(&desk, "b", 1.0);
    let recorded = desk.golden(&with("record", &base, &[]));
    assert_eq!(recorded.code, 0, "{}{}", recorded.out, recorded.err);
    assert!(recorded.out.contains("circuit tiny"), "{}", recorded.out);
    assert_eq!(desk.golden(&["accept"]).code, 0);
    let same = desk.golden(&with("check", &traces(&desk, "c", 1.0), &[]));
    assert_eq!(same.code, 0, "{}{}", same.out, same.err);
    let slow = desk.golden(&with("check", &traces(&desk, "d", 1.1), &[]));
    assert_eq!(slow.code, 1, "{}{}", slow.out, slow.err);
    assert!(slow.out.contains("p2 is slower"), "{}", slow.out);
}

#[test]
fn only_verified_and_whole_traces_count() {
    let desk = Desk::new();
    let base = traces(&desk, "b", 1.0);
    assert_eq!(desk.golden(&with("record", &base, &[])).code, 0);
    assert_eq!(desk.golden(&["accept"]).code, 0);
    let mut runs = traces(&desk, "c", 1.0);
    runs[0] = desk.file("unverified.log", &trace(901, 1.0, false, END));
    let said = desk.golden(&with("check", &runs, &[]));
    assert!(
        said.code == 3 && said.out.contains("unverified"),
        "{}",
        said.out
    );
    let mut runs = traces(&desk, "c", 1.0);
    runs[0] = desk.file("cut.log", &trace(902, 1.0, true, ""));
    let said = desk.golden(&with("check", &runs, &[]));
    assert!(
        said.code == 3 && said.out.contains("cut off"),
        "{}",
        said.out
    );
    runs[0] = desk.file(
        "stepped.log",
        &trace(903, 1.0, true, END).replacen(
            "CUZK_TIMING: phase=p1 ms=",
            "CUZK_TIMING: gpu_tid=0 ntt_msm_h_ms=-5 job=j0 gpu=0 worker=0 partition=0 t_us=1\n\
         CUZK_TIMING: phase=p1 ms=",
            1,
        ),
    );
    let said = desk.golden(&with("check", &runs, &[]));
    assert!(
        said.code == 3 && said.out.contains("set back"),
        "{}",
        said.out
    );
}

#[test]
fn traces_of_two_machines_are_not_mixed() {
    let desk = Desk::new();
    let mut runs = traces(&desk, "b", 1.0);
    runs[0] = desk.file(
        "other.log",
        &trace(7, 1.0, true, END).replace("device=cpu", "device=L4"),
    );
    let said = desk.golden(&with("record", &runs, &[]));
    assert!(
        said.code == 2 && said.err.contains("gpu (L4, cpu)"),
        "{}",
        said.err
    );
    let said = desk.golden(&with("record", &runs, &["--key", "gpu=cpu"]));
    assert_eq!(said.code, 0, "{}", said.err);
}

/// Ten numbers around 100.
fn numbers(seed: u64, count: u64) -> Vec<f64> {
    (0..count)
        .map(|at| 100.0 * (1.0 + 0.01 * noise(seed * 100 + at)))
        .collect()
}

/// Name, content by seed, files a side, flags.
type Case<'c> = (&'c str, &'c dyn Fn(u64) -> String, u64, &'c [&'c str]);

#[test]
fn foreign_times_with_their_flag() {
    let hyperfine = |seed: u64| {
        let times: Vec<f64> = numbers(seed, 8).iter().map(|ms| ms / 1000.0).collect();
        format!("{{\"results\":[{{\"command\":\"prove\",\"times\":{times:?}}}]}}")
    };
    let criterion = |seed: u64| {
        let values: Vec<f64> = numbers(seed, 30).iter().map(|ms| ms * 10.0).collect();
        let counts = vec![10; 30];
        format!(
            "{{\"reason\":\"benchmark-complete\",\"id\":\"ntt\",\"unit\":\"ms\",\
             \"iteration_count\":{counts:?},\"measured_values\":{values:?}}}\n"
        )
    };
    let csv = |seed: u64| {
        let rows: Vec<String> = (0_u64..)
            .zip(numbers(seed, 48))
            .map(|(at, ms)| format!("{},ntt,{}", at / 8, ms * 1000.0))
            .collect();
        format!("start,bench,elapsed\n{}\n", rows.join("\n"))
    };
    let columns = [
        "--column",
        "run=start",
        "--column",
        "phase=bench",
        "--column",
        "time=elapsed:us",
    ];
    let cases: [Case<'_>; 3] = [
        ("hyperfine.json", &hyperfine, 1, &[]),
        ("criterion.json", &criterion, 4, &[]),
        ("times.csv", &csv, 1, &columns),
    ];
    for (name, made, files, flags) in cases {
        let desk = Desk::new();
        let side = |letter: u64| -> Vec<String> {
            (0..files)
                .map(|at| desk.file(&format!("{letter}-{at}-{name}"), &made(letter * 10 + at)))
                .collect()
        };
        let flags = [flags, &["--allow-unverified"]].concat();
        let refused = desk.golden(&with("record", &side(1), &flags[..flags.len() - 1]));
        assert_eq!(refused.code, 2, "{name}: {}", refused.out);
        let recorded = desk.golden(&with("record", &side(1), &flags));
        assert_eq!(recorded.code, 0, "{name}: {}", recorded.err);
        assert_eq!(desk.golden(&["accept"]).code, 0);
        let said = desk.golden(&with(
            "check",
            &side(2),
            &[&flags[..], &["--format", "json"]].concat(),
        ));
        assert_eq!(said.code, 0, "{name}: {}{}", said.out, said.err);
        assert_eq!(json(&said)["unverified"], true, "{name}");
    }
}
