//! An engine's status as clients see it: on the wire, and as JSON for the page.

use std::collections::BTreeMap;

use serde::Serialize;

use super::kinds::Loaded;
use super::wire::{GetStatusResponse, GpuStatus, QueueStatus, SrsStatus, srs_status::Tier};
use crate::engine::{JobStatus, PartState, Status};

/// The status for `GetStatus`.
pub(super) fn on_the_wire(status: &Status, loaded: &[Loaded]) -> GetStatusResponse {
    let gpus = (0..).zip(&status.devices).map(|(ordinal, device)| {
        let busy = status.workers.iter().filter(|worker| worker.gpu == ordinal);
        let current = busy
            .filter_map(|worker| worker.busy.as_ref())
            .min_by_key(|busy| busy.2);
        let job = current.map(|(job, ..)| job.clone()).unwrap_or_default();
        let kind = status.jobs.iter().find(|open| open.id == job);
        GpuStatus {
            ordinal,
            name: device.name.clone(),
            vram_total_bytes: device.total,
            vram_free_bytes: device.free,
            current_proof_kind: kind.map(|open| open.kind.clone()).unwrap_or_default(),
            current_job_id: job,
        }
    });
    let mut queues: BTreeMap<&str, QueueStatus> = BTreeMap::new();
    for job in &status.jobs {
        let queue = queues.entry(&job.kind).or_insert_with(|| QueueStatus {
            proof_kind: job.kind.clone(),
            ..QueueStatus::default()
        });
        if has_started(job) {
            queue.in_progress += 1;
        } else {
            queue.pending += 1;
        }
    }
    let loaded_srs = loaded.iter().map(|srs| SrsStatus {
        circuit_id: srs.circuit_id.clone(),
        tier: Tier::Hot.into(),
        size_bytes: srs.bytes,
        ref_count: srs.users,
    });
    GetStatusResponse {
        gpus: gpus.collect(),
        loaded_srs: loaded_srs.collect(),
        queues: queues.into_values().collect(),
        total_proofs_completed: status.totals.verified,
        total_proofs_failed: status.totals.failed,
        uptime_seconds: status.now_us / 1_000_000,
        pinned_memory_bytes: status.host_used,
        pinned_memory_limit_bytes: status.host_total,
    }
}

fn has_started(job: &JobStatus) -> bool {
    job.partitions
        .iter()
        .any(|(state, _)| *state != PartState::Waiting)
}

/// `cuzk.status/1`, what the page draws.
#[derive(Debug, Serialize)]
pub(super) struct Page {
    schema: &'static str,
    uptime_ms: u64,
    closing: bool,
    waiting: Waiting,
    host: Host,
    jobs: Vec<Job>,
    workers: Vec<Worker>,
    devices: Vec<Device>,
    totals: Totals,
    srs: Vec<Srs>,
}

#[derive(Debug, Serialize)]
struct Waiting {
    synthesis: usize,
    device: usize,
    finish: usize,
}

#[derive(Debug, Serialize)]
#[expect(
    clippy::struct_field_names,
    reason = "units stand at the end of a name"
)]
struct Host {
    used_bytes: u64,
    peak_bytes: u64,
    limit_bytes: u64,
}

#[derive(Debug, Serialize)]
struct Job {
    id: String,
    kind: String,
    priority: String,
    age_ms: u64,
    partitions: Vec<Partition>,
}

#[derive(Debug, Serialize)]
struct Partition {
    state: &'static str,
    for_ms: u64,
}

