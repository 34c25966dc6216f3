//! Any text typed as a line of any class: no panic, and what is typed says what it is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tracefmt::grammar;
use tracefmt::record::Record;
use tracefmt::scan::Class;

fuzz_target!(|data: &[u8]| {
    let Some((first, text)) = data.split_first() else { return };
    let class = Class::ALL[usize::from(*first) % Class::ALL.len()];
    match grammar::parse(class, text) {
        Record::Log(log) => drop(grammar::classify(&log)),
        Record::Event(event) => assert!(!event.name().is_empty()),
        _ => {}
    }
});
