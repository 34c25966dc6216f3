//! Parameters for any circuit from a seed, fast and **insecure**: the secrets that a real ceremony
//! destroys are known to whoever knows the seed, and with them anything can be "proved".
//!
//! With the same secrets the result is bellperson's, byte for byte; and a seed gives the secrets
//! that bellperson's generator draws from the same dice.

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use ff::Field as _;
use group::{Curve as _, Group as _};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;
use rayon::prelude::*;

use super::Srs;
use super::fixed_base::FixedBase;
use super::qap::{AtTau, Columns, powers};
use crate::ProverError;
use crate::groth16::{Shape, VerifyingKey};

/// Who makes the multiples of a ceremony's generators, which nearly all of the work is.
pub trait Multiples {
    /// The multiples of the generator of G1, in the order of the scalars; the identity for zero.
    ///
    /// # Errors
    /// What the device says, if it is made on one.
    fn g1(&self, scalars: &[Scalar]) -> Result<Vec<G1Affine>, ProverError>;

    /// The same in G2.
    ///
    /// # Errors
    /// As [`Multiples::g1`].
    fn g2(&self, scalars: &[Scalar]) -> Result<Vec<G2Affine>, ProverError>;
}

/// How many multiples parameters take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// In G1.
    pub g1: usize,
    /// In G2.
    pub g2: usize,
}

/// Multiples made by the processor, on all threads.
#[derive(Debug)]
pub struct OnProcessor {
    g1: FixedBase<G1Affine>,
    g2: FixedBase<G2Affine>,
}

impl OnProcessor {
    /// Tables for as many multiples of a ceremony's generators as are wanted.
    pub fn new(ceremony: &Ceremony, wanted: Wanted) -> Self {
        Self {
            g1: FixedBase::new(ceremony.g1, wanted.g1),
            g2: FixedBase::new(ceremony.g2, wanted.g2),
        }
    }
}

impl Multiples for OnProcessor {
    fn g1(&self, scalars: &[Scalar]) -> Result<Vec<G1Affine>, ProverError> {
        Ok(self.g1.multiples(scalars))
    }

    fn g2(&self, scalars: &[Scalar]) -> Result<Vec<G2Affine>, ProverError> {
        Ok(self.g2.multiples(scalars))
    }
}

/// The secrets of a ceremony, and the generators that it starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ceremony {
    /// Generator of G1.
    pub g1: G1Affine,
    /// Generator of G2.
    pub g2: G2Affine,
    /// α
    pub alpha: Scalar,
    /// β
    pub beta: Scalar,
    /// γ
    pub gamma: Scalar,
    /// δ
    pub delta: Scalar,
    /// τ
    pub tau: Scalar,
}

impl Ceremony {
    /// The secrets of a seed: `ChaCha20` seeded with it draws the two generators, α, β, γ, δ and τ.
    pub fn insecure(seed: u64) -> Self {
        let mut dice = ChaCha20Rng::seed_from_u64(seed);
        Self {
            g1: G1Projective::random(&mut dice).to_affine(),
            g2: G2Projective::random(&mut dice).to_affine(),
            alpha: Scalar::random(&mut dice),
            beta: Scalar::random(&mut dice),
            gamma: Scalar::random(&mut dice),
            delta: Scalar::random(&mut dice),
            tau: Scalar::random(&mut dice),
        }
    }

    /// The parameters of a shape, made by the processor. `progress` is told what is made next.
    ///
    /// # Errors
    /// [`ProverError::Unconstrained`] if an auxiliary variable is in no constraint;
    /// [`ProverError::WeakCeremony`] if γ or δ is zero or τ a point of the domain.
    pub fn parameters(
        &self,
        shape: &Shape,
        progress: &mut dyn FnMut(&'static str),
    ) -> Result<Srs, ProverError> {
        let tables = |wanted| Ok(OnProcessor::new(self, wanted));
        self.parameters_by(shape, tables, progress)
    }

    /// The same parameters, with multiples of this ceremony's generators by what `tables` makes.
    ///
    /// # Errors
    /// As [`Ceremony::parameters`], and what the multiples and their making say.
    pub fn parameters_by<M: Multiples>(
        &self,
        shape: &Shape,
        tables: impl FnOnce(Wanted) -> Result<M, ProverError>,
        progress: &mut dyn FnMut(&'static str),
    ) -> Result<Srs, ProverError> {
        let inverse =
            |secret: Scalar| Option::from(secret.invert()).ok_or(ProverError::WeakCeremony);
        let (over_gamma, over_delta): (Scalar, Scalar) =
            (inverse(self.gamma)?, inverse(self.delta)?);
        progress("columns");
        let at_tau = AtTau::new(shape, self.tau)?;
        let l = self.extended(&at_tau, |columns| &columns.aux, over_delta);
        if let Some(index) = l.iter().position(|scalar| bool::from(scalar.is_zero())) {
            return Err(ProverError::Unconstrained { index });
        }
        let ic = self.extended(&at_tau, |columns| &columns.inputs, over_gamma);
        let a = nonzero(&at_tau.a);
        let b = nonzero(&at_tau.b);
        let h = powers(at_tau.vanishing * over_delta, self.tau, shape.domain() - 1);
        drop(at_tau);
        progress("tables");
        let multiples = tables(Wanted {
            g1: ic.len() + h.len() + l.len() + a.len() + b.len(),
            g2: b.len(),
        })?;
        // Scalars are dropped as soon as their points are made.
        let mut g1 = |name: &'static str, scalars: Vec<Scalar>| {
            progress(name);
            multiples.g1(&scalars)
        };
        let vk = self.verifying_key(g1("ic", ic)?);
        let (h, l, a) = (g1("h", h)?, g1("l", l)?, g1("a", a)?);
        progress("b_g1");
        let b_g1 = multiples.g1(&b)?;
        progress("b_g2");
        let b_g2 = multiples.g2(&b)?;
        Ok(Srs {
            vk,
            h,
            l,
            a,
            b_g1,
            b_g2,
        })
    }

    /// (β·A + α·B + C)·factor for every variable of a kind.
    fn extended(
        &self,
        at_tau: &AtTau,
        kind: impl Fn(&Columns) -> &Vec<Scalar>,
        factor: Scalar,
    ) -> Vec<Scalar> {
        (kind(&at_tau.a), kind(&at_tau.b), kind(&at_tau.c))
            .into_par_iter()
            .map(|(a, b, c)| (self.beta * a + self.alpha * b + c) * factor)
            .collect()
    }

    fn verifying_key(&self, ic: Vec<G1Affine>) -> VerifyingKey {
        let g1 = |secret: Scalar| (self.g1 * secret).to_affine();
        let g2 = |secret: Scalar| (self.g2 * secret).to_affine();
        VerifyingKey {
            alpha_g1: g1(self.alpha),
            beta_g1: g1(self.beta),
            beta_g2: g2(self.beta),
            gamma_g2: g2(self.gamma),
            delta_g1: g1(self.delta),
            delta_g2: g2(self.delta),
            ic,
        }
    }
}

/// What is not zero of a matrix's columns: inputs, then auxiliary variables.
fn nonzero(columns: &Columns) -> Vec<Scalar> {
    columns
        .inputs
        .iter()
        .chain(&columns.aux)
        .filter(|scalar| !bool::from(scalar.is_zero()))
        .copied()
        .collect()
}
