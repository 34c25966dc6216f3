//! The machine: several cards, the host's registrations, and the error state of each thread.
//!
//! [`Machine::apply`] runs one recorded op. What is not about memory (locks, barriers, labels)
//! is no business of the machine and answers 0.

use std::collections::BTreeMap;

use tracefmt::ops::{Header, Op, Step};

use super::device::Device;
use super::host::HostRanges;
use super::profile::{Profile, UnknownProfile};

/// `cudaErrorInvalidDevice`.
pub const RC_NO_DEVICE: u32 = 101;

/// Errors after which every later call of the process fails with the same code.
pub const STICKY: [u32; 12] = [226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810];

/// What a call answered, and what the card looked like afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// The CUDA result code.
    pub rc: u32,
    /// Free bytes of the card.
    pub free: u64,
    /// Bytes that its pool holds.
    pub pool_reserved: u64,
}

/// Whose last-error slot a call writes.
type Caller = (Option<u32>, Option<u64>);

/// Several cards and one host.
#[derive(Debug, Clone, Hash)]
pub struct Machine {
    devices: Vec<Device>,
    host: HostRanges,
    last_errors: BTreeMap<Caller, u32>,
    sticky: Option<u32>,
}

impl Machine {
    /// A machine with the cards of a schedule's header under a driver profile.
    pub fn new(profile: Profile, header: &Header) -> Self {
        let card = |gpu: &tracefmt::ops::GpuSpec| Device::new(profile, gpu.capacity, gpu.baseline);
        Self {
            devices: header.gpus.iter().map(card).collect(),
            host: HostRanges::default(),
            last_errors: BTreeMap::new(),
            sticky: None,
        }
    }

    /// A machine as the header itself says.
    ///
    /// # Errors
    /// [`UnknownProfile`] when the header names a driver that has none.
    pub fn from_header(header: &Header) -> Result<Self, UnknownProfile> {
        Ok(Self::new(Profile::named(&header.driver)?, header))
    }

    /// The cards.
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// One card.
    pub fn device(&self, gpu: u32) -> Option<&Device> {
        self.devices.get(usize::try_from(gpu).unwrap_or(usize::MAX))
    }

    /// The host's registrations.
    pub fn host(&self) -> &HostRanges {
        &self.host
    }

    /// The sticky error, once there was one.
    pub fn sticky(&self) -> Option<u32> {
        self.sticky
    }

    /// Roughly how many bytes the model takes.
    pub(crate) fn size_bytes(&self) -> usize {
        let cards: usize = self.devices.iter().map(Device::size_bytes).sum();
        cards + self.host.registered().count() * 64 + self.last_errors.len() * 64
    }

    /// Runs one op.
    pub fn apply(&mut self, step: &Step) -> Outcome {
        let gpu = usize::try_from(step.gpu.unwrap_or(0)).unwrap_or(usize::MAX);
        let rc = if is_cuda_call(&step.op) {
            match self.sticky {
                Some(sticky) => sticky,
                None => self.call(step, gpu),
            }
        } else {
            self.host_memory(&step.op);
            0
        };
        self.remember(step, rc);
        self.outcome(gpu, rc)
    }

    /// Corrects the state after a step whose recorded result code differs from the answer here:
    /// reality wins, and what follows is judged from there.
    pub fn adopt(&mut self, step: &Step, rc: u32) -> Outcome {
        let gpu = usize::try_from(step.gpu.unwrap_or(0)).unwrap_or(usize::MAX);
        self.remember(step, rc);
        if STICKY.contains(&rc) {
            self.sticky = Some(rc);
        }
        if let (Some(device), Op::Malloc { id, bytes } | Op::MallocAsync { id, bytes, .. }) =
            (self.devices.get_mut(gpu), &step.op)
        {
            if rc == 0 {
                device.insist(*id, *bytes);
            } else {
                device.retract(*id);
            }
        }
        self.outcome(gpu, rc)
    }

