//! Circuits to prove, by name and size. [`by_name`] gives a [`Family`]; a family makes statements
//! of one shape, each with its own secret and its own public inputs.
//!
//! | name | what for |
//! |---|---|
//! | `mimc` | every variable dense; fills its domain to the last row |
//! | `sha256` | every variable a bit |
//! | `poseidon` | dense, long rows |
//! | `porep-shaped` | the mix of a PoRep partition at any size, in partitions |
//! | `porep-tiled` | the same, side by side: a 32 GiB sector's size at 2^27, quick to synthesise |
//! | `boolean` | nine variables of ten are bits, the tenth dense; quick to synthesise |
//! | `window-post-2k`, `winning-post-2k` | Filecoin's own, with the feature `filecoin` |
//! | `porep-2k`, `porep-2k-ni` | the same |

mod boolean;
mod mimc;
mod parts;
mod porep_shaped;
mod poseidon;
mod sector;
mod sha256;
mod sha256_values;
mod tiled;

use std::sync::Arc;

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use ff::Field as _;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore as _, SeedableRng as _};

use crate::ProverError;
#[cfg(feature = "filecoin")]
use crate::filecoin::{Real, Which};
use crate::groth16::Shape;

pub use boolean::Boolean;
pub use mimc::Mimc;
pub use porep_shaped::{PorepShaped, Scale};
pub use poseidon::Poseidon;
pub use sector::{Plan, Sector};
pub use sha256::Sha256;
pub use tiled::Tiled;

/// A circuit of the registry: what it is called and the sizes it comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is good for, in a line.
    pub about: &'static str,
    /// Smallest and largest binary logarithm of its domain.
    pub log2: (u32, u32),
    kind: Kind,
}

/// Which circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Mimc,
    Sha256,
    Poseidon,
    PorepShaped,
    PorepTiled,
    Boolean,
    #[cfg(feature = "filecoin")]
    Filecoin(Which),
}

/// Every circuit of this build.
pub const ALL: &[Entry] = &[
    Entry {
        name: "mimc",
        about: "a chain of cubes; every variable dense, the domain full",
        log2: (3, 28),
        kind: Kind::Mimc,
    },
    Entry {
        name: "sha256",
        about: "SHA-256 of a secret text; every variable a bit",
        log2: (15, 28),
        kind: Kind::Sha256,
    },
    Entry {
        name: "poseidon",
        about: "a chain of Poseidon hashes; dense, with long rows",
        log2: (9, 28),
        kind: Kind::Poseidon,
    },
    Entry {
        name: "porep-shaped",
        about: "labels by SHA-256, columns and Merkle paths by Poseidon, in partitions",
        log2: (15, 28),
        kind: Kind::PorepShaped,
    },
    Entry {
        name: "porep-tiled",
        about: "porep-shaped challenges side by side; 2^27 has a 32 GiB sector's size",
        log2: (tiled::LEAST_LOG2, 28),
        kind: Kind::PorepTiled,
    },
    Entry {
        name: "boolean",
        about: "chains of numbers that take up bits; nine variables of ten are bits",
        log2: (4, 28),
        kind: Kind::Boolean,
    },
    #[cfg(feature = "filecoin")]
    Entry {
        name: "window-post-2k",
        about: "Filecoin's WindowPoSt over two sectors of 2 KiB",
        log2: (15, 15),
        kind: Kind::Filecoin(Which::Window),
    },
    #[cfg(feature = "filecoin")]
    Entry {
        name: "winning-post-2k",
        about: "Filecoin's WinningPoSt over a sector of 2 KiB",
        log2: (17, 17),
        kind: Kind::Filecoin(Which::Winning),
    },
    #[cfg(feature = "filecoin")]
    Entry {
        name: "porep-2k",
        about: "Filecoin's PoRep of a sector of 2 KiB; 1.1 GB of parameters",
        log2: (22, 22),
        kind: Kind::Filecoin(Which::Porep),
    },
    #[cfg(feature = "filecoin")]
    Entry {
        name: "porep-2k-ni",
        about: "the same, non-interactive: 13 partitions of the same circuit",
        log2: (22, 22),
        kind: Kind::Filecoin(Which::PorepNonInteractive),
    },
];

/// Names of circuits that this build leaves out, with the feature that brings them.
pub const LEFT_OUT: &[(&str, &str)] = if cfg!(feature = "filecoin") {
    &[]
} else {
    &[
        ("window-post-2k", "filecoin"),
        ("winning-post-2k", "filecoin"),
        ("porep-2k", "filecoin"),
        ("porep-2k-ni", "filecoin"),
    ]
};

