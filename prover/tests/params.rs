//! Parameter files against bellperson, which made the format: its files are read as they are and
//! written back byte for byte; whatever is wrong in one is told apart.
#![expect(clippy::expect_used, reason = "helpers of tests may fail their test")]

use std::sync::LazyLock;

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use bellperson::groth16::{self, Parameters};
use blstrs::{Bls12, G1Affine, G2Affine, Scalar};
use ff::Field as _;
use group::prime::PrimeCurveAffine as _;
use proptest::prelude::*;
use prover::ProverError;
use prover::circuits;
use prover::groth16::{Shape, VerifyingKey};
use prover::srs::{Ceremony, Checked, Layout, Manifest, Section, Srs};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;

/// Parameters of a small circuit, and their file, both by bellperson.
static THEIRS: LazyLock<(Parameters<Bls12>, Vec<u8>)> = LazyLock::new(|| {
    let family = circuits::by_name("poseidon", 9).expect("known");
    let mut dice = ChaCha20Rng::seed_from_u64(5);
    let circuit = family.example().circuit;
    let params = groth16::generate_random_parameters(circuit, &mut dice).expect("parameters");
    let mut file = Vec::new();
    params.write(&mut file).expect("written");
    (params, file)
});

/// What is said of a file that is refused; a failed test does not print all its points.
fn refused(file: &[u8]) -> String {
    ours(file).map_or_else(|error| error.to_string(), |_| "not refused".to_owned())
}

fn ours(file: &[u8]) -> Result<Srs, ProverError> {
    Srs::from_bytes(file)
}

#[test]
fn a_file_of_bellperson_is_read_equal_and_written_back_byte_for_byte() {
    let (params, file) = &*THEIRS;
    let srs = ours(file).expect("read");
    assert_eq!(srs.vk.ic, params.vk.ic);
    assert_eq!(srs.vk.gamma_g2, params.vk.gamma_g2);
    assert_eq!(&srs.h, &*params.h);
    assert_eq!(&srs.l, &*params.l);
    assert_eq!(&srs.a, &*params.a);
    assert_eq!(&srs.b_g1, &*params.b_g1);
    assert_eq!(&srs.b_g2, &*params.b_g2);
    let mut again = Vec::new();
    srs.write(&mut again).expect("written");
    assert!(again == *file, "another file than bellperson's");
    let theirs = Parameters::<Bls12>::read(again.as_slice(), true).expect("bellperson reads it");
    assert!(theirs == *params);
}

#[test]
fn the_verifying_key_is_the_start_of_the_file() {
    let (params, file) = &*THEIRS;
    let mut vk = Vec::new();
    params.vk.write(&mut vk).expect("written");
    assert!(file.starts_with(&vk));
    let key = VerifyingKey::from_bytes(&vk).expect("a key");
    assert_eq!(key, VerifyingKey::from_bytes(file).expect("the same"));
    let mut again = Vec::new();
    key.write(&mut again).expect("written");
    assert_eq!(again, vk);
}

#[test]
fn a_file_on_disk_is_checked_once_and_again_when_it_changes() {
    let (_, file) = &*THEIRS;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("small.params");
    let srs = ours(file).expect("read");
    srs.save(&path).expect("saved");
    assert_eq!(Srs::open(&path).expect("read"), (srs.clone(), Checked::Now));
    assert_eq!(Srs::open(&path).expect("read"), (srs, Checked::Before));
    // A stray point, smuggled in after the check: a point of the curve outside the subgroup.
    let mut torn = file.clone();
    let at = Layout::of(file).expect("whole").range(Section::L).start;
    torn[at..at + 96].copy_from_slice(&stray().to_uncompressed());
    std::fs::write(&path, &torn).expect("written");
    let error = Srs::open(&path).expect_err("a stray").to_string();
    assert!(
        error.contains("small.params") && error.contains("of l"),
        "{error}"
    );
    assert!(!folder.path().join("small.params.part").exists());
}

/// A point of the curve outside G1.
fn stray() -> G1Affine {
    (1..)
        .find_map(|x| {
            let mut bytes = [0; 48];
            bytes[0] = 0x80;
            bytes[47] = x;
            Option::<G1Affine>::from(G1Affine::from_compressed_unchecked(&bytes))
        })
        .expect("half of all x have a y")
}

