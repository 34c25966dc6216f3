//! The calls over a real connection, and clients that behave badly.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tonic::Code;

use super::testing::{rehearse, request, start};
use super::wire::await_proof_response::Status;
use super::wire::{
    AwaitProofRequest, CancelProofRequest, EvictSrsRequest, GetMetricsRequest, GetStatusRequest,
    PreloadSrsRequest, PreloadSrsResponse, ProofKind, ProveRequest, SubmitProofRequest,
};

const LONG: Duration = Duration::from_secs(10);

fn awaited(job_id: &str, timeout_ms: u64) -> AwaitProofRequest {
    AwaitProofRequest {
        job_id: job_id.to_owned(),
        timeout_ms,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_comes_back_with_the_proofs_of_all_its_partitions() {
    let running = start(100, LONG).await;
    let mut client = running.client().await;
    let submit = Some(request(&["sleep 1", "sleep 1", "sleep 1"]));
    let answer = client
        .prove(ProveRequest { submit })
        .await
        .expect("answered");
    let result = answer.into_inner().result.expect("set");
    assert_eq!(result.status(), Status::Completed);
    assert_eq!(result.proof, vec![1; 3 * 192]);
    let ended = running.ended().await;
    assert_eq!((ended.cancelled, ended.answered), (0, true));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_job_says_why_and_the_next_one_is_proved() {
    let running = start(100, LONG).await;
    let mut client = running.client().await;
    for (deed, word) in [("panic", "told to"), ("lie", "verif")] {
        let submit = Some(request(&["sleep 1", deed]));
        let answer = client
            .prove(ProveRequest { submit })
            .await
            .expect("answered");
        let result = answer.into_inner().result.expect("set");
        assert_eq!(result.status(), Status::Failed, "{deed}");
        assert!(
            result.error_message.contains(word),
            "{deed}: {}",
            result.error_message
        );
        assert!(result.proof.is_empty(), "{deed}");
    }
    let submit = Some(request(&["sleep 1"]));
    let answer = client
        .prove(ProveRequest { submit })
        .await
        .expect("answered");
    assert_eq!(
        answer.into_inner().result.expect("set").status(),
        Status::Completed
    );
    running.ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_is_honoured_and_the_job_goes_on() {
    let running = start(100, LONG).await;
    let mut client = running.client().await;
    let job = client
        .submit_proof(request(&["sleep 400"]))
        .await
        .expect("taken");
    let id = job.into_inner().job_id;
    let early = client
        .await_proof(awaited(&id, 20))
        .await
        .expect("answered");
    assert_eq!(early.into_inner().status(), Status::Timeout);
    let late = client.await_proof(awaited(&id, 0)).await.expect("answered");
    assert_eq!(late.into_inner().status(), Status::Completed);
    let again = client.await_proof(awaited(&id, 0)).await.expect("answered");
    assert_eq!(
        again.into_inner().status(),
        Status::Completed,
        "a report is kept"
    );
    let unknown = client
        .await_proof(awaited("none", 0))
        .await
        .expect("answered");
    assert_eq!(unknown.into_inner().status(), Status::Unknown);
    running.ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_request_id_is_one_job() {
    let running = start(100, LONG).await;
    let mut client = running.client().await;
    let keyed = || SubmitProofRequest {
        request_id: "deal 7".to_owned(),
        ..request(&["sleep 50"])
    };
    let first = client
        .submit_proof(keyed())
        .await
        .expect("taken")
        .into_inner();
    let again = client
        .submit_proof(keyed())
        .await
        .expect("taken")
        .into_inner();
    assert_eq!(first.job_id, again.job_id);
    client
        .await_proof(awaited(&first.job_id, 0))
        .await
        .expect("answered");
    let status = client
        .get_status(GetStatusRequest {})
        .await
        .expect("answered");
    assert_eq!(status.into_inner().total_proofs_completed, 1);
    running.ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_ends_a_job_once_and_tells_its_waiter() {
    let running = start(100, LONG).await;
    let mut client = running.client().await;
    let deeds = ["sleep 300", "sleep 300", "sleep 300", "sleep 300"];
    let job = client.submit_proof(request(&deeds)).await.expect("taken");
    let job_id = job.into_inner().job_id;
    let cancel = CancelProofRequest {
        job_id: job_id.clone(),
    };
    let answer = client.cancel_proof(cancel.clone()).await.expect("answered");
    assert!(answer.into_inner().was_running);
    let answer = client
        .await_proof(awaited(&job_id, 0))
        .await
        .expect("answered");
    assert_eq!(answer.into_inner().status(), Status::Cancelled);
    let answer = client.cancel_proof(cancel).await.expect("answered");
    assert!(!answer.into_inner().was_running);
    running.ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_served_says_so_by_its_code() {
    let running = start(2, LONG).await;
    let mut client = running.client().await;
    let kind = |kind: i32| SubmitProofRequest {
        proof_kind: kind,
        ..request(&["sleep 1"])
    };
    let snap = client
        .submit_proof(kind(ProofKind::SnapDealsUpdate.into()))
        .await;
    let snap = snap.expect_err("not built in");
    assert_eq!(snap.code(), Code::Unimplemented);
    assert!(snap.message().contains("filecoin"), "{snap}");
    for (request, code) in [
        (kind(0), Code::InvalidArgument),
        (kind(9), Code::InvalidArgument),
        (request(&[]), Code::InvalidArgument),
        (request(&["juggle"]), Code::InvalidArgument),
    ] {
        let error = client.submit_proof(request).await.expect_err("refused");
        assert_eq!(error.code(), code, "{error}");
    }
    client
        .submit_proof(request(&["sleep 20"; 100]))
        .await
        .expect("the queue was empty");
    let full = client.submit_proof(request(&["sleep 1"])).await;
    assert_eq!(
        full.expect_err("the queue is full").code(),
        Code::ResourceExhausted
    );
    let unset = client.prove(ProveRequest { submit: None }).await;
    assert_eq!(
        unset.expect_err("nothing to prove").code(),
        Code::InvalidArgument
    );
    running.ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn parameters_are_loaded_once_and_given_back_once() {
    let running = start(2, LONG).await;
    let mut client = running.client().await;
    let named = |name: &str| PreloadSrsRequest {
        circuit_id: name.to_owned(),
    };
    let mut load = Vec::new();
    for _ in 0..2 {
        let answer = client.preload_srs(named("deeds")).await.expect("answered");
        load.push(answer.into_inner().already_loaded);
    }
    assert_eq!(load, [false, true]);
    let unknown = client
        .preload_srs(named("porep-64g"))
        .await
        .expect_err("no such circuit");
    assert_eq!(unknown.code(), Code::NotFound);
    let mut freed = Vec::new();
    for _ in 0..2 {
        let evict = EvictSrsRequest {
            circuit_id: "deeds".to_owned(),
        };
        let answer = client
            .evict_srs(evict)
            .await
            .expect("answered")
            .into_inner();
        freed.push((answer.was_loaded, answer.freed_bytes));
    }
    assert_eq!(freed, [(true, 77), (false, 0)]);
    running.ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_metrics_and_status_agree() {
    let running = start(100, LONG).await;
    let mut client = running.client().await;
    let submit = Some(request(&["sleep 1"]));
    client
        .prove(ProveRequest { submit })
        .await
        .expect("answered");
    let text = client
        .get_metrics(GetMetricsRequest {})
        .await
        .expect("answered");
    let text = text.into_inner().prometheus_text;
    assert!(
        text.contains("cuzk_jobs_total{kind=\"porep-c2\",end=\"ok\"} 1"),
        "{text}"
    );
    assert!(
        text.contains("cuzk_host_memory_limit_bytes 67108864"),
        "{text}"
    );
    let status = get(&running.address, "/status").await;
    let json = status.split_once("\r\n\r\n").expect("a head").1;
    let json: serde_json::Value = serde_json::from_str(json).expect("JSON");
    assert_eq!(json["schema"], "cuzk.status/1");
    assert_eq!(json["totals"]["verified"], 1);
    assert_eq!(json["devices"][0]["name"], "cpu");
    assert!(get(&running.address, "/health").await.ends_with("ok\n"));
    assert!(
        get(&running.address, "/")
            .await
            .contains("<title>cuzk</title>")
    );
    assert!(
        get(&running.address, "/nothing")
            .await
            .starts_with("HTTP/1.1 404")
    );
    running.ended().await;
}

async fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("answered");
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_away_takes_its_job_with_it() {
    let running = start(100, LONG).await;
    let mut client = running.client().await;
    let submit = Some(request(&[
        "sleep 200",
        "sleep 200",
        "sleep 200",
        "sleep 200",
    ]));
    let call = client.prove(ProveRequest { submit });
    let gone = tokio::time::timeout(Duration::from_millis(100), call).await;
    assert!(gone.is_err(), "the call was cut off");
    drop(client);
    let mut client = running.client().await;
    let mut text = String::new();
    for _ in 0..400 {
        let metrics = client.get_metrics(GetMetricsRequest {}).await;
        text = metrics.expect("answered").into_inner().prometheus_text;
        if text.contains("end=\"cancelled\"} 1") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(text.contains("end=\"cancelled\"} 1"), "{text}");
    running.ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_jobs_of_sixty_four_clients_all_end_verified_or_refused() {
    let running = start(300, LONG).await;
    let clients: Vec<_> = (0..64)
        .map(|number| {
            let (address, share) = (running.address.clone(), 500 / 64 + usize::from(number < 52));
            tokio::spawn(async move { submit_and_wait(&address, share).await })
        })
        .collect();
    let (mut done, mut refused) = (0, 0);
    for client in clients {
        let (of_this, refused_of_this) = client.await.expect("does not break");
        done += of_this;
        refused += refused_of_this;
    }
    assert_eq!(
        done, 500,
        "every job was proved in the end; {refused} were put off"
    );
    let ended = running.ended().await;
    assert_eq!((ended.cancelled, ended.answered), (0, true));
}

/// How many of `share` jobs were verified, and how often one was put off.
async fn submit_and_wait(address: &str, share: usize) -> (usize, usize) {
    let endpoint = tonic::transport::Endpoint::from_shared(format!("http://{address}"));
    let channel = endpoint
        .expect("an address")
        .connect()
        .await
        .expect("it listens");
    let mut client = super::wire::proving_engine_client::ProvingEngineClient::new(channel);
    let (mut ids, mut refused) = (Vec::new(), 0);
    while ids.len() < share {
        match client.submit_proof(request(&["sleep 1"])).await {
            Ok(taken) => ids.push(taken.into_inner().job_id),
            Err(error) => {
                assert_eq!(error.code(), Code::ResourceExhausted, "{error}");
                refused += 1;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
    let mut done = 0;
    for id in ids {
        let answer = client.await_proof(awaited(&id, 0)).await.expect("answered");
        done += usize::from(answer.into_inner().status() == Status::Completed);
    }
    (done, refused)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_beyond_the_limit_is_refused_and_the_connection_lives() {
    let running = start(100, LONG).await;
    let mut client = running.client().await;
    let large = SubmitProofRequest {
        vanilla_proof: vec![0; 129 << 20],
        ..request(&["sleep 1"])
    };
    let error = client.submit_proof(large).await.expect_err("too large");
    assert_eq!(error.code(), Code::OutOfRange, "{error}");
    let submit = Some(request(&["sleep 1"]));
    client
        .prove(ProveRequest { submit })
        .await
        .expect("answered");
    running.ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn half_a_message_and_garbage_hold_nothing_up() {
    let running = start(100, LONG).await;
    // The preface, a SETTINGS frame, and a HEADERS frame that never ends.
    let mut half = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    half.extend([0, 0, 0, 4, 0, 0, 0, 0, 0]);
    half.extend([0, 1, 0, 1, 0, 0, 0, 0, 1, 0x83]);
    let mut held = Vec::new();
    for bytes in [half, b"\0\xff\xfegarbage".repeat(100), b"GET".to_vec()] {
        let mut stream = TcpStream::connect(&running.address)
            .await
            .expect("it listens");
        stream.write_all(&bytes).await.expect("sent");
        held.push(stream);
    }
    let mut client = running.client().await;
    let submit = Some(request(&["sleep 1"]));
    let answer = client
        .prove(ProveRequest { submit })
        .await
        .expect("answered");
    assert_eq!(
        answer.into_inner().result.expect("set").status(),
        Status::Completed
    );
    drop(client);
    running.ended().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_finishes_what_was_accepted_and_refuses_the_rest() {
    let running = start(100, LONG).await;
    let mut client = running.client().await;
    let mut waiter = client.clone();
    let submit = Some(request(&["sleep 150", "sleep 150", "sleep 150"]));
    let waiting = tokio::spawn(async move { waiter.prove(ProveRequest { submit }).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    running.end.send(()).await.expect("runs");
    tokio::time::sleep(Duration::from_millis(50)).await;
    let late = client
        .submit_proof(request(&["sleep 1"]))
        .await
        .expect_err("too late");
    assert_eq!(late.code(), Code::Unavailable);
    let answer = waiting.await.expect("joined").expect("answered");
    assert_eq!(
        answer.into_inner().result.expect("set").status(),
        Status::Completed
    );
    let ended = running.done.await.expect("ends");
    assert_eq!((ended.cancelled, ended.answered), (0, true));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_done_in_time_comes_back_as_cancelled() {
    let running = start(100, Duration::from_millis(50)).await;
    let mut client = running.client().await;
    let submit = Some(request(&["sleep 100"; 30]));
    let waiting = tokio::spawn(async move { client.prove(ProveRequest { submit }).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let ended = running.ended().await;
    let answer = waiting.await.expect("joined").expect("answered");
    assert_eq!(
        answer.into_inner().result.expect("set").status(),
        Status::Cancelled
    );
    assert_eq!((ended.cancelled, ended.answered), (1, true));
}

/// Real proofs over the wire: what comes back verifies for the statement of its bytes.
#[tokio::test(flavor = "multi_thread")]
async fn a_rehearsal_proves_and_its_parameters_come_and_go() {
    let running = rehearse(3).await;
    let mut client = running.client().await;
    let circuit_id = || "mimc-2^6".to_owned();
    let loads = |answer: tonic::Response<PreloadSrsResponse>| answer.into_inner().already_loaded;
    let load = PreloadSrsRequest {
        circuit_id: circuit_id(),
    };
    assert!(!loads(
        client.preload_srs(load.clone()).await.expect("answered")
    ));
    assert!(loads(client.preload_srs(load).await.expect("answered")));
    let mut proofs = Vec::new();
    for vanilla in ["one", "two"] {
        let submit = Some(request(&[vanilla]));
        let answer = client
            .prove(ProveRequest { submit })
            .await
            .expect("answered");
        let result = answer.into_inner().result.expect("set");
        assert_eq!(
            result.status(),
            Status::Completed,
            "{}",
            result.error_message
        );
        assert_eq!(result.proof.len(), 3 * 192);
        for proof in result.proof.chunks(192) {
            crate::groth16::Proof::from_bytes(proof).expect("a proof");
        }
        proofs.push(result.proof);
    }
    assert_ne!(proofs[0], proofs[1]);
    let winning = SubmitProofRequest {
        proof_kind: ProofKind::WinningPost.into(),
        ..request(&["one"])
    };
    let refused = client
        .submit_proof(winning)
        .await
        .expect_err("not built in");
    assert_eq!(refused.code(), Code::Unimplemented);
    let evict = EvictSrsRequest {
        circuit_id: circuit_id(),
    };
    let evicted = client
        .evict_srs(evict)
        .await
        .expect("answered")
        .into_inner();
    assert!(evicted.was_loaded && evicted.freed_bytes > 0);
    running.ended().await;
}
