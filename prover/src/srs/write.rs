//! Parameters as bellperson writes them, byte for byte, and the `.vk` file that is their start.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use blstrs::{G1Affine, G2Affine};
use rayon::prelude::*;

use super::Srs;
use crate::ProverError;
use crate::groth16::VerifyingKey;

/// Points that are encoded before they are written.
const PIECE: usize = 1 << 16;

impl Srs {
    /// Writes a `.params` file to `out`.
    ///
    /// # Errors
    /// What `out` says; [`io::ErrorKind::InvalidInput`] for more than 2^32 − 1 points.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        self.vk.write(out)?;
        for points in [&self.h, &self.l, &self.a, &self.b_g1] {
            write_points(out, points, G1Affine::to_uncompressed)?;
        }
        write_points(out, &self.b_g2, G2Affine::to_uncompressed)
    }

    /// Writes a `.params` file. It appears under its name when it is whole: a run that dies half
    /// way leaves `NAME.part`.
    ///
    /// # Errors
    /// [`ProverError::File`].
    pub fn save(&self, path: &Path) -> Result<(), ProverError> {
        save(path, |out| self.write(out))
    }
}

impl VerifyingKey {
    /// Writes a `.vk` file to `out`.
    ///
    /// # Errors
    /// As [`Srs::write`].
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let g1 = |point: &G1Affine| point.to_uncompressed();
        let g2 = |point: &G2Affine| point.to_uncompressed();
        out.write_all(&g1(&self.alpha_g1))?;
        out.write_all(&g1(&self.beta_g1))?;
        out.write_all(&g2(&self.beta_g2))?;
        out.write_all(&g2(&self.gamma_g2))?;
        out.write_all(&g1(&self.delta_g1))?;
        out.write_all(&g2(&self.delta_g2))?;
        write_points(out, &self.ic, G1Affine::to_uncompressed)
    }

    /// Writes a `.vk` file, whole or not at all.
    ///
    /// # Errors
    /// [`ProverError::File`].
    pub fn save(&self, path: &Path) -> Result<(), ProverError> {
        save(path, |out| self.write(out))
    }
}

fn write_count(out: &mut impl Write, count: usize) -> io::Result<()> {
    let count = u32::try_from(count)
        .map_err(|source| io::Error::new(io::ErrorKind::InvalidInput, source))?;
    out.write_all(&count.to_be_bytes())
}

/// A count and its points, encoded by all threads, a piece at a time.
fn write_points<P: Sync, const BYTES: usize>(
    out: &mut impl Write,
    points: &[P],
    encode: impl Fn(&P) -> [u8; BYTES] + Sync,
) -> io::Result<()> {
    write_count(out, points.len())?;
    let mut bytes = vec![0; PIECE.min(points.len()) * BYTES];
    for piece in points.chunks(PIECE) {
        let places = bytes.par_chunks_mut(BYTES).zip(piece);
        places.for_each(|(place, point)| place.copy_from_slice(&encode(point)));
        out.write_all(bytes.get(..piece.len() * BYTES).unwrap_or(&[]))?;
    }
    Ok(())
}

/// Writes `path` by way of `path.part`.
fn save(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<std::fs::File>) -> io::Result<()>,
) -> Result<(), ProverError> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let whole = || {
        let mut out = BufWriter::with_capacity(1 << 20, std::fs::File::create(&part)?);
        write(&mut out)?;
        out.flush()?;
        drop(out);
        std::fs::rename(&part, path)
    };
    whole().map_err(|source| ProverError::File {
        action: "write",
        path: path.to_owned(),
        source,
    })
}
