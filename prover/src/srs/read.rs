//! From the bytes of a `.params` or `.vk` file to points in memory. Every point is checked to be a
//! canonical encoding of a point of the curve other than the identity; that all are members of
//! their group is checked once a file and remembered by its hash.

use std::path::Path;

use blstrs::{Bls12, G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use group::prime::PrimeCurveAffine as _;
use group::{Curve as _, Group as _};
use pairing::Engine as _;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore as _, SeedableRng as _};
use rayon::prelude::*;

use super::check;
use super::layout::{G1_BYTES, G2_BYTES, HEAD_BYTES, Layout, Section};
use super::map::Mapped;
use super::{Checked, Manifest, Srs};
use crate::ProverError;
use crate::groth16::VerifyingKey;

/// Points of B that are combined at a time: the copies that blst makes stay small.
const COMBINED: usize = 1 << 16;

impl Srs {
    /// Reads parameters, checks them, and remembers beside the file that they are good.
    ///
    /// # Errors
    /// [`ProverError::Inside`] with the file's name around what [`Srs::from_bytes`] says, or
    /// [`ProverError::File`].
    pub fn open(path: &Path) -> Result<(Self, Checked), ProverError> {
        Self::open_as(path, None)
    }

    /// As [`Srs::open`], for the file that a manifest is of.
    ///
    /// # Errors
    /// As [`Srs::open`], and [`ProverError::ParamsManifest`] when it is another file.
    pub fn open_as(
        path: &Path,
        manifest: Option<&Manifest>,
    ) -> Result<(Self, Checked), ProverError> {
        let inside = |source| ProverError::inside(path, source);
        let file = Mapped::open(path)?;
        let srs = Self::decode(&file).map_err(inside)?;
        let hash = check::hash(&file);
        if let Some(made) = manifest
            && made.blake3 != hash.to_string()
        {
            return Err(inside(ProverError::ParamsManifest {
                expected: made.blake3.clone(),
                found: hash.to_string(),
            }));
        }
        if check::remembered(path, &hash) {
            return Ok((srs, Checked::Before));
        }
        srs.check_subgroups(*hash.as_bytes()).map_err(inside)?;
        Ok((
            srs,
            if check::remember(path, &hash) {
                Checked::Now
            } else {
                Checked::NotRemembered
            },
        ))
    }

    /// Parameters from the bytes of a file, with every check.
    ///
    /// # Errors
    /// [`ProverError::ParamsLength`], [`ProverError::ParamsTrailing`],
    /// [`ProverError::ParamsCounts`], [`ProverError::ParamsPoint`],
    /// [`ProverError::ParamsSubgroup`], [`ProverError::ParamsDisagree`].
    pub fn from_bytes(file: &[u8]) -> Result<Self, ProverError> {
        let srs = Self::decode(file)?;
        srs.check_subgroups(*check::hash(file).as_bytes())?;
        Ok(srs)
    }

    /// Points on their curves, members or not.
    fn decode(file: &[u8]) -> Result<Self, ProverError> {
        let layout = Layout::of(file)?;
        let vk = VerifyingKey::decode(file)?;
        let g1 = |section: Section| {
            let range = layout.range(section);
            decode_all(&file[range.clone()], section.name(), range.start, g1)
        };
        let b_g2 = layout.range(Section::BG2);
        Ok(Self {
            vk,
            h: g1(Section::H)?,
            l: g1(Section::L)?,
            a: g1(Section::A)?,
            b_g1: g1(Section::BG1)?,
            b_g2: decode_all(&file[b_g2.clone()], Section::BG2.name(), b_g2.start, g2)?,
        })
    }

    /// Whether all points are members of their groups, and the two B queries have the same
    /// exponents, by random combinations drawn from `seed`.
    fn check_subgroups(&self, seed: [u8; 32]) -> Result<(), ProverError> {
        self.vk.check_members()?;
        let g1 = [
            ("ic", &self.vk.ic),
            ("h", &self.h),
            ("l", &self.l),
            ("a", &self.a),
            ("b_g1", &self.b_g1),
        ];
        for (section, points) in g1 {
            if !check::in_subgroup(points, seed) {
                return Err(ProverError::ParamsSubgroup { section });
            }
        }
        if !check::in_subgroup(&self.b_g2, seed) {
            return Err(ProverError::ParamsSubgroup { section: "b_g2" });
        }
        self.check_b(seed)
    }

    /// Whether `b_g1` and `b_g2` have the same exponents: one random combination of each, compared
    /// over δ, which is in both groups.
    fn check_b(&self, seed: [u8; 32]) -> Result<(), ProverError> {
        let mut dice = ChaCha20Rng::from_seed(seed);
        dice.set_stream(u64::MAX);
        let (mut g1, mut g2) = (G1Projective::identity(), G2Projective::identity());
        for (b_g1, b_g2) in self.b_g1.chunks(COMBINED).zip(self.b_g2.chunks(COMBINED)) {
            let factors: Vec<Scalar> = (0..b_g1.len())
                .map(|_| Scalar::from(dice.next_u64()) * Scalar::from(dice.next_u64()))
                .collect();
            let b_g1: Vec<G1Projective> = b_g1.iter().map(Into::into).collect();
            let b_g2: Vec<G2Projective> = b_g2.iter().map(Into::into).collect();
            g1 += G1Projective::multi_exp(&b_g1, &factors);
            g2 += G2Projective::multi_exp(&b_g2, &factors);
        }
        let (g1, g2) = (g1.to_affine(), g2.to_affine());
        if Bls12::pairing(&g1, &self.vk.delta_g2) == Bls12::pairing(&self.vk.delta_g1, &g2) {
            return Ok(());
        }
        Err(ProverError::ParamsDisagree {
            expected: "b_g1 and b_g2 with the same exponents",
        })
    }
}

