//! The daemon as a process: it says where it listens, answers, ends on a signal, and leaves a whole
//! trace. What it answers to whom is tested in the prover.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::PoisonError;

use crate::{DAEMONS, command, cuzk};

struct Daemon {
    child: Child,
    said: BufReader<std::process::ChildStderr>,
    address: String,
}

impl Daemon {
    fn start(more: &[&str]) -> Self {
        let args = [
            "serve",
            "--rehearse",
            "mimc",
            "--size",
            "2^6",
            "--partitions",
            "2",
        ];
        let mut child = command(&[&args[..], more].concat())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut said = BufReader::new(child.stderr.take().expect("piped"));
        let mut line = String::new();
        said.read_line(&mut line).expect("text");
        let address = line.trim().rsplit(' ').next().unwrap_or_default();
        let address = address.to_owned();
        Self {
            child,
            said,
            address,
        }
    }

    /// Exit code and the rest of what it said.
    fn terminate(mut self) -> (i32, String) {
        let pid = self.child.id().to_string();
        let killed = Command::new("kill").args(["-TERM", &pid]).status();
        assert!(killed.expect("kill runs").success());
        let mut rest = String::new();
        self.said.read_to_string(&mut rest).expect("text");
        let status = self.child.wait().expect("it ends");
        (status.code().expect("no signal of its own"), rest)
    }
}

fn get(mut stream: impl std::io::Read + std::io::Write, path: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("answered");
    answer
}

#[test]
fn it_answers_ends_on_a_signal_and_leaves_a_whole_trace() {
    let _alone = DAEMONS.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("daemon.log");
    let trace = trace.to_str().expect("text");
    let daemon = Daemon::start(&["--port", "0", "--trace", trace]);
    let tcp = || TcpStream::connect(&daemon.address).expect("it listens");
    assert!(get(tcp(), "/health").ends_with("ok\n"));
    assert!(get(tcp(), "/status").contains("cuzk.status/1"));
    let (code, said) = daemon.terminate();
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("0 jobs were cancelled"), "{said}");
    let text = fs::read_to_string(trace).expect("written");
    assert!(text.starts_with("TIMELINE,0,TRACE_START,"), "{text}");
    assert!(
        text.lines()
            .last()
            .is_some_and(|line| line.contains(",TRACE_END,")),
        "{text}"
    );
    assert_eq!(cuzk(&["trace", "lint", trace]).code, 0);
}

#[test]
fn a_unix_socket_goes_with_its_daemon() {
    let _alone = DAEMONS.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("cuzk.sock");
    let daemon = Daemon::start(&["--unix", path.to_str().expect("text")]);
    let stream = UnixStream::connect(&path).expect("it listens");
    assert!(get(stream, "/health").ends_with("ok\n"));
    let (code, said) = daemon.terminate();
    assert_eq!(code, 0, "{said}");
    assert!(!Path::new(&path).exists());
}

#[test]
fn what_cannot_be_served_is_said_before_anything_starts() {
    let _alone = DAEMONS.lock().unwrap_or_else(PoisonError::into_inner);
    let daemon = Daemon::start(&["--port", "0"]);
    let port = daemon
        .address
        .rsplit(':')
        .next()
        .expect("a port")
        .to_owned();
    for (args, word) in [
        (
            vec!["--rehearse", "mimc", "--port", &port],
            "cannot listen on 127.0.0.1",
        ),
        (vec!["--rehearse", "juggling"], "juggling"),
        (vec![], "--filecoin"),
        (
            vec![
                "--rehearse",
                "mimc",
                "--tls-cert",
                "/none",
                "--tls-key",
                "/none",
            ],
            "/none",
        ),
        (vec!["--rehearse", "mimc", "--vram", "lots"], "16GiB"),
    ] {
        let said = cuzk(&[&["serve"], &args[..]].concat());
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(said.err.contains(word), "{}", said.err);
    }
    assert_eq!(daemon.terminate().0, 0);
}

#[cfg(not(feature = "filecoin"))]
#[test]
fn real_sectors_without_the_feature_are_refused_with_its_name() {
    let said = cuzk(&["serve", "--filecoin", "."]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("feature `filecoin`"), "{}", said.err);
}
