//! The engine's voice: typed events with their time, to a trace and to whoever listens.
//!
//! A [`Tracer`] stamps an event with the injected clock, gives it to the trace's writer (one call
//! of the operating system an event) and to its observers, such as a daemon's live page. A trace
//! that cannot be written never fails a proof: what was lost is counted ([`Tracer::lost`]).
//! Reading traces is the business of other crates.

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tracefmt::event::{Event, Place, TraceStart, What};
use tracefmt::timing::{Tag, Timing, TimingWhat};
use tracefmt::writer::Writer;

use crate::clock::Clock;

/// Someone who is told of every event as it happens, on the thread where it happens.
pub trait Observer: Send + Sync {
    /// An event happened. It must return soon: the engine waits.
    fn event(&self, event: &Event<'_>);
}

/// Where a trace goes.
pub type Sink = Box<dyn Write + Send>;

/// Stamps events and hands them on.
pub struct Tracer {
    clock: Arc<dyn Clock>,
    writer: Option<Writer<Sink>>,
    observers: Vec<Arc<dyn Observer>>,
    lost: AtomicU64,
    spent_us: AtomicU64,
}

/// Whose an event is: the job and where it happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// Job id.
    pub job: Arc<str>,
    /// Device, worker, partition.
    pub place: Place,
}

impl Scope {
    /// A job as a whole.
    pub fn of_job(job: &Arc<str>) -> Self {
        Self {
            job: Arc::clone(job),
            place: Place::default(),
        }
    }

    /// One partition of a job.
    pub fn of_partition(job: &Arc<str>, partition: u32) -> Self {
        let mut scope = Self::of_job(job);
        scope.place.partition = Some(partition);
        scope
    }

    /// The same on a device's worker.
    #[must_use]
    pub fn on(mut self, gpu: u32, worker: u32) -> Self {
        (self.place.gpu, self.place.worker) = (Some(gpu), Some(worker));
        self
    }
}

impl Tracer {
    /// A tracer that writes nothing; observers may still listen.
    pub fn silent(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            writer: None,
            observers: Vec::new(),
            lost: AtomicU64::new(0),
            spent_us: AtomicU64::new(0),
        }
    }

    /// A tracer whose trace begins with `start`.
    ///
    /// # Errors
    /// What the sink says about the first line.
    pub fn start(clock: Arc<dyn Clock>, sink: Sink, start: &TraceStart<'_>) -> io::Result<Self> {
        let writer = Writer::start(sink, start)?;
        Ok(Self {
            writer: Some(writer),
            ..Self::silent(clock)
        })
    }

    /// The same with someone who listens.
    #[must_use]
    pub fn observed_by(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observers.push(observer);
        self
    }

    /// The clock of the events.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Something happened now.
    pub fn event(&self, scope: &Scope, what: What<'_>) {
        let t_us = self.clock.now_us();
        let event = Event {
            ms: t_us / 1000,
            t_us: Some(t_us),
            job: scope.job.as_ref().into(),
            place: scope.place,
            what,
        };
        if let Some(writer) = &self.writer {
            self.note(&writer.event(&event));
        }
        for observer in &self.observers {
            observer.event(&event);
        }
        self.spend(t_us);
    }

    /// A phase ended now and took so long.
    pub fn phase(&self, scope: &Scope, name: &str, us: u64) {
        let Some(writer) = &self.writer else { return };
        let t_us = self.clock.now_us();
        let timing = Timing {
            what: TimingWhat::Phase {
                name: name.into(),
                us,
            },
            tag: Some(Tag {
                job: scope.job.as_ref().into(),
                place: scope.place,
                t_us,
            }),
        };
        self.note(&writer.timing(&timing));
        self.spend(t_us);
    }

    /// Runs `work` as a phase; its time is written whether or not it succeeds.
    pub fn timed<T>(&self, scope: &Scope, name: &str, work: impl FnOnce() -> T) -> T {
        let start = self.clock.now_us();
        let result = work();
        self.phase(scope, name, self.clock.now_us().saturating_sub(start));
        result
    }

    /// Lines that could not be written.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Time spent on tracing and observers, microseconds, summed over threads.
    pub fn spent_us(&self) -> u64 {
        self.spent_us.load(Ordering::Relaxed)
    }

    /// Ends the trace with its counts, and gives the sink back if there was one.
    ///
    /// # Errors
    /// What the sink says about the last line.
    pub fn finish(self) -> io::Result<Option<Sink>> {
        let t_us = self.clock.now_us();
        self.writer.map(|writer| writer.finish(t_us)).transpose()
    }

    fn note(&self, written: &io::Result<()>) {
        if written.is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn spend(&self, since_us: u64) {
        let us = self.clock.now_us().saturating_sub(since_us);
        self.spent_us.fetch_add(us, Ordering::Relaxed);
    }
}

impl fmt::Debug for Tracer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Tracer")
            .field("writes", &self.writer.is_some())
            .field("observers", &self.observers.len())
            .field("lost", &self.lost)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::clock::ManualClock;

    #[derive(Debug, Default)]
    struct Names(Mutex<Vec<String>>);

    impl Observer for Names {
        fn event(&self, event: &Event<'_>) {
            self.0
                .lock()
                .expect("no panic")
                .push(event.name().to_owned());
        }
    }

    /// Bytes that a test can read while the tracer writes.
    #[derive(Debug, Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no panic").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Broken;

    impl Write for Broken {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // Lets the head through.
            if bytes.windows(13).any(|word| word == b",TRACE_START,") {
                return Ok(bytes.len());
            }
            Err(io::Error::other("full"))
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_are_stamped_and_tagged() {
        let clock = Arc::new(ManualClock::new());
        let sink = Shared::default();
        let names = Arc::new(Names::default());
        let tracer = Tracer::start(
            Arc::<ManualClock>::clone(&clock),
            Box::new(sink.clone()),
            &TraceStart::default(),
        )
        .expect("writes")
        .observed_by(Arc::<Names>::clone(&names));
        let scope = Scope::of_partition(&"a,b".into(), 3).on(0, 1);
        clock.sleep_us(2500);
        tracer.event(&scope, What::GpuStart);
        tracer.timed(&scope, "ntt", || clock.sleep_us(1500));
        tracer.finish().expect("writes");
        let text = String::from_utf8(sink.0.lock().expect("no panic").clone()).expect("text");
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                "TIMELINE,2,GPU_START,a%2Cb,gpu=0,worker=1,partition=3,t_us=2500",
                "CUZK_TIMING: phase=ntt ms=1 us=1500 job=a%2Cb gpu=0 worker=1 \
                 partition=3 t_us=4000",
                "TIMELINE,4,TRACE_END,,t_us=4000,TRACE_START=1,GPU_START=1",
            ]
        );
        assert_eq!(*names.0.lock().expect("no panic"), ["GPU_START"]);
    }

    #[test]
    fn a_full_disk_is_counted_and_harms_nobody() {
        let clock = Arc::new(ManualClock::new());
        let tracer = Tracer::start(clock, Box::new(Broken), &TraceStart::default());
        let tracer = tracer.expect("the head");
        let scope = Scope::of_job(&"j".into());
        tracer.event(&scope, What::GpuStart);
        tracer.phase(&scope, "ntt", 5);
        assert_eq!(tracer.lost(), 2);
        assert!(tracer.finish().is_err());
    }
}
