//! The trace of a verb that proves, in a file.

use std::path::Path;
use std::sync::Arc;

use prover::clock::Clock;
use prover::device::Info;
use prover::trace::Tracer;
use tracefmt::event::TraceStart;

use crate::error::CliError;
use crate::output::{self, note};

/// What the head of a trace says of this build and a device.
pub(super) fn head(device: &Info) -> TraceStart<'static> {
    TraceStart {
        build: env!("CARGO_PKG_VERSION").into(),
        device: device.name.clone().into(),
        vram_total: device.total,
        vram_free: device.free,
        ..TraceStart::default()
    }
}

/// Begins a trace of a run whose id begins so; without a file it is a silent one.
///
/// # Errors
///
/// When the file cannot be written.
pub(super) fn begin(
    path: Option<&Path>,
    id: &str,
    clock: Arc<dyn Clock>,
    mut head: TraceStart<'_>,
) -> Result<Tracer, CliError> {
    let Some(path) = path else {
        return Ok(Tracer::silent(clock));
    };
    output::replaces(path);
    let file = output::create(path)?;
    head.epoch_unix_us = clock.epoch_unix_us();
    head.run = format!("{id}{:x}", head.epoch_unix_us).into();
    Tracer::start(clock, Box::new(file), &head).map_err(|source| unwritten(path, source))
}

/// Ends a trace. What was lost of it is said, and makes no proof worse.
///
/// # Errors
///
/// When the file cannot be written, and when something still writes to the trace.
pub(super) fn end(tracer: Arc<Tracer>, path: Option<&Path>) -> Result<(), CliError> {
    let Some(path) = path else {
        return Ok(());
    };
    let Some(tracer) = Arc::into_inner(tracer) else {
        return Err(CliError::Internal(
            "the trace is still written to".to_owned(),
        ));
    };
    let lost = tracer.lost();
    if lost > 0 {
        note(&format!(
            "{lost} events could not be written to {}",
            path.display()
        ));
    }
    let ended = tracer.finish();
    ended.map(drop).map_err(|source| unwritten(path, source))
}

fn unwritten(path: &Path, source: std::io::Error) -> CliError {
    CliError::Output {
        path: path.to_owned(),
        source,
    }
}
