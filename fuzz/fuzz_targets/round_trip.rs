//! Write, then read: the identity on every event and every timing line of our own format. The
//! fuzzer's bytes seed the chance from which the strategies draw.
#![no_main]

use libfuzzer_sys::fuzz_target;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tracefmt::{event, grammar, timing, writer};

fuzz_target!(|data: &[u8]| {
    let mut seed = [0; 32];
    for (at, byte) in data.iter().enumerate() {
        seed[at % 32] ^= byte.rotate_left((at / 32 % 8) as u32);
    }
    let chance = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(Config::default(), chance);
    if let Ok(tree) = event::strategy::event().new_tree(&mut runner) {
        let event = tree.current();
        let mut line = Vec::new();
        writer::write_event(&mut line, &event);
        assert_eq!(grammar::parse_event(&line).as_ref(), Some(&event));
    }
    if let Ok(tree) = timing::strategy::timing().new_tree(&mut runner) {
        let timing = tree.current();
        let mut line = Vec::new();
        writer::write_timing(&mut line, &timing);
        assert_eq!(grammar::parse_timing(&line), timing);
    }
});
