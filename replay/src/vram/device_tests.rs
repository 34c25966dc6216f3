//! What a card answers, case by case, with the sizes of the real thing (GiB).

use super::*;
use crate::vram::{H200_580, STRICT};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const S1: Stream = Stream::Id(1);
const S2: Stream = Stream::Id(2);

/// Sixteen GiB, and the headroom on top, so that round numbers fit exactly.
fn card() -> Device {
    Device::new(H200_580, 16 * GIB + 2 * MIB, 0)
}

fn free_gib(card: &Device) -> f64 {
    (card.free_bytes() - 2 * MIB) as f64 / GIB as f64
}

#[test]
fn blocks_round_up_and_holes_do_not_matter() {
    let mut card = card();
    for id in 0..14 {
        assert_eq!(card.malloc(id, GIB), 0);
    }
    for id in (0..14).step_by(2) {
        assert_eq!(card.free(id), 0);
    }
    assert_eq!(card.malloc(100, 5 * GIB), 0, "five GiB in holes of one");
    let before = card.free_bytes();
    card.malloc(101, 2 * MIB + 1);
    assert_eq!(before - card.free_bytes(), 4 * MIB);
}

#[test]
fn the_last_two_mib_cannot_be_had() {
    let mut card = Device::new(H200_580, 10 * MIB, 0);
    assert_eq!(card.malloc(1, 10 * MIB), RC_OUT_OF_MEMORY);
    assert_eq!(card.malloc(1, 8 * MIB), 0);
    assert_eq!(card.malloc(2, 1), RC_OUT_OF_MEMORY);
    assert_eq!(card.free_bytes(), 2 * MIB);
}

#[test]
fn a_freed_pool_page_is_out_of_reach_until_observed() {
    for threshold in [0, u64::MAX] {
        let mut card = card();
        card.set_threshold(threshold);
        card.malloc_async(1, 8 * GIB, S1);
        card.free_async(1, S1);
        assert_eq!(card.malloc(2, 12 * GIB), RC_OUT_OF_MEMORY);
        card.sync_stream(S2);
        assert_eq!(
            card.malloc(2, 12 * GIB),
            RC_OUT_OF_MEMORY,
            "the wrong stream"
        );
        card.sync_stream(S1);
        let kept = if threshold == 0 { 0 } else { 8 * GIB };
        assert_eq!(card.pool_reserved_bytes(), kept);
        assert_eq!(card.malloc(2, 12 * GIB), 0, "reclaimed on demand");
    }
}

#[test]
fn a_strict_driver_does_not_reclaim() {
    let mut card = Device::new(STRICT, 16 * GIB + 2 * MIB, 0);
    card.set_threshold(u64::MAX);
    card.malloc_async(1, 8 * GIB, S1);
    card.free_async(1, S1);
    card.sync_all();
    assert_eq!(card.malloc(2, 12 * GIB), RC_OUT_OF_MEMORY);
    card.trim(0);
    assert_eq!(card.malloc(2, 12 * GIB), 0);
}

#[test]
fn the_threshold_is_what_a_synchronisation_leaves() {
    let mut card = card();
    card.set_threshold(GIB);
    card.malloc_async(1, 8 * GIB, S1);
    card.free_async(1, S1);
    card.sync_stream(S1);
    assert_eq!(card.pool_reserved_bytes(), GIB);
    assert_eq!(card.pool_idle_bytes(), GIB);
}

#[test]
fn a_malloced_pointer_freed_on_the_legacy_stream_waits_for_that_stream() {
    let mut card = card();
    for id in 0..4 {
        assert_eq!(card.malloc(id, 4 * GIB), 0);
        assert_eq!(card.free_async(id, Stream::Legacy), 0);
        card.sync_stream(S1);
    }
    assert!(card.has_unobserved_frees());
    assert_eq!(card.malloc(9, 4 * GIB), RC_OUT_OF_MEMORY);
    card.sync_stream(Stream::Legacy);
    assert!((free_gib(&card) - 16.0).abs() < 1e-9);
    assert!(!card.has_unobserved_frees());
}