/// A circuit of one size: all its statements share their parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    entry: Entry,
    log2: u32,
}

/// The family of circuits of this name whose domain has 2^`log2` rows.
///
/// # Errors
/// [`ProverError::UnknownCircuit`] with the names that there are; [`ProverError::CircuitSize`];
/// [`ProverError::CircuitLeftOut`].
pub fn by_name(name: &str, log2: u32) -> Result<Family, ProverError> {
    if let Some((circuit, feature)) = LEFT_OUT.iter().find(|(circuit, _)| *circuit == name) {
        return Err(ProverError::CircuitLeftOut { circuit, feature });
    }
    let entry = ALL.iter().find(|entry| entry.name == name);
    let entry = *entry.ok_or_else(|| ProverError::UnknownCircuit {
        found: name.to_owned(),
        known: ALL.iter().map(|entry| entry.name).collect(),
    })?;
    let (least, most) = entry.log2;
    if (least..=most).contains(&log2) {
        return Ok(Family { entry, log2 });
    }
    Err(ProverError::CircuitSize {
        circuit: entry.name,
        least,
        most,
        found: log2,
    })
}

impl Family {
    /// The circuit's name.
    pub const fn name(&self) -> &'static str {
        self.entry.name
    }

    /// Binary logarithm of the domain.
    pub const fn log2(&self) -> u32 {
        self.log2
    }

    /// The constraints of this family's circuits. A circuit of equal parts is not synthesised
    /// whole: its first part is recorded and repeated.
    ///
    /// # Errors
    /// What the synthesis says; [`ProverError::TooLarge`].
    pub fn shape(&self) -> Result<Shape, ProverError> {
        match self.example().circuit {
            AnyCircuit::PorepTiled(circuit) => {
                Shape::record(circuit.first())?.0.repeat(circuit.tiles())
            }
            AnyCircuit::Boolean(circuit) => {
                Shape::record(circuit.first())?.0.repeat(circuit.chains())
            }
            circuit => Shape::record(circuit).map(|(shape, _values)| shape),
        }
    }

    /// One statement of this shape, for what needs any.
    pub fn example(&self) -> Statement {
        let mut one = self.statements(0, 1);
        // One was asked for; the default is never taken.
        one.pop().unwrap_or_else(|| Statement::mimc(0, 1))
    }

    /// The statements of a job of so many partitions. The same seed gives the same statements;
    /// each partition has public inputs of its own.
    pub fn statements(&self, seed: u64, partitions: usize) -> Vec<Statement> {
        let seeds = (0..partitions as u64).map(|partition| seed ^ partition.rotate_left(32));
        match self.entry.kind {
            Kind::Mimc => seeds
                .map(|seed| Statement::mimc(seed, Mimc::rounds(self.log2)))
                .collect(),
            Kind::Sha256 => seeds
                .map(|seed| Statement::sha256(seed, Sha256::text_bytes(self.log2)))
                .collect(),
            Kind::Poseidon => seeds
                .map(|seed| Statement::poseidon(seed, Poseidon::links(self.log2)))
                .collect(),
            Kind::PorepShaped => {
                let scale = Scale::of(self.log2);
                let sector = Arc::new(Sector::seal(scale.plan, seed));
                seeds
                    .map(|seed| Statement::porep_shaped(Arc::clone(&sector), seed, scale))
                    .collect()
            }
            Kind::PorepTiled => {
                let sector = Arc::new(Sector::seal(Tiled::scale().plan, seed));
                let tiles = Tiled::tiles_of(self.log2);
                seeds
                    .map(|seed| Statement::porep_tiled(Arc::clone(&sector), seed, tiles))
                    .collect()
            }
            Kind::Boolean => seeds
                .map(|seed| Statement::boolean(Boolean::new(seed, self.log2)))
                .collect(),
            #[cfg(feature = "filecoin")]
            Kind::Filecoin(which) => Statement::filecoin(which, seed, partitions),
        }
    }
}

/// A circuit with its secret, and what is public of it.
#[derive(Clone, Debug)]
pub struct Statement {
    /// To be synthesised, once for each proof.
    pub circuit: AnyCircuit,
    /// The public inputs, the constant one not among them.
    pub inputs: Vec<Scalar>,
}

impl Statement {
    fn mimc(seed: u64, rounds: usize) -> Self {
        let mut dice = ChaCha20Rng::seed_from_u64(seed);
        let start = (Scalar::random(&mut dice), Scalar::random(&mut dice));
        let circuit = Mimc::new(start, rounds);
        Self {
            inputs: vec![circuit.image()],
            circuit: AnyCircuit::Mimc(circuit),
        }
    }

