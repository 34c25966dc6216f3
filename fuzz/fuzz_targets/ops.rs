//! Any bytes as a schedule: no panic; what was read, written and read again is the same; and the
//! same replay of it twice, whole or step by step, under changes, and in other orders.
#![no_main]

use libfuzzer_sys::fuzz_target;
use replay::change::{Change, FreeAt, run_all};
use replay::explore::{Bounds, explore};
use replay::quiet::{Quiet, Said};
use replay::report::{Request, replay};
use replay::shrink::shrink;
use replay::vram::{H200_580, Profile};
use tracefmt::ops::Schedule;

/// Steps of the longest schedule that is replayed.
const STEPS_MAX: usize = 256;

/// Steps of the longest schedule whose orders are tried and that is made smaller.
const SHORT: usize = 16;

/// Bounds of a search that take no second.
const BOUNDS: Bounds = Bounds { states_max: 500, bytes_max: 16 << 20 };

fn changes() -> [Change; 6] {
    let buf = "*".to_owned();
    [
        Change::Free { buf, at: FreeAt::LastUse },
        Change::OneWorker,
        Change::Vram(u64::MAX),
        Change::Margin(u64::MAX),
        Change::SyncOften,
        Change::TrimOften,
    ]
}

fn replayed(schedule: &Schedule) {
    let Ok(report) = replay(schedule, &Request::events("fuzz")) else { return };
    assert_eq!(replay(schedule, &Request::events("fuzz")).as_ref(), Ok(&report));
    assert!(report.ran <= report.steps);
    let driver = Profile::named(&schedule.header.driver).unwrap_or(H200_580);
    let mut quiet = Quiet::new(schedule.header.clone(), driver);
    schedule.steps.iter().all(|step| quiet.step(step) == Said::Clear);
    for change in changes() {
        run_all(&[change], schedule, driver);
    }
    if schedule.steps.len() > SHORT {
        return;
    }
    explore(schedule, driver, BOUNDS);
    if let Some(finding) = report.findings.first() {
        shrink(schedule, finding.code, driver);
    }
}

fuzz_target!(|data: &[u8]| {
    let Ok(schedule) = Schedule::read(data) else { return };
    let written = schedule.write(Vec::new()).expect("writing to memory");
    let again = Schedule::read(written.as_slice()).expect("what was written can be read");
    assert_eq!(again.header, schedule.header);
    assert_eq!(again.steps, schedule.steps);
    if schedule.steps.len() <= STEPS_MAX {
        replayed(&schedule);
    }
});