#[test]
fn the_pool_moves_idle_pages_instead_of_growing() {
    let mut card = card();
    card.malloc_async(1, 8 * GIB, S1);
    card.free_async(1, S1);
    assert_eq!(card.malloc_async(2, 12 * GIB, S2), 0);
    assert_eq!(
        card.pool_reserved_bytes(),
        12 * GIB,
        "four more, not twelve"
    );
}

#[test]
fn a_request_behind_running_work_of_another_stream_grows_or_waits() {
    let mut card = card();
    card.set_threshold(u64::MAX);
    card.malloc_async(1, 8 * GIB, S1);
    card.launch(S1);
    card.free_async(1, S1);
    assert_eq!(card.malloc_async(2, 4 * GIB, S2), 0);
    assert_eq!(
        card.pool_reserved_bytes(),
        12 * GIB,
        "grew: the first eight are in use"
    );
    assert_eq!(card.malloc_async(3, 8 * GIB, S2), 0, "made to wait");
    assert_eq!(
        card.pool_reserved_bytes(),
        16 * GIB,
        "after taking all there was"
    );
    assert_eq!(card.malloc_async(4, 8 * GIB, S2), RC_OUT_OF_MEMORY);
}

#[test]
fn an_event_orders_a_reuse() {
    let mut card = card();
    card.malloc_async(1, 8 * GIB, S1);
    card.launch(S1);
    card.free_async(1, S1);
    card.record_event(5, S1);
    card.wait_event(S2, 5);
    assert_eq!(card.malloc_async(2, 8 * GIB, S2), 0);
    assert_eq!(card.pool_reserved_bytes(), 8 * GIB);
}

#[test]
fn an_event_observes_the_frees_before_it() {
    let mut card = card();
    card.malloc_async(1, GIB, S1);
    card.malloc(2, GIB);
    card.free_async(1, S1);
    card.free_async(2, S1);
    assert_eq!(card.sync_event(5), RC_BAD_HANDLE);
    card.record_event(5, S1);
    assert!((free_gib(&card) - 14.0).abs() < 1e-9);
    assert_eq!(card.sync_event(5), 0);
    assert!((free_gib(&card) - 16.0).abs() < 1e-9);
}

/// Measured: a stream that waited for an event of another observes, when it is synchronised,
/// what the other had freed before the event; `cudaFree` and copies observe nothing.
#[test]
fn a_stream_that_waited_observes_for_the_other() {
    let mut card = card();
    card.malloc_async(1, 4 * GIB, S1);
    card.free_async(1, S1);
    card.record_event(5, S1);
    card.wait_event(S2, 5);
    card.sync_stream(S2);
    assert_eq!(card.pool_reserved_bytes(), 0);
    card.malloc_async(1, 4 * GIB, S1);
    card.free_async(1, S1);
    card.sync_stream(S2);
    assert_eq!(card.pool_reserved_bytes(), 4 * GIB, "freed after the event");
}

#[test]
fn a_reused_block_is_pending_where_it_was_freed_last() {
    let mut card = card();
    card.malloc_async(1, 4 * GIB, S1);
    card.free_async(1, S1);
    card.malloc_async(2, 4 * GIB, Stream::Id(3));
    card.free_async(2, Stream::Id(3));
    card.sync_stream(S1);
    // One block was reused by stream 3 and is pending there: nothing waited for that.
    assert!(card.has_unobserved_frees());
    card.sync_stream(Stream::Id(3));
    assert_eq!(card.pool_reserved_bytes(), 0);
}

#[test]
fn a_cuda_free_observes_no_free_of_others() {
    let mut card = card();
    card.malloc(1, 4 * GIB);
    card.malloc(2, MIB);
    card.free_async(1, Stream::Legacy);
    card.free(2);
    assert!(card.has_unobserved_frees());
}