    fn sha256(seed: u64, bytes: usize) -> Self {
        let mut text = vec![0; bytes];
        ChaCha20Rng::seed_from_u64(seed).fill_bytes(&mut text);
        let circuit = Sha256::new(text);
        Self {
            inputs: circuit.inputs(),
            circuit: AnyCircuit::Sha256(circuit),
        }
    }

    fn poseidon(seed: u64, links: usize) -> Self {
        let mut dice = ChaCha20Rng::seed_from_u64(seed);
        let circuit = Poseidon::new(std::array::from_fn(|_| Scalar::random(&mut dice)), links);
        Self {
            inputs: vec![circuit.end()],
            circuit: AnyCircuit::Poseidon(circuit),
        }
    }

    /// Statements about sectors that are sealed now. If one cannot be, its statement cannot be
    /// synthesised, and says why.
    #[cfg(feature = "filecoin")]
    fn filecoin(which: Which, seed: u64, count: usize) -> Vec<Self> {
        match crate::filecoin::statements(which, seed, count) {
            Ok(stated) => stated.into_iter().map(Self::from).collect(),
            Err(error) => vec![
                Self {
                    circuit: AnyCircuit::Unsealed(error.to_string()),
                    inputs: Vec::new(),
                };
                count
            ],
        }
    }

    fn porep_shaped(sector: Arc<Sector>, seed: u64, scale: Scale) -> Self {
        let mut dice = ChaCha20Rng::seed_from_u64(!seed);
        let circuit = PorepShaped::new(
            sector,
            (0..scale.challenges).map(|_| dice.next_u32() as usize),
        );
        Self {
            inputs: circuit.inputs(),
            circuit: AnyCircuit::PorepShaped(circuit),
        }
    }

    fn porep_tiled(sector: Arc<Sector>, seed: u64, tiles: usize) -> Self {
        let mut dice = ChaCha20Rng::seed_from_u64(!seed);
        let circuit = Tiled::new(sector, (0..tiles).map(|_| dice.next_u32() as usize));
        Self {
            inputs: circuit.inputs(),
            circuit: AnyCircuit::PorepTiled(circuit),
        }
    }

    fn boolean(circuit: Boolean) -> Self {
        Self {
            inputs: circuit.inputs(),
            circuit: AnyCircuit::Boolean(circuit),
        }
    }
}

/// Any circuit of the registry.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AnyCircuit {
    /// See [`Mimc`].
    Mimc(Mimc),
    /// See [`Sha256`].
    Sha256(Sha256),
    /// See [`Poseidon`].
    Poseidon(Poseidon),
    /// See [`PorepShaped`].
    PorepShaped(PorepShaped),
    /// See [`Tiled`].
    PorepTiled(Tiled),
    /// See [`Boolean`].
    Boolean(Boolean),
    /// See [`crate::filecoin`].
    #[cfg(feature = "filecoin")]
    Filecoin(Real),
    /// A sector that could not be sealed, and why.
    #[cfg(feature = "filecoin")]
    Unsealed(String),
}

#[cfg(feature = "filecoin")]
impl From<crate::filecoin::Stated> for Statement {
    fn from((circuit, inputs): crate::filecoin::Stated) -> Self {
        Self {
            circuit: AnyCircuit::Filecoin(circuit),
            inputs,
        }
    }
}

impl Circuit<Scalar> for AnyCircuit {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        match self {
            Self::Mimc(circuit) => circuit.synthesize(cs),
            Self::Sha256(circuit) => circuit.synthesize(cs),
            Self::Poseidon(circuit) => circuit.synthesize(cs),
            Self::PorepShaped(circuit) => circuit.synthesize(cs),
            Self::PorepTiled(circuit) => circuit.synthesize(cs),
            Self::Boolean(circuit) => circuit.synthesize(cs),
            #[cfg(feature = "filecoin")]
            Self::Filecoin(circuit) => circuit.synthesize(cs),
            #[cfg(feature = "filecoin")]
            Self::Unsealed(why) => Err(SynthesisError::IoError(std::io::Error::other(why))),
        }
    }
}

#[cfg(test)]
mod tests {
    use bellpepper_core::test_cs::TestConstraintSystem;

    use super::*;

