//! Injected faults leave what the real ones would leave; who is named the root of it is tested
//! where traces are diagnosed.

use tracefmt::finding::Code;

use super::*;

/// The codes that replay finds in the trace of a batch with faults, roots first.
fn codes(faults: &[&str], vram_mib: u64, jobs: usize) -> Vec<(Code, bool)> {
    let bench = Bench::new(&config(faults), vram_mib);
    let tickets: Vec<Ticket> = (0..jobs)
        .map(|job| bench.submit(&format!("job-{job}"), (0..4).map(Part::good).collect()))
        .collect();
    for ticket in tickets {
        bench.end_of(ticket);
    }
    let status = bench.engine.shutdown(Shutdown::Drain);
    assert_eq!(status.host_used, 0);
    let run = read_trace(bench.tracer, &bench.page);
    let given = replay::lifecycle::Given::default();
    let report = replay::log::replay_run(&run, &given, "engine.log", None);
    let report = report.expect("a known driver").expect("memory events");
    let mut codes: Vec<_> = report
        .findings
        .iter()
        .map(|finding| (finding.code, finding.root))
        .collect();
    codes.sort_by_key(|(_, root)| !root);
    codes
}

#[test]
fn a_late_free_starves_the_next_partition() {
    // A partition takes 8 MiB at its peak: beside the 4 MiB of a late buffer there is no room.
    let codes = codes(&["late-free"], 10, 4);
    assert_eq!(
        codes.first(),
        Some(&(Code::VramLateFree, true)),
        "{codes:?}"
    );
}

#[test]
fn a_leak_on_error_starves_those_who_come_after() {
    let codes = codes(&["leak-on-error:1"], 14, 4);
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
