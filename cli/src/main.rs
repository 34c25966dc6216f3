//! `cuzk`: the command line of the proving engine's tools.

fn main() {}
