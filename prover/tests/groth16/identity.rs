//! Byte identity for three circuits at three sizes; the greatest ones are run with `--ignored`.

use super::circuits::{Mimc, Mixed, Sha, ShaRounds};
use super::peer::agree;

#[test]
fn mimc_1024_rows() {
    let (_, shape, ..) = agree(&Mimc::rows(10, 3));
    assert_eq!(shape.num_constraints(), 1 << 10);
}

#[test]
fn mimc_16384_rows() {
    let (_, shape, ..) = agree(&Mimc::rows(14, 3));
    assert_eq!(shape.num_constraints(), 1 << 14);
}

#[test]
#[ignore = "half a minute"]
fn mimc_65536_rows() {
    let (_, shape, ..) = agree(&Mimc::rows(16, 3));
    assert_eq!(shape.num_constraints(), 1 << 16);
}

#[test]
fn bits_in_a_domain_of_1024() {
    let (_, shape, ..) = agree(&ShaRounds { rounds: 3, seed: 5 });
    assert_eq!(shape.log2(), 10);
}

#[test]
fn bits_in_a_domain_of_16384() {
    let (_, shape, ..) = agree(&ShaRounds {
        rounds: 60,
        seed: 5,
    });
    assert_eq!(shape.log2(), 14);
}

#[test]
#[ignore = "half a minute"]
fn sha256_of_two_blocks() {
    let (_, shape, ..) = agree(&Sha::blocks(2, 5));
    assert_eq!(shape.log2(), 16);
}

#[test]
fn mixed_1024_rows() {
    let (_, shape, ..) = agree(&Mixed {
        blocks: 255,
        seed: 9,
    });
    assert_eq!(shape.num_constraints(), 1 << 10);
    assert!(
        shape.a_aux().len() < shape.num_aux(),
        "z and w do not occur in A"
    );
    assert_eq!(
        shape.b_inputs().len(),
        2,
        "one and the last input do not occur in B"
    );
}

#[test]
fn mixed_16384_rows() {
    agree(&Mixed {
        blocks: 4095,
        seed: 9,
    });
}

#[test]
#[ignore = "half a minute"]
fn mixed_65536_rows() {
    agree(&Mixed {
        blocks: 16383,
        seed: 9,
    });
}

#[test]
fn the_smallest_domains() {
    for blocks in 0..3 {
        agree(&Mixed { blocks, seed: 9 });
    }
}
