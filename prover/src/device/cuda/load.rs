//! Uploads: the witness of a partition, what all partitions share, and points that stream through.

#![expect(
    unsafe_code,
    reason = "copies from memory that stays where it is; each block says why it does"
)]

use std::sync::Arc;

use blstrs::{G1Affine, G2Affine};
use tracefmt::ops::Work as Touched;

use super::{Brought, CudaDevice, Failure};
use crate::ProverError;
use crate::cuda::quotient::Quotient;
use crate::cuda::rows::Rows;
use crate::cuda::{self, Buffer, G1, Plain, Upload, bases};
use crate::device::groth16::{Parameters, State};
use crate::groth16::{Density, ProvingKey, Shape};
use crate::plan::tables::LOG2_RANGE;
use crate::plan::{Kernel, Load, Phase, Plan, Sizes};

/// The lane of a witness, and that of points which stream through.
pub(super) const AHEAD: usize = 0;
const PASSING: usize = 1;

/// The matrices and the densities of a circuit.
pub(super) struct ShapeOnCard {
    pub(super) rows: [Rows<'static>; 3],
    /// Of A, and of B.
    pub(super) indices: [Buffer; 2],
}

/// Copies that are under way, with what they read.
pub(super) struct Pending {
    uploads: Vec<Upload>,
    /// They own the points.
    parameters: Arc<Parameters>,
    indices: Vec<u32>,
}

impl Pending {
    /// Makes the kernels that come wait for the copies.
    pub(super) fn follow(&self, device: &cuda::Device) -> Result<(), ProverError> {
        self.uploads
            .iter()
            .try_for_each(|upload| device.follow(upload))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        for upload in self.uploads.drain(..) {
            // A copy that failed is over as well; who reads the buffer is told.
            drop(upload.wait());
        }
    }
}

/// Pins a range of a partition's state, which stays until it is unpinned.
pub(super) fn register(device: &cuda::Device, addr: u64, bytes: u64) -> Result<(), ProverError> {
    // SAFETY: the range is an allocation of the state or of the key, kept until `unregister`.
    unsafe { device.register(addr, bytes) }
}

pub(super) fn unregister(device: &cuda::Device, addr: u64) -> Result<(), ProverError> {
    // SAFETY: the caller keeps account of what is pinned; copies from it are waited for.
    unsafe { device.unregister(addr) }
}

impl CudaDevice {
    pub(super) fn load(
        &self,
        load: Load,
        touched: &Touched,
        plan: &Plan,
        state: &State,
    ) -> Result<(), Failure> {
        let id = touched.writes().first();
        let buffer = self.buffer(id)?;
        let parameters = state.parameters();
        match load {
            Load::Witness => self.witness(&buffer, state),
            Load::Tables => {
                if let Some(tables) = self.tables(&buffer, plan)? {
                    self.bring(id, tables);
                }
                Ok(())
            }
            Load::Shape => {
                let shape = self.shape(&buffer, parameters, plan.sizes())?;
                self.bring(id, Brought::Shape(Arc::clone(parameters), shape));
                Ok(())
            }
            Load::Key => {
                self.key(&buffer, parameters.key(), plan)?;
                self.bring(id, Brought::Key(Arc::clone(parameters)));
                Ok(())
            }
            Load::Multiples => {
                let scratch = self.buffer(touched.reads().first())?;
                self.multiples(&buffer, &scratch, plan)
            }
            Load::Points(kernel) => {
                let pending = self.points(&buffer, kernel, parameters, plan)?;
                if let Some(id) = id {
                    self.held().pending.insert(*id, pending);
                }
                Ok(())
            }
        }
    }

    /// Notes what a buffer that outlives a partition holds.
    pub(super) fn bring(&self, id: Option<&u64>, brought: Brought) {
        if let Some(id) = id {
            self.held().brought.insert(*id, brought);
        }
    }

    /// Inputs, then auxiliary variables; returns when they are there.
    fn witness(&self, buffer: &Buffer, state: &State) -> Result<(), Failure> {
        let assignment = state.assignment();
        let mut at = 0;
        for values in [&assignment.inputs, &assignment.aux] {
            let bytes = size_of_val(values.as_slice()) as u64;
            self.ahead.write(&buffer.slice(at, bytes)?, values)?;
            at += bytes;
        }
        Ok(())
    }

    /// The tables of a domain that the card transforms; none of one that is left to the processor.
    fn tables(&self, buffer: &Buffer, plan: &Plan) -> Result<Option<Brought>, Failure> {
        let log2 = plan.sizes().domain.ilog2();
        if log2 < *LOG2_RANGE.start() {
            return Ok(None);
        }
        let tables = Quotient::over(self.device, log2, plan.whole(), buffer)?;
        Ok(Some(Brought::Tables(Arc::new(tables))))
    }

