//! Damaged archives: every verb that reads one says so first.

use crate::{cuzk, file, json};

const LOG: &str = "TIMELINE,0,SYNTH_START,j,partition=0\n\
    TIMELINE,9,SYNTH_END,j,partition=0,synth_ms=9\n\
    TIMELINE,9,GPU_PICKUP,j,worker=0,partition=0\n\
    TIMELINE,9,GPU_START,j,worker=0,partition=0\n";

/// A gzip member of one stored block, without the eight bytes of its checksum and length.
fn gzip(text: &str) -> Vec<u8> {
    let length = u16::try_from(text.len()).expect("a short text");
    let mut bytes = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    bytes.extend(length.to_le_bytes());
    bytes.extend((!length).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

#[test]
fn every_verb_says_that_the_archive_is_damaged() {
    let cut = gzip(LOG);
    let wrong = [gzip(LOG), vec![7; 8]].concat();
    let at = format!("byte {}", LOG.len());
    for (bytes, says) in [(cut, "breaks off"), (wrong, "is damaged")] {
        let (_dir, path) = file("run.log.gz", &bytes);
        let path = path.to_str().unwrap();
        for verb in [
            &["diagnose"][..],
            &["analyze"],
            &["replay", "--profile", "phase9-v1"],
            &["trace", "stat"],
            &["trace", "lint"],
        ] {
            let said = cuzk(&[verb, &[path]].concat());
            let all = format!("{}{}", said.err, said.out);
            assert!(all.contains(says) && all.contains(&at), "{verb:?}: {all}");
            assert!(!all.contains("dmesg"), "{verb:?}: {all}");
        }
        let stat = json(&cuzk(&["trace", "stat", "--format", "json", path]));
        assert!(stat["damage"].as_str().unwrap().contains(says));
        let said = cuzk(&["diagnose", "--format", "json", path]);
        assert_eq!(said.code, 1, "{}", said.out);
        let found = &json(&said)["findings"][0];
        assert_eq!(
            (&found["code"], &found["root"]),
            (&"run.truncated".into(), &true.into())
        );
        assert!(found["title"].as_str().unwrap().contains("archive"));
    }
}
