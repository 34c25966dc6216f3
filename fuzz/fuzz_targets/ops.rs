//! Any bytes as a schedule: no panic; and what was read, written and read again is the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tracefmt::ops::Schedule;

fuzz_target!(|data: &[u8]| {
    let Ok(schedule) = Schedule::read(data) else { return };
    let written = schedule.write(Vec::new()).expect("writing to memory");
    let again = Schedule::read(written.as_slice()).expect("what was written can be read");
    assert_eq!(again.header, schedule.header);
    assert_eq!(again.steps, schedule.steps);
});
