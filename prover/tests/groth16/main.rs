//! The prover against bellperson 0.27: same circuit, parameters, r and s, same 192 bytes.

#![expect(clippy::expect_used, reason = "helpers of tests")]

mod circuits;
mod identity;
mod peer;
mod props;