    /// Synthesises a statement and gives its rows, those of the inputs among them.
    fn rows(statement: Statement) -> usize {
        let mut cs = TestConstraintSystem::new();
        statement.circuit.synthesize(&mut cs).expect("synthesis");
        assert_eq!(cs.which_is_unsatisfied(), None);
        assert!(cs.verify(&statement.inputs));
        let mut other = statement.inputs.clone();
        other[0] += Scalar::ONE;
        assert!(!cs.verify(&other));
        cs.num_constraints() + cs.num_inputs()
    }

    #[test]
    fn every_circuit_holds_and_fills_more_than_half_of_its_domain() {
        for (name, log2) in [
            ("mimc", 3),
            ("mimc", 10),
            ("sha256", 15),
            ("poseidon", 9),
            ("poseidon", 13),
            ("porep-shaped", 15),
            ("porep-shaped", 17),
            ("porep-tiled", 18),
            ("boolean", 4),
            ("boolean", 16),
        ] {
            let family = by_name(name, log2).expect("known");
            let rows = rows(family.example());
            assert!(rows <= 1 << log2, "{name} 2^{log2}: {rows}");
            assert!(rows > 1 << (log2 - 1), "{name} 2^{log2}: {rows}");
        }
    }

    #[test]
    fn mimc_fills_its_domain_to_the_last_row() {
        assert_eq!(rows(by_name("mimc", 8).expect("known").example()), 256);
    }

    #[test]
    fn partitions_differ_in_their_inputs_and_share_the_sector() {
        // Filecoin's own are tested with the module for them.
        for entry in ALL.iter().filter(|entry| entry.log2.0 < entry.log2.1) {
            let least = if entry.kind == Kind::PorepShaped {
                17
            } else {
                0
            };
            let log2 = entry.log2.0.max(least);
            let family = by_name(entry.name, log2).expect("known");
            let statements = family.statements(7, 3);
            let again = family.statements(7, 3);
            for (partition, statement) in statements.iter().enumerate() {
                assert_eq!(statement.inputs, again[partition].inputs);
                let others = statements.iter().skip(partition + 1);
                for other in others {
                    assert_ne!(statement.inputs, other.inputs, "{}", entry.name);
                }
            }
            if entry.kind == Kind::PorepShaped {
                assert_eq!(statements[0].inputs[..2], statements[1].inputs[..2]);
            }
        }
    }

    /// Everything that is not the family's own way agrees with it.
    fn agrees(name: &str, log2: u32) {
        let family = by_name(name, log2).expect("known");
        let statement = family.example();
        let (whole, values) = Shape::record(statement.circuit.clone()).expect("recorded");
        let shape = family.shape().expect("a shape");
        assert!(shape == whole, "{name}: another shape");
        assert_eq!(values.inputs[1..], statement.inputs);
        let witness = shape.witness(statement.circuit).expect("a witness");
        assert!(witness == values, "{name}: another witness");
    }

    #[test]
    fn a_shape_is_what_recording_the_whole_circuit_gives() {
        agrees("mimc", 4);
        agrees("boolean", 5);
        agrees("boolean", 17);
        agrees("porep-tiled", 19);
    }

    #[test]
    fn nine_of_ten_variables_of_the_boolean_circuit_are_bits() {
        let family = by_name("boolean", 16).expect("known");
        let (_, values) = Shape::record(family.example().circuit).expect("recorded");
        let count = |value| values.aux.iter().filter(|of| **of == value).count();
        let (zeros, ones) = (count(Scalar::ZERO), count(Scalar::ONE));
        let part = |count: usize| count as f64 / values.aux.len() as f64;
        assert!((0.89..0.91).contains(&part(zeros + ones)), "{zeros} {ones}");
        assert!((0.44..0.46).contains(&part(ones)), "{ones}");
    }

    #[test]
    fn a_sector_of_32_gib_is_met_within_a_tile() {
        let first = Tiled::new(Arc::new(Sector::seal(Tiled::scale().plan, 1)), [0]);
        let (tile, _) = Shape::record(first.first()).expect("recorded");
        assert_eq!(tile.num_constraints() - 1, Tiled::ROWS);
        let rows = Tiled::tiles_of(27) * Tiled::ROWS + 1;
        assert!(rows.abs_diff(130_278_869) < Tiled::ROWS, "{rows}");
        assert!(rows <= 1 << 27);
    }

    #[test]
    fn an_unknown_name_or_size_says_what_there_is() {
        let name = by_name("porep", 18).expect_err("no such name").to_string();
        assert!(
            name.contains("porep-shaped") && name.contains("mimc"),
            "{name}"
        );
        let size = by_name("sha256", 10).expect_err("too small").to_string();
        assert!(size.contains("2^15") && size.contains("2^10"), "{size}");
    }
}
