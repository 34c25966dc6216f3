//! The house rules as a test: arrows between the crates, sizes, module heads, leftover markers,
//! documents. What a lint can check is in the lint tables and not repeated here.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::case_sensitive_file_extension_comparisons,
    reason = "helpers of a test: a panic is how it reports"
)]

mod arrows;
mod documents;
mod sources;
mod tree;