#[test]
fn a_cuda_free_of_a_pool_block_returns_its_own_pages_at_once() {
    let mut card = card();
    card.malloc_async(1, 64 * MIB, S1);
    card.malloc_async(2, 64 * MIB, S1);
    card.free_async(1, S1);
    assert_eq!(card.free(2), 0);
    assert_eq!(card.pool_reserved_bytes(), 64 * MIB);
}

#[test]
fn a_pointer_is_freed_once_and_a_null_pointer_as_often_as_you_like() {
    let mut card = card();
    assert_eq!(card.free(1), RC_INVALID);
    card.malloc(1, GIB);
    assert!(card.is_live(1));
    assert_eq!(card.free(1), 0);
    assert_eq!(card.free(1), RC_INVALID);
    assert_eq!(card.free_async(1, S1), RC_INVALID);
    assert_eq!(card.malloc(2, 64 * GIB), RC_OUT_OF_MEMORY);
    assert!(!card.is_live(2));
    assert_eq!(card.free(2), 0, "the failed request left a null pointer");
    assert_eq!(card.malloc(3, 0), 0);
    assert_eq!(card.malloc_async(4, 0, S1), 0);
    assert_eq!(card.free_bytes(), card.capacity());
}

#[test]
fn sizes_without_sense_are_out_of_memory_and_nothing_else() {
    let mut card = card();
    for bytes in [u64::MAX, u64::MAX - 1, 1 << 63, 1 << 57] {
        assert_eq!(card.malloc(1, bytes), RC_OUT_OF_MEMORY);
        assert_eq!(card.malloc_async(2, bytes, S1), RC_OUT_OF_MEMORY);
    }
    assert_eq!(card.free_bytes(), card.capacity());
}

#[test]
fn a_baseline_above_the_capacity_leaves_nothing() {
    let mut card = Device::new(H200_580, GIB, 2 * GIB);
    assert_eq!(card.free_bytes(), 0);
    assert_eq!(card.malloc(1, 1), RC_OUT_OF_MEMORY);
    assert_eq!(card.malloc_async(2, 1, S1), RC_OUT_OF_MEMORY);
}

#[test]
fn pinning_costs_page_tables_by_the_gib() {
    let mut card = card();
    card.pin(64 * MIB);
    assert_eq!(card.free_bytes(), card.capacity());
    card.pin(4 * GIB);
    assert_eq!(card.capacity() - card.free_bytes(), 8 * MIB);
    card.unpin(4 * GIB);
    assert_eq!(card.capacity() - card.free_bytes(), 2 * MIB);
    card.malloc(1, MIB);
    card.free(1);
    assert_eq!(card.free_bytes(), card.capacity());
}

/// A header may say anything, and a record may say that anything succeeded.
#[test]
fn sums_beyond_all_numbers_are_all_that_there_is() {
    for profile in [H200_580, STRICT] {
        let mut card = Device::new(profile, u64::MAX, u64::MAX);
        for id in 0..4 {
            card.insist(id, u64::MAX);
            card.pin(u64::MAX);
        }
        assert_eq!((card.used_bytes(), card.free_bytes()), (u64::MAX, 0));
        for id in 0..4 {
            assert_eq!(card.free(id), 0);
            card.unpin(u64::MAX);
        }
        assert_eq!(card.used_bytes(), u64::MAX);
    }
}

/// Pages are counted one by one: a card of any size is no reason to count more than there is.
#[test]
fn the_pool_of_a_card_without_sense_stays_small() {
    let mut card = Device::new(H200_580, u64::MAX, 0);
    assert_eq!(card.malloc_async(1, 1 << 54, S1), RC_OUT_OF_MEMORY);
    assert_eq!(card.malloc_async(2, 1 << 50, S1), RC_OUT_OF_MEMORY);
    assert_eq!(card.malloc_async(3, 1 << 41, S1), 0);
    assert!(card.size_bytes() < 8 << 20, "{}", card.size_bytes());
}
