//! A circuit in the shape of Filecoin's PoRep: SHA-256 of labels, Poseidon of columns and of a
//! Merkle path for every challenge, so that nearly all variables are bits. It proves less: the
//! parents of a label are not proved to be in the tree, and there is one layer.

use std::sync::Arc;

use bellpepper::gadgets::sha256::sha256;
use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::num::{AllocatedNum, Num};
use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError};
use blstrs::Scalar;
use ff::{Field as _, PrimeField as _};

use super::poseidon::{circuit2, circuit8};
use super::sector::{LABEL_BITS, Plan, Sector, WORD, number};
use super::sha256_values;

type Result<T> = std::result::Result<T, SynthesisError>;

/// Rows of one block of SHA-256, about.
const BLOCK_ROWS: usize = 26_500;
/// Rows of one level of a Merkle path, about.
const LEVEL_ROWS: usize = 420;
/// Rows of the identity and the root, and what rounding leaves.
const FIXED_ROWS: usize = 300;
/// Blocks of SHA-256 a challenge, where there is room: with four levels of Poseidon they give the
/// mix of zeros, ones and others of a real partition.
const BLOCKS: usize = 5;

/// How large the circuit of one partition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// What is sealed.
    pub plan: Plan,
    /// Challenges a partition.
    pub challenges: usize,
}

impl Scale {
    /// The most challenges for 2^`log2` rows; 2^15 hold one of a single block.
    pub fn of(log2: u32) -> Self {
        let rows = 1_usize << log2;
        let blocks = (rows / (BLOCK_ROWS + 2 * LEVEL_ROWS)).clamp(1, BLOCKS);
        let plan = Plan {
            depth: u32::try_from(blocks - 1).unwrap_or(0).max(1),
            // A block is 64 bytes; identity, node and padding take 49 of them.
            parents: (64 * blocks - 49) / WORD,
        };
        let challenge = blocks * BLOCK_ROWS
            + plan.parents * LABEL_BITS
            + (plan.depth as usize + 1) * LEVEL_ROWS;
        Self {
            plan,
            challenges: (rows.saturating_sub(FIXED_ROWS) / challenge).max(1),
        }
    }
}

/// Knowledge of a sector with a public root in which each challenged node has the right label.
#[derive(Clone, Debug)]
pub struct PorepShaped {
    sector: Arc<Sector>,
    challenges: Vec<usize>,
    /// Whether a witness takes the short way through SHA-256.
    quick: bool,
}

impl PorepShaped {
    /// A statement about some nodes of a sector; a node past its end is taken from the start.
    pub fn new(sector: Arc<Sector>, challenges: impl IntoIterator<Item = usize>) -> Self {
        let nodes = sector.plan.nodes();
        Self {
            challenges: challenges.into_iter().map(|node| node % nodes).collect(),
            sector,
            quick: false,
        }
    }

    /// The same circuit, whose witness is computed without the linear combinations that the gadget
    /// for SHA-256 forms on the way. The gadget's way is what other provers are compared with.
    pub(super) fn quick(self) -> Self {
        Self {
            quick: true,
            ..self
        }
    }

    /// The public inputs: identity, root, challenged nodes.
    pub fn inputs(&self) -> Vec<Scalar> {
        let nodes = self
            .challenges
            .iter()
            .map(|node| Scalar::from(*node as u64));
        [self.sector.replica, self.sector.root()]
            .into_iter()
            .chain(nodes)
            .collect()
    }

    /// One challenge: its label from its parents, its column from its label, its way to the root.
    fn challenge<CS: ConstraintSystem<Scalar>>(
        &self,
        cs: &mut CS,
        node: usize,
        replica: &[Boolean],
        root: &AllocatedNum<Scalar>,
    ) -> Result<()> {
        let sector = &self.sector;
        let public = input(cs.namespace(|| "node"), Scalar::from(node as u64))?;
        let bits = number_bits(
            cs.namespace(|| "bits of the node"),
            &(node as u64).to_le_bytes(),
            3 * sector.plan.depth as usize,
        )?;
        equal_packed(cs.namespace(|| "node is its bits"), &bits, &public);
        let mut text = in_bytes(replica, 8 * WORD);
        let mut place = in_bytes(&bits, 64);
        place = place.chunks(8).rev().flatten().cloned().collect();
        text.append(&mut place);
        for (index, parent) in sector.parents(node).iter().enumerate() {
            let cs = cs.namespace(|| format!("parent {index}"));
            text.extend(in_bytes(&number_bits(cs, parent, LABEL_BITS)?, 8 * WORD));
        }
        let digest = if self.quick && cs.is_witness_generator() {
            sha256_values::sha256(cs, &text)?
        } else {
            sha256(cs.namespace(|| "label"), &text)?
        };
        let mut label_bits = in_bytes(&digest, 8 * WORD);
        label_bits.truncate(LABEL_BITS);
        let label_number = number(&sector.labels[node]);
        let label = secret(cs.namespace(|| "label as a number"), label_number)?;
        equal_packed(cs.namespace(|| "label is its bits"), &label_bits, &label);
        let data = secret(cs.namespace(|| "data"), sector.data[node])?;
        let replica = secret(cs.namespace(|| "replica"), label_number + sector.data[node])?;
        cs.enforce(
            || "replica is label and data",
            |lc| lc + label.get_variable() + data.get_variable(),
            |lc| lc + CS::one(),
            |lc| lc + replica.get_variable(),
        );
        let mut top = circuit2(cs.namespace(|| "column"), vec![label, replica])?;
        let mut at = node;
        for (level, bits) in bits.chunks(3).enumerate() {
            let cs = &mut cs.namespace(|| format!("level {level}"));
            top = climb(cs, &top, sector.children(level, at), bits)?;
            at /= 8;
        }
        equal(cs.namespace(|| "root"), &top, root);
        Ok(())
    }
}

