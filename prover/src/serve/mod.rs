//! The daemon: the engine behind gRPC, with metrics and a page that shows the pipeline.

pub mod wire;

#[cfg(test)]
mod wire_tests;
