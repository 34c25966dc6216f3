//! Injected faults leave what the real ones would leave; who is named the root of it is tested
//! where traces are diagnosed.

use replay::report::{Report, Verdict};
use tracefmt::finding::{Code, Severity};

use super::work::Trouble;
use super::*;

/// The codes that replay finds in the trace of a batch with faults, roots first.
fn codes(faults: &[&str], vram_mib: u64, jobs: usize) -> Vec<(Code, bool)> {
    roots_first(&batch(faults, vram_mib, jobs).1)
}

fn roots_first(report: &Report) -> Vec<(Code, bool)> {
    let findings = report.findings.iter();
    let mut codes: Vec<_> = findings.map(|one| (one.code, one.root)).collect();
    codes.sort_by_key(|(_, root)| !root);
    codes
}

/// A batch with faults: how many jobs were verified, and what replay finds in its trace.
fn batch(faults: &[&str], vram_mib: u64, jobs: usize) -> (u64, Report) {
    let bench = Bench::new(&config(faults), vram_mib);
    let tickets = (0..jobs).map(|job| bench.submit(&format!("job-{job}"), parts()));
    for ticket in tickets.collect::<Vec<_>>() {
        bench.end_of(ticket);
    }
    found(bench)
}

fn parts() -> Vec<Part> {
    (0..4).map(Part::good).collect()
}

fn found(bench: Bench) -> (u64, Report) {
    let status = bench.engine.shutdown(Shutdown::Drain);
    assert_eq!(status.host_used, 0);
    let run = read_trace(bench.tracer, &bench.page);
    let given = replay::lifecycle::Given::default();
    let report = replay::log::replay_run(&run, &given, "engine.log", None);
    let report = report.expect("a known driver").expect("memory events");
    (status.totals.verified, report)
}

/// Two jobs with late frees; the second worker is at the device while the first has it.
fn late_in_turn(vram_mib: u64) -> (u64, Report) {
    let bench = Bench::new(&config(&["late-free"]), vram_mib);
    let mut first = parts();
    first[0] = Part::bad(0, Trouble::Endless);
    let tickets = [
        bench.submit("first", first),
        bench.submit("second", parts()),
    ];
    // The other worker waits for the device, so it is the next one there.
    bench.work.await_endless();
    while bench.engine.shared.stations[0].lock.queue() < 2 {
        std::thread::yield_now();
    }
    bench.work.release_endless();
    for ticket in tickets {
        bench.end_of(ticket);
    }
    found(bench)
}

#[test]
fn a_late_free_starves_the_next_partition() {
    // The smallest plan leaves a block of 2 MiB beside the last one: beside a late buffer of its
    // own a partition has room, beside that of the other worker it has none.
    let codes = roots_first(&late_in_turn(28).1);
    assert_eq!(
        codes.first(),
        Some(&(Code::VramLateFree, true)),
        "{codes:?}"
    );
}

#[test]
fn a_leak_on_error_starves_those_who_come_after() {
    let codes = codes(&["leak-on-error:1"], 28, 4);
    assert_eq!(
        codes.first(),
        Some(&(Code::VramLeakOnError, true)),
        "{codes:?}"
    );
}

#[test]
fn misuse_is_named() {
    for (fault, code) in [
        ("double-free:2", Code::VramDoubleFree),
        ("early-free:2", Code::VramUseAfterFree),
    ] {
        let codes = codes(&[fault], 64, 2);
        assert_eq!(codes.first(), Some(&(code, true)), "{fault}: {codes:?}");
    }
}

#[test]
fn a_late_free_that_a_smaller_plan_makes_good_is_said() {
    let (verified, report) = late_in_turn(34);
    assert_eq!(verified, 2);
    assert_eq!(report.verdict, Verdict::Passes);
    assert!(report.fell_back > 0);
    let found = |code| report.findings.iter().find(|one| one.code == code);
    let oom = found(Code::VramOom).expect("said");
    assert_eq!((oom.severity, oom.root), (Severity::Warning, false));
    assert!(oom.title.contains("a smaller plan"), "{}", oom.title);
    let late = found(Code::VramLateFree).expect("said");
    assert!(late.severity <= Severity::Warning && !late.root);
}

#[test]
fn one_allocation_that_fails_is_made_good_wherever_it_is() {
    for turn in 1..=12 {
        let fault = format!("alloc-once:{turn}");
        let (verified, report) = batch(&[&fault], 64, 2);
        assert_eq!((verified, report.fell_back), (2, 1), "{fault}");
        assert_eq!(report.verdict, Verdict::Passes, "{fault}");
        let severe = |one: &&tracefmt::finding::Finding| one.severity > Severity::Warning;
        assert_eq!(report.findings.iter().find(severe), None, "{fault}");
    }
}

#[test]
fn a_partition_that_gets_no_memory_at_all_fails_with_the_smallest_plan() {
    let (verified, report) = batch(&["alloc-fail:3"], 64, 2);
    assert_eq!(verified, 1);
    assert_eq!(report.verdict, Verdict::Fails);
    assert!(report.failed_allocations > 1, "one a plan");
    let root = report.findings.iter().find(|one| one.root).expect("a root");
    assert_eq!(root.code, Code::VramOom);
}
