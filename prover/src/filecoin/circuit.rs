//! The real circuits side by side: by name, from a seed, or from the vanilla proofs of a request.

use std::fmt;

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use filecoin_proofs::constants::DefaultPieceHasher;
use filecoin_proofs::{PoStType, SealCommitPhase1Output};
use storage_proofs_porep::stacked::StackedCircuit;
use storage_proofs_post::fallback::FallbackPoStCircuit;

use super::{Kind, Porep, Tree, filecoin, porep, post, window, winning};
use crate::ProverError;

/// Which circuit, all for sectors of 2 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Which {
    /// Two sectors are still there.
    Window,
    /// One sector is still there.
    Winning,
    /// A sector was sealed.
    Porep,
    /// The same without the chain's questions, in thirteen partitions.
    PorepNonInteractive,
}

/// A circuit with its witness.
#[derive(Clone)]
pub struct Real(Inner);

#[derive(Clone)]
enum Inner {
    Post(Box<FallbackPoStCircuit<Tree>>),
    Porep(Box<StackedCircuit<Tree, DefaultPieceHasher>>),
}

impl fmt::Debug for Real {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The witness is a secret.
        let name = match self.0 {
            Inner::Post(_) => "FallbackPoStCircuit",
            Inner::Porep(_) => "StackedCircuit",
        };
        out.write_str(name)
    }
}

impl Circuit<Scalar> for Real {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        match self.0 {
            Inner::Post(circuit) => circuit.synthesize(cs),
            Inner::Porep(circuit) => circuit.synthesize(cs),
        }
    }
}

/// A circuit and its public inputs, the constant one not among them.
pub type Stated = (Real, Vec<Scalar>);

impl From<post::Made> for StatedOf {
    fn from((circuit, inputs): post::Made) -> Self {
        Self((Real(Inner::Post(Box::new(circuit))), inputs))
    }
}

impl From<porep::Made> for StatedOf {
    fn from((circuit, inputs): porep::Made) -> Self {
        Self((Real(Inner::Porep(Box::new(circuit))), inputs))
    }
}

/// Carries the conversions.
struct StatedOf(Stated);

/// Statements about sectors that are sealed for them, from a seed.
///
/// # Errors
/// [`ProverError::Filecoin`].
pub fn statements(which: Which, seed: u64, count: usize) -> Result<Vec<Stated>, ProverError> {
    let seeds = (0..count as u64).map(|at| seed ^ at.rotate_left(32));
    let post = |made: super::Post| StatedOf::from((made.circuit, made.inputs)).0;
    match which {
        Which::Window => seeds.map(|seed| window(seed).map(post)).collect(),
        Which::Winning => seeds.map(|seed| winning(seed).map(post)).collect(),
        Which::Porep => seeds
            .map(|seed| {
                let made = Porep::new(Kind::Interactive, seed)?.partition(0)?;
                Ok(StatedOf::from(made).0)
            })
            .collect(),
        Which::PorepNonInteractive => {
            let sealed = Porep::new(Kind::NonInteractive, seed)?;
            let all = sealed.partitions().max(1);
            let one = |at| Ok(StatedOf::from(sealed.partition(at % all)?).0);
            (0..count).map(one).collect()
        }
    }
}

/// What a client asks to be proved.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Which circuit; of the two PoRep the number of partitions decides.
    pub which: Which,
    /// The number of the proof on the chain; it decides the graph of a sealing.
    pub registered: u64,
    /// Whose the sectors are.
    pub miner: u64,
    /// The challenges of the day, for sectors that are still there.
    pub randomness: &'a [u8],
    /// Vanilla proofs: one a sector, or the first half of the one commitment.
    pub vanilla: &'a [&'a [u8]],
}

