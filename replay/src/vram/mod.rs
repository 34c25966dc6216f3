//! Simulated VRAM: a reference model of how a CUDA driver answers requests for memory.
//!
//! The model says two things about each call: its result code, and how much memory is free
//! afterwards. It has no addresses that mean anything, no data and no time; work that was
//! launched runs until the host waits for it. It is checked, step by step, against recorded
//! answers of a real driver (`testdata/truth/`); `docs/vram-model.md` is its specification.
//!
//! ```
//! use replay::vram::{Device, H200_580, RC_OUT_OF_MEMORY};
//! use tracefmt::ops::Stream;
//! const GIB: u64 = 1 << 30;
//! let mut card = Device::new(H200_580, 16 * GIB, GIB);
//! assert_eq!(card.malloc_async(1, 8 * GIB, Stream::Id(1)), 0);
//! assert_eq!(card.free_async(1, Stream::Id(1)), 0);
//! // The free has not been observed: its pages cannot be had by cudaMalloc.
//! assert_eq!(card.malloc(2, 12 * GIB), RC_OUT_OF_MEMORY);
//! card.sync_stream(Stream::Id(1));
//! assert_eq!(card.malloc(2, 12 * GIB), 0);
//! ```

mod bits;
mod device;
mod host;
mod machine;
mod ordered;
mod pages;
mod pool;
mod profile;
mod ranges;
mod slab;
mod space;
mod streams;

pub use device::{Device, RC_BAD_HANDLE, RC_INVALID, RC_OUT_OF_MEMORY};
pub use host::{HostRanges, RC_ALREADY_REGISTERED, RC_NOT_REGISTERED, Registration};
pub use machine::{Machine, Outcome, RC_NO_DEVICE, STICKY};
pub use profile::{H200_580, MIB, PROFILES, Profile, STRICT, UnknownProfile};
pub(crate) use streams::{Moment, Streams};
