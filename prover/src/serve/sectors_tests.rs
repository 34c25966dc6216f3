//! A daemon over real sectors: a WindowPoSt and a WinningPoSt from the vanilla proofs of a request,
//! and what is refused with which words.
#![expect(clippy::expect_used, reason = "helpers of tests may fail their test")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tonic::Code;

use super::sectors::Sectors;
use super::testing::{listen, sectors};
use super::wire::await_proof_response::Status;
use super::wire::{ProofKind, ProveRequest, SubmitProofRequest};
use crate::circuits::by_name;
use crate::filecoin::{Post, window, winning};
use crate::groth16::{PreparedKey, Proof, Shape};
use crate::srs::{Ceremony, Srs};

/// Parameters of a circuit, in the folder of a daemon.
fn parameters(folder: &Path, name: &str, log2: u32) -> Srs {
    let family = by_name(name, log2).expect("built in");
    let (shape, _) = Shape::record(family.example().circuit).expect("recorded");
    let srs = Ceremony::insecure(3).parameters(&shape, &mut |_| ());
    let srs = srs.expect("made");
    srs.save(&folder.join(format!("{name}.params")))
        .expect("written");
    srs
}

/// What a client asks for that has the answers of its sectors.
fn asked(kind: ProofKind, post: &Post) -> SubmitProofRequest {
    let (randomness, vanilla_proofs) = post.request().expect("written");
    SubmitProofRequest {
        proof_kind: kind.into(),
        sector_size: 2048,
        miner_id: 1000,
        randomness: randomness.to_vec(),
        vanilla_proofs,
        ..SubmitProofRequest::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_winning_post_is_proved_from_its_vanilla_proof() {
    let folder = tempfile::tempdir().expect("a folder");
    let srs = parameters(folder.path(), "winning-post-2k", 17);
    let kinds = Sectors::new(folder.path()).expect("built in");
    let running = listen(sectors(Arc::new(kinds))).await;
    let post = winning(9).expect("sealed");
    let submit = Some(asked(ProofKind::WinningPost, &post));
    let mut client = running.client().await;
    let answer = client.prove(ProveRequest { submit }).await;
    let answer = answer.expect("answered").into_inner().result.expect("set");
    let said = &answer.error_message;
    assert_eq!(answer.status(), Status::Completed, "{said}");
    let proof = Proof::from_bytes(&answer.proof).expect("a proof");
    let key = PreparedKey::new(&srs.vk);
    assert!(key.verify(&proof, &post.inputs).expect("as many inputs"));
    assert!(running.ended().await.answered);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_post_is_proved_from_its_vanilla_proofs() {
    let folder = tempfile::tempdir().expect("a folder");
    let srs = parameters(folder.path(), "window-post-2k", 15);
    let kinds = Sectors::new(folder.path()).expect("built in");
    let running = listen(sectors(Arc::new(kinds))).await;
    let mut client = running.client().await;
    let post = window(8).expect("sealed");
    let request = asked(ProofKind::WindowPostPartition, &post);
    let mut prove = async |request: SubmitProofRequest| {
        let submit = Some(request);
        let answer = client.prove(ProveRequest { submit }).await?;
        Ok::<_, tonic::Status>(answer.into_inner().result.expect("set"))
    };
    let first = prove(request.clone()).await.expect("answered");
    assert_eq!(first.status(), Status::Completed, "{}", first.error_message);
    assert!(first.srs_load_ms > 0, "the parameters were read for it");
    let proof = Proof::from_bytes(&first.proof).expect("a proof");
    let key = PreparedKey::new(&srs.vk);
    assert!(key.verify(&proof, &post.inputs).expect("as many inputs"));
    let second = prove(request.clone()).await.expect("answered");
    assert_eq!(
        (second.status(), second.srs_load_ms),
        (Status::Completed, 0)
    );
    let refused = [
        (
            Code::InvalidArgument,
            "34359738368",
            SubmitProofRequest {
                sector_size: 32 << 30,
                ..request.clone()
            },
        ),
        (
            Code::InvalidArgument,
            "31 bytes",
            SubmitProofRequest {
                randomness: request.randomness[1..].to_vec(),
                ..request.clone()
            },
        ),
        (
            Code::Unimplemented,
            "snap-deals is not served",
            SubmitProofRequest {
                proof_kind: ProofKind::SnapDealsUpdate.into(),
                ..request.clone()
            },
        ),
        (
            Code::FailedPrecondition,
            "winning-post-2k.params",
            SubmitProofRequest {
                proof_kind: ProofKind::WinningPost.into(),
                ..request
            },
        ),
    ];
    for (code, word, request) in refused {
        let error = prove(request).await.expect_err(word);
        assert_eq!(error.code(), code, "{error}");
        assert!(error.message().contains(word), "{error}");
    }
    let ended = tokio::time::timeout(Duration::from_secs(30), running.ended()).await;
    assert!(ended.expect("ends").answered);
}
