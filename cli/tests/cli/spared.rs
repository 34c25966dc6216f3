//! What a call must not do to files that are there, and what it must not call a pass.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;

use crate::cuzk;

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

#[test]
fn setup_replaces_plain_files_only_and_keeps_names_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let setup = |path: &Path, seed: &str| {
        cuzk(&[
            "setup",
            "--circuit",
            "mimc",
            "--size",
            "2^3",
            "--seed",
            seed,
            "-o",
            text(path),
        ])
    };
    let _socket = UnixListener::bind(at("socket")).expect("binds");
    std::os::unix::fs::symlink(at("elsewhere"), at("link")).expect("links");
    for name in ["socket", "link", "key.vk", "manifest.json"] {
        let said = setup(&at(name), "1");
        assert_eq!(said.code, 2, "{name}: {}", said.err);
        assert!(said.err.contains(name), "{}", said.err);
    }
    assert!(
        fs::symlink_metadata(at("link"))
            .expect("there")
            .is_symlink()
    );
    for (name, seed) in [("a.s1", "1"), ("a.s2", "2")] {
        assert_eq!(setup(&at(name), seed).code, 0);
    }
    let keys = ["a.s1.vk", "a.s2.vk"].map(|name| fs::read(at(name)).expect("a key each"));
    assert_ne!(keys[0], keys[1]);
}

#[test]
fn a_call_that_would_write_over_its_own_files_is_refused_before_it_works() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| text(&folder.path().join(name)).to_owned();
    let params = at("m.params");
    let made = cuzk(&["setup", "--circuit", "mimc", "--size", "2^3", "-o", &params]);
    assert_eq!(made.code, 0, "{}", made.err);
    let before = fs::read(&params).expect("made");
    let (proof, log) = (at("x.bin"), at("x.log"));
    for args in [
        vec!["prove", "--params", &params, "-o", &params],
        vec![
            "prove", "--params", &params, "-o", &proof, "--trace", &params,
        ],
        vec![
            "prove", "--params", &params, "-o", &proof, "--inputs", &proof,
        ],
        vec![
            "bench",
            "--circuit",
            "mimc",
            "--size",
            "2^3",
            "--trace",
            &log,
            "--html",
            &log,
        ],
    ] {
        let said = cuzk(&args);
        assert_eq!(said.code, 2, "{args:?}: {}", said.err);
        assert!(said.err.contains("name two files"), "{}", said.err);
    }
    assert_eq!(fs::read(&params).expect("still there"), before);
    assert!(!Path::new(&proof).exists());
}

#[test]
fn a_replay_of_nothing_or_cut_off_decides_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let ops = folder.path().join("empty.jsonl");
    let head = r#"{"schema":"cuzk.ops/1","capacity":1073741824,"baseline":0,"driver":"h200-580","workers":1}"#;
    fs::write(&ops, format!("{head}\n")).expect("written");
    let said = cuzk(&["replay", text(&ops)]);
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
    assert!(said.err.contains("nothing was replayed"), "{}", said.err);
    let plan = ["replay", "--plan", "2^10", "--explore", "--states-max", "1"];
    assert_eq!(cuzk(&plan).code, 3);
}

#[test]
fn a_history_is_added_to_a_history_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let samples = folder.path().join("s.jsonl");
    let line = |run: u32, ms: f64| format!("{{\"run\":\"r{run}\",\"phase\":\"p\",\"ms\":{ms}}}\n");
    let runs: String = (0..3)
        .flat_map(|run| (0..8).map(move |at| line(run, f64::from(at) + 20.0)))
        .collect();
    fs::write(
        &samples,
        format!("{{\"schema\":\"cuzk.samples/1\"}}\n{runs}"),
    )
    .expect("written");
    let call = |history: &Path| {
        let history = text(history);
        cuzk(&[
            "golden",
            "history",
            "--allow-unverified",
            "--history",
            history,
            text(&samples),
        ])
    };
    for (name, bytes) in [
        ("a.csv", &b"commit,value\nx,1\n"[..]),
        ("a.bin", &[0xff, 0xfe, 0][..]),
    ] {
        let other = folder.path().join(name);
        fs::write(&other, bytes).expect("written");
        let said = call(&other);
        assert_eq!(said.code, 2, "{name}: {}{}", said.out, said.err);
        assert_eq!(
            fs::read(&other).expect("there"),
            bytes,
            "{name} was changed"
        );
    }
    let own = folder.path().join("h.jsonl");
    for _ in 0..2 {
        let said = call(&own);
        assert_ne!(said.code, 2, "{}{}", said.out, said.err);
    }
    assert_eq!(
        fs::read_to_string(&own).expect("written").lines().count(),
        2
    );
}
