//! Many PoRep-shaped circuits of one challenge side by side, about one sector: the size and the mix
//! of a partition of a 32 GiB sector, and quick to synthesise on many cores.
//!
//! A partition of a real sector of 32 GiB has 130,278,541 constraints in a domain of 2^27
//! (`SECTOR_ROWS`); a smaller domain is filled to the same part.

use std::sync::Arc;

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar;

use super::parts::{self, Parts};
use super::porep_shaped::{PorepShaped, Scale};
use super::sector::Sector;

/// Constraints of one partition of a 32 GiB sector, whose domain is 2^27.
const SECTOR_ROWS: usize = 130_278_541;
/// The smallest domain, of one tile.
pub(super) const LEAST_LOG2: u32 = 18;

/// Knowledge of a sector in which each challenged node has the right label; each challenge stands
/// for itself, with the sector's identity and root as public inputs of its own.
#[derive(Clone, Debug)]
pub struct Tiled {
    sector: Arc<Sector>,
    nodes: Vec<usize>,
}

impl Tiled {
    /// Rows of one tile, its public inputs among them.
    pub const ROWS: usize = 134_092;

    /// One tile for each of these nodes of a sector.
    pub fn new(sector: Arc<Sector>, nodes: impl IntoIterator<Item = usize>) -> Self {
        Self {
            sector,
            nodes: nodes.into_iter().collect(),
        }
    }

    /// The size of a tile.
    pub fn scale() -> Scale {
        Scale {
            challenges: 1,
            ..Scale::of(LEAST_LOG2)
        }
    }

    /// Tiles of a domain of 2^`log2` rows, filled as far as that of a sector.
    pub const fn tiles_of(log2: u32) -> usize {
        let rows = (SECTOR_ROWS << log2) >> 27;
        let (near, most) = (
            (rows + Self::ROWS / 2) / Self::ROWS,
            ((1 << log2) - 1) / Self::ROWS,
        );
        if near < most { near } else { most }
    }

    /// How many tiles there are.
    pub(super) fn tiles(&self) -> usize {
        self.nodes.len()
    }

    /// The circuit of tile number `index`.
    fn tile(&self, index: usize) -> PorepShaped {
        let node = self.nodes.get(index).copied();
        PorepShaped::new(Arc::clone(&self.sector), node).quick()
    }

    /// The first tile alone: what the shape of all is a repetition of.
    pub(super) fn first(&self) -> PorepShaped {
        self.tile(0)
    }

    /// The public inputs, tile by tile.
    pub fn inputs(&self) -> Vec<Scalar> {
        (0..self.nodes.len())
            .flat_map(|index| self.tile(index).inputs())
            .collect()
    }
}

impl Parts for Tiled {
    fn count(&self) -> usize {
        self.nodes.len()
    }

    fn part<CS: ConstraintSystem<Scalar>>(
        &self,
        cs: &mut CS,
        index: usize,
    ) -> Result<(), SynthesisError> {
        self.tile(index).synthesize(cs)
    }
}

impl Circuit<Scalar> for Tiled {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        parts::synthesize(&self, cs)
    }
}
