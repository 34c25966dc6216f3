//! The messages and services of `proto/cuzk/v1/proving.proto`, made at build time.

#![expect(
    missing_docs,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    clippy::clone_on_ref_ptr,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    reason = "generated; the words stand in the proto file"
)]

tonic::include_proto!("cuzk.v1");

/// The description of the interface that reflection answers with.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