    /// Keeps the error that a call answered for its caller to ask for.
    fn remember(&mut self, step: &Step, rc: u32) {
        if rc != 0 && !matches!(step.op, Op::GetLastError | Op::PeekLastError) {
            self.last_errors.insert(caller(step), rc);
        }
    }

    fn outcome(&self, gpu: usize, rc: u32) -> Outcome {
        let device = self.devices.get(gpu);
        Outcome {
            rc,
            free: device.map_or(0, Device::free_bytes),
            pool_reserved: device.map_or(0, Device::pool_reserved_bytes),
        }
    }

    fn call(&mut self, step: &Step, gpu: usize) -> u32 {
        let Some(device) = self.devices.get_mut(gpu) else {
            return RC_NO_DEVICE;
        };
        match &step.op {
            Op::Malloc { id, bytes } => device.malloc(*id, *bytes),
            Op::MallocAsync { id, bytes, stream } => device.malloc_async(*id, *bytes, *stream),
            Op::Free { id } => device.free(*id),
            Op::FreeAsync { id, stream } => device.free_async(*id, *stream),
            Op::StreamSync { stream } => device.sync_stream(*stream),
            Op::CtxSync => device.sync_all(),
            Op::EventRecord { event, stream } => device.record_event(*event, *stream),
            Op::StreamWait { stream, event } => device.wait_event(*stream, *event),
            Op::EventSync { event } => device.sync_event(*event),
            Op::Trim { keep } => device.trim(*keep),
            Op::SetThreshold { bytes } => device.set_threshold(*bytes),
            Op::Launch(work) | Op::CopyHtoD(work) | Op::CopyDtoH(work) => {
                device.launch(work.stream)
            }
            Op::GetLastError => self.last_errors.remove(&caller(step)).unwrap_or(0),
            Op::PeekLastError => self.last_errors.get(&caller(step)).copied().unwrap_or(0),
            Op::HostRegister { addr, bytes } => {
                let rc = self.host.register(*addr, *bytes);
                if rc == 0 {
                    device.pin(*bytes);
                }
                rc
            }
            Op::HostUnregister { addr } => match self.host.unregister(*addr) {
                Ok(range) => {
                    device.unpin(range.bytes);
                    0
                }
                Err(rc) => rc,
            },
            _ => 0,
        }
    }

    fn host_memory(&mut self, op: &Op) {
        if let Op::HostUnmap { addr, bytes } = op {
            self.host.unmap(*addr, *bytes);
        }
    }
}

fn caller(step: &Step) -> Caller {
    (step.worker, step.thread())
}

/// Whether an op is a call into the driver.
fn is_cuda_call(op: &Op) -> bool {
    !matches!(
        op,
        Op::HostMap { .. }
            | Op::HostUnmap { .. }
            | Op::Lock { .. }
            | Op::Unlock { .. }
            | Op::Barrier { .. }
            | Op::Label { .. }
            | Op::Panic { .. }
    )
}

#[cfg(test)]
mod tests {
    use tracefmt::ops::{GpuSpec, Stream};

    use super::*;
    use crate::vram::{H200_580, RC_OUT_OF_MEMORY};

    const GIB: u64 = 1 << 30;

    fn machine(cards: usize) -> Machine {
        let mut header = Header::one_gpu(GIB, 0);
        header.gpus = vec![GpuSpec::new(GIB, 0); cards];
        Machine::new(H200_580, &header)
    }

    fn rc(machine: &mut Machine, step: &Step) -> u32 {
        machine.apply(step).rc
    }

    fn malloc(id: u64, bytes: u64) -> Step {
        Step::new(Op::Malloc { id, bytes })
    }

    fn on_gpu(mut step: Step, gpu: u32) -> Step {
        step.gpu = Some(gpu);
        step
    }

    #[test]
    fn cards_do_not_share_memory() {
        let mut machine = machine(2);
        let half = GIB / 2;
        assert_eq!(rc(&mut machine, &malloc(1, half)), 0);
        assert_eq!(rc(&mut machine, &malloc(2, half)), RC_OUT_OF_MEMORY);
        assert_eq!(rc(&mut machine, &on_gpu(malloc(2, half), 1)), 0);
        assert_eq!(rc(&mut machine, &on_gpu(malloc(3, half), 2)), RC_NO_DEVICE);
        assert_eq!(machine.devices().len(), 2);
        assert_eq!(machine.device(1).map(Device::free_bytes), Some(half));
    }