#[test]
fn damage_is_told_by_what_was_expected_and_where() {
    let (_, file) = &*THEIRS;
    let layout = Layout::of(file).expect("whole");
    let at = |section: Section| layout.range(section);
    let mut cases: Vec<(&str, Vec<u8>)> = Vec::new();
    let mut case = |expected, change: &dyn Fn(&mut Vec<u8>)| {
        let mut torn = file.clone();
        change(&mut torn);
        cases.push((expected, torn));
    };
    case("truncated", &|file| file.truncate(file.len() - 1));
    case("truncated", &|file| file.truncate(100));
    case("follows the last section", &|file| file.push(0));
    case("point of G1 as number 2 of h", &|file| {
        file[at(Section::H).start + 2 * 96 + 50] ^= 1;
    });
    case("found the identity", &|file| {
        let start = at(Section::A).start;
        file[start..start + 96].fill(0);
        file[start] = 0x40;
    });
    case("found a compressed one", &|file| {
        file[at(Section::A).start] |= 0x80;
    });
    case("point of G2 as number 0 of b_g2", &|file| {
        file[at(Section::BG2).start + 100] ^= 1;
    });
    case("beta and delta", &|file| {
        let (alpha, beta) = (file[..96].to_vec(), file[96..192].to_vec());
        file[..96].copy_from_slice(&beta);
        file[96..192].copy_from_slice(&alpha);
    });
    case("b_g1 and b_g2", &|file| {
        let start = at(Section::BG1).start;
        file.copy_within(at(Section::A).start..at(Section::A).start + 96, start);
    });
    case("b_g1 and b_g2", &|file| {
        let start = at(Section::BG2).start;
        file[start..start + 192].copy_from_slice(&G2Affine::generator().to_uncompressed());
    });
    for (expected, torn) in cases {
        let error = refused(&torn);
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn parameters_of_another_circuit_are_refused_with_both_counts() {
    let srs = ours(&THEIRS.1).expect("read");
    let counts = srs.counts();
    srs.fits(counts).expect("its own");
    let mut other = counts;
    other.l += 1;
    let error = srs.fits(other).expect_err("another").to_string();
    assert!(error.contains(&counts.to_string()), "{error}");
    assert!(error.contains(&other.to_string()), "{error}");
}

#[test]
fn a_missing_file_is_named() {
    let error = Srs::open("no/such.params".as_ref())
        .expect_err("none")
        .to_string();
    assert!(error.contains("no/such.params"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever a byte is changed to, the file is refused, or it is the file of other points.
    #[test]
    fn no_changed_byte_goes_unseen(position: prop::sample::Index, change in 1_u8..) {
        let (_, file) = &*THEIRS;
        let at = position.index(file.len());
        let mut torn = file.clone();
        torn[at] ^= change;
        if let Ok(srs) = ours(&torn) {
            let mut again = Vec::new();
            srs.write(&mut again).expect("written");
            prop_assert!(again == torn, "byte {at} was read as something else");
        }
    }

    /// No bytes make the reader stop otherwise than with an error.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        prop_assert!(refused(&bytes) != "not refused");
        prop_assert!(VerifyingKey::from_bytes(&bytes).is_err());
    }
}

#[test]
fn made_parameters_are_those_of_bellperson_byte_for_byte() {
    for (name, log2, seed) in [("poseidon", 9, 5), ("mimc", 3, 1), ("mimc", 10, 2)] {
        let circuit = circuits::by_name(name, log2)
            .expect("known")
            .example()
            .circuit;
        let (shape, _) = Shape::record(circuit.clone()).expect("recorded");
        let ceremony = Ceremony::insecure(seed);
        let srs = ceremony.parameters(&shape, &mut |_| ()).expect("made");
        let theirs = groth16::generate_parameters::<Bls12, _>(
            circuit,
            ceremony.g1.into(),
            ceremony.g2.into(),
            ceremony.alpha,
            ceremony.beta,
            ceremony.gamma,
            ceremony.delta,
            ceremony.tau,
        );
        let (mut ours, mut file) = (Vec::new(), Vec::new());
        srs.write(&mut ours).expect("written");
        theirs.expect("made").write(&mut file).expect("written");
        assert!(ours == file, "{name} 2^{log2}");
    }
}

#[test]
fn a_seed_draws_what_bellperson_draws_from_the_same_dice() {
    let circuit = circuits::by_name("poseidon", 9)
        .expect("known")
        .example()
        .circuit;
    let (shape, _) = Shape::record(circuit).expect("recorded");
    let srs = Ceremony::insecure(5).parameters(&shape, &mut |_| ());
    let mut ours = Vec::new();
    srs.expect("made").write(&mut ours).expect("written");
    assert!(ours == THEIRS.1);
}

#[test]
fn a_variable_of_no_constraint_is_named() {
    struct Loose;
    impl Circuit<Scalar> for Loose {
        fn synthesize<CS: ConstraintSystem<Scalar>>(
            self,
            cs: &mut CS,
        ) -> Result<(), SynthesisError> {
            let bound = cs.alloc(|| "bound", || Ok(Scalar::ONE))?;
            cs.alloc(|| "loose", || Ok(Scalar::ONE))?;
            cs.enforce(
                || "one",
                |lc| lc + bound,
                |lc| lc + bound,
                |lc| lc + CS::one(),
            );
            Ok(())
        }
    }
    let (shape, _) = Shape::record(Loose).expect("recorded");
    let error = Ceremony::insecure(1)
        .parameters(&shape, &mut |_| ())
        .expect_err("loose");
    assert!(error.to_string().contains("number 1"), "{error}");
}

#[test]
fn a_manifest_says_insecure_and_is_found_beside_its_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("small.insecure.params");
    let srs = ours(&THEIRS.1).expect("read");
    srs.save(&path).expect("saved");
    assert_eq!(Manifest::beside(&path), None);
    let manifest = Manifest::of(&path, srs.counts(), ("poseidon", 9), 5).expect("made");
    manifest.save(&path).expect("saved");
    assert_eq!(Manifest::beside(&path), Some(manifest.clone()));
    assert!(manifest.insecure && manifest.warning.contains("INSECURE"));
    assert_eq!(manifest.bytes, THEIRS.1.len());
}
