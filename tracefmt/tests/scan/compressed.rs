//! Compressed inputs, through the front door: the same trace as the plain ones, also when cut.

use std::io::Write;

use tracefmt::{Source, read};

const LOG: &str = "TIMELINE,10,SYNTH_START,job-1,partition=0\n\
    TIMELINE,900,SYNTH_END,job-1,partition=0,synth_ms=880\n\
    TIMELINE,901,CHAN_SEND,job-1,partition=0\n";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).expect("memory takes it");
    out.finish().expect("memory takes it")
}

#[test]
fn a_compressed_log_gives_the_trace_of_the_plain_one() {
    let zstd = zstd::encode_all(LOG.as_bytes(), 1).expect("memory takes it");
    let (plain, scans) = read(&[Source::Bytes("x".into(), LOG.into())]).expect("it reads");
    for packed in [gzip(LOG.as_bytes()), zstd] {
        let size = packed.len() as u64;
        let (trace, same) = read(&[Source::Bytes("x".into(), packed)]).expect("it reads");
        assert_eq!(same, scans);
        assert_eq!(
            (trace.inputs[0].bytes, trace.inputs[0].file_bytes),
            (LOG.len() as u64, size)
        );
        assert_eq!(trace.runs.len(), plain.runs.len());
    }
}

#[test]
fn a_cut_archive_is_a_cut_log() {
    let long = LOG.repeat(5000);
    let mut packed = gzip(long.as_bytes());
    packed.truncate(packed.len() / 2);
    let (trace, scans) = read(&[Source::Bytes("x".into(), packed)]).expect("it reads");
    assert!(scans[0].cut_end);
    assert!(trace.inputs[0].bytes < long.len() as u64 && trace.inputs[0].bytes > 0);
}
