//! The stream-ordered pool (`cudaMallocAsync`): where a request goes, and when pages go back.
//!
//! A request takes the first of these that is long enough, the tightest of each kind:
//! 1. a range that its own stream freed;
//! 2. a general range whose pages are all mapped;
//! 3. a range that another stream freed, if that free is done or ordered before the request;
//! 4. any general range, after all free ranges whose frees are done have become general. Pages
//!    that are missing there are moved from idle places, highest first, then taken from free
//!    memory. If that is not enough, what could be had stays mapped up to the threshold;
//! 5. a range that another stream freed behind running work: the request is made to wait.
//!
//! Found by replaying recorded address sequences; `docs/vram-model.md` has the evidence.

use std::hash::{Hash, Hasher};

use tracefmt::ops::Stream;

use super::profile::Profile;
use super::ranges::Node;
use super::space::{SPACE_END, Space};
use super::streams::{Moment, Ranks, Streams};

/// Pages that a pool holds at most, 4 TiB of them: each is counted by itself, and what a header
/// says of its card is no measure. A request beyond them fails.
const PAGES_MAX: u64 = 1 << 17;

/// The default pool of one card.
#[derive(Debug, Clone)]
pub(super) struct Pool {
    page_bytes: u64,
    align_bytes: u64,
    threshold_bytes: u64,
    space: Space,
}

impl Pool {
    pub(super) fn new(profile: &Profile) -> Self {
        Self {
            page_bytes: profile.page_bytes,
            align_bytes: profile.align_bytes,
            threshold_bytes: 0,
            space: Space::new(profile.page_bytes / profile.align_bytes),
        }
    }

    /// Bytes that the pool holds.
    pub(super) fn reserved_bytes(&self) -> u64 {
        self.space.pages.mapped() * self.page_bytes
    }

    /// Bytes that the pool holds and could give back at once.
    pub(super) fn idle_bytes(&self) -> u64 {
        self.space.pages.idle() * self.page_bytes
    }

    /// Whether a free in the pool is waiting to be observed.
    pub(super) fn has_pending(&self) -> bool {
        self.space.has_pending()
    }

    /// Allocates with at most `free_bytes` of new memory; `None` when out of memory.
    pub(super) fn allocate(
        &mut self,
        bytes: u64,
        stream: Stream,
        free_bytes: u64,
        streams: &mut Streams,
    ) -> Option<Node> {
        let units = bytes.div_ceil(self.align_bytes);
        if units > SPACE_END / 2 {
            return None;
        }
        let node = self
            .ready(units, stream, streams)
            .or_else(|| self.grow(units, free_bytes, streams))
            .or_else(|| {
                let behind = self.space.foreign(stream, units, |_, _| true)?;
                // The driver makes the stream wait: what follows on it follows that work.
                streams.launch(stream);
                Some(behind)
            })?;
        self.space.take(node, units);
        Some(node)
    }

    /// Where a block begins, in units of the alignment.
    pub(super) fn start_of(&self, node: Node) -> u64 {
        self.space.span(node).start
    }

    /// A range that needs no new page and no wait.
    fn ready(&mut self, units: u64, stream: Stream, streams: &Streams) -> Option<Node> {
        let reusable = |freed_on: Stream, moment: Moment| {
            streams.is_done(freed_on, moment) || streams.is_after(stream, freed_on, moment)
        };
        self.space
            .own(stream, units)
            .or_else(|| self.space.general_mapped(units))
            .or_else(|| self.space.foreign(stream, units, reusable))
    }

    /// Makes a general range of `units` with all its pages mapped.
    fn grow(&mut self, units: u64, free_bytes: u64, streams: &Streams) -> Option<Node> {
        self.space
            .settle(|stream, moment| streams.is_done(stream, moment));
        let node = self.space.general(units)?;
        let start = self.space.span(node).start;
        let range = self.space.pages_of(start, start + units);
        let pages = &mut self.space.pages;
        let missing = range.len() as u64 - pages.mapped_in(&range);
        let moved = missing.min(pages.idle() - pages.idle_in(&range));
        let room = PAGES_MAX.saturating_sub(pages.mapped());
        let new_max = (free_bytes / self.page_bytes).min(room);
        let new = (missing - moved).min(new_max);
        pages.unmap_outside(&range, moved);
        pages.map(range, moved + new);
        if moved + new < missing {
            self.trim(self.threshold_bytes);
            return None;
        }
        Some(node)
    }

    /// `cudaFree`: general at once; its own pages go back down to the threshold.
    pub(super) fn free(&mut self, node: Node) {
        let span = self.space.give(node);
        let range = self.space.pages_of(span.start, span.end);
        let excess = self.pages_above(self.threshold_bytes);
        self.space.pages.unmap_in(range, excess);
    }

    /// `cudaFreeAsync`: pending until observed.
    pub(super) fn free_async(&mut self, node: Node, stream: Stream, moment: Moment) {
        self.space.give_pending(node, stream, moment);
    }

    /// A synchronisation: what it observes becomes general, pages go back to the threshold.
    pub(super) fn observe(&mut self, observed: impl Fn(Stream, Moment) -> bool) {
        self.space.settle(observed);
        self.trim(self.threshold_bytes);
    }

    /// Gives idle pages back until at most `keep` bytes are held.
    pub(super) fn trim(&mut self, keep: u64) {
        let excess = self.pages_above(keep);
        self.space.pages.unmap(excess);
    }

    pub(super) fn set_threshold(&mut self, bytes: u64) {
        self.threshold_bytes = bytes;
    }

    /// The frees in the pool that are pending.
    pub(super) fn pending(&self) -> impl Iterator<Item = (Stream, Moment)> + '_ {
        self.space.pending()
    }

    /// Hashes what decides later answers.
    pub(super) fn hash_ranked<H: Hasher>(&self, ranks: &Ranks, state: &mut H) {
        self.threshold_bytes.hash(state);
        self.space.hash_ranked(ranks, state);
    }

    /// Roughly how many bytes it takes.
    pub(super) fn size_bytes(&self) -> usize {
        self.space.size_bytes()
    }

    fn pages_above(&self, keep: u64) -> u64 {
        self.reserved_bytes()
            .saturating_sub(keep)
            .div_ceil(self.page_bytes)
    }
}