    pub(super) fn shape(
        &self,
        buffer: &Buffer,
        parameters: &Parameters,
        sizes: &Sizes,
    ) -> Result<Arc<ShapeOnCard>, Failure> {
        let shape = parameters.shape();
        let [a, b, c, index_a, index_b] = sizes.shape_layout().pieces;
        let piece = |at: &std::ops::Range<u64>| buffer.slice(at.start, at.end - at.start);
        let rows = |matrix, at| Rows::load(self.device, matrix, &piece(at)?);
        let index = |phase, at| -> Result<Buffer, ProverError> {
            let place = piece(at)?;
            if !sizes.is_dense(phase) {
                let all = 0..sizes.points(phase);
                self.device.write(&place, &indices(shape, phase, all))?;
            }
            Ok(place)
        };
        Ok(Arc::new(ShapeOnCard {
            rows: [
                rows(shape.a(), &a)?,
                rows(shape.b(), &b)?,
                rows(shape.c(), &c)?,
            ],
            indices: [
                index(Phase::MsmA, &index_a)?,
                index(Phase::MsmBG1, &index_b)?,
            ],
        }))
    }

    pub(super) fn key(
        &self,
        buffer: &Buffer,
        key: ProvingKey<'_>,
        plan: &Plan,
    ) -> Result<(), Failure> {
        let [h, l, a, b_g1, b_g2] = &plan.key_layout().pieces;
        for (points, at) in [(key.h, h), (key.l, l), (key.a, a), (key.b_g1, b_g1)] {
            // The piece of H has room for multiples behind the points.
            let place = buffer.slice(at.start, size_of_val(points) as u64)?;
            self.ahead.write(&place, points)?;
        }
        let place = buffer.slice(b_g2.start, b_g2.end - b_g2.start)?;
        self.ahead.write(&place, key.b_g2)?;
        Ok(())
    }

    /// The multiples of the points of H behind those, if the plan has any.
    pub(super) fn multiples(
        &self,
        buffer: &Buffer,
        scratch: &Buffer,
        plan: &Plan,
    ) -> Result<(), Failure> {
        let shape = plan.sum_shape(Phase::MsmH, plan.sizes().points(Phase::MsmH));
        let [h, ..] = &plan.key_layout().pieces;
        let place = buffer.slice(h.start, h.end - h.start)?;
        bases::multiply::<G1>(self.device, &place, scratch, &shape)?;
        Ok(())
    }

    /// Points of a part, and the indices of their scalars behind them.
    fn points(
        &self,
        buffer: &Buffer,
        kernel: Kernel,
        parameters: &Arc<Parameters>,
        plan: &Plan,
    ) -> Result<Pending, Failure> {
        let phase = kernel.phase;
        let range = part_of(plan, kernel);
        let within = usize::try_from(range.start).unwrap_or(usize::MAX)
            ..usize::try_from(range.end).unwrap_or(usize::MAX);
        let points = range.end - range.start;
        let mut pending = Pending {
            uploads: Vec::new(),
            parameters: Arc::clone(parameters),
            indices: if plan.sizes().is_dense(phase) {
                Vec::new()
            } else {
                indices(parameters.shape(), phase, range)
            },
        };
        let key = pending.parameters.key();
        if phase == Phase::MsmBG2 {
            let points: &[G2Affine] = key.b_g2.get(within).unwrap_or(&[]);
            pending.uploads.push(self.passing(buffer, points)?);
        } else {
            let all = g1_points(key, phase);
            let points: &[G1Affine] = all.get(within).unwrap_or(&[]);
            pending.uploads.push(self.passing(buffer, points)?);
        }
        if !pending.indices.is_empty() {
            let bytes = size_of_val(pending.indices.as_slice()) as u64;
            let place = buffer.slice(Sizes::indices_at(phase, points), bytes)?;
            let upload = self.passing(&place, &pending.indices)?;
            pending.uploads.push(upload);
        }
        Ok(pending)
    }

    fn passing<T: Plain>(&self, place: &Buffer, data: &[T]) -> Result<Upload, ProverError> {
        // SAFETY: the points are the parameters', the indices the pending copy's own: `Pending`
        // keeps both and waits for the copy when it is dropped.
        unsafe { self.device.write_ahead(PASSING, place, data) }
    }
}

/// The points of a sum in G1.
fn g1_points(key: ProvingKey<'_>, phase: Phase) -> &[G1Affine] {
    match phase {
        Phase::MsmH => key.h,
        Phase::MsmL => key.l,
        Phase::MsmA => key.a,
        Phase::MsmBG1 => key.b_g1,
        Phase::Quotient | Phase::MsmBG2 => &[],
    }
}

/// The points of a part of a sum.
pub(super) fn part_of(plan: &Plan, kernel: Kernel) -> std::ops::Range<u64> {
    let all = plan.sizes().points(kernel.phase);
    let Some(chunk) = plan.chunk() else {
        return 0..all;
    };
    let chunk = Sizes::streamed(kernel.phase, chunk);
    let start = (kernel.part * chunk).min(all);
    start..(start + chunk).min(all)
}

/// Where the scalars of some points of A or B lie among inputs and auxiliary variables.
fn indices(shape: &Shape, phase: Phase, range: std::ops::Range<u64>) -> Vec<u32> {
    let inputs = shape.num_inputs();
    let (first, aux) = match phase {
        Phase::MsmA => (&Density::All(inputs), shape.a_aux()),
        _ => (shape.b_inputs(), shape.b_aux()),
    };
    let narrow = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    let of = |density: &Density, at: usize| match density {
        Density::All(_) => narrow(at),
        Density::Some(indices) => indices.get(at).copied().unwrap_or(0),
    };
    range
        .map(|at| {
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            match at.checked_sub(first.len()) {
                None => of(first, at),
                Some(at) => narrow(inputs) + of(aux, at),
            }
        })
        .collect()
}
