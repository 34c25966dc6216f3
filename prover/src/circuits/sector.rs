//! A toy sector, natively: labels by SHA-256, columns and an eight-ary tree by Poseidon. What the
//! PoRep-shaped circuit proves something about.

use blstrs::Scalar;
use ff::{Field as _, PrimeField as _};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;
use sha2::{Digest as _, Sha256};

use super::poseidon::{ARITY, hash2, hash8};

/// Bits of a label: two less than a digest, so that it is a number of the field.
pub(super) const LABEL_BITS: usize = 254;
/// Bytes of the identity, and of a label.
pub(super) const WORD: usize = 32;

/// How large a sector is, and how its labels are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Levels of the tree: 8^depth nodes.
    pub depth: u32,
    /// Earlier labels that a label hangs on.
    pub parents: usize,
}

impl Plan {
    /// Nodes of the sector.
    pub(super) const fn nodes(&self) -> usize {
        ARITY.pow(self.depth)
    }
}

/// A sealed toy sector.
#[derive(Debug)]
pub struct Sector {
    pub(super) plan: Plan,
    /// Identity of the replica; below 2^254.
    pub(super) replica: Scalar,
    pub(super) labels: Vec<[u8; WORD]>,
    pub(super) data: Vec<Scalar>,
    /// Levels from the columns to the root.
    pub(super) tree: Vec<Vec<Scalar>>,
}

impl Sector {
    /// Seals random data under a random identity, both of this seed.
    pub fn seal(plan: Plan, seed: u64) -> Self {
        let mut dice = ChaCha20Rng::seed_from_u64(seed);
        let replica = Scalar::random(&mut dice);
        let replica = number(&truncated(replica.to_repr()));
        let mut labels: Vec<[u8; WORD]> = Vec::with_capacity(plan.nodes());
        for node in 0..plan.nodes() {
            labels.push(label(&replica, node, &parents(&labels, node, plan.parents)));
        }
        let data: Vec<Scalar> = labels.iter().map(|_| Scalar::random(&mut dice)).collect();
        let columns = labels.iter().zip(&data).map(|(label, data)| {
            let label = number(label);
            hash2(&[label, label + data])
        });
        let mut tree = vec![columns.collect::<Vec<Scalar>>()];
        while let Some(level) = tree.last().filter(|level| level.len() > 1) {
            let (nodes, _) = level.as_chunks::<ARITY>();
            let above = nodes.iter().map(hash8).collect();
            tree.push(above);
        }
        Self {
            plan,
            replica,
            labels,
            data,
            tree,
        }
    }

    /// The root of the tree.
    pub fn root(&self) -> Scalar {
        self.tree
            .last()
            .and_then(|top| top.first())
            .copied()
            .unwrap_or_default()
    }

    /// The labels that the label of `node` hangs on.
    pub(super) fn parents(&self, node: usize) -> Vec<[u8; WORD]> {
        parents(&self.labels, node, self.plan.parents)
    }

    /// The eight numbers that the node above `node` of `level` hashes.
    pub(super) fn children(&self, level: usize, node: usize) -> &[Scalar] {
        let first = node / ARITY * ARITY;
        self.tree
            .get(level)
            .and_then(|level| level.get(first..first + ARITY))
            .unwrap_or(&[])
    }
}

/// The labels just before `node`, zeros where there is none.
fn parents(labels: &[[u8; WORD]], node: usize, count: usize) -> Vec<[u8; WORD]> {
    (1..=count)
        .map(|back| {
            let at = node.checked_sub(back);
            at.and_then(|at| labels.get(at))
                .copied()
                .unwrap_or_default()
        })
        .collect()
}

fn label(replica: &Scalar, node: usize, parents: &[[u8; WORD]]) -> [u8; WORD] {
    let mut hasher = Sha256::new();
    hasher.update(replica.to_repr());
    hasher.update((node as u64).to_be_bytes());
    for parent in parents {
        hasher.update(parent);
    }
    truncated(hasher.finalize().into())
}

/// The same without its two highest bits.
fn truncated(mut word: [u8; WORD]) -> [u8; WORD] {
    word[WORD - 1] &= 0x3f;
    word
}

/// A truncated word as a number, little-endian.
pub(super) fn number(word: &[u8; WORD]) -> Scalar {
    Option::from(Scalar::from_repr(*word)).unwrap_or_default()
}
