//! The daemon: the engine behind gRPC, with metrics and a page that shows the pipeline.

pub mod listen;
pub mod wire;

mod opening;

#[cfg(test)]
mod listen_tests;
#[cfg(test)]
mod wire_tests;
