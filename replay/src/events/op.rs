//! The op that an event stands for, with its recorded result code where it has one.

use tracefmt::event::{self, What};
use tracefmt::ops::{Op, Stream, Work};

/// An op and its recorded code.
type Told = (Op, Option<i32>);

/// The op of an event; none for what is not about memory, locks or streams.
pub(super) fn of(what: &What<'_>) -> Option<Told> {
    memory(what).or_else(|| order(what)).or_else(|| host(what))
}

/// Device memory.
fn memory(what: &What<'_>) -> Option<Told> {
    Some(match what {
        What::VramAlloc(alloc) => {
            let (id, bytes) = (alloc.id, alloc.bytes);
            let on = alloc.stream.filter(|_stream| is_async(&alloc.api));
            let op = on.map_or(Op::Malloc { id, bytes }, |on| Op::MallocAsync {
                id,
                bytes,
                stream: stream(on),
            });
            (op, Some(alloc.rc))
        }
        What::VramFree {
            id,
            api,
            stream: on,
            rc,
            ..
        } => {
            let id = *id;
            let on = on.filter(|_stream| is_async(api));
            let op = on.map_or(Op::Free { id }, |on| Op::FreeAsync {
                id,
                stream: stream(on),
            });
            (op, Some(*rc))
        }
        What::PoolTrim { keep, rc } => (Op::Trim { keep: *keep }, Some(*rc)),
        What::MemInfo { .. } => {
            let (need, margin) = (None, None);
            (Op::MemGetInfo { need, margin }, Some(0))
        }
        _ => return None,
    })
}

/// Streams, events, kernels.
fn order(what: &What<'_>) -> Option<Told> {
    Some(match what {
        What::Sync {
            stream: on,
            event,
            rc,
            ..
        } => {
            let op = match (on, event) {
                (Some(on), _) => Op::StreamSync {
                    stream: stream(*on),
                },
                (None, Some(event)) => Op::EventSync { event: *event },
                (None, None) => Op::CtxSync,
            };
            (op, Some(*rc))
        }
        What::EventRecord {
            event,
            stream: on,
            rc,
        } => {
            let (event, stream) = (*event, stream(*on));
            (Op::EventRecord { event, stream }, Some(*rc))
        }
        What::StreamWait {
            event,
            stream: on,
            rc,
        } => {
            let (event, stream) = (*event, stream(*on));
            (Op::StreamWait { stream, event }, Some(*rc))
        }
        What::Launch {
            op,
            stream: on,
            reads,
            writes,
            rc,
            ..
        } => {
            let work = Work::new(stream(*on), reads.clone(), writes.clone(), None);
            let op = match op.as_ref() {
                "h2d" => Op::CopyHtoD(work),
                "d2h" => Op::CopyDtoH(work),
                _ => Op::Launch(work),
            };
            (op, Some(*rc))
        }
        _ => return None,
    })
}

/// Locks and host memory.
fn host(what: &What<'_>) -> Option<Told> {
    Some(match what {
        What::HostReg { addr, bytes, rc } => {
            let (addr, bytes) = (*addr, *bytes);
            (Op::HostRegister { addr, bytes }, Some(*rc))
        }
        What::HostUnreg { addr, rc } => (Op::HostUnregister { addr: *addr }, Some(*rc)),
        What::LockAcq { lock } => {
            let name = lock.to_string().into();
            // It got the lock: an order that is not recorded is not made up.
            (Op::Lock { name }, Some(0))
        }
        What::LockRel { lock } => {
            let name = lock.to_string().into();
            (Op::Unlock { name }, None)
        }
        _ => return None,
    })
}

fn stream(from: event::Stream) -> Stream {
    match from {
        event::Stream::Legacy => Stream::Legacy,
        event::Stream::Id(number) => Stream::Id(u64::from(number)),
    }
}

fn is_async(api: &str) -> bool {
    api.contains("Async")
}
