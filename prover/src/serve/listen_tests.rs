//! Connections that behave badly, against a listener with short limits.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::listen::{Limits, Listener, serve};

struct Running {
    address: String,
    end: oneshot::Sender<()>,
    done: JoinHandle<bool>,
}

const LIMITS: Limits = Limits {
    connections: 2,
    first_byte: Duration::from_millis(150),
    silence: Duration::from_millis(200),
    drain: Duration::from_millis(800),
};

fn app() -> Router {
    let slow = || async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        "slow\n"
    };
    let never = || async { std::future::pending::<&str>().await };
    Router::new()
        .route("/", get(|| async { "here\n" }))
        .route("/slow", get(slow))
        .route("/never", get(never))
}

async fn start() -> Running {
    let any = (Ipv4Addr::LOCALHOST, 0).into();
    let listener = Listener::tcp(any).await.expect("a free port");
    let address = listener.address();
    let (end, ended) = oneshot::channel::<()>();
    let done = tokio::spawn(serve(listener, app(), None, LIMITS, async {
        drop(ended.await);
    }));
    Running { address, end, done }
}

async fn ask(address: &str, path: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

/// How long the peer keeps a connection open that sent `first` and then nothing.
async fn held(address: &str, first: &[u8]) -> Option<usize> {
    let mut stream = TcpStream::connect(address).await.expect("listens");
    stream.write_all(first).await.expect("sent");
    let mut answer = Vec::new();
    let read = timeout(Duration::from_secs(5), stream.read_to_end(&mut answer)).await;
    read.ok().map(|_closed| answer.len())
}

#[tokio::test]
async fn silence_half_a_head_and_garbage_are_let_go_and_others_are_served() {
    let running = start().await;
    assert_eq!(held(&running.address, b"").await, Some(0), "silence");
    for first in [&b"GET / HT"[..], b"\x16\x03\x01garbage\r\n\r\n", &[0; 4096]] {
        assert!(
            held(&running.address, first).await.is_some(),
            "{first:?} is held for ever"
        );
    }
    let answer = ask(&running.address, "/").await.expect("answered");
    assert!(answer.ends_with("here\n"), "{answer}");
}

#[tokio::test]
async fn more_connections_than_allowed_wait_and_are_served_in_turn() {
    let running = start().await;
    let asked: Vec<_> = (0..6)
        .map(|_| {
            let address = running.address.clone();
            tokio::spawn(async move { ask(&address, "/slow").await })
        })
        .collect();
    for asked in asked {
        let answer = asked.await.expect("joined").expect("answered");
        assert!(answer.ends_with("slow\n"), "{answer}");
    }
}

#[tokio::test]
async fn the_end_waits_for_what_is_in_flight() {
    let running = start().await;
    let address = running.address.clone();
    let asked = tokio::spawn(async move { ask(&address, "/slow").await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    running.end.send(()).expect("runs");
    let answer = asked.await.expect("joined").expect("answered");
    assert!(answer.ends_with("slow\n"), "{answer}");
    assert!(running.done.await.expect("joined"), "all requests ended");
    assert!(
        ask(&running.address, "/").await.is_err(),
        "the port is closed"
    );
}

#[tokio::test]
async fn the_end_does_not_wait_for_ever() {
    let running = start().await;
    let address = running.address.clone();
    tokio::spawn(async move { ask(&address, "/never").await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    running.end.send(()).expect("runs");
    let done = timeout(Duration::from_secs(5), running.done)
        .await
        .expect("ends");
    assert!(!done.expect("joined"), "a request was left");
}

#[tokio::test]
async fn a_socket_of_a_dead_daemon_is_replaced_a_file_and_a_living_one_are_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("cuzk.sock");
    let listener = Listener::unix(path.clone()).await.expect("binds");
    let error = Listener::unix(path.clone()).await.expect_err("it lives");
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    drop(listener);
    assert!(!path.exists(), "the file goes with the listener");

    drop(std::os::unix::net::UnixListener::bind(&path).expect("binds"));
    assert!(path.exists(), "a killed daemon leaves its file");
    let listener = Listener::unix(path.clone()).await.expect("replaced");
    UnixStream::connect(&path).await.expect("it listens");
    drop(listener);

    std::fs::write(&path, "text").expect("written");
    let error = Listener::unix(path.clone()).await.expect_err("no socket");
    assert!(error.to_string().contains("left alone"), "{error}");
    assert!(path.exists());
}