impl VerifyingKey {
    /// Reads a `.vk` file, or the start of a `.params` file, and checks every point.
    ///
    /// # Errors
    /// [`ProverError::File`], or [`ProverError::Inside`] around what is wrong in the file.
    pub fn open(path: &Path) -> Result<Self, ProverError> {
        Self::from_bytes(&Mapped::open(path)?).map_err(|source| ProverError::inside(path, source))
    }

    /// A key from the bytes of a `.vk` file or from the start of a `.params` file. What follows
    /// the key is a whole set of parameters, or it is refused.
    ///
    /// # Errors
    /// As [`Srs::from_bytes`].
    pub fn from_bytes(file: &[u8]) -> Result<Self, ProverError> {
        if Layout::of_ic(file)?.end != file.len() {
            Layout::of(file)?;
        }
        let key = Self::decode(file)?;
        key.check_members()?;
        if !check::in_subgroup(&key.ic, *check::hash(&file[..HEAD_BYTES]).as_bytes()) {
            return Err(ProverError::ParamsSubgroup { section: "ic" });
        }
        Ok(key)
    }

    /// The head and `ic`, on their curves.
    fn decode(file: &[u8]) -> Result<Self, ProverError> {
        let ic = Layout::of_ic(file)?;
        let head = |range: std::ops::Range<usize>| (&file[range.clone()], range.start);
        let (a1, b1, b2, c2, d1, d2) = (0, 96, 192, 384, 576, 672);
        let one = |(bytes, at): (&[u8], usize)| decode_one(bytes, "the head", 0, at, g1);
        let two = |(bytes, at): (&[u8], usize)| decode_one(bytes, "the head", 0, at, g2);
        Ok(Self {
            alpha_g1: one(head(a1..b1))?,
            beta_g1: one(head(b1..b2))?,
            beta_g2: two(head(b2..c2))?,
            gamma_g2: two(head(c2..d1))?,
            delta_g1: one(head(d1..d2))?,
            delta_g2: two(head(d2..HEAD_BYTES))?,
            ic: decode_all(&file[ic.clone()], "ic", ic.start, g1)?,
        })
    }

    /// Whether the head's points are members, and β and δ the same in both groups: the head of
    /// another file, or one in another order, is told here.
    fn check_members(&self) -> Result<(), ProverError> {
        let g1 = [self.alpha_g1, self.beta_g1, self.delta_g1];
        let g2 = [self.beta_g2, self.gamma_g2, self.delta_g2];
        if !(check::in_subgroup(&g1, [0; 32]) && check::in_subgroup(&g2, [0; 32])) {
            return Err(ProverError::ParamsSubgroup {
                section: "the head",
            });
        }
        let left = Bls12::pairing(&self.beta_g1, &self.delta_g2);
        if left != Bls12::pairing(&self.delta_g1, &self.beta_g2) {
            return Err(ProverError::ParamsDisagree {
                expected: "beta and delta of the head the same in G1 and in G2",
            });
        }
        Ok(())
    }
}

/// How one encoding becomes a point on its curve.
type Decode<P, const N: usize> = fn(&[u8; N]) -> Option<P>;

/// The highest three bits of an encoding: compressed, identity, sign. None is set here.
const FLAGS: u8 = 0xe0;

fn g1(bytes: &[u8; G1_BYTES]) -> Option<G1Affine> {
    if bytes[0] & FLAGS != 0 {
        return None;
    }
    Option::from(G1Affine::from_uncompressed_unchecked(bytes))
        .filter(|point: &G1Affine| !bool::from(point.is_identity()))
}

fn g2(bytes: &[u8; G2_BYTES]) -> Option<G2Affine> {
    if bytes[0] & FLAGS != 0 {
        return None;
    }
    Option::from(G2Affine::from_uncompressed_unchecked(bytes))
        .filter(|point: &G2Affine| !bool::from(point.is_identity()))
}

/// All points of a section that starts at byte `at`, in parallel; the first that is none is the
/// error, whichever thread found one first.
fn decode_all<P: Send, const N: usize>(
    bytes: &[u8],
    section: &'static str,
    at: usize,
    decode: Decode<P, N>,
) -> Result<Vec<P>, ProverError> {
    let decoded: Option<Vec<P>> = bytes
        .par_chunks_exact(N)
        .map(|chunk| chunk.try_into().ok().and_then(decode))
        .collect();
    match decoded {
        Some(points) => Ok(points),
        None => bytes
            .chunks_exact(N)
            .enumerate()
            .map(|(index, chunk)| decode_one(chunk, section, index, at + index * N, decode))
            .collect(),
    }
}

/// One point, or what is there instead.
fn decode_one<P, const N: usize>(
    bytes: &[u8],
    section: &'static str,
    index: usize,
    at: usize,
    decode: Decode<P, N>,
) -> Result<P, ProverError> {
    bytes
        .try_into()
        .ok()
        .and_then(decode)
        .ok_or_else(|| ProverError::ParamsPoint {
            section,
            index,
            at,
            group: if N == G1_BYTES { "G1" } else { "G2" },
            found: match bytes.first() {
                Some(flags) if flags & 0x80 != 0 => "a compressed one",
                Some(flags) if flags & 0x40 != 0 => "the identity",
                Some(flags) if flags & 0x20 != 0 => "unknown flags",
                _ => "numbers that are no point of the curve",
            },
        })
}
