//! Parameters (the structured reference string): read, checked, written, and made.
//!
//! The files are bellperson's and Filecoin's as they are. [`Srs::open`] maps one, decodes its
//! points to affine Montgomery form in parallel, and checks them; [`Srs::save`] writes the same
//! bytes back. [`Ceremony`] makes parameters for any circuit from a seed, for tests: they are
//! *insecure*, since who knows the seed can prove anything.
//!
//! What is not here: the proving itself, and the parameters of Filecoin's real ceremony, which are
//! downloaded by its own tools and read here like any others.

mod ceremony;
mod check;
pub(crate) mod curve;
pub(crate) mod fixed_base;
mod layout;
mod manifest;
mod map;
mod qap;
mod read;
mod write;

use blstrs::{G1Affine, G2Affine};

use crate::ProverError;
use crate::groth16::{ProvingKey, VerifyingKey};

pub use ceremony::{Ceremony, Multiples, OnProcessor, Wanted};
pub use layout::{Counts, Layout, Section};
pub use manifest::{Manifest, Points, WARNING};

/// Parameters in memory: 96 bytes a point of G1, 192 a point of G2, as in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Srs {
    /// The verifier's part.
    pub vk: VerifyingKey,
    /// τ^i·Z(τ)/δ for i in 0..domain − 1.
    pub h: Vec<G1Affine>,
    /// One point an auxiliary variable.
    pub l: Vec<G1Affine>,
    /// One point an input, then one an auxiliary variable of A.
    pub a: Vec<G1Affine>,
    /// One point an input of B, then one an auxiliary variable of B.
    pub b_g1: Vec<G1Affine>,
    /// As `b_g1`, in G2.
    pub b_g2: Vec<G2Affine>,
}

impl Srs {
    /// The prover's view.
    pub fn key(&self) -> ProvingKey<'_> {
        ProvingKey {
            vk: &self.vk,
            h: &self.h,
            l: &self.l,
            a: &self.a,
            b_g1: &self.b_g1,
            b_g2: &self.b_g2,
        }
    }

    /// How many points each section has.
    pub fn counts(&self) -> Counts {
        Counts {
            ic: self.vk.ic.len(),
            h: self.h.len(),
            l: self.l.len(),
            a: self.a.len(),
            b: self.b_g1.len(),
        }
    }

    /// Whether these can be the parameters of a circuit with such counts.
    ///
    /// # Errors
    /// [`ProverError::ParamsCircuit`] with both.
    pub fn fits(&self, expected: Counts) -> Result<(), ProverError> {
        let found = self.counts();
        if found == expected {
            Ok(())
        } else {
            Err(ProverError::ParamsCircuit { expected, found })
        }
    }
}

/// How the membership of every point is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// Checked at an earlier reading of the same bytes.
    Before,
    /// Checked now, and remembered in the file's `.checked`.
    Now,
    /// Checked now, and to be checked again: `.checked` could not be written.
    NotRemembered,
}
