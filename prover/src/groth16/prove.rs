//! A proof from a key, a shape and a witness: five sums of points, then the assembly. Every phase
//! is a function of its own, so that an engine can run, move and time each.

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use group::{Curve as _, prime::PrimeCurveAffine as _};

use super::{Assignment, Density, Proof, ProvingKey, Shape, VerifyingKey, evaluate, quotient};
use crate::{ProverError, msm, ntt::Domain};

/// The phases of a proof, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// The products of the matrices with the witness.
    Evaluate,
    /// The polynomial H.
    Quotient,
    /// The sum over H.
    MsmH,
    /// The sum over L.
    MsmL,
    /// The sum over A.
    MsmA,
    /// The sum over B in G1.
    MsmBG1,
    /// The sum over B in G2.
    MsmBG2,
    /// The proof from the sums.
    Assemble,
}

impl Phase {
    /// All phases, in their order.
    pub const ALL: [Self; 8] = [
        Self::Evaluate,
        Self::Quotient,
        Self::MsmH,
        Self::MsmL,
        Self::MsmA,
        Self::MsmBG1,
        Self::MsmBG2,
        Self::Assemble,
    ];

    /// The name in a trace and in a table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Evaluate => "evaluate",
            Self::Quotient => "quotient",
            Self::MsmH => "msm_h",
            Self::MsmL => "msm_l",
            Self::MsmA => "msm_a",
            Self::MsmBG1 => "msm_b_g1",
            Self::MsmBG2 => "msm_b_g2",
            Self::Assemble => "assemble",
        }
    }
}

/// Hears when a phase begins and ends; it has the clock, the prover has none.
pub trait Observer {
    /// A phase begins.
    fn begin(&mut self, phase: Phase);
    /// It is over.
    fn end(&mut self, phase: Phase);
}

/// An observer that does not listen.
impl Observer for () {
    fn begin(&mut self, _phase: Phase) {}
    fn end(&mut self, _phase: Phase) {}
}

/// The five sums of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sums {
    /// Over H, with the coefficients of the quotient.
    pub h: G1Projective,
    /// Over L, with the auxiliary variables.
    pub l: G1Projective,
    /// Over A.
    pub a: G1Projective,
    /// Over B in G1.
    pub b_g1: G1Projective,
    /// Over B in G2.
    pub b_g2: G2Projective,
}

/// The sum over H; `quotient` has as many scalars as the key has points of H.
pub fn msm_h(key: &ProvingKey<'_>, quotient: &[Scalar]) -> G1Projective {
    msm::g1(key.h, quotient)
}

/// The sum over L.
pub fn msm_l(key: &ProvingKey<'_>, assignment: &Assignment) -> G1Projective {
    msm::g1(key.l, &assignment.aux)
}

/// The sum over A.
pub fn msm_a(key: &ProvingKey<'_>, shape: &Shape, assignment: &Assignment) -> G1Projective {
    let (inputs, aux) = split(key.a, shape.num_inputs());
    msm::g1(inputs, &assignment.inputs) + g1(aux, shape.a_aux(), &assignment.aux)
}

/// The sum over B in G1.
pub fn msm_b_g1(key: &ProvingKey<'_>, shape: &Shape, assignment: &Assignment) -> G1Projective {
    let (inputs, aux) = split(key.b_g1, shape.b_inputs().len());
    g1(inputs, shape.b_inputs(), &assignment.inputs) + g1(aux, shape.b_aux(), &assignment.aux)
}

/// The sum over B in G2.
pub fn msm_b_g2(key: &ProvingKey<'_>, shape: &Shape, assignment: &Assignment) -> G2Projective {
    let (inputs, aux) = split(key.b_g2, shape.b_inputs().len());
    g2(inputs, shape.b_inputs(), &assignment.inputs) + g2(aux, shape.b_aux(), &assignment.aux)
}

/// The points of the inputs and those of the auxiliary variables.
fn split<T>(points: &[T], inputs: usize) -> (&[T], &[T]) {
    points.split_at(inputs.min(points.len()))
}

fn g1(bases: &[G1Affine], density: &Density, values: &[Scalar]) -> G1Projective {
    match density {
        Density::All(_) => msm::g1(bases, values),
        Density::Some(indices) => msm::g1_gather(bases, values, indices),
    }
}

fn g2(bases: &[G2Affine], density: &Density, values: &[Scalar]) -> G2Projective {
    match density {
        Density::All(_) => msm::g2(bases, values),
        Density::Some(indices) => msm::g2_gather(bases, values, indices),
    }
}

/// The proof from its sums; `r` and `s` hide the witness and must be random and never used again.
pub fn assemble(key: &VerifyingKey, sums: &Sums, r: Scalar, s: Scalar) -> Proof {
    let a = sums.a + key.alpha_g1 + key.delta_g1.to_curve() * r;
    let b_g1 = sums.b_g1 + key.beta_g1;
    let b_g2 = sums.b_g2 + key.beta_g2 + key.delta_g2.to_curve() * s;
    // s·A + r·B − r·s·δ of the paper: B in G1 without its s·δ saves the last term.
    let c = sums.h + sums.l + a * s + b_g1 * r;
    Proof {
        a: a.to_affine(),
        b: b_g2.to_affine(),
        c: c.to_affine(),
    }
}

/// Makes a proof of `assignment`, phase by phase. It is not verified here: who asked for it does
/// that with [`super::PreparedKey`] before the proof leaves the house.
///
/// # Errors
/// [`ProverError::OtherCircuit`] if the key or the assignment is not of this shape,
/// [`ProverError::Unsatisfied`] if a constraint does not hold, [`ProverError::WeakKey`] if the key
/// hides nothing.
pub fn prove(
    key: &ProvingKey<'_>,
    shape: &Shape,
    assignment: &Assignment,
    (r, s): (Scalar, Scalar),
    observer: &mut dyn Observer,
) -> Result<Proof, ProverError> {
    shape.check_key(key)?;
    shape.check(assignment)?;
    if bool::from(key.vk.delta_g1.is_identity() | key.vk.delta_g2.is_identity()) {
        return Err(ProverError::WeakKey);
    }
    let evaluations = observe(observer, Phase::Evaluate, || evaluate(shape, assignment));
    if let Some(row) = evaluations.first_unsatisfied() {
        return Err(ProverError::Unsatisfied {
            row,
            rows: shape.num_constraints(),
        });
    }
    let domain = Domain::new(shape.log2())?;
    let h = observe(observer, Phase::Quotient, || quotient(&domain, evaluations))?;
    let sums = Sums {
        h: observe(observer, Phase::MsmH, || msm_h(key, &h)),
        l: observe(observer, Phase::MsmL, || msm_l(key, assignment)),
        a: observe(observer, Phase::MsmA, || msm_a(key, shape, assignment)),
        b_g1: observe(observer, Phase::MsmBG1, || msm_b_g1(key, shape, assignment)),
        b_g2: observe(observer, Phase::MsmBG2, || msm_b_g2(key, shape, assignment)),
    };
    Ok(observe(observer, Phase::Assemble, || {
        assemble(key.vk, &sums, r, s)
    }))
}

fn observe<T>(observer: &mut dyn Observer, phase: Phase, work: impl FnOnce() -> T) -> T {
    observer.begin(phase);
    let result = work();
    observer.end(phase);
    result
}