impl Circuit<Scalar> for PorepShaped {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<()> {
        let replica = input(cs.namespace(|| "replica"), self.sector.replica)?;
        let root = input(cs.namespace(|| "root"), self.sector.root())?;
        let bits = number_bits(
            cs.namespace(|| "bits of the replica"),
            &self.sector.replica.to_repr(),
            LABEL_BITS,
        )?;
        equal_packed(cs.namespace(|| "replica is its bits"), &bits, &replica);
        for (index, node) in self.challenges.iter().enumerate() {
            let cs = &mut cs.namespace(|| format!("challenge {index}"));
            self.challenge(cs, *node, &bits, &root)?;
        }
        Ok(())
    }
}

/// One level up: the node is the child that its three bits name, and the hash of all is the next.
fn climb<CS: ConstraintSystem<Scalar>>(
    cs: &mut CS,
    node: &AllocatedNum<Scalar>,
    children: &[Scalar],
    bits: &[Boolean],
) -> Result<AllocatedNum<Scalar>> {
    let children = children
        .iter()
        .enumerate()
        .map(|(index, child)| secret(cs.namespace(|| format!("child {index}")), *child))
        .collect::<Result<Vec<_>>>()?;
    let mut left = children.clone();
    for (level, bit) in bits.iter().enumerate() {
        let (pairs, _) = left.as_chunks::<2>();
        left = pairs
            .iter()
            .enumerate()
            .map(|(pair, [zero, one])| {
                let cs = cs.namespace(|| format!("choice {level}, {pair}"));
                choose(cs, bit, zero, one)
            })
            .collect::<Result<Vec<_>>>()?;
    }
    let [chosen] = left.as_slice() else {
        return Err(SynthesisError::Unsatisfiable);
    };
    equal(cs.namespace(|| "chosen"), chosen, node);
    circuit8(cs.namespace(|| "hash"), children)
}

/// `one` if the bit is set, else `zero`.
fn choose<CS: ConstraintSystem<Scalar>>(
    mut cs: CS,
    bit: &Boolean,
    zero: &AllocatedNum<Scalar>,
    one: &AllocatedNum<Scalar>,
) -> Result<AllocatedNum<Scalar>> {
    let chosen = AllocatedNum::alloc(cs.namespace(|| "chosen"), || {
        let of = if bit.get_value() == Some(true) {
            one
        } else {
            zero
        };
        of.get_value().ok_or(SynthesisError::AssignmentMissing)
    })?;
    cs.enforce(
        || "choice",
        |lc| lc + one.get_variable() - zero.get_variable(),
        |_| bit.lc(CS::one(), Scalar::ONE),
        |lc| lc + chosen.get_variable() - zero.get_variable(),
    );
    Ok(chosen)
}

fn secret<CS: ConstraintSystem<Scalar>>(cs: CS, value: Scalar) -> Result<AllocatedNum<Scalar>> {
    AllocatedNum::alloc(cs, || Ok(value))
}

fn input<CS: ConstraintSystem<Scalar>>(cs: CS, value: Scalar) -> Result<AllocatedNum<Scalar>> {
    AllocatedNum::alloc_input(cs, || Ok(value))
}

/// The lowest `count` bits of a little-endian number, as variables.
fn number_bits<CS: ConstraintSystem<Scalar>>(
    mut cs: CS,
    bytes: &[u8],
    count: usize,
) -> Result<Vec<Boolean>> {
    (0..count)
        .map(|index| {
            let bit = bytes
                .get(index / 8)
                .map(|byte| byte >> (index % 8) & 1 == 1);
            AllocatedBit::alloc(cs.namespace(|| format!("bit {index}")), bit).map(Boolean::from)
        })
        .collect()
}

/// Bits from the lowest on as bytes with the highest bit first, filled up with zeros; and back.
fn in_bytes(bits: &[Boolean], count: usize) -> Vec<Boolean> {
    let mut bits = bits.to_vec();
    bits.resize(count, Boolean::constant(false));
    bits.chunks(8)
        .flat_map(|byte| byte.iter().rev().cloned())
        .collect()
}

/// Enforces that a number is what its bits say.
fn equal_packed<CS: ConstraintSystem<Scalar>>(
    mut cs: CS,
    bits: &[Boolean],
    number: &AllocatedNum<Scalar>,
) {
    let mut packed = Num::zero();
    let mut weight = Scalar::ONE;
    for bit in bits {
        packed = packed.add_bool_with_coeff(CS::one(), bit, weight);
        weight = weight.double();
    }
    cs.enforce(
        || "packed",
        |_| packed.lc(Scalar::ONE),
        |lc| lc + CS::one(),
        |lc| lc + number.get_variable(),
    );
}

/// Enforces that two numbers are one.
fn equal<CS: ConstraintSystem<Scalar>>(
    mut cs: CS,
    one: &AllocatedNum<Scalar>,
    other: &AllocatedNum<Scalar>,
) {
    cs.enforce(
        || "equal",
        |lc: LinearCombination<Scalar>| lc + one.get_variable(),
        |lc| lc + CS::one(),
        |lc| lc + other.get_variable(),
    );
}
