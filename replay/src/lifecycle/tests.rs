//! Schedules rebuilt from short logs, and from whole ones where they are at hand.

use std::fmt::Write as _;

use tracefmt::finding::{Code, Finding, Severity};
use tracefmt::run::{Source, read};

use super::*;
use crate::check::{self, Scene};
use crate::vram::H200_580;

fn runs_of(source: Source) -> Vec<Run> {
    read(&[source]).expect("reads").0.runs
}

fn findings(rebuilt: &Rebuilt) -> Vec<Finding> {
    let schedule = &rebuilt.schedule;
    check::all(&Scene::new(
        schedule,
        check::Source::Profile,
        H200_580,
        "run.log",
    ))
}

/// The logs at hand: name and findings of each run that can be rebuilt.
fn of_inputs(name: &str) -> Option<Vec<(Rebuilt, Vec<Finding>)>> {
    let folder = std::env::var_os("CUZK_INPUTS")?;
    let path = std::path::Path::new(&folder).join("runs").join(name);
    let runs = runs_of(Source::Path(path));
    let rebuilt = runs
        .iter()
        .filter_map(|run| rebuild(run, &Given::default()));
    Some(
        rebuilt
            .map(|one| {
                let found = findings(&one);
                (one, found)
            })
            .collect(),
    )
}

