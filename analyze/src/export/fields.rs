//! The fields of a device event as JSON members, named as in the trace format.

use serde_json::{Value, json};

use tracefmt::event::{Stream, What};

/// An object with the event's own fields; empty for events that have none.
pub(super) fn fields(what: &What<'_>) -> Value {
    match what {
        What::VramAlloc(alloc) => json!({
            "id": alloc.id, "buf": alloc.buf, "bytes": alloc.bytes, "api": alloc.api,
            "stream": alloc.stream.map(stream), "rc": alloc.rc,
        }),
        What::VramFree {
            id,
            buf,
            bytes,
            api,
            stream: on,
            rc,
        } => json!({
            "id": id, "buf": buf, "bytes": bytes, "api": api,
            "stream": on.map(stream), "rc": rc,
        }),
        What::HostReg { addr, bytes, rc } => json!({"addr": addr, "bytes": bytes, "rc": rc}),
        What::HostUnreg { addr, rc } => json!({"addr": addr, "rc": rc}),
        What::LockWait { lock } | What::LockAcq { lock } | What::LockRel { lock } => {
            json!({"lock": lock})
        }
        What::Sync {
            scope,
            stream: on,
            event,
            rc,
        } => json!({"scope": scope, "stream": on.map(stream), "event": event, "rc": rc}),
        What::EventRecord {
            event,
            stream: on,
            rc,
        }
        | What::StreamWait {
            event,
            stream: on,
            rc,
        } => json!({"event": event, "stream": stream(*on), "rc": rc}),
        What::Launch {
            op,
            phase,
            stream: on,
            reads,
            writes,
            rc,
        } => json!({
            "op": op, "phase": phase, "stream": stream(*on),
            "reads": reads, "writes": writes, "rc": rc,
        }),
        What::PoolTrim { keep, rc } => json!({"keep": keep, "rc": rc}),
        What::MemInfo { free, total } => json!({"free": free, "total": total}),
        What::PlanFallback {
            id,
            free,
            need,
            plan,
        } => json!({"id": id, "free": free, "need": need, "plan": plan}),
        What::Other { detail, .. } => json!({"detail": detail}),
        _ => json!({}),
    }
}

fn stream(stream: Stream) -> Value {
    match stream {
        Stream::Legacy => json!("legacy"),
        Stream::Id(id) => json!(id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_and_streams_are_named() {
        let lock = "gpu<0>".into();
        assert_eq!(fields(&What::LockAcq { lock })["lock"], "gpu<0>");
        let record = What::EventRecord {
            event: 4,
            stream: Stream::Legacy,
            rc: 0,
        };
        let expected = json!({"event": 4, "stream": "legacy", "rc": 0});
        assert_eq!(fields(&record), expected);
        assert_eq!(fields(&What::GpuPickup), json!({}));
    }
}
