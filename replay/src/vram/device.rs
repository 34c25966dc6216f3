//! One card: physical bytes, what holds them, and what each call answers.
//!
//! Memory is counted, not addressed: the driver maps physical blocks wherever it likes, so
//! there is no fragmentation at this level. What a call answers is a CUDA result code; what it
//! does to free memory is read with [`Device::free_bytes`].

use std::hash::{Hash, Hasher};

use rustc_hash::FxHashMap;
use tracefmt::ops::Stream;

use super::pool::Pool;
use super::profile::Profile;
use super::ranges::Node;
use super::slab::{Names, SlabPlace, Slabs};
use super::streams::{Moment, Streams};

/// `cudaErrorInvalidValue`: a pointer that is none.
pub const RC_INVALID: u32 = 1;
/// `cudaErrorMemoryAllocation`.
pub const RC_OUT_OF_MEMORY: u32 = 2;
/// `cudaErrorInvalidResourceHandle`: an event that was never recorded.
pub const RC_BAD_HANDLE: u32 = 400;

/// What holds the memory of an allocation.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// A request that failed, or for no bytes: the null pointer, which may be freed.
    Null,
    Blocks(u64),
    Slab(SlabPlace),
    Pool(Node),
}

impl Place {
    /// The place in numbers, with the rank of its slab and the address in the pool in place of
    /// names.
    fn ranked(&self, names: &Names, pool: &Pool) -> (u8, usize, u64, u64) {
        match self {
            Self::Null => (0, 0, 0, 0),
            Self::Blocks(bytes) => (1, 0, 0, *bytes),
            Self::Slab(place) => {
                let (slab, offset, bytes) = place.ranked(names);
                (2, slab, offset, bytes)
            }
            Self::Pool(node) => (3, 0, pool.start_of(*node), 0),
        }
    }
}

/// A `cudaMalloc`ed pointer that was freed on a stream and not observed yet.
#[derive(Debug, Clone, Copy)]
struct Deferred {
    stream: Stream,
    moment: Moment,
    place: Place,
}

/// One card.
#[derive(Debug, Clone)]
pub struct Device {
    profile: Profile,
    capacity: u64,
    baseline: u64,
    blocks_bytes: u64,
    slabs: Slabs,
    pool: Pool,
    streams: Streams,
    allocations: FxHashMap<u64, Place>,
    deferred: Vec<Deferred>,
    pinned_bytes: u64,
    /// Page table blocks of ranges no longer pinned, until the next `cudaFree`.
    unpinned_bytes: u64,
}

impl Device {
    /// A card with `baseline` of its `capacity` bytes in use by others.
    pub fn new(profile: Profile, capacity: u64, baseline: u64) -> Self {
        Self {
            profile,
            capacity,
            baseline,
            blocks_bytes: 0,
            slabs: Slabs::new(profile.block_bytes, profile.align_bytes),
            pool: Pool::new(&profile),
            streams: Streams::default(),
            allocations: FxHashMap::default(),
            deferred: Vec::new(),
            pinned_bytes: 0,
            unpinned_bytes: 0,
        }
    }

    /// Physical bytes in use, the baseline included.
    pub fn used_bytes(&self) -> u64 {
        // Each may be as large as an input says: what others use, and what was recorded as had.
        [
            self.baseline,
            self.blocks_bytes,
            self.slabs.live().saturating_mul(self.profile.block_bytes),
            self.pool.reserved_bytes(),
            self.pinned_bytes,
            self.unpinned_bytes,
        ]
        .into_iter()
        .fold(0, u64::saturating_add)
    }

    /// Free bytes, as `cudaMemGetInfo` gives them.
    pub fn free_bytes(&self) -> u64 {
        self.capacity.saturating_sub(self.used_bytes())
    }

    /// Bytes of memory on the card.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes that the pool holds.
    pub fn pool_reserved_bytes(&self) -> u64 {
        self.pool.reserved_bytes()
    }

    /// Bytes of the pool that a trim could give back now.
    pub fn pool_idle_bytes(&self) -> u64 {
        self.pool.idle_bytes()
    }

    /// Whether some free has not been observed yet.
    pub fn has_unobserved_frees(&self) -> bool {
        !self.deferred.is_empty() || self.pool.has_pending()
    }

    /// Whether a live allocation bears this name.
    pub fn is_live(&self, id: u64) -> bool {
        self.allocations
            .get(&id)
            .is_some_and(|place| !matches!(place, Place::Null))
    }

