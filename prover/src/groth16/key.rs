//! The two keys as the prover and the verifier see them: points in memory, wherever they came from.

use blstrs::{G1Affine, G2Affine};

/// What a verifier needs, 336 bytes a group element pair and one point a public input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyingKey {
    /// α in G1.
    pub alpha_g1: G1Affine,
    /// β in G1; a prover's value, kept in the file's head.
    pub beta_g1: G1Affine,
    /// β in G2.
    pub beta_g2: G2Affine,
    /// γ in G2.
    pub gamma_g2: G2Affine,
    /// δ in G1; a prover's value, kept in the file's head.
    pub delta_g1: G1Affine,
    /// δ in G2.
    pub delta_g2: G2Affine,
    /// One point a public input, the constant one first.
    pub ic: Vec<G1Affine>,
}

/// What a prover needs: a view of points that some file or generator owns.
///
/// The order is that of bellperson's parameter files: `a`, `b_g1` and `b_g2` leave out the
/// variables that do not occur in their matrix.
#[derive(Clone, Copy, Debug)]
pub struct ProvingKey<'a> {
    /// The verifier's part.
    pub vk: &'a VerifyingKey,
    /// τ^i·Z(τ)/δ for i in 0..domain − 1.
    pub h: &'a [G1Affine],
    /// One point an auxiliary variable.
    pub l: &'a [G1Affine],
    /// One point an input, then one an auxiliary variable that occurs in A.
    pub a: &'a [G1Affine],
    /// One point an input that occurs in B, then one an auxiliary variable that does.
    pub b_g1: &'a [G1Affine],
    /// As `b_g1`, in G2.
    pub b_g2: &'a [G2Affine],
}
