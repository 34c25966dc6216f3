//! Pinned host memory of each call: which addresses it has, and whether it lets go of them.
//!
//! From the versions that stage ahead on, a call pins its input vectors before the lock and lets
//! go of them after it. A log shows only where pinning failed. From that the rest is read off:
//! when it fails with 712, the call before it that took a way around (staging skipped or failed,
//! a call that died) is taken to have kept its registration, and the failing calls to have been
//! given its addresses. Where no call took a way around, no cause is made up: the failure stands
//! as recorded.
//!
//! The three vectors stand in the schedule as one range of one page: what pinning them costs the
//! card is in the measured use by others, since the log prints free memory after it.

use std::collections::BTreeMap;

use tracefmt::ops::{OnError, Op};
use tracefmt::run::{LineRef, MarkKind, Outcome, Run};

use super::ops::Partition;
use crate::vram::RC_ALREADY_REGISTERED;

/// Bytes of the range that stands for a call's vectors.
const RANGE_BYTES: u64 = 4096;

/// A call's pinned memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pinned {
    addr: u64,
    /// Where pinning happens: the line that says that it failed, else the call's first line.
    pub(super) line: LineRef,
    /// The code with which it failed, if it did.
    failed: Option<u32>,
    /// Where the call gives its memory back without letting go of the registration, if it does.
    keeps_from: Option<LineRef>,
}

/// The pinned memory of every call, by call.
pub(super) fn of(run: &Run) -> BTreeMap<usize, Pinned> {
    let mut all: BTreeMap<usize, Pinned> = BTreeMap::new();
    for (index, call) in run.calls.iter().enumerate() {
        let failure = run
            .marks_of(index)
            .find(|mark| mark.kind() == MarkKind::HostRegister);
        let code = failure.map(|mark| u32::try_from(mark.second()).unwrap_or(u32::MAX));
        let pinned = Pinned {
            addr: (index as u64 + 1) << 40,
            line: failure.map_or(call.start.line, |mark| mark.line()),
            failed: code,
            keeps_from: None,
        };
        all.insert(index, pinned);
    }
    let Some((line, culprit, addr)) = culprit(run, &all) else {
        return all;
    };
    for (index, pinned) in &mut all {
        pinned.keeps_from = (*index == culprit).then_some(line);
        if pinned.failed == Some(RC_ALREADY_REGISTERED) {
            pinned.addr = addr;
        }
    }
    all
}

/// The last call before the first 712 that went a way around the one on which memory is
/// unpinned: the line that says so, the call, and its address.
fn culprit(run: &Run, all: &BTreeMap<usize, Pinned>) -> Option<(LineRef, usize, u64)> {
    let again = |pinned: &&Pinned| pinned.failed == Some(RC_ALREADY_REGISTERED);
    let first = all.values().filter(again).map(|pinned| pinned.line).min()?;
    let around = |index: usize| -> Option<LineRef> {
        let ways = [MarkKind::PrestageSkip, MarkKind::PrestageFallback];
        let mark = run.marks_of(index).find(|mark| ways.contains(&mark.kind()));
        let call = run.calls.get(index)?;
        let task = run.tasks.get(call.task as usize)?;
        let died = (task.outcome == Outcome::Failed).then_some(task.failure);
        mark.map(|mark| mark.line()).or(died.flatten())
    };
    let ways = all
        .iter()
        .filter(|(_, pinned)| pinned.failed.is_none())
        .filter_map(|(index, pinned)| Some((around(*index)?, *index, pinned.addr)));
    ways.filter(|(line, ..)| *line < first).max()
}

impl Pinned {
    /// Maps and pins; what cannot be pinned is copied unpinned.
    pub(super) fn pin(&self, partition: &mut Partition<'_>) {
        let (addr, bytes) = (self.addr, RANGE_BYTES);
        partition.push(Op::HostMap { addr, bytes });
        let step = partition.push(Op::HostRegister { addr, bytes });
        step.set_buf(Some("abc"));
        step.set_on_error(OnError::Ignore);
        step.rc = self.failed;
    }

    /// Lets go, unless there is nothing to let go of or the call forgets to; unmaps. Gives the
    /// line at which that happens: that of the way around, since the address could not have been
    /// given out again otherwise, or the `end` of the call.
    pub(super) fn unpin(
        &self,
        partition: &mut Partition<'_>,
        end: Option<LineRef>,
    ) -> Option<LineRef> {
        let (addr, bytes) = (self.addr, RANGE_BYTES);
        let line = self.keeps_from.or(end)?;
        if self.failed.is_none() && self.keeps_from.is_none() {
            let step = partition.push(Op::HostUnregister { addr });
            step.set_buf(Some("abc"));
        }
        partition.push(Op::HostUnmap { addr, bytes });
        Some(line)
    }
}