#[derive(Debug, Serialize)]
struct Worker {
    number: u32,
    gpu: u32,
    job: Option<String>,
    partition: Option<u32>,
    for_ms: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Device {
    name: String,
    total_bytes: u64,
    free_bytes: u64,
}

#[derive(Debug, Serialize)]
struct Totals {
    verified: u64,
    failed: u64,
    cancelled: u64,
}

#[derive(Debug, Serialize)]
struct Srs {
    circuit: String,
    bytes: u64,
    users: u32,
}

/// The status for the page. Of very many jobs the first [`JOBS_SHOWN`] are shown; the queue's
/// lengths count all.
pub(super) fn page(status: &Status, loaded: &[Loaded], closing: bool) -> Page {
    let since = |us: u64| status.now_us.saturating_sub(us) / 1000;
    let jobs = status.jobs.iter().take(JOBS_SHOWN).map(|job| Job {
        id: job.id.clone(),
        kind: job.kind.clone(),
        priority: format!("{:?}", job.priority).to_lowercase(),
        age_ms: since(job.submitted_us),
        partitions: job
            .partitions
            .iter()
            .map(|(state, us)| Partition {
                state: state.name(),
                for_ms: since(*us),
            })
            .collect(),
    });
    let workers = status.workers.iter().map(|worker| Worker {
        number: worker.worker,
        gpu: worker.gpu,
        job: worker.busy.as_ref().map(|(job, ..)| job.clone()),
        partition: worker.busy.as_ref().map(|(_, partition, _)| *partition),
        for_ms: worker.busy.as_ref().map(|(_, _, us)| since(*us)),
    });
    let devices = status.devices.iter().map(|device| Device {
        name: device.name.clone(),
        total_bytes: device.total,
        free_bytes: device.free,
    });
    let srs = loaded.iter().map(|srs| Srs {
        circuit: srs.circuit_id.clone(),
        bytes: srs.bytes,
        users: srs.users,
    });
    Page {
        schema: "cuzk.status/1",
        uptime_ms: status.now_us / 1000,
        closing,
        waiting: Waiting {
            synthesis: status.queue.synthesis,
            device: status.queue.device,
            finish: status.queue.finish,
        },
        host: Host {
            used_bytes: status.host_used,
            peak_bytes: status.host_peak,
            limit_bytes: status.host_total,
        },
        jobs: jobs.collect(),
        workers: workers.collect(),
        devices: devices.collect(),
        totals: Totals {
            verified: status.totals.verified,
            failed: status.totals.failed,
            cancelled: status.totals.cancelled,
        },
        srs: srs.collect(),
    }
}

/// Jobs that the page draws.
pub(super) const JOBS_SHOWN: usize = 200;

#[cfg(test)]
mod tests {
    use super::super::schema_check::{load, misfits};
    use super::*;
    use crate::device::Info;
    use crate::engine::{self, Priority, WorkerStatus};

    #[test]
    fn the_page_fits_its_schema_idle_and_busy() {
        let worker = |busy| WorkerStatus {
            worker: 1,
            gpu: 0,
            busy,
        };
        let states = [PartState::Waiting, PartState::Proving, PartState::Verified];
        let job = JobStatus {
            id: "j".to_owned(),
            kind: "porep-c2".to_owned(),
            priority: Priority::High,
            submitted_us: 5,
            partitions: states.map(|state| (state, 7)).to_vec(),
        };
        let busy = Status {
            now_us: 9_000_000,
            jobs: vec![job],
            queue: engine::QueueStatus::default(),
            workers: vec![worker(None), worker(Some(("j".to_owned(), 2, 8)))],
            host_total: 10,
            host_used: 3,
            host_peak: 4,
            devices: vec![Info {
                name: "cpu".to_owned(),
                total: 2,
                free: 1,
                peak: 1,
                software: Vec::new(),
            }],
            totals: engine::Totals::default(),
            faults: Vec::new(),
        };
        let idle = Status {
            jobs: Vec::new(),
            workers: Vec::new(),
            ..busy.clone()
        };
        let loaded = Loaded {
            circuit_id: "mimc-2^6".to_owned(),
            bytes: 1,
            users: 0,
        };
        for status in [busy, idle] {
            let json = serde_json::to_value(page(&status, std::slice::from_ref(&loaded), false));
            let json = json.expect("JSON");
            assert_eq!(misfits(&load("cuzk.status/1"), &json), Vec::<String>::new());
        }
    }
}
