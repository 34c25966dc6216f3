//! The real 2 KiB circuits: made parameters, our proof beside bellperson's, Filecoin's verifier.
//! Needs `FIL_PROOFS_PARAMETER_CACHE` to name a folder for the test parameters.
#![cfg(feature = "filecoin")]
#![expect(clippy::expect_used, reason = "helpers of tests may fail their test")]

use bellperson::groth16::{self, Parameters};
use blstrs::{Bls12, Scalar};
use prover::filecoin::{Post, install, window, winning};
use prover::groth16::{PreparedKey, Shape, prove};
use prover::srs::{Ceremony, Srs};

/// Proves, compares with bellperson byte for byte, asks Filecoin, and tampers.
fn from_sector_to_verify(post: &Post) {
    let (shape, assignment) = Shape::record(post.circuit.clone()).expect("recorded");
    let made = Ceremony::insecure(11).parameters(&shape, &mut |_| ());
    let (params, vk) = post.parameter_paths().expect("paths");
    install(&made.expect("made"), &params, &vk).expect("installed");
    let (srs, _) = Srs::open(&params).expect("read");
    let (r, s) = (Scalar::from(27_134), Scalar::from(17_146));
    let proof = prove(&srs.key(), &shape, &assignment, (r, s), &mut ()).expect("proved");
    let bytes = proof.to_bytes();
    let file = std::fs::File::open(&params).expect("there");
    let theirs = Parameters::<Bls12>::read(std::io::BufReader::new(file), false);
    let theirs = groth16::create_proof(post.circuit.clone(), &theirs.expect("read"), r, s);
    let mut expected = Vec::new();
    theirs
        .expect("proved")
        .write(&mut expected)
        .expect("written");
    assert_eq!(bytes.as_slice(), expected, "the proof of bellperson");
    assert!(post.accepts(&bytes).expect("checked"));
    let key = PreparedKey::new(&srs.vk);
    assert!(key.verify(&proof, &post.inputs).expect("as many inputs"));
    let mut other = post.inputs.clone();
    other[0] += Scalar::from(1);
    assert!(!key.verify(&proof, &other).expect("as many inputs"));
    let swapped = prover::groth16::Proof {
        a: proof.c,
        c: proof.a,
        ..proof
    };
    assert!(!post.accepts(&swapped.to_bytes()).unwrap_or(false));
}

#[test]
fn a_window_post_is_that_of_bellperson_and_filecoin_accepts_it() {
    let post = window(1).expect("sealed");
    from_sector_to_verify(&post);
}

#[test]
fn a_winning_post_is_that_of_bellperson_and_filecoin_accepts_it() {
    let post = winning(2).expect("sealed");
    from_sector_to_verify(&post);
}
