//! Compiles the wire interface to Rust when the daemon is built, without an installed protoc.

#[cfg(feature = "serve")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::path::Path;

    use prost::Message as _;

    const PROTO: &str = "proto/cuzk/v1/proving.proto";
    println!("cargo::rerun-if-changed={PROTO}");
    let files = protox::compile([PROTO], ["proto"])?;
    let out = std::env::var("OUT_DIR")?;
    // What reflection answers with.
    std::fs::write(
        Path::new(&out).join("descriptors.bin"),
        files.encode_to_vec(),
    )?;
    tonic_prost_build::configure()
        .build_transport(false)
        .compile_fds(files)?;
    Ok(())
}

#[cfg(not(feature = "serve"))]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
