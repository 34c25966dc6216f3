//! A proof from a key, a shape and a witness: five sums of points, then the assembly. Every phase
//! is a function of its own, so that an engine can run, move and time each.

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use group::{Curve as _, prime::PrimeCurveAffine as _};

use super::{Assignment, Density, Factors, Proof, ProvingKey, Shape, VerifyingKey};
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
    if bool::from(key.vk.delta_g1.is_identity() | key.vk.delta_g2.is_identity()) {
        return Err(ProverError::WeakKey);
    }
    let factors = observe(observer, Phase::Evaluate, || {
        Factors::new(shape, assignment)
    })?;
    let h = observe(observer, Phase::Quotient, || {
        // The tables of the domain are gone before the sums begin.
        factors.quotient(&Domain::new(shape.log2())?, shape, assignment)
    })?;
    let sums = Sums {
        h: observe(observer, Phase::MsmH, || msm::g1_owned(key.h, h)),
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

#[cfg(test)]
mod tests {
    use ff::Field as _;
    use group::Group as _;

    use super::super::testing::square;
    use super::super::{evaluate, quotient};
    use super::*;

    const BLINDING: (Scalar, Scalar) = (Scalar::ZERO, Scalar::ZERO);

    /// Points of the right number for [`square`], of no meaning: enough for what is checked first.
    struct Points {
        vk: VerifyingKey,
        g1: Vec<G1Affine>,
        g2: Vec<G2Affine>,
    }

    impl Points {
        fn new() -> Self {
            let (g1, g2) = (G1Affine::generator(), G2Affine::generator());
            let vk = VerifyingKey {
                alpha_g1: g1,
                beta_g1: g1,
                beta_g2: g2,
                gamma_g2: g2,
                delta_g1: g1,
                delta_g2: g2,
                ic: vec![g1; 2],
            };
            Self {
                vk,
                g1: vec![g1; 8],
                g2: vec![g2; 8],
            }
        }

        fn key(&self) -> ProvingKey<'_> {
            ProvingKey {
                vk: &self.vk,
                h: &self.g1[..3],
                l: &self.g1[..1],
                a: &self.g1[..3],
                b_g1: &self.g1[..1],
                b_g2: &self.g2[..1],
            }
        }
    }

    /// Keeps what it hears.
    #[derive(Default)]
    struct Heard(Vec<(Phase, bool)>);

    impl Observer for Heard {
        fn begin(&mut self, phase: Phase) {
            self.0.push((phase, true));
        }

        fn end(&mut self, phase: Phase) {
            self.0.push((phase, false));
        }
    }

    #[test]
    fn every_phase_begins_and_ends_once_in_order() {
        let (shape, values) = Shape::record(square(3)).expect("a shape");
        let (points, mut heard) = (Points::new(), Heard::default());
        prove(&points.key(), &shape, &values, BLINDING, &mut heard).expect("a proof");
        let expected = Phase::ALL
            .iter()
            .flat_map(|&phase| [(phase, true), (phase, false)]);
        assert_eq!(heard.0, expected.collect::<Vec<_>>());
        let mut names = Phase::ALL.map(Phase::name).to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Phase::ALL.len());
    }

    #[test]
    fn the_phases_by_hand_are_the_proof() {
        let (shape, values) = Shape::record(square(3)).expect("a shape");
        let points = Points::new();
        let (key, r, s) = (points.key(), Scalar::from(5), Scalar::from(7));
        let domain = Domain::new(shape.log2()).expect("small");
        let h = quotient(&domain, evaluate(&shape, &values)).expect("lengths fit");
        let sums = Sums {
            h: msm_h(&key, &h),
            l: msm_l(&key, &values),
            a: msm_a(&key, &shape, &values),
            b_g1: msm_b_g1(&key, &shape, &values),
            b_g2: msm_b_g2(&key, &shape, &values),
        };
        // All points are the generator: the sum over A is (1 + 9 + 3)·G, over B 3·G.
        assert_eq!(sums.a, G1Projective::generator() * Scalar::from(13));
        assert_eq!(sums.b_g2, G2Projective::generator() * Scalar::from(3));
        let proof = assemble(key.vk, &sums, r, s);
        assert_eq!(
            prove(&key, &shape, &values, (r, s), &mut ()).ok(),
            Some(proof)
        );
        // A = 13 + α + 5·δ, B = 3 + β + 7·δ, C as the paper has it, of generators all.
        let g1 = |scalar: Scalar| (G1Projective::generator() * scalar).to_affine();
        assert_eq!(proof.a, g1(Scalar::from(19)));
        let h: Scalar = h.iter().sum();
        let c = h + Scalar::from(3) + Scalar::from(19 * 7 + 11 * 5 - 35);
        assert_eq!(proof.c, g1(c));
    }

    #[test]
    fn a_broken_witness_is_refused_and_its_row_named() {
        let (shape, mut values) = Shape::record(square(3)).expect("a shape");
        values.inputs[1] += Scalar::ONE;
        let points = Points::new();
        let error = prove(&points.key(), &shape, &values, BLINDING, &mut ()).expect_err("broken");
        assert_eq!(
            error.to_string(),
            "the witness does not satisfy constraint 0 of 3, counted from 0"
        );
    }

    #[test]
    fn a_key_of_another_length_is_refused() {
        let (shape, values) = Shape::record(square(3)).expect("a shape");
        let points = Points::new();
        let whole = points.key();
        let shorter = [
            (
                "points of h",
                ProvingKey {
                    h: &whole.h[1..],
                    ..whole
                },
            ),
            ("points of l", ProvingKey { l: &[], ..whole }),
            (
                "points of a",
                ProvingKey {
                    a: &whole.a[1..],
                    ..whole
                },
            ),
            ("points of b_g1", ProvingKey { b_g1: &[], ..whole }),
            ("points of b_g2", ProvingKey { b_g2: &[], ..whole }),
        ];
        for (of, key) in shorter {
            let error = prove(&key, &shape, &values, BLINDING, &mut ()).expect_err(of);
            assert!(error.to_string().contains(of), "{error}");
        }
    }

    #[test]
    fn a_key_that_hides_nothing_is_refused() {
        let (shape, values) = Shape::record(square(3)).expect("a shape");
        let mut points = Points::new();
        points.vk.delta_g2 = G2Affine::identity();
        let error = prove(&points.key(), &shape, &values, BLINDING, &mut ()).expect_err("weak");
        assert!(matches!(error, ProverError::WeakKey), "{error}");
    }
}
