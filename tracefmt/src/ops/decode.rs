//! From the keys of one line to a step.

use serde_json::Value;

use super::fields::{FieldError, Fields, describe, shorten};
use super::{OnError, Op, Step, Stream, Truth, Work};

const STREAM_FORM: &str = "a stream: an integer, or \"legacy\"";
const IDS_FORM: &str = "a list of allocation ids";

/// Reads a step out of parsed keys and leaves `fields` empty for the next line.
pub(super) fn step(fields: &mut Fields) -> Result<Step, FieldError> {
    let name = fields.need_text("op")?;
    let op = op(&name, fields)?;
    let mut step = Step::new(op);
    step.worker = fields.take_u32("worker")?;
    step.set_thread(fields.take_u64("thread")?);
    step.set_job(fields.take_text("job")?.as_deref());
    step.set_partition(fields.take_u32("partition")?);
    step.set_buf(fields.take_text("buf")?.as_deref());
    step.gpu = fields.take_u32("gpu")?;
    step.set_on_error(on_error(fields)?);
    step.set_truth(Truth {
        rc: fields.take_u32("rc")?,
        free: fields.take_u64("free")?,
        pool_reserved: fields.take_u64("pool_reserved")?,
        pool_used: fields.take_u64("pool_used")?,
    });
    step.set_extra(fields.drain_extra());
    Ok(step)
}

fn op(name: &str, fields: &mut Fields) -> Result<Op, FieldError> {
    match name {
        "lock" | "unlock" | "barrier" | "label" | "panic" => control(name, fields),
        "hostMap" | "hostUnmap" | "hostRegister" | "hostUnregister" => host(name, fields),
        "launch" => Ok(Op::Launch(work(fields)?)),
        "copyHtoD" => Ok(Op::CopyHtoD(work(fields)?)),
        "copyDtoH" => Ok(Op::CopyDtoH(work(fields)?)),
        _ => device(name, fields),
    }
}

fn device(name: &str, fields: &mut Fields) -> Result<Op, FieldError> {
    Ok(match name {
        "malloc" => Op::Malloc {
            id: fields.need_u64("id")?,
            bytes: fields.need_u64("bytes")?,
        },
        "mallocAsync" => Op::MallocAsync {
            id: fields.need_u64("id")?,
            bytes: fields.need_u64("bytes")?,
            stream: stream(fields)?,
        },
        "free" => Op::Free {
            // `free` is also the recorded truth of free bytes; the allocation is `id`.
            id: fields.need_u64("id")?,
        },
        "freeAsync" => Op::FreeAsync {
            id: fields.need_u64("id")?,
            stream: stream(fields)?,
        },
        "streamSync" => Op::StreamSync {
            stream: stream(fields)?,
        },
        "ctxSync" => Op::CtxSync,
        "eventRecord" => Op::EventRecord {
            event: fields.need_u64("event")?,
            stream: stream(fields)?,
        },
        "streamWait" => Op::StreamWait {
            stream: stream(fields)?,
            event: fields.need_u64("event")?,
        },
        "eventSync" => Op::EventSync {
            event: fields.need_u64("event")?,
        },
        "trim" => Op::Trim {
            keep: fields.need_u64("keep")?,
        },
        "setThreshold" => Op::SetThreshold {
            bytes: fields.need_u64("bytes")?,
        },
        "memGetInfo" => Op::MemGetInfo {
            need: fields.take_u64("need")?,
            margin: fields.take_u64("margin")?.map(Box::new),
        },
        "getLastError" => Op::GetLastError,
        "peekLastError" => Op::PeekLastError,
        _ => return Err(unknown_op(name)),
    })
}

fn host(name: &str, fields: &mut Fields) -> Result<Op, FieldError> {
    let addr = fields.need_u64("addr")?;
    if name == "hostUnregister" {
        return Ok(Op::HostUnregister { addr });
    }
    let bytes = fields.need_u64("bytes")?;
    Ok(match name {
        "hostMap" => Op::HostMap { addr, bytes },
        "hostUnmap" => Op::HostUnmap { addr, bytes },
        _ => Op::HostRegister { addr, bytes },
    })
}

fn control(name: &str, fields: &mut Fields) -> Result<Op, FieldError> {
    if name == "panic" {
        let unwind = match fields.take("unwind") {
            None => false,
            Some(Value::Bool(unwind)) => unwind,
            Some(other) => {
                return Err(FieldError::new("unwind", "true or false", describe(&other)));
            }
        };
        return Ok(Op::Panic { unwind });
    }
    let label = fields.need_text("name")?.into_boxed_str();
    Ok(match name {
        "lock" => Op::Lock { name: label },
        "unlock" => Op::Unlock { name: label },
        "barrier" => Op::Barrier {
            name: label,
            n: fields.need_u64("n")?,
        },
        _ => Op::Label { name: label },
    })
}

fn work(fields: &mut Fields) -> Result<Work, FieldError> {
    let stream = stream(fields)?;
    let ms = match fields.take("ms") {
        None => None,
        Some(value) => match value.as_f64() {
            Some(ms) if ms >= 0.0 => Some(ms),
            _ => return Err(FieldError::new("ms", "milliseconds >= 0", describe(&value))),
        },
    };
    let (reads, writes) = (ids("reads", fields)?, ids("writes", fields)?);
    Ok(Work::new(stream, reads, writes, ms))
}

fn ids(key: &str, fields: &mut Fields) -> Result<Vec<u64>, FieldError> {
    match fields.take(key) {
        None => Ok(Vec::new()),
        Some(Value::Array(list)) => list
            .iter()
            .map(|item| {
                item.as_u64()
                    .ok_or_else(|| FieldError::new(key, IDS_FORM, describe(item)))
            })
            .collect(),
        Some(other) => Err(FieldError::new(key, IDS_FORM, describe(&other))),
    }
}

fn stream(fields: &mut Fields) -> Result<Stream, FieldError> {
    let value = fields
        .take("stream")
        .ok_or_else(|| FieldError::new("stream", STREAM_FORM, "no such key".to_owned()))?;
    match (&value, value.as_u64()) {
        (_, Some(number)) => Ok(Stream::Id(number)),
        (Value::String(text), None) if text == "legacy" => Ok(Stream::Legacy),
        _ => Err(FieldError::new("stream", STREAM_FORM, describe(&value))),
    }
}

fn on_error(fields: &mut Fields) -> Result<OnError, FieldError> {
    let Some(text) = fields.take_text("on_error")? else {
        return Ok(OnError::Abort);
    };
    OnError::parse(&text).ok_or_else(|| {
        FieldError::new(
            "on_error",
            "abort, ignore or fallback:<label>",
            shorten(&text),
        )
    })
}

fn unknown_op(name: &str) -> FieldError {
    let known: Vec<&str> = Op::names().collect();
    let expected = format!("one of {}", known.join(", "));
    FieldError::new("op", &expected, format!("\"{}\"", shorten(name)))
}