impl Asked<'_> {
    /// The partitions, in order.
    ///
    /// # Errors
    /// [`ProverError::Filecoin`] with what does not fit.
    pub fn statements(&self) -> Result<Vec<Stated>, ProverError> {
        match self.which {
            Which::Window => self.post(PoStType::Window),
            Which::Winning => self.post(PoStType::Winning),
            Which::Porep | Which::PorepNonInteractive => self.porep(),
        }
    }

    fn post(&self, typ: PoStType) -> Result<Vec<Stated>, ProverError> {
        let config = post::config(typ);
        let (most, found) = (config.sector_count, self.vanilla.len());
        if found == 0 || found > most {
            return Err(filecoin(format!(
                "{found} vanilla proofs; a partition has 1 to {most} sectors"
            )));
        }
        let randomness = self.randomness.try_into().map_err(|_length| {
            filecoin(format!(
                "{} bytes of randomness, not 32",
                self.randomness.len()
            ))
        })?;
        let vanilla = self.vanilla.iter().map(|bytes| bincode::deserialize(bytes));
        let vanilla: Vec<_> = vanilla
            .collect::<Result<_, _>>()
            .map_err(|error| filecoin(format!("a vanilla proof that cannot be read: {error}")))?;
        let made = post::circuit(&config, &randomness, prover_id(self.miner), &vanilla);
        Ok(vec![StatedOf::from(made.map_err(filecoin)?).0])
    }

    fn porep(&self) -> Result<Vec<Stated>, ProverError> {
        let [bytes] = *self.vanilla else {
            let found = self.vanilla.len();
            return Err(filecoin(format!(
                "{found} vanilla proofs, not the one commitment"
            )));
        };
        let kind = Kind::of_registered(self.registered).ok_or_else(|| {
            filecoin(format!(
                "registered proof {}; those of 2 KiB are 0, 5 and 15",
                self.registered
            ))
        })?;
        let c1: SealCommitPhase1Output<Tree> = commitment(bytes)?;
        let config = porep::config(kind, self.registered)?;
        let (expected, found) = (usize::from(config.partitions), c1.vanilla_proofs.len());
        if expected != found {
            return Err(filecoin(format!("{found} partitions, not {expected}")));
        }
        let one = |at| {
            let made = porep::circuit(&config, &c1, at).map_err(filecoin)?;
            Ok(StatedOf::from(made).0)
        };
        (0..found).map(one).collect()
    }
}

/// A commitment as JSON or in the binary form of Filecoin's crates.
fn commitment(bytes: &[u8]) -> Result<SealCommitPhase1Output<Tree>, ProverError> {
    let read = if bytes.first() == Some(&b'{') {
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    } else {
        bincode::deserialize(bytes).map_err(|error| error.to_string())
    };
    read.map_err(|error| filecoin(format!("a commitment that cannot be read: {error}")))
}

/// A miner's number as Filecoin's crates take it: seven bits a byte, the lowest first.
fn prover_id(miner: u64) -> [u8; 32] {
    let mut id = [0; 32];
    let mut rest = miner;
    for byte in &mut id {
        *byte = u8::try_from(rest & 0x7f).unwrap_or(0);
        rest >>= 7;
        if rest == 0 {
            break;
        }
        *byte |= 0x80;
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_miners_number_is_written_seven_bits_a_byte() {
        assert_eq!(prover_id(1000)[..3], [0xe8, 0x07, 0]);
        assert_eq!(prover_id(0), [0; 32]);
        assert_eq!(
            prover_id(u64::MAX)[..11],
            [255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 0]
        );
    }

    #[test]
    fn a_request_of_a_sealed_sector_gives_the_circuit_that_sealing_gives() {
        let post = window(3).expect("sealed");
        let (randomness, vanilla) = post.request().expect("written");
        let vanilla: Vec<&[u8]> = vanilla.iter().map(Vec::as_slice).collect();
        let mut asked = Asked {
            which: Which::Window,
            registered: 0,
            miner: 1000,
            randomness: &randomness,
            vanilla: &vanilla,
        };
        let stated = asked.statements().expect("fits");
        assert_eq!(stated.len(), 1);
        assert_eq!(stated[0].1, post.inputs);
        asked.randomness = &randomness[1..];
        let error = asked.statements().expect_err("short").to_string();
        assert!(error.contains("31 bytes"), "{error}");
        asked.vanilla = &[b"garbage"];
        asked.randomness = &randomness;
        let error = asked.statements().expect_err("garbage").to_string();
        assert!(error.contains("cannot be read"), "{error}");
    }

    #[test]
    fn a_commitment_gives_as_many_partitions_as_its_kind_has() {
        for (kind, partitions) in [(Kind::Interactive, 1), (Kind::NonInteractive, 13)] {
            let sealed = Porep::new(kind, 4).expect("sealed");
            let bytes = sealed.request().expect("written");
            let mut asked = Asked {
                which: Which::Porep,
                registered: kind.registered(),
                miner: 1000,
                randomness: &[],
                vanilla: &[&bytes],
            };
            let stated = asked.statements().expect("fits");
            assert_eq!(stated.len(), partitions);
            assert_eq!(stated[0].1, sealed.partition(0).expect("there").1);
            asked.registered = 20 - kind.registered();
            let error = asked.statements().expect_err("of the other").to_string();
            assert!(error.contains("partitions, not"), "{error}");
            asked.registered = 3;
            let error = asked.statements().expect_err("32 GiB").to_string();
            assert!(error.contains("registered proof 3"), "{error}");
        }
    }
}