#[test]
fn every_dialect_has_a_version_and_every_version_its_name() {
    for name in [
        "phase4",
        "phase5",
        "phase6",
        "phase7",
        "phase8",
        "phase9-v0",
        "phase9-v1",
        "phase9-v2",
        "phase9",
        "phase9-fine",
        "phase11",
        "phase12",
        "cache",
        "head",
    ] {
        let version = Version::named(name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(Version::named(version.name()), Some(version));
    }
    assert_eq!(Version::named("own"), None);
    assert_eq!(Version::named("unknown"), None);
}

#[test]
fn a_run_of_no_known_version_is_not_rebuilt() {
    assert!(rebuild(&Run::default(), &Given::default()).is_none());
    let given = Given {
        version: Some("phase8".to_owned()),
        ..Given::default()
    };
    assert!(rebuild(&Run::default(), &given).is_none(), "no call");
}

#[test]
fn what_others_use_is_that_of_the_card_of_the_log_whatever_card_is_asked_about() {
    let mut log = String::new();
    call(
        &mut log,
        0,
        "prestage_setup=ok domain=134217728 lot_of_memory=1",
    );
    let mut run = runs_of(Source::Bytes("run.log".to_owned(), log.into_bytes())).remove(0);
    run.config.free_bytes = Some(14_775 << 20);
    let used = |vram: Option<u64>| {
        let given = Given {
            vram,
            version: Some("phase9".to_owned()),
            ..Given::default()
        };
        let rebuilt = rebuild(&run, &given).expect("a known version");
        let gpu = &rebuilt.schedule.header.gpus[0];
        (gpu.capacity, gpu.baseline, rebuilt.assumed)
    };
    let own = used(None);
    assert_eq!((own.0, own.1), (16 << 30, 1609 << 20));
    let large = used(Some(80 << 30));
    assert_eq!((large.0, large.1), (80 << 30, 1609 << 20));
    assert!(large.2[0].contains("16 GiB"), "{:?}", large.2);
}

#[test]
fn the_published_failure_is_a_late_free_on_its_line() {
    let Some(runs) = of_inputs("d02-phase9v1-late_free.log") else {
        println!("skipped: CUZK_INPUTS is not set");
        return;
    };
    let (rebuilt, found) = &runs[0];
    assert_eq!(rebuilt.profile, "phase9-v1");
    let root = found.iter().find(|finding| finding.root).expect("a root");
    assert_eq!(
        (root.code, root.severity),
        (Code::VramLateFree, Severity::Error)
    );
    assert_eq!(root.evidence[0].line, 86);
    let oom = found
        .iter()
        .find(|finding| finding.code == Code::VramOom)
        .expect("an OOM");
    let what_if = oom.what_if.as_ref().expect("a change that was run");
    assert!(what_if.passes);
    assert_eq!(what_if.change, "free:d_bc=after:last-use");
    assert!(
        what_if.peak_bytes < 14 << 30,
        "{}",
        what_if.peak_bytes >> 20
    );
    let swallowed = found
        .iter()
        .filter(|finding| finding.code == Code::VramSwallowedOom);
    assert!(swallowed.clone().count() > 0);
    assert!(
        swallowed
            .clone()
            .all(|finding| finding.severity == Severity::Warning)
    );
}

#[test]
fn a_registration_left_behind_is_the_root_on_its_line() {
    let Some(runs) = of_inputs("d06-phase9-host_712.log") else {
        println!("skipped: CUZK_INPUTS is not set");
        return;
    };
    let (_, found) = &runs[0];
    let root = found.iter().find(|finding| finding.root).expect("a root");
    assert_eq!(
        (root.code, root.severity, root.count),
        (Code::HostStaleRegistration, Severity::Error, 34)
    );
    let lines: Vec<u64> = root.evidence.iter().map(|evidence| evidence.line).collect();
    assert_eq!(lines[..2], [157, 149], "the failure, then who left it");
    let errors = found
        .iter()
        .filter(|finding| finding.severity == Severity::Error);
    assert_eq!(errors.count(), 1);
}

/// A call of one worker in a log, whose staging goes as said.
fn call(log: &mut String, number: u32, how: &str) {
    let at = format!("worker=0,partition={number}");
    let ms = 2000 * (number + 1);
    write!(
        log,
        "TIMELINE,{ms},SYNTH_START,j,partition={number}\n\
         TIMELINE,{ms},GPU_PICKUP,j,{at}\n\
         TIMELINE,{ms},GPU_START,j,{at}\n\
         CUZK_TIMING: split_vectors_ms=90 setup_to_split_ms=90\n\
         CUZK_TIMING: {how}\n\
         CUZK_TIMING: prep_msm_ms=1900\n\
         CUZK_TIMING: gpu_tid=0 ntt_msm_h_ms=700\n\
         CUZK_TIMING: gpu_tid=0 batch_add_ms=650\n\
         CUZK_TIMING: gpu_tid=0 tail_msm_ms=80 gpu_total_ms=1430\n\
         CUZK_TIMING: b_g2_msm_ms=400 num_circuits=1\n\
         CUZK_TIMING: epilogue_ms=1 pre_destructor_ms=1500\n\
         TIMELINE,{},GPU_END,j,{at},gpu_ms=1500\n",
        ms + 1500
    )
    .expect("memory");
}

/// Code and severity of what is found about host memory in such calls.
fn of_host(ways: &[&str]) -> Vec<(Code, Severity)> {
    let mut log = String::new();
    for (number, how) in (0..).zip(ways) {
        call(&mut log, number, how);
    }
    let run = runs_of(Source::Bytes("run.log".to_owned(), log.into_bytes())).remove(0);
    let given = Given {
        vram: Some(80 << 30),
        version: Some("phase9".to_owned()),
        ..Given::default()
    };
    let rebuilt = rebuild(&run, &given).expect("a known version");
    let registers = |step: &Step| matches!(step.op, tracefmt::ops::Op::HostRegister { .. });
    let registered = rebuilt.schedule.steps.iter().filter(|step| registers(step));
    assert_eq!(registered.count(), ways.len(), "one a call");
    let found = findings(&rebuilt);
    assert!(
        found
            .iter()
            .all(|finding| finding.code.as_str().starts_with("host."))
    );
    found
        .iter()
        .map(|finding| (finding.code, finding.severity))
        .collect()
}

#[test]
fn pinned_memory_is_let_go_of_except_where_the_log_shows_that_it_was_not() {
    let ok = "prestage_setup=ok domain=134217728 lot_of_memory=1";
    let (skip, fails) = ("prestage_setup=skip_vram", "host_register=fallback err=712");
    let stale = Code::HostStaleRegistration;
    assert_eq!(of_host(&[ok, skip, ok]), []);
    assert_eq!(
        of_host(&[ok, skip, fails, fails]),
        [(stale, Severity::Error)]
    );
    assert_eq!(
        of_host(&[ok, skip, fails, fails, ok]),
        [(stale, Severity::Warning)]
    );
    assert_eq!(of_host(&[ok, skip, fails]), [(stale, Severity::Warning)]);
    let double = Code::HostDoubleRegister;
    assert_eq!(
        of_host(&[ok, fails, ok]),
        [(double, Severity::Warning)],
        "nobody went around"
    );
}

#[test]
fn healthy_runs_have_no_error() {
    for name in [
        "d01-phase8-gw2.log",
        "d03-phase12-overlap.log",
        "d04-head-2gpu.log",
        "d05-head-base.log",
        "d08-phase9-torn10.log",
        "d10-phase9fine-gw1.log",
        "d11-phase8-noise90.log",
        "d13-cache-mixed-kinds.log",
        "d14-phase9-mono.log",
    ] {
        let Some(runs) = of_inputs(name) else {
            println!("skipped: CUZK_INPUTS is not set");
            return;
        };
        for (rebuilt, found) in runs {
            let bad: Vec<_> = found
                .iter()
                .filter(|finding| finding.severity == Severity::Error)
                .map(|finding| (finding.code, &finding.title, &finding.evidence))
                .collect();
            assert!(bad.is_empty(), "{name} as {}: {bad:#?}", rebuilt.profile);
        }
    }
}
