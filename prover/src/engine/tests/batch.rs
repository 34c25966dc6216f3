//! A batch over the engine: as many at a time as asked, every row there.

use super::work::Trouble;
use super::*;
use crate::bench::{Request, run};

#[test]
fn a_batch_has_a_row_for_every_job_and_goes_on_after_failures() {
    let bench = Bench::new(&config(&[]), 1024);
    let clock = SystemClock::new();
    let request = Request {
        count: 9,
        concurrency: 3,
    };
    let job = |index: usize| JobSpec {
        id: format!("job-{index}"),
        kind: "fake".to_owned(),
        priority: Priority::Normal,
        circuits: match index {
            4 => vec![Part::good(0), Part::bad(1, Trouble::WrongProof)],
            _ => vec![Part::good(0), Part::good(1)],
        },
    };
    let heard = Mutex::new(0);
    let batch = run(&bench.engine, &clock, request, job, |_| {
        *heard.lock().expect("no panic") += 1;
        assert!(bench.engine.status().jobs.len() < 3, "one has just ended");
    });
    assert_eq!(*heard.lock().expect("no panic"), 9);
    let indices: Vec<usize> = batch.rows.iter().map(|row| row.index).collect();
    assert_eq!(indices, (0..9).collect::<Vec<usize>>());
    assert_eq!((batch.completed(), batch.failed()), (8, 1));
    let failure = batch.rows[4].failure.as_deref();
    assert_eq!(failure, Some("the proof does not verify"));
    assert_eq!(batch.gaps_us().len(), 7);
    assert!(batch.throughput().is_some_and(|rate| rate > 0.0));
    bench.close(Shutdown::Drain);
}
