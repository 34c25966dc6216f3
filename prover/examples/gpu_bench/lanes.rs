//! Copies beside the computation, from pinned memory: what arrives is what was sent, how much the
//! computation is slowed, and points that stream in halves give the whole sum. Also what the
//! memory calls say when they must say no.

#![expect(
    unsafe_code,
    reason = "pins memory and copies ahead; each block says why it is sound"
)]

use std::time::Instant;

use blstrs::{G1Affine, G1Projective, Scalar};
use group::Group as _;
use prover::ProverError;
use prover::cuda::{Device, DeviceDomain, G1, Msm, Scalars, Way, bases};
use prover::plan::sums::SumShape;

use crate::{Bench, Outcome, data, floors, median};

/// Host memory, pinned while it lives.
struct Pinned<'a, T> {
    device: &'a Device,
    data: Vec<T>,
}

impl<'a, T> Pinned<'a, T> {
    fn new(device: &'a Device, data: Vec<T>) -> Result<Self, ProverError> {
        // SAFETY: the vector is not touched until `drop` has ended the pinning.
        unsafe { device.register(addr(&data), size_of_val(data.as_slice()) as u64) }?;
        Ok(Self { device, data })
    }
}

impl<T> Drop for Pinned<'_, T> {
    fn drop(&mut self) {
        // SAFETY: pinned by `new`; every copy below is waited for before its source goes.
        drop(unsafe { self.device.unregister(addr(&self.data)) });
    }
}

fn addr<T>(data: &[T]) -> u64 {
    data.as_ptr().expose_provenance() as u64
}

/// Copies beside transforms, streamed points, and what the memory calls refuse.
pub(crate) fn ahead(bench: &mut Bench, log2: u32) -> Outcome {
    let (detail, times) = beside(bench, log2)?;
    bench.row(("copy ahead", log2), &detail, times, 50.0 * floors::ntt(22));
    streamed(bench)?;
    refusals(bench)
}

/// 2^log2 scalars copied on lane 0 by one thread while another transforms.
fn beside(bench: &Bench, log2: u32) -> Result<(String, [f64; 3]), Box<dyn std::error::Error>> {
    let data = data::scalars(bench.seed ^ 0x31, 1 << log2);
    let device = &bench.device;
    let (pinned, target) = (Pinned::new(device, data)?, device.alloc(32 << log2)?);
    let domain = DeviceDomain::new(device, 22, 22)?;
    let values = device.upload(&data::scalars(bench.seed ^ 0x32, 1 << 22))?;
    let out = device.alloc(32 << 22)?;
    let compute = |count: u32| {
        let from = device.mark()?;
        for _ in 0..count {
            domain.transform(Way::Forward, &values, &out, None)?;
        }
        device.elapsed_ms(&from, &device.mark()?)
    };
    let copy = || {
        let start = Instant::now();
        // SAFETY: `pinned` outlives the wait; nobody else uses `target`.
        unsafe { device.write_ahead(0, &target, &pinned.data) }?.wait()?;
        Ok::<_, ProverError>(start.elapsed().as_secs_f64() * 1e3)
    };
    let alone = median(|| compute(50))?;
    let copied = median(copy)?;
    let (beside, slowed) = std::thread::scope(|scope| {
        let other = scope.spawn(|| median(copy));
        let beside = median(|| compute(50));
        (beside, other.join())
    });
    let slowed = slowed.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    let mut arrived = vec![Scalar::from(0); pinned.data.len()];
    device.read(&target, &mut arrived)?;
    if arrived != pinned.data {
        return Err("what was copied ahead did not arrive".into());
    }
    let gigabytes = |ms: f64| f64::from(32_u32) * 2_f64.powi(log2.cast_signed()) / ms / 1e6;
    let detail = format!(
        "50 transforms of 2^22 take {:.2} ms alone, this long beside copies; a copy runs at {:.1} \
         GB/s alone, {:.1} beside",
        alone[0],
        gigabytes(copied[0]),
        gigabytes(slowed[0])
    );
    Ok((detail, beside?))
}

/// A sum of 2^20 points in 16 parts, through two halves of one buffer on lane 1.
fn streamed(bench: &Bench) -> Outcome {
    const LOG2: u32 = 20;
    const PARTS: usize = 16;
    let device = &bench.device;
    let n = 1_u64 << LOG2;
    let logs = data::tables::<G1Projective>(bench.seed, LOG2);
    let points = bases::pair_sums::<G1>(device, &logs.low_points, &logs.high_points, n)?;
    let mut host = vec![G1Affine::default(); 1 << LOG2];
    device.read(&points, &mut host)?;
    let host = Pinned::new(device, host)?;
    let scalars = data::skewed(bench.seed ^ 0x41, 1 << LOG2);
    let on_device = device.upload(&scalars)?;
    let part = (1 << LOG2) / PARTS;
    let bytes = 96 * part as u64;
    let (both, shape) = (device.alloc(2 * 96 * part)?, SumShape::new(part as u64, 1));
    let halves = [both.slice(0, bytes)?, both.slice(bytes, bytes)?];
    let msm = Msm::<G1>::new(device, shape)?;
    let mut total = G1Projective::identity();
    // SAFETY: `host` outlives the waits below, of which there is one a copy; a half is written
    // again after the mark behind the sum that read it.
    let send = |at: usize| unsafe {
        device.write_ahead(1, &halves[at % 2], &host.data[at * part..(at + 1) * part])
    };
    let mut next = Some(send(0)?);
    for at in 0..PARTS {
        let Some(here) = next.take() else { break };
        device.follow(&here)?;
        if at + 1 < PARTS {
            next = Some(send(at + 1)?);
        }
        let scalars = Scalars {
            buffer: &on_device,
            first: (at * part) as u64,
            indices: None,
        };
        total += msm.sum(&halves[at % 2], scalars)?.0;
        device.hold(1, &device.mark()?)?;
        here.wait()?;
    }
    if total != G1Projective::generator() * logs.expected(&scalars) {
        return Err("a sum over streamed points is wrong".into());
    }
    println!("a sum of 2^{LOG2} points in {PARTS} parts on the second lane: equal to the CPU's");
    Ok(())
}

/// Out of memory by its number, views that are left, lanes and slices that are not there.
fn refusals(bench: &Bench) -> Outcome {
    let device = &bench.device;
    let (free, total) = device.memory()?;
    let more = device.alloc(total + (1 << 30));
    let buffer = device.alloc(1 << 20)?;
    let view = buffer.slice(256, 512)?;
    let beyond = buffer.slice(1 << 20, 1);
    let early = buffer.free();
    view.free()?;
    let whole = device.alloc(1 << 30)?;
    let during = device.memory()?.0;
    whole.free()?;
    let after = device.memory()?.0;
    let as_expected = matches!(more, Err(ProverError::DeviceCall { rc: 2, .. }))
        && matches!(beyond, Err(ProverError::DeviceLength { .. }))
        && matches!(early, Err(ProverError::DeviceViews { views: 1, .. }))
        && during <= free.saturating_sub(1 << 30)
        && after + (4 << 20) >= free;
    let footprint = device.footprint();
    println!(
        "free {free} before, {during} with a GiB, {after} after; opening took {} for code, {} for \
         local memory, {} in use before any allocation",
        footprint.modules, footprint.local, footprint.baseline
    );
    if as_expected {
        return Ok(());
    }
    Err(format!("memory calls: {more:?}, {beyond:?}, {early:?}, {free} {during} {after}").into())
}
