//! Inputs that are no logs: a clear word, never a panic, never more memory than a log needs.

use crate::{cuzk, cuzk_with, example, file, json};

#[test]
fn bytes_that_are_no_log_are_counted_and_called_silent() {
    let bytes: Vec<u8> = (0..200_000_u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    let (_dir, path) = file("noise.bin", &bytes);
    let path = path.to_str().unwrap();
    let stat = json(&cuzk(&["trace", "stat", path, "--format", "json"]));
    assert_eq!(stat["bytes"], 200_000);
    let said = cuzk(&["diagnose", path]);
    assert_eq!(said.code, 3, "{}", said.out);
    for verb in [&["analyze", path][..], &["trace", "lint", path]] {
        assert!(matches!(cuzk(verb).code, 0 | 1 | 3), "{verb:?}");
    }
}

#[test]
fn one_endless_line_is_counted_and_not_kept() {
    let said = cuzk_with(
        &["trace", "stat", "-", "--format", "json"],
        &vec![b'a'; 8 << 20],
    );
    let stat = json(&said);
    assert_eq!(
        (stat["bytes"].as_u64(), stat["lines"].as_u64()),
        (Some(8 << 20), Some(1))
    );
}

#[test]
fn zeros_are_no_run() {
    let said = cuzk_with(&["diagnose", "-"], &vec![0; 1 << 20]);
    assert_eq!(said.code, 3, "{}", said.out);
}

#[test]
fn a_log_cut_anywhere_is_read() {
    let log = std::fs::read(example("late-free.log")).unwrap();
    for cut in (0..log.len()).step_by(log.len() / 23).skip(1) {
        let said = cuzk_with(&["diagnose", "-", "--format", "json"], &log[..cut]);
        assert!(
            matches!(said.code, 0 | 1 | 3),
            "cut at {cut}: {} {}",
            said.code,
            said.err
        );
        json(&said);
    }
}

#[test]
fn a_line_of_our_own_with_absurd_numbers_is_survived() {
    let log = b"TIMELINE,18446744073709551615,SYNTH_START,j,partition=4294967295\n\
        TIMELINE,99999999999999999999999999,GPU_START,j,worker=0,partition=1\n\
        TIMELINE,0,GPU_END,j,worker=4294967295,partition=0,gpu_ms=18446744073709551615\n\
        CUZK_TIMING: gpu_tid=0 ntt_msm_h_ms=-9223372036854775808\n";
    for verb in ["diagnose", "analyze"] {
        let said = cuzk_with(&[verb, "-", "--format", "json"], log);
        assert!(matches!(said.code, 0 | 1 | 3), "{verb}: {}", said.err);
        json(&said);
    }
}

#[test]
fn an_output_that_cannot_be_written_is_said() {
    let said = cuzk(&[
        "diagnose",
        &example("late-free.log"),
        "--html",
        "/no/such/dir/x.html",
    ]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("/no/such/dir/x.html"), "{}", said.err);
}
