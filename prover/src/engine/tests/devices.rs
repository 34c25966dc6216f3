//! Several devices in one engine: each has its lock, its memory and its workers.

use std::collections::BTreeSet;

use super::*;

#[test]
fn two_devices_share_the_queue_and_nothing_else() {
    let work = Arc::new(Fake::default());
    let cards: Vec<Arc<CpuDevice<Fake>>> = (0..2)
        .map(|_| Arc::new(CpuDevice::new(Arc::clone(&work), 64 * MIB, 0)))
        .collect();
    let (tracer, page) = traced(64 * MIB);
    let devices: Vec<Arc<dyn Device<Fake>>> = cards
        .iter()
        .map(|card| Arc::<CpuDevice<Fake>>::clone(card) as Arc<dyn Device<Fake>>)
        .collect();
    let engine = Engine::start(work, devices, Arc::clone(&tracer), &config(&[]));
    let engine = engine.expect("starts");
    for job in 0..8 {
        let spec = JobSpec {
            id: format!("job-{job}"),
            kind: "fake".to_owned(),
            priority: Priority::Normal,
            circuits: (0..8).map(Part::good).collect(),
        };
        engine.submit(spec).expect("accepted");
    }
    assert_eq!(engine.status().workers.len(), 4);
    let status = engine.shutdown(Shutdown::Drain);
    assert_eq!(status.totals.verified, 8);
    assert!(cards.iter().all(|card| card.held_bytes() == 0));
    let run = read_trace(tracer, &page);
    let used: BTreeSet<(Option<u32>, Option<u32>)> = run
        .tasks
        .iter()
        .map(|task| (task.gpu, task.worker))
        .collect();
    let of_gpu = |gpu: u32| used.iter().filter(|(on, _)| *on == Some(gpu)).count();
    assert!(of_gpu(0) > 0 && of_gpu(1) > 0, "{used:?}");
    assert!(
        used.iter()
            .all(|(gpu, worker)| worker.map(|w| w / 2) == *gpu),
        "{used:?}"
    );
    room::healthy(&run);
}
