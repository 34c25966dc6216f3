//! A CUDA card as a device of the engine: executes the steps of a plan with real memory, on the
//! kernels of [`crate::cuda`].
//!
//! What a partition needs is brought by uploads ([`load`]) and worked on by launches ([`launch`]);
//! a launch returns when the card has done it, so that its code and its time are those of the work.
//! Uploads of a witness come from another worker's thread, on a stream of their own. A limit makes
//! a large card behave as a small one: what goes beyond is refused with the driver's code, by the
//! account that the processor's device keeps too ([`Memory`]).

mod launch;
mod load;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracefmt::ops::{Op, Stream};

use super::groth16::{Groth16, Parameters, State};
use super::{Device, Info, Memory, RC_INVALID, RC_REGISTERED, RC_UNREGISTERED, Reply};
use crate::ProverError;
use crate::cuda::quotient::Quotient;
use crate::cuda::{self, Buffer, Staging};
use crate::plan::{Plan, PlanStep};
use load::{Pending, ShapeOnCard};

/// A card.
pub struct CudaDevice {
    device: &'static cuda::Device,
    /// Witnesses of partitions to come, and what stays, go this way.
    ahead: Staging<'static>,
    name: String,
    software: Vec<(&'static str, String)>,
    limit: Option<u64>,
    held: Mutex<Held>,
}

/// What is on the card, by the id of its allocation.
struct Held {
    account: Memory,
    buffers: BTreeMap<u64, Arc<Buffer>>,
    brought: BTreeMap<u64, Brought>,
    /// Uploads that are under way, by the buffer that they fill.
    pending: BTreeMap<u64, Pending>,
}

/// What a buffer that outlives a partition holds.
#[derive(Clone)]
enum Brought {
    Tables(Arc<Quotient<'static>>),
    Shape(Arc<Parameters>, Arc<ShapeOnCard>),
    Key(Arc<Parameters>),
}

/// Why a step failed.
enum Failure {
    Card(ProverError),
    Plan(String),
}

impl From<ProverError> for Failure {
    fn from(error: ProverError) -> Self {
        Self::Card(error)
    }
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Self::Plan(why)
    }
}

impl From<Failure> for Reply {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Card(error) => Self::failed(code_of(&error), error.to_string()),
            Failure::Plan(why) => Self::failed(RC_INVALID, why),
        }
    }
}

/// The driver's number for what went wrong; "invalid value" where the driver was not asked.
fn code_of(error: &ProverError) -> i32 {
    match error {
        ProverError::DeviceCall { rc, .. } => *rc,
        _ => RC_INVALID,
    }
}

fn code<T>(result: Result<T, ProverError>) -> i32 {
    result.map_or_else(|error| code_of(&error), |_| 0)
}

/// A card is opened once a process, as its context is: what stays on it refers to it.
fn opened(ordinal: usize, cache: Option<&Path>) -> Result<&'static cuda::Device, ProverError> {
    static OPENED: Mutex<BTreeMap<usize, &'static cuda::Device>> = Mutex::new(BTreeMap::new());
    let mut cards = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(card) = cards.get(&ordinal) {
        return Ok(card);
    }
    let card: &'static _ = Box::leak(Box::new(cuda::Device::open(ordinal, &[], cache)?));
    cards.insert(ordinal, card);
    Ok(card)
}

