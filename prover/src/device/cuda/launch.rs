//! Launches: the quotient and the sums, each with its time by the card's own clock.

use std::sync::Arc;

use tracefmt::ops::Work as Touched;

use super::load::{ShapeOnCard, part_of};
use super::{Brought, CudaDevice, Failure};
use crate::cuda::rows::{Product, Rows};
use crate::cuda::{Buffer, Curve, G1, G2, Msm, Scalars};
use crate::device::groth16::{Parameters, State, Sum};
use crate::plan::sums::SumShape;
use crate::plan::{Kernel, Phase, Plan, Sizes};

/// A matrix of the shape.
#[derive(Clone, Copy)]
enum Which {
    A,
    B,
    C,
}

impl CudaDevice {
    /// Runs a kernel to its end; its time on the card in microseconds, none if it was left to the
    /// processor.
    pub(super) fn launch(
        &self,
        kernel: Kernel,
        touched: &Touched,
        plan: &Plan,
        state: &mut State,
    ) -> Result<Option<u64>, Failure> {
        for id in touched.reads() {
            if let Some(pending) = self.held().pending.get(id) {
                pending.follow(self.device)?;
            }
        }
        let ms = match kernel.phase {
            Phase::Quotient => self.quotient(touched, plan, state)?,
            _ => Some(self.msm(kernel, touched, plan, state)?),
        };
        for id in touched.reads() {
            // The launch is done, so the copies before it are.
            let done = self.held().pending.remove(id);
            drop(done);
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a duration, positive and short"
        )]
        Ok(ms.map(|ms| (ms * 1000.0) as u64))
    }

    /// A, B and C from the witness, and the coefficients of the quotient in the first buffer.
    fn quotient(
        &self,
        touched: &Touched,
        plan: &Plan,
        state: &mut State,
    ) -> Result<Option<f64>, Failure> {
        let (reads, writes) = (touched.reads(), touched.writes());
        let (a, bc) = (self.buffer(writes.first())?, self.buffer(writes.get(1))?);
        let Some(Brought::Tables(tables)) = self.brought(reads.get(2)) else {
            // The card's transforms begin at a larger domain.
            let made = state.quotient()?;
            self.device.write(&a, &made[..])?;
            return Ok(None);
        };
        let witness = self.buffer(reads.first())?;
        let parameters = Arc::clone(state.parameters());
        let shape = self.shape_of(reads.get(1), &parameters, plan.sizes())?;
        let rows = self.buffer(reads.get(1))?;
        let times = |which: Which, out: &Buffer| {
            let product = Product {
                witness: &witness,
                inputs: plan.sizes().inputs,
                out,
                domain: plan.sizes().domain,
            };
            self.times(which, (&parameters, shape.as_deref()), &rows, &product)
        };
        let start = self.device.mark()?;
        times(Which::B, &a)?;
        times(Which::A, &bc)?;
        tables.run(&a, &bc, |out| times(Which::C, out))?;
        let end = self.device.mark()?;
        Ok(Some(self.device.elapsed_ms(&start, &end)?))
    }

    fn times(
        &self,
        which: Which,
        (parameters, shape): (&Parameters, Option<&ShapeOnCard>),
        passing: &Buffer,
        product: &Product<'_>,
    ) -> Result<(), crate::ProverError> {
        if let Some(ShapeOnCard {
            rows: [a, b, c], ..
        }) = shape
        {
            let rows = match which {
                Which::A => a,
                Which::B => b,
                Which::C => c,
            };
            return rows.times(product.witness, product.inputs, product.out, product.domain);
        }
        let shape = parameters.shape();
        let matrix = match which {
            Which::A => shape.a(),
            Which::B => shape.b(),
            Which::C => shape.c(),
        };
        Rows::times_streamed(self.device, matrix, passing, product)
    }

    /// The shape that stays on the card; brought again if it is another circuit's of equal sizes.
    fn shape_of(
        &self,
        id: Option<&u64>,
        parameters: &Arc<Parameters>,
        sizes: &Sizes,
    ) -> Result<Option<Arc<ShapeOnCard>>, Failure> {
        match self.brought(id) {
            Some(Brought::Shape(of, shape)) if Arc::ptr_eq(&of, parameters) => Ok(Some(shape)),
            Some(Brought::Shape(..)) => {
                let shape = self.shape(&*self.buffer(id)?, parameters, sizes)?;
                let brought = Brought::Shape(Arc::clone(parameters), Arc::clone(&shape));
                self.bring(id, brought);
                Ok(Some(shape))
            }
            _ => Ok(None),
        }
    }

    /// The points of a sum that stay on the card; brought again if they are another circuit's.
    fn key_of(
        &self,
        id: Option<&u64>,
        parameters: &Arc<Parameters>,
        plan: &Plan,
        scratch: &Buffer,
    ) -> Result<(), Failure> {
        if let Some(Brought::Key(of)) = self.brought(id)
            && !Arc::ptr_eq(&of, parameters)
        {
            let buffer = self.buffer(id)?;
            self.key(&buffer, parameters.key(), plan)?;
            self.multiples(&buffer, scratch, plan)?;
            self.bring(id, Brought::Key(Arc::clone(parameters)));
        }
        Ok(())
    }

    fn msm(
        &self,
        kernel: Kernel,
        touched: &Touched,
        plan: &Plan,
        state: &mut State,
    ) -> Result<f64, Failure> {
        let (reads, sizes, phase) = (touched.reads(), plan.sizes(), kernel.phase);
        let (scalars, points) = (self.buffer(reads.first())?, self.buffer(reads.get(1))?);
        let scratch = self.buffer(touched.writes().first())?;
        let range = part_of(plan, kernel);
        let count = range.end - range.start;
        let dense = sizes.is_dense(phase);
        let (points, indices) = if plan.is_resident() {
            let parameters = Arc::clone(state.parameters());
            self.key_of(reads.get(1), &parameters, plan, &scratch)?;
            let shape = self.shape_of(reads.get(2), &parameters, sizes)?;
            let layout = plan.key_layout();
            let at = piece_of(&layout.pieces, phase);
            let indices = shape.filter(|_| !dense).map(|shape| {
                let [a, b] = &shape.indices;
                let of = if phase == Phase::MsmA { a } else { b };
                of.slice(0, of.bytes() as u64)
            });
            (
                points.slice(at.start, at.end - at.start)?,
                indices.transpose()?,
            )
        } else {
            let at = Sizes::indices_at(phase, count);
            let indices = (!dense).then(|| points.slice(at, count * 4)).transpose()?;
            (points.slice(0, points.bytes() as u64)?, indices)
        };
        let first = match phase {
            Phase::MsmL => sizes.inputs + range.start,
            _ if dense => range.start,
            _ => 0,
        };
        let scalars = Scalars {
            buffer: &scalars,
            first,
            indices: indices.as_ref(),
        };
        let shape = plan.sum_shape(phase, count);
        let (sum, ms) = if phase == Phase::MsmBG2 {
            let (sum, ms) = self.sum::<G2>(&scratch, &points, scalars, shape)?;
            (Sum::G2(sum), ms)
        } else {
            let (sum, ms) = self.sum::<G1>(&scratch, &points, scalars, shape)?;
            (Sum::G1(sum), ms)
        };
        state.add_sum(phase, &sum)?;
        Ok(ms)
    }

    fn sum<C: Curve>(
        &self,
        scratch: &Buffer,
        points: &Buffer,
        scalars: Scalars<'_>,
        shape: SumShape,
    ) -> Result<(C::Projective, f64), Failure> {
        let msm = Msm::<C>::over(self.device, shape, scratch)?;
        Ok(msm.sum(points, scalars)?)
    }
}

/// Where the points of a phase lie in `d_srs`.
fn piece_of(pieces: &[std::ops::Range<u64>; 5], phase: Phase) -> std::ops::Range<u64> {
    let [h, l, a, b_g1, b_g2] = pieces;
    let piece = match phase {
        Phase::Quotient | Phase::MsmH => h,
        Phase::MsmL => l,
        Phase::MsmA => a,
        Phase::MsmBG1 => b_g1,
        Phase::MsmBG2 => b_g2,
    };
    piece.clone()
}
