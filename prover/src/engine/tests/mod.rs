//! The engine with its threads, over a fake work on the accounting device: what the predecessor got
//! wrong is the list.

mod batch;
mod devices;
mod faults;
mod life;
mod pins;
mod room;
mod work;

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use tracefmt::event::TraceStart;
use tracefmt::run::{Run, Source, read};

use super::*;
use crate::clock::SystemClock;
use crate::device::{CpuDevice, Device};
use crate::trace::Tracer;
use work::{Fake, Part};

const MIB: u64 = 1 << 20;

/// Bytes that outlive the tracer.
#[derive(Debug, Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An engine and what a test looks at afterwards.
struct Bench {
    engine: Engine<Fake>,
    device: Arc<CpuDevice<Fake>>,
    work: Arc<Fake>,
    tracer: Arc<Tracer>,
    page: Page,
}

fn config(faults: &[&str]) -> Config {
    let faults = faults.iter().map(|text| text.parse().expect("a fault"));
    Config {
        synth_workers: 2,
        device_workers: 2,
        finishers: 1,
        expected: 0,
        limits: Limits {
            host_bytes: 8,
            waiting: 1000,
            reports: 1000,
        },
        injection: Injection {
            faults: faults.collect(),
            seed: 1,
        },
    }
}

/// A trace in memory, of a card with so many bytes.
fn traced(vram: u64) -> (Arc<Tracer>, Page) {
    let page = Page::default();
    let head = TraceStart {
        run: "test".into(),
        vram_total: vram,
        vram_free: vram,
        ..TraceStart::default()
    };
    let tracer = Tracer::start(Arc::new(SystemClock::new()), Box::new(page.clone()), &head);
    (Arc::new(tracer.expect("memory takes all")), page)
}

impl Bench {
    fn new(config: &Config, vram_mib: u64) -> Self {
        Self::over(config, vram_mib * MIB, |device| device)
    }

    /// An engine whose device is one `of` that accounts.
    fn over<D: Device<Fake> + 'static>(
        config: &Config,
        vram: u64,
        of: impl FnOnce(Arc<CpuDevice<Fake>>) -> Arc<D>,
    ) -> Self {
        let work = Arc::new(Fake::default());
        let device = Arc::new(CpuDevice::new(Arc::clone(&work), vram, 0));
        let (tracer, page) = traced(vram);
        let devices: Vec<Arc<dyn Device<Fake>>> = vec![of(Arc::clone(&device))];
        let engine = Engine::start(Arc::clone(&work), devices, Arc::clone(&tracer), config);
        Self {
            engine: engine.expect("starts"),
            device,
            work,
            tracer,
            page,
        }
    }

    fn submit(&self, id: &str, parts: Vec<Part>) -> Ticket {
        let spec = JobSpec {
            id: id.to_owned(),
            kind: "fake".to_owned(),
            priority: Priority::Normal,
            circuits: parts,
        };
        self.engine.submit(spec).expect("accepted")
    }

    fn end_of(&self, ticket: Ticket) -> JobEnd {
        self.engine.wait(ticket).expect("a report").end
    }

    /// Shuts down and says that nothing is left: no memory of host or device, no pinned range, no
    /// state, no lock. Gives the trace back, read.
    fn close(self, how: Shutdown) -> (Status, Run) {
        let status = self.engine.shutdown(how);
        assert_eq!(status.host_used, 0, "host memory is back");
        assert_eq!(status.jobs, []);
        assert_eq!(status.queue, QueueStatus::default());
        assert!(status.workers.iter().all(|worker| worker.busy.is_none()));
        assert_eq!(self.device.held_bytes(), 0, "device memory is back");
        assert_eq!(self.device.pinned_ranges(), 0);
        assert_eq!(self.work.states_alive(), 0, "every state was dropped");
        let run = read_trace(self.tracer, &self.page);
        (status, run)
    }
}

fn read_trace(tracer: Arc<Tracer>, page: &Page) -> Run {
    let tracer = Arc::into_inner(tracer).expect("all threads are gone");
    assert_eq!(tracer.lost(), 0);
    tracer.finish().expect("memory takes all");
    let bytes = page.0.lock().expect("no panic").clone();
    let source = Source::Bytes("engine.log".to_owned(), bytes);
    read(&[source]).expect("reads").0.runs.remove(0)
}
