//! A batch as text, in the shape that the predecessor's client prints.

use std::fmt::Write as _;

use super::{Batch, Request, Row};

/// What is printed before the batch runs.
pub fn header(kind: &str, request: Request) -> String {
    format!(
        "=== Batch Benchmark ===\nproof type:  {kind}\ncount:       {}\nconcurrency: {}\n\n",
        request.count, request.concurrency
    )
}

/// The rows, and the summary of the whole batch.
pub fn summary(batch: &Batch) -> String {
    let mut text = String::new();
    for row in &batch.rows {
        line(&mut text, row, batch.rows.len());
    }
    put(&mut text, format_args!("\n=== Batch Summary ===\n"));
    let total_s = seconds(batch.total_us);
    put(&mut text, format_args!("total time:  {total_s:.1}s\n"));
    let (completed, failed) = (batch.completed(), batch.failed());
    put(&mut text, format_args!("completed:   {completed}\n"));
    put(&mut text, format_args!("failed:      {failed}\n"));
    let good = || batch.rows.iter().filter(|row| row.failure.is_none());
    if let Some([avg, min, max]) = spread(good().map(|row| row.wall_us)) {
        let [avg, min, max] = [avg, min, max].map(seconds);
        put(
            &mut text,
            format_args!("wall time:   avg={avg:.1}s min={min:.1}s max={max:.1}s\n"),
        );
    }
    if let Some([avg, min, max]) = spread(good().map(|row| row.prove_us / 1000)) {
        put(
            &mut text,
            format_args!("prove time:  avg={avg}ms min={min}ms max={max}ms\n"),
        );
    }
    if let Some(rate) = batch.throughput() {
        let each_s = 60.0 / rate;
        put(
            &mut text,
            format_args!("throughput:  {rate:.3} proofs/min ({each_s:.1}s/proof)\n"),
        );
    }
    text
}

fn line(text: &mut String, row: &Row, count: usize) {
    let status = match row.failure {
        None => "COMPLETED",
        Some(_) => "FAILED",
    };
    let (at, wall_s) = (row.index + 1, seconds(row.wall_us));
    let (prove, queue) = (row.prove_us / 1000, row.queue_us / 1000);
    put(
        text,
        format_args!(
            "  [{at}/{count}] {status} \u{2014} {wall_s:.1}s (prove={prove} ms, queue={queue} ms)\n"
        ),
    );
    if let Some(why) = &row.failure {
        put(text, format_args!("        {}\n", why.replace('\n', " ")));
    }
}

fn put(text: &mut String, what: std::fmt::Arguments<'_>) {
    let written = text.write_fmt(what);
    debug_assert!(written.is_ok(), "writing to a string does not fail");
}

fn seconds(us: u64) -> f64 {
    us as f64 / 1e6
}

/// Mean, smallest and largest.
fn spread(values: impl Iterator<Item = u64>) -> Option<[u64; 3]> {
    let values: Vec<u64> = values.collect();
    let (min, max) = (*values.iter().min()?, *values.iter().max()?);
    let mean = values.iter().sum::<u64>() / values.len() as u64;
    Some([mean, min, max])
}

#[cfg(test)]
mod tests {
    use tracefmt::run::{Source, read};

    use super::*;

    fn row(index: usize, failure: Option<&str>) -> Row {
        Row {
            index,
            failure: failure.map(str::to_owned),
            wall_us: 1_500_000 + index as u64 * 100_000,
            prove_us: if failure.is_none() { 2_345_000 } else { 0 },
            queue_us: 0,
            end_us: 2_000_000 * index as u64,
        }
    }

    #[test]
    fn the_trace_language_reads_what_is_printed() {
        let batch = Batch {
            rows: vec![row(0, None), row(1, Some("out of\nmemory")), row(2, None)],
            total_us: 6_000_000,
        };
        let request = Request {
            count: 3,
            concurrency: 2,
        };
        let text = header("mimc", request) + &summary(&batch);
        let source = Source::Bytes("bench.txt".to_owned(), text.into_bytes());
        let log = b"TIMELINE,1,SYNTH_START,j,partition=0\n".to_vec();
        let log = Source::Bytes("run.log".to_owned(), log);
        let run = read(&[log, source]).expect("reads").0.runs.remove(0);
        let bench = run.bench.expect("a bench");
        assert_eq!((bench.count, bench.concurrency), (Some(3), Some(2)));
        assert_eq!((bench.completed, bench.failed), (Some(2), Some(1)));
        assert_eq!(bench.throughput, Some(20.0));
        let states: Vec<(&str, u64)> = bench
            .proofs
            .iter()
            .map(|proof| (proof.status.as_str(), proof.prove_ms))
            .collect();
        assert_eq!(
            states,
            [("COMPLETED", 2345), ("FAILED", 0), ("COMPLETED", 2345)]
        );
        assert_eq!(batch.gaps_us(), [4_000_000]);
    }

    #[test]
    fn a_batch_without_a_proof_has_no_throughput() {
        let batch = Batch {
            rows: vec![row(0, Some("no"))],
            total_us: 6_000_000,
        };
        assert!(!summary(&batch).contains("throughput"));
        assert_eq!(Batch::default().throughput(), None);
    }
}