    #[test]
    fn the_last_error_survives_success_and_is_returned_once_per_thread() {
        let mut machine = machine(1);
        let stream = Stream::Id(0);
        let (get, peek) = (Step::new(Op::GetLastError), Step::new(Op::PeekLastError));
        let big = Step::new(Op::MallocAsync {
            id: 1,
            bytes: 9 * GIB,
            stream,
        });
        assert_eq!(rc(&mut machine, &big), RC_OUT_OF_MEMORY);
        assert_eq!(rc(&mut machine, &malloc(2, 1)), 0);
        assert_eq!(rc(&mut machine, &peek), RC_OUT_OF_MEMORY);
        let other = Step::new(Op::GetLastError).on_worker(1);
        assert_eq!(
            rc(&mut machine, &other),
            0,
            "another thread's slot is empty"
        );
        assert_eq!(rc(&mut machine, &get), RC_OUT_OF_MEMORY);
        assert_eq!(rc(&mut machine, &get), 0);
    }

    #[test]
    fn after_a_sticky_error_every_call_fails_and_host_ops_go_on() {
        let mut machine = machine(1);
        let launch = Step::new(Op::CtxSync);
        machine.adopt(&launch, 13);
        assert_eq!(rc(&mut machine, &malloc(1, 1)), 0, "13 is not sticky");
        machine.adopt(&launch, 700);
        assert_eq!(machine.sticky(), Some(700));
        assert_eq!(rc(&mut machine, &malloc(2, 1)), 700);
        assert_eq!(rc(&mut machine, &Step::new(Op::GetLastError)), 700);
        let lock = Step::new(Op::Lock { name: "gpu".into() });
        assert_eq!(rc(&mut machine, &lock), 0);
    }

    #[test]
    fn a_registration_is_the_hosts_and_its_cost_the_cards() {
        let mut machine = machine(2);
        let (addr, bytes) = (1 << 40, GIB);
        let register = on_gpu(Step::new(Op::HostRegister { addr, bytes }), 1);
        let unmap = Step::new(Op::HostUnmap { addr, bytes });
        assert_eq!(rc(&mut machine, &register), 0);
        assert_eq!(machine.device(1).map(Device::used_bytes), Some(2 << 20));
        assert_eq!(rc(&mut machine, &unmap), 0);
        assert_eq!(rc(&mut machine, &on_gpu(register.clone(), 0)), 712);
        let unregister = on_gpu(Step::new(Op::HostUnregister { addr }), 1);
        assert_eq!(rc(&mut machine, &unregister), 0);
        assert_eq!(rc(&mut machine, &unregister), 713);
        assert_eq!(machine.host().registered().count(), 0);
    }

    #[test]
    fn a_recorded_answer_wins_over_the_models() {
        let mut machine = machine(1);
        let step = malloc(1, GIB / 2);
        assert_eq!(rc(&mut machine, &step), 0);
        assert_eq!(
            machine.adopt(&step, RC_OUT_OF_MEMORY).free,
            GIB,
            "taken back"
        );
        let step = malloc(2, 2 * GIB);
        assert_eq!(rc(&mut machine, &step), RC_OUT_OF_MEMORY);
        assert_eq!(machine.adopt(&step, 0).free, 0, "all the card has");
        assert_eq!(rc(&mut machine, &Step::new(Op::Free { id: 2 })), 0);
        assert_eq!(machine.device(0).map(Device::free_bytes), Some(GIB));
    }

    #[test]
    fn a_header_with_an_unknown_driver_is_refused() {
        let mut header = Header::one_gpu(GIB, 0);
        assert!(Machine::from_header(&header).is_ok());
        header.driver = "rtx-600".to_owned();
        assert!(Machine::from_header(&header).is_err());
    }
}
