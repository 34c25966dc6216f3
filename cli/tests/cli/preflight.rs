//! `cuzk preflight` on this machine: a port that is free or taken, a binary newer or older than
//! its sources, and JSON whose words are those of the schema.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::Path;
use std::sync::PoisonError;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::{DAEMONS, cuzk};

fn free_port() -> (TcpListener, String) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("bound").port().to_string();
    (listener, port)
}

/// The state of a check in the JSON form.
fn state(out: &str, check: &str) -> String {
    let json: Value = serde_json::from_str(out).expect("JSON");
    let checks = json["checks"].as_array().expect("a list");
    let found = checks.iter().find(|line| line["check"] == check);
    found.expect("a line a check")["state"]
        .as_str()
        .expect("text")
        .to_owned()
}

#[test]
fn a_free_port_is_ready_once_it_was_free_for_long_enough() {
    let _alone = DAEMONS.lock().unwrap_or_else(PoisonError::into_inner);
    let (listener, port) = free_port();
    drop(listener);
    let said = cuzk(&[
        "preflight",
        "--port",
        &port,
        "--stable",
        "300",
        "--format",
        "json",
    ]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert_eq!(state(&said.out, "port"), "ready");
    assert_eq!(state(&said.out, "binary"), "skipped");
    let wait = format!("port: {port} can be bound, and must stay so for 300 ms");
    assert!(said.err.contains(&wait), "{}", said.err);
    assert!(!said.err.contains("so far"), "{}", said.err);
}

#[test]
fn a_taken_port_is_waited_for_and_then_said() {
    let _alone = DAEMONS.lock().unwrap_or_else(PoisonError::into_inner);
    let (_listener, port) = free_port();
    let said = cuzk(&["preflight", "--port", &port, "--timeout", "1"]);
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    assert!(
        said.out.contains(&format!("{port} is taken")),
        "{}",
        said.out
    );
}

fn touch(path: &Path, seconds_ago: u64) {
    fs::write(path, "").expect("written");
    let when = fs::metadata(path)
        .expect("there")
        .modified()
        .expect("a time");
    let file = File::options().write(true).open(path).expect("opens");
    let earlier: SystemTime = when - Duration::from_secs(seconds_ago);
    file.set_modified(earlier).expect("set");
}

#[test]
fn an_old_binary_is_refused_at_once() {
    let _alone = DAEMONS.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("a folder");
    let (binary, source) = (folder.path().join("cuzk"), folder.path().join("lib.rs"));
    let (listener, port) = free_port();
    drop(listener);
    let call = |binary_age, source_age| {
        touch(&binary, binary_age);
        touch(&source, source_age);
        let [binary, sources] = [&binary, &folder.path().to_owned()]
            .map(|path| path.to_str().expect("text").to_owned());
        cuzk(&[
            "preflight",
            "--port",
            &port,
            "--stable",
            "0",
            "--format",
            "json",
            "--binary",
            &binary,
            "--sources",
            &sources,
        ])
    };
    let said = call(60, 10);
    assert_eq!(
        (said.code, state(&said.out, "binary").as_str()),
        (1, "failed"),
        "{}",
        said.out
    );
    assert!(said.out.contains("lib.rs is 50."), "{}", said.out);
    let said = call(10, 60);
    assert_eq!(
        (said.code, state(&said.out, "binary").as_str()),
        (0, "ready"),
        "{}",
        said.out
    );
}

#[test]
fn the_schema_knows_every_check_and_state_that_is_printed() {
    let _alone = DAEMONS.lock().unwrap_or_else(PoisonError::into_inner);
    let schema =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schemas/cuzk.preflight-1.json");
    let schema = fs::read_to_string(schema).expect("there");
    let schema: Value = serde_json::from_str(&schema).expect("JSON");
    let item = &schema["properties"]["checks"]["items"]["properties"];
    let said = cuzk(&[
        "preflight",
        "--port",
        "1",
        "--timeout",
        "0",
        "--format",
        "json",
    ]);
    let json: Value = serde_json::from_str(&said.out).expect("JSON");
    for key in schema["required"].as_array().expect("a list") {
        assert!(json.get(key.as_str().expect("text")).is_some(), "{key}");
    }
    let checks = json["checks"].as_array().expect("a list");
    assert_eq!(
        checks.len(),
        item["check"]["enum"].as_array().expect("a list").len()
    );
    for line in checks {
        for key in ["check", "state"] {
            let known = item[key]["enum"].as_array().expect("a list");
            assert!(known.contains(&line[key]), "{line}");
        }
    }
}
