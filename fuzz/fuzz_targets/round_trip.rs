//! Write, then read: the identity on every event and every timing line of our own format. The
//! fuzzer's bytes are the chance from which the strategies draw.
#![no_main]

use libfuzzer_sys::fuzz_target;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tracefmt::{event, grammar, timing, writer};

fuzz_target!(|data: &[u8]| {
    let chance = TestRng::from_seed(RngAlgorithm::PassThrough, data);
    let mut runner = TestRunner::new_with_rng(Config::default(), chance);
    if let Ok(tree) = event::strategy::event().new_tree(&mut runner) {
        let event = tree.current();
        let mut line = Vec::new();
        writer::write_event(&mut line, &event);
        let text = line.strip_suffix(b"\n").expect("one line");
        assert_eq!(grammar::parse_event(text).as_ref(), Some(&event));
    }
    if let Ok(tree) = timing::strategy::timing().new_tree(&mut runner) {
        let timing = tree.current();
        let mut line = Vec::new();
        writer::write_timing(&mut line, &timing);
        let text = line.strip_suffix(b"\n").expect("one line");
        assert_eq!(grammar::parse_timing(text), timing);
    }
});