    /// `cudaMalloc`.
    pub fn malloc(&mut self, id: u64, bytes: u64) -> u32 {
        let place = self.place_blocks(bytes);
        self.bind(id, place)
    }

    fn place_blocks(&mut self, bytes: u64) -> Option<Place> {
        if bytes == 0 {
            return Some(Place::Null);
        }
        if bytes < self.profile.slab_below_bytes {
            if let Some(place) = self.slabs.fit(bytes) {
                return Some(Place::Slab(place));
            }
            if !self.make_room(self.profile.block_bytes) {
                return None;
            }
            return Some(Place::Slab(self.slabs.open(bytes)));
        }
        let rounded = bytes.checked_next_multiple_of(self.profile.block_bytes)?;
        if !self.make_room(rounded) {
            return None;
        }
        self.blocks_bytes = self.blocks_bytes.saturating_add(rounded);
        Some(Place::Blocks(rounded))
    }

    /// Whether `bytes` can be had, after taking all idle pool pages if need be.
    fn make_room(&mut self, bytes: u64) -> bool {
        if bytes <= self.available_bytes() {
            return true;
        }
        if self.profile.reclaims {
            self.pool.trim(0);
        }
        bytes <= self.available_bytes()
    }

    fn available_bytes(&self) -> u64 {
        self.free_bytes()
            .saturating_sub(self.profile.headroom_bytes)
    }

    /// `cudaMallocAsync` from the default pool.
    pub fn malloc_async(&mut self, id: u64, bytes: u64, stream: Stream) -> u32 {
        let place = if bytes == 0 {
            Some(Place::Null)
        } else {
            let free_bytes = self.available_bytes();
            let pool = &mut self.pool;
            let node = pool.allocate(bytes, stream, free_bytes, &mut self.streams);
            node.map(Place::Pool)
        };
        self.bind(id, place)
    }

    /// Gives a name to what was placed. A name used twice hides the first allocation, which
    /// stays allocated for good, as it would in the program.
    fn bind(&mut self, id: u64, place: Option<Place>) -> u32 {
        let rc = if place.is_some() { 0 } else { RC_OUT_OF_MEMORY };
        self.allocations.insert(id, place.unwrap_or(Place::Null));
        rc
    }

    /// A request failed in reality that succeeded here: what it got goes back.
    pub(super) fn retract(&mut self, id: u64) {
        if let Some(place) = self.allocations.insert(id, Place::Null) {
            self.release(place);
        }
    }

    /// A request succeeded in reality that failed here: its bytes count, beyond the card if
    /// they must.
    pub(super) fn insist(&mut self, id: u64, bytes: u64) {
        let rounded = bytes.checked_next_multiple_of(self.profile.block_bytes);
        let rounded = rounded.unwrap_or(bytes).min(self.capacity);
        self.blocks_bytes = self.blocks_bytes.saturating_add(rounded);
        self.allocations.insert(id, Place::Blocks(rounded));
    }

    /// `cudaFree`: waits for all running work, then frees at once.
    pub fn free(&mut self, id: u64) -> u32 {
        let Some(place) = self.allocations.remove(&id) else {
            return RC_INVALID;
        };
        if let Place::Pool(node) = place {
            self.pool.free(node);
        } else {
            self.release(place);
        }
        self.streams.sync_all();
        self.unpinned_bytes = 0;
        0
    }

    /// `cudaFreeAsync`: frees when the host has synchronised with the stream.
    pub fn free_async(&mut self, id: u64, stream: Stream) -> u32 {
        let Some(place) = self.allocations.remove(&id) else {
            return RC_INVALID;
        };
        let moment = self.streams.free(stream);
        match place {
            Place::Null => {}
            Place::Pool(node) => self.pool.free_async(node, stream, moment),
            Place::Blocks(_) | Place::Slab(_) => self.deferred.push(Deferred {
                stream,
                moment,
                place,
            }),
        }
        0
    }

    fn release(&mut self, place: Place) {
        match place {
            Place::Null => {}
            Place::Blocks(bytes) => self.blocks_bytes = self.blocks_bytes.saturating_sub(bytes),
            Place::Slab(place) => {
                self.slabs.free(place);
            }
            Place::Pool(node) => self.pool.free(node),
        }
    }

    /// `cudaStreamSynchronize`.
    pub fn sync_stream(&mut self, stream: Stream) -> u32 {
        self.streams.sync(stream);
        let before = self.streams.before(stream);
        self.observe(|freed_on, moment| before.covers(freed_on, moment));
        0
    }

