//! Whole logs through reader, analyzer and diagnosis: the bundled examples, and, where the
//! folder is given by `CUZK_INPUTS`, real excerpts and simulated runs against their truth.

#[cfg(test)]
mod diagnosing;
