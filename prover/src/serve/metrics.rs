//! Metrics in the text form of Prometheus: what the engine is doing when it is asked, and
//! how long jobs took since the start.

use prometheus_client::encoding::{EncodeLabelSet, text::encode};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::engine::{JobReport, Status};

/// Kind of proof and how it ended.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Ended {
    kind: String,
    end: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Kind {
    kind: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Stage {
    stage: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Gpu {
    gpu: u32,
}

type Seconds = Family<Kind, Histogram, fn() -> Histogram>;

/// All metrics of a daemon.
#[derive(Debug)]
pub(super) struct Metrics {
    registry: Registry,
    jobs: Family<Ended, Counter>,
    seconds: Seconds,
    uptime: Gauge,
    waiting: Family<Stage, Gauge>,
    open: Gauge,
    host_used: Gauge,
    host_limit: Gauge,
    device_total: Family<Gpu, Gauge>,
    device_free: Family<Gpu, Gauge>,
    busy: Family<Gpu, Gauge>,
}

/// From a second to a quarter of an hour.
fn job_seconds() -> Histogram {
    Histogram::new([
        0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 900.0,
    ])
}

impl Metrics {
    /// Nothing counted yet.
    pub(super) fn new() -> Self {
        let mut registry = Registry::with_prefix("cuzk");
        let mut metrics = Self {
            registry: Registry::default(),
            jobs: Family::default(),
            seconds: Family::new_with_constructor(job_seconds),
            uptime: Gauge::default(),
            waiting: Family::default(),
            open: Gauge::default(),
            host_used: Gauge::default(),
            host_limit: Gauge::default(),
            device_total: Family::default(),
            device_free: Family::default(),
            busy: Family::default(),
        };
        metrics.register(&mut registry);
        metrics.registry = registry;
        metrics
    }

    fn register(&self, registry: &mut Registry) {
        let bytes = || Unit::Bytes;
        registry.register(
            "jobs",
            "Jobs that ended, by kind and end",
            self.jobs.clone(),
        );
        registry.register_with_unit(
            "job_duration",
            "From submission to the end",
            Unit::Seconds,
            self.seconds.clone(),
        );
        registry.register_with_unit(
            "uptime",
            "Since the start",
            Unit::Seconds,
            self.uptime.clone(),
        );
        registry.register(
            "partitions_waiting",
            "By what they wait for",
            self.waiting.clone(),
        );
        registry.register("jobs_open", "Accepted and not ended", self.open.clone());
        registry.register_with_unit(
            "host_memory_used",
            "In flight",
            bytes(),
            self.host_used.clone(),
        );
        registry.register_with_unit(
            "host_memory_limit",
            "Budget",
            bytes(),
            self.host_limit.clone(),
        );
        registry.register_with_unit(
            "device_memory_total",
            "By device",
            bytes(),
            self.device_total.clone(),
        );
        registry.register_with_unit(
            "device_memory_free",
            "By device",
            bytes(),
            self.device_free.clone(),
        );
        registry.register("device_workers_busy", "By device", self.busy.clone());
    }

    /// Counts a job that ended.
    pub(super) fn ended<P>(&self, kind: &str, report: &JobReport<P>) {
        let labels = Ended {
            kind: kind.to_owned(),
            end: report.end.status().to_owned(),
        };
        self.jobs.get_or_create(&labels).inc();
        let kind = Kind {
            kind: kind.to_owned(),
        };
        self.seconds
            .get_or_create(&kind)
            .observe(std::time::Duration::from_micros(report.total_us).as_secs_f64());
    }

    /// The exposition with the engine's state as of `status`.
    pub(super) fn text(&self, status: &Status) -> String {
        self.uptime.set(count(status.now_us / 1_000_000));
        for (stage, waiting) in [
            ("synthesis", status.queue.synthesis),
            ("device", status.queue.device),
            ("finish", status.queue.finish),
        ] {
            let stage = Stage {
                stage: stage.to_owned(),
            };
            self.waiting
                .get_or_create(&stage)
                .set(count(waiting as u64));
        }
        self.open.set(count(status.jobs.len() as u64));
        self.host_used.set(count(status.host_used));
        self.host_limit.set(count(status.host_total));
        for (gpu, device) in (0..).zip(&status.devices) {
            let label = Gpu { gpu };
            self.device_total
                .get_or_create(&label)
                .set(count(device.total));
            self.device_free
                .get_or_create(&label)
                .set(count(device.free));
            let workers = status.workers.iter().filter(|worker| worker.gpu == gpu);
            let busy = workers.filter(|worker| worker.busy.is_some()).count();
            self.busy.get_or_create(&label).set(count(busy as u64));
        }
        let mut text = String::new();
        // Writing to a string does not fail, and every label above is plain text.
        let encoded = encode(&mut text, &self.registry);
        debug_assert!(encoded.is_ok(), "a metric that cannot be written");
        text
    }
}

fn count(of: u64) -> i64 {
    i64::try_from(of).unwrap_or(i64::MAX)
}