    /// `cudaDeviceSynchronize`.
    pub fn sync_all(&mut self) -> u32 {
        self.streams.sync_all();
        self.observe(|_stream, _moment| true);
        0
    }

    /// `cudaEventSynchronize`.
    pub fn sync_event(&mut self, event: u64) -> u32 {
        let Some(before) = self.streams.sync_event(event) else {
            return RC_BAD_HANDLE;
        };
        self.observe(|freed_on, moment| before.covers(freed_on, moment));
        0
    }

    fn observe(&mut self, observed: impl Fn(Stream, Moment) -> bool) {
        let mut at = 0;
        while let Some(deferred) = self.deferred.get(at).copied() {
            if observed(deferred.stream, deferred.moment) {
                self.deferred.remove(at);
                self.release(deferred.place);
            } else {
                at += 1;
            }
        }
        self.pool.observe(observed);
    }

    /// `cudaEventRecord`.
    pub fn record_event(&mut self, event: u64, stream: Stream) -> u32 {
        self.streams.record(event, stream);
        0
    }

    /// `cudaStreamWaitEvent`; an event that was never recorded is no wait at all.
    pub fn wait_event(&mut self, stream: Stream, event: u64) -> u32 {
        self.streams.wait(stream, event);
        0
    }

    /// Work is queued on a stream.
    pub fn launch(&mut self, stream: Stream) -> u32 {
        self.streams.launch(stream);
        0
    }

    /// `cudaMemPoolTrimTo`.
    pub fn trim(&mut self, keep: u64) -> u32 {
        self.pool.trim(keep);
        0
    }

    /// The pool's release threshold.
    pub fn set_threshold(&mut self, bytes: u64) -> u32 {
        self.pool.set_threshold(bytes);
        0
    }

    /// Host memory is pinned: page tables for it cost device memory by the whole GiB.
    pub fn pin(&mut self, host_bytes: u64) {
        let cost = self.pin_cost(host_bytes);
        self.pinned_bytes = self.pinned_bytes.saturating_add(cost);
    }

    /// Host memory is no longer pinned; one block of its page tables stays until a `cudaFree`.
    pub fn unpin(&mut self, host_bytes: u64) {
        let cost = self.pin_cost(host_bytes);
        self.pinned_bytes = self.pinned_bytes.saturating_sub(cost);
        let stays = cost.min(self.profile.block_bytes);
        self.unpinned_bytes = self.unpinned_bytes.saturating_add(stays);
    }

    /// Roughly how many bytes the model of it takes.
    pub(crate) fn size_bytes(&self) -> usize {
        let table = self.allocations.capacity() * 48 + self.deferred.capacity() * 64;
        let parts = self.slabs.size_bytes() + self.pool.size_bytes() + self.streams.size_bytes();
        size_of::<Self>() + table + parts
    }

    fn pin_cost(&self, host_bytes: u64) -> u64 {
        (host_bytes >> 30).saturating_mul(self.profile.pin_bytes_per_gib)
    }
}

/// Two cards that answer alike from now on hash alike, however they came there: the order of
/// tables, how far streams have counted and what slabs are called do not show.
impl Hash for Device {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let deferred = self.deferred.iter();
        let deferred = deferred.map(|free| (free.stream, free.moment));
        let ranks = self.streams.ranks(deferred.chain(self.pool.pending()));
        let names = self.slabs.names();
        let mut named: Vec<_> = self.allocations.iter().collect();
        named.sort_unstable_by_key(|(id, _)| **id);
        named.len().hash(state);
        for (id, place) in named {
            (id, place.ranked(&names, &self.pool)).hash(state);
        }
        // All of these go back when they are observed, in whatever order they stand.
        let mut waiting: Vec<_> = self
            .deferred
            .iter()
            .map(|free| {
                let moment = ranks.moment(free.stream, free.moment);
                (free.stream, moment, free.place.ranked(&names, &self.pool))
            })
            .collect();
        waiting.sort_unstable();
        waiting.hash(state);
        (self.capacity, self.baseline, self.blocks_bytes).hash(state);
        (self.pinned_bytes, self.unpinned_bytes).hash(state);
        self.slabs.hash_ranked(&names, state);
        self.pool.hash_ranked(&ranks, state);
        self.streams.hash_ranked(&ranks, state);
    }
}

#[cfg(test)]
#[path = "device_tests.rs"]
mod tests;
