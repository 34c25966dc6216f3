//! The bytes on the wire, field by field, as clients of the predecessor make them.

use prost::Message as _;

use super::wire::{
    AwaitProofResponse, GetStatusResponse, GpuStatus, Priority, ProofKind, QueueStatus, SrsStatus,
    SubmitProofRequest, SubmitProofResponse, await_proof_response, srs_status,
};

/// Number and wire type of every field of an encoded message, in order.
fn fields(bytes: &[u8]) -> Vec<(u32, u8)> {
    let mut rest = bytes;
    let mut found = Vec::new();
    while !rest.is_empty() {
        let key = prost::encoding::decode_varint(&mut rest).expect("a key");
        let (number, kind) = (key >> 3, u8::try_from(key & 7).expect("three bits"));
        match kind {
            0 => drop(prost::encoding::decode_varint(&mut rest).expect("a number")),
            2 => {
                let length = prost::encoding::decode_varint(&mut rest).expect("a length");
                rest = &rest[usize::try_from(length).expect("short")..];
            }
            other => panic!("wire type {other} is used by no field"),
        }
        found.push((u32::try_from(number).expect("small"), kind));
    }
    found
}

#[test]
fn a_submission_has_the_numbers_of_the_predecessor() {
    let request = SubmitProofRequest {
        request_id: "r".to_owned(),
        proof_kind: ProofKind::WinningPost.into(),
        sector_size: 2048,
        registered_proof: 5,
        priority: Priority::Critical.into(),
        vanilla_proof: vec![1],
        vanilla_proofs: vec![vec![2], vec![3]],
        sector_number: 6,
        miner_id: 7,
        randomness: vec![4],
        partition_index: 8,
        comm_r_old: vec![5],
        comm_r_new: vec![6],
        comm_d_new: vec![7],
    };
    assert_eq!(
        fields(&request.encode_to_vec()),
        [
            (1, 2),
            (2, 0),
            (3, 0),
            (4, 0),
            (5, 0),
            (10, 2),
            (11, 2),
            (11, 2),
            (20, 0),
            (21, 0),
            (22, 2),
            (23, 0),
            (30, 2),
            (31, 2),
            (32, 2),
        ]
    );
}

#[test]
fn the_answers_have_the_numbers_of_the_predecessor() {
    let submitted = SubmitProofResponse {
        job_id: "j".to_owned(),
        queue_position: 1,
        assigned_gpu: "0".to_owned(),
    };
    assert_eq!(fields(&submitted.encode_to_vec()), [(1, 2), (2, 0), (3, 2)]);
    let awaited = AwaitProofResponse {
        job_id: "j".to_owned(),
        status: await_proof_response::Status::Timeout.into(),
        proof: vec![1],
        error_message: "late".to_owned(),
        queue_wait_ms: 1,
        srs_load_ms: 2,
        synthesis_ms: 3,
        gpu_compute_ms: 4,
        total_ms: 5,
    };
    assert_eq!(
        fields(&awaited.encode_to_vec()),
        [
            (1, 2),
            (2, 0),
            (3, 2),
            (4, 2),
            (10, 0),
            (11, 0),
            (12, 0),
            (13, 0),
            (14, 0)
        ]
    );
}

#[test]
fn the_status_has_the_numbers_of_the_predecessor() {
    let gpu = GpuStatus {
        ordinal: 1,
        name: "card".to_owned(),
        vram_total_bytes: 2,
        vram_free_bytes: 1,
        current_job_id: "j".to_owned(),
        current_proof_kind: "k".to_owned(),
    };
    assert_eq!(
        fields(&gpu.encode_to_vec()),
        [(1, 0), (2, 2), (3, 0), (4, 0), (5, 2), (6, 2)]
    );
    let srs = SrsStatus {
        circuit_id: "porep-32g".to_owned(),
        tier: srs_status::Tier::Cold.into(),
        size_bytes: 9,
        ref_count: 1,
    };
    assert_eq!(
        fields(&srs.encode_to_vec()),
        [(1, 2), (2, 0), (3, 0), (4, 0)]
    );
    let queue = QueueStatus {
        proof_kind: "k".to_owned(),
        pending: 1,
        in_progress: 2,
    };
    assert_eq!(fields(&queue.encode_to_vec()), [(1, 2), (2, 0), (3, 0)]);
    let status = GetStatusResponse {
        gpus: vec![gpu],
        loaded_srs: vec![srs],
        queues: vec![queue],
        total_proofs_completed: 1,
        total_proofs_failed: 2,
        uptime_seconds: 3,
        pinned_memory_bytes: 4,
        pinned_memory_limit_bytes: 5,
    };
    assert_eq!(
        fields(&status.encode_to_vec()),
        [
            (1, 2),
            (2, 2),
            (3, 2),
            (4, 0),
            (5, 0),
            (6, 0),
            (7, 0),
            (8, 0)
        ]
    );
}

#[test]
fn the_names_of_the_kinds_are_those_of_the_wire() {
    for (number, name) in [
        (0, "PROOF_KIND_UNSPECIFIED"),
        (1, "POREP_SEAL_COMMIT"),
        (2, "SNAP_DEALS_UPDATE"),
        (3, "WINDOW_POST_PARTITION"),
        (4, "WINNING_POST"),
    ] {
        let kind = ProofKind::try_from(number).expect("a kind");
        assert_eq!(kind.as_str_name(), name);
    }
}
