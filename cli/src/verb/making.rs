//! Parameters for the verbs that make them, by the processor or on a card.

use prover::ProverError;
use prover::groth16::Shape;
use prover::srs::{Ceremony, Srs};

use super::card::Backend;

/// Insecure parameters of a shape, and the name of what made them.
///
/// # Errors
/// No card where one is asked for; what the ceremony says.
#[cfg(feature = "cuda")]
pub(super) fn parameters(
    backend: Backend,
    (ceremony, shape): (&Ceremony, &Shape),
    progress: &mut dyn FnMut(&'static str),
) -> Result<(Srs, &'static str), ProverError> {
    use prover::cuda::fixed_base::OnDevice;
    use prover::cuda::{Device, default_cache};
    let opened = match backend {
        Backend::Cpu => None,
        Backend::Auto | Backend::Cuda => {
            Some(Device::open_for_setup(0, default_cache().as_deref()))
        }
    };
    let device = match opened {
        Some(Err(ProverError::NoDevice { why })) if backend == Backend::Auto => {
            crate::output::note(&format!("the processor makes the parameters: {why}"));
            None
        }
        opened => opened.transpose()?,
    };
    let Some(device) = device else {
        return Ok((ceremony.parameters(shape, progress)?, "cpu"));
    };
    let tables = |_| OnDevice::new(&device, ceremony);
    Ok((ceremony.parameters_by(shape, tables, progress)?, "cuda"))
}

/// Insecure parameters of a shape, and the name of what made them.
///
/// # Errors
/// That this build has no kernels, where a card is asked for; what the ceremony says.
#[cfg(not(feature = "cuda"))]
pub(super) fn parameters(
    backend: Backend,
    (ceremony, shape): (&Ceremony, &Shape),
    progress: &mut dyn FnMut(&'static str),
) -> Result<(Srs, &'static str), ProverError> {
    if backend == Backend::Cuda {
        return Err(ProverError::NoDevice {
            why: "this build has no kernels for cards; build with --features cuda".to_owned(),
        });
    }
    Ok((ceremony.parameters(shape, progress)?, "cpu"))
}
