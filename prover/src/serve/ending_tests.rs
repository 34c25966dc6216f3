//! The end of a daemon whose work does not come back.

use std::time::Duration;

use super::testing::{impatient, request};
use super::wire::ProveRequest;
use super::wire::await_proof_response::Status;

#[tokio::test(flavor = "multi_thread")]
async fn work_that_never_comes_back_is_named_and_its_client_answered() {
    let ms = Duration::from_millis;
    let running = impatient(ms(20), ms(100)).await;
    let mut client = running.client().await;
    let submit = Some(request(&["sleep 2000"]));
    let waiting = tokio::spawn(async move { client.prove(ProveRequest { submit }).await });
    tokio::time::sleep(ms(200)).await;
    running.end.send(()).await.expect("runs");
    let answer = waiting.await.expect("joined").expect("answered");
    let answer = answer.into_inner().result.expect("set");
    assert_eq!(answer.status(), Status::Failed);
    assert!(
        answer.error_message.contains("its worker still had it"),
        "{answer:?}"
    );
    let ended = running.done.await.expect("ends");
    assert_eq!((ended.cancelled, ended.answered), (1, true));
    assert_eq!(ended.left, [answer.job_id]);
}