impl CudaDevice {
    /// Opens card number `ordinal`; with a limit it behaves as a card of so many bytes.
    ///
    /// # Errors
    /// [`ProverError::NoDevice`], [`ProverError::KernelBuild`] or [`ProverError::DeviceCall`].
    pub fn open(
        ordinal: usize,
        limit: Option<u64>,
        cache: Option<&Path>,
    ) -> Result<Self, ProverError> {
        let device = opened(ordinal, cache)?;
        let (_, total) = device.memory()?;
        let limit = limit.filter(|limit| *limit < total as u64);
        let capacity = limit.unwrap_or(total as u64);
        if capacity <= device.baseline() {
            let (limit, taken) = (capacity >> 20, device.baseline() >> 20);
            return Err(ProverError::NoDevice {
                why: format!(
                    "of a limit of {limit} MiB nothing is left beside the {taken} MiB of its \
                     context and of others; expected a larger limit"
                ),
            });
        }
        Ok(Self {
            name: device.name()?,
            software: cuda::versions(),
            limit,
            held: Mutex::new(Held {
                account: Memory::new(capacity, device.baseline()),
                buffers: BTreeMap::new(),
                brought: BTreeMap::new(),
                pending: BTreeMap::new(),
            }),
            ahead: Staging::new(device, load::AHEAD)?,
            device,
        })
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn buffer(&self, id: Option<&u64>) -> Result<Arc<Buffer>, Failure> {
        let held = self.held();
        let buffer = id.and_then(|id| held.buffers.get(id));
        buffer
            .cloned()
            .ok_or_else(|| Failure::Plan("it touches a buffer that is not allocated".to_owned()))
    }

    fn brought(&self, id: Option<&u64>) -> Option<Brought> {
        id.and_then(|id| self.held().brought.get(id).cloned())
    }
}

impl Device<Groth16> for CudaDevice {
    fn info(&self) -> Info {
        let held = self.held();
        let (total, free) = (held.account.capacity(), held.account.free_bytes());
        let free = match (self.limit, self.device.memory()) {
            (None, Ok((driver, _))) => driver as u64,
            _ => free,
        };
        Info {
            name: self.name.clone(),
            total,
            free,
            peak: held.account.peak_bytes(),
            software: self.software.clone(),
        }
    }

    /// `cudaMalloc` and `cudaFree` of large blocks take a millisecond or two each, and wait for all
    /// work of the card.
    fn is_slow_to_allocate(&self) -> bool {
        true
    }

    fn execute(&self, step: &PlanStep, plan: &Plan, state: &mut State) -> Reply {
        let done = match &step.op {
            Op::CopyHtoD(touched) => match step.load {
                Some(load) => self.load(load, touched, plan, state).map(|()| None),
                None => Err("an upload of nothing".to_owned().into()),
            },
            Op::Launch(touched) => match step.kernel {
                Some(kernel) => self.launch(kernel, touched, plan, state),
                None => Err("a launch of nothing".to_owned().into()),
            },
            Op::CtxSync | Op::StreamSync { stream: COMPUTE } => self
                .device
                .synchronize()
                .map(|()| None)
                .map_err(Failure::from),
            // Uploads are ordered before the launch that reads them, see `launch`.
            _ => Ok(None),
        };
        match done {
            Ok(device_us) => Reply {
                device_us,
                ..Reply::OK
            },
            Err(failure) => failure.into(),
        }
    }

    fn alloc(&self, id: u64, bytes: u64) -> i32 {
        let mut held = self.held();
        let accounted = held.account.alloc(id, bytes);
        if self.limit.is_some() && accounted != 0 {
            return accounted;
        }
        let allocated = self
            .device
            .alloc(usize::try_from(bytes).unwrap_or(usize::MAX));
        match allocated {
            Ok(buffer) => {
                held.buffers.insert(id, Arc::new(buffer));
                0
            }
            Err(error) => {
                held.account.free(id);
                code_of(&error)
            }
        }
    }

    fn free(&self, id: u64) -> i32 {
        let mut held = self.held();
        // What is under way into it comes to its end first; views of it go before it.
        drop(held.pending.remove(&id));
        drop(held.brought.remove(&id));
        held.account.free(id);
        let Some(buffer) = held.buffers.remove(&id) else {
            return RC_INVALID;
        };
        match Arc::try_unwrap(buffer) {
            Ok(buffer) => code(buffer.free()),
            Err(_) => RC_INVALID,
        }
    }

    fn pin(&self, addr: u64, bytes: u64) -> i32 {
        let mut held = self.held();
        if held.account.pin(addr, bytes) == RC_REGISTERED {
            return RC_REGISTERED;
        }
        let rc = code(load::register(self.device, addr, bytes));
        if rc != 0 {
            held.account.unpin(addr);
        }
        rc
    }

    fn unpin(&self, addr: u64) -> i32 {
        let mut held = self.held();
        if held.account.unpin(addr) != 0 {
            return RC_UNREGISTERED;
        }
        code(load::unregister(self.device, addr))
    }
}

/// The stream of the kernels, as the plan numbers it.
const COMPUTE: Stream = Stream::Id(1);

impl Drop for CudaDevice {
    fn drop(&mut self) {
        let held = self.held.get_mut().unwrap_or_else(PoisonError::into_inner);
        held.pending.clear();
    }
}

impl fmt::Debug for CudaDevice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("CudaDevice")
            .field("name", &self.name)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
