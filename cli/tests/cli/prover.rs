//! `setup`, `prove`, `verify`: from nothing to a verified proof, and every way to spoil it.

use std::path::Path;

use super::cuzk;

/// Parameters of a small circuit in a folder of their own.
fn params(folder: &Path) -> String {
    let path = folder.join("small.params").display().to_string();
    let said = cuzk(&["setup", "--circuit", "mimc", "--size", "2^6", "-o", &path]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(
        said.err.contains("INSECURE") && said.out.contains("INSECURE"),
        "{}",
        said.err
    );
    let manifest = std::fs::read_to_string(format!("{path}.json")).expect("beside it");
    assert!(manifest.contains("\"insecure\": true"), "{manifest}");
    path
}

#[test]
fn a_proof_from_nothing_is_verified_and_its_trace_is_clean() {
    let folder = tempfile::tempdir().expect("a folder");
    let params = params(folder.path());
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (proof, trace) = (at("proof.bin"), at("run.log"));
    let said = cuzk(&[
        "prove",
        "--params",
        &params,
        "--partitions",
        "3",
        "-o",
        &proof,
        "--trace",
        &trace,
    ]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("3 of 3 proofs verified"), "{}", said.out);
    assert_eq!(std::fs::read(&proof).expect("written").len(), 3 * 192);
    let vk = at("small.vk");
    for key in [["--params", &params], ["--vk", &vk]] {
        let said = cuzk(&["verify", key[0], key[1], &proof, "--format", "json"]);
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(said.out.contains("\"valid\": true"), "{}", said.out);
    }
    if cfg!(feature = "logs") {
        let said = cuzk(&["diagnose", &trace]);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    }
}

#[test]
fn what_is_tampered_with_exits_with_1() {
    let folder = tempfile::tempdir().expect("a folder");
    let params = params(folder.path());
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (proof, other) = (at("proof.bin"), at("other.bin"));
    assert_eq!(cuzk(&["prove", "--params", &params, "-o", &proof]).code, 0);
    let wrong = ["prove", "--params", &params, "--seed", "2", "-o", &other];
    assert_eq!(cuzk(&wrong).code, 0);
    let inputs = at("other.bin.inputs.json");
    let said = cuzk(&["verify", "--params", &params, "--inputs", &inputs, &proof]);
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(said.out.contains("0 of 1 proofs hold"), "{}", said.out);
    let mut bytes = std::fs::read(&proof).expect("written");
    bytes[20] ^= 1;
    std::fs::write(&proof, &bytes).expect("written");
    assert_eq!(cuzk(&["verify", "--params", &params, &proof]).code, 1);
    bytes.truncate(191);
    std::fs::write(&proof, &bytes).expect("written");
    let said = cuzk(&["verify", "--params", &params, &proof]);
    assert_eq!(said.code, 2, "{}", said.out);
    assert!(said.err.contains("191 bytes"), "{}", said.err);
}

#[test]
fn bad_parameters_and_names_exit_with_2_and_say_what_was_expected() {
    let folder = tempfile::tempdir().expect("a folder");
    let params = params(folder.path());
    let proof = folder.path().join("proof.bin").display().to_string();
    let cases: [(&[&str], &str); 5] = [
        (
            &["setup", "--circuit", "none", "--size", "2^6"],
            "porep-shaped",
        ),
        (&["setup", "--circuit", "sha256", "--size", "2^6"], "2^15"),
        (
            &["setup", "--circuit", "mimc", "--size", "100"],
            "power of two",
        ),
        (
            &[
                "prove",
                "--params",
                &params,
                "--circuit",
                "mimc",
                "--size",
                "2^7",
                "-o",
                &proof,
            ],
            "expected",
        ),
        (
            &["prove", "--params", "none.params", "-o", &proof],
            "none.params.json",
        ),
    ];
    for (args, wanted) in cases {
        let said = cuzk(args);
        assert_eq!(said.code, 2, "{args:?}: {}", said.out);
        assert!(said.err.contains(wanted), "{args:?}: {}", said.err);
    }
    let file = std::fs::OpenOptions::new().write(true).open(&params);
    file.expect("there").set_len(5000).expect("cut");
    let said = cuzk(&["prove", "--params", &params, "-o", &proof]);
    assert_eq!(said.code, 2);
    assert!(
        said.err.contains("truncated") && said.err.contains("5000"),
        "{}",
        said.err
    );
    assert!(!Path::new(&proof).exists());
}

/// Without a device, `cuda` says what is missing and writes nothing; `auto` and `cpu` take the
/// processor. With one, all three make the same bytes.
#[test]
fn every_backend_makes_the_same_parameters_or_says_why_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = |backend: &str| {
        let path = folder.path().join(format!("{backend}.params"));
        let args = [
            "setup",
            "--circuit",
            "mimc",
            "--size",
            "2^6",
            "--backend",
            backend,
        ];
        let name = path.display().to_string();
        let said = cuzk(&[&args[..], &["-o", &name]].concat());
        (said, std::fs::read(path).ok())
    };
    let (said, cpu) = made("cpu");
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(cpu.is_some() && said.out.contains("s, cpu"), "{}", said.out);
    let (said, auto) = made("auto");
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(auto == cpu, "other bytes");
    let (said, cuda) = made("cuda");
    if said.code == 0 {
        assert!(cuda == cpu, "other bytes");
        return;
    }
    assert_eq!((said.code, cuda), (2, None), "{}", said.err);
    let wanted = if cfg!(feature = "cuda") {
        "device"
    } else {
        "--features cuda"
    };
    assert!(said.err.contains(wanted), "{}", said.err);
}

#[test]
fn the_circuits_are_listed() {
    let said = cuzk(&["setup", "--list"]);
    assert_eq!(said.code, 0);
    assert!(said.out.contains("porep-shaped"), "{}", said.out);
}

#[test]
fn an_output_that_cannot_be_written_is_said_before_any_work() {
    let folder = tempfile::tempdir().expect("a folder");
    let params = params(folder.path());
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (proof, nowhere) = (at("proof.bin"), at("none/x"));
    let here = folder.path().display().to_string();
    let prove = ["prove", "--params", &params, "-o"];
    let bench = ["bench", "--circuit", "mimc", "--size", "2^6", "-c", "1"];
    let setup = ["setup", "--circuit", "mimc", "--size", "2^6", "-o"];
    for args in [
        [&prove[..], &[&nowhere]].concat(),
        [&prove[..], &[&here]].concat(),
        [&prove[..], &[&proof, "--trace", &nowhere]].concat(),
        [&prove[..], &[&proof, "--inputs", &nowhere]].concat(),
        [&bench[..], &["--trace", &nowhere]].concat(),
        [&bench[..], &["--html", &nowhere]].concat(),
        [&setup[..], &[&nowhere]].concat(),
    ] {
        let said = cuzk(&args);
        assert_eq!(said.code, 2, "{args:?}: {}", said.err);
        assert!(said.err.contains("cannot write"), "{args:?}: {}", said.err);
        assert_eq!(said.err.lines().count(), 1, "{args:?}: {}", said.err);
        assert!(!Path::new(&proof).exists());
    }
}

#[test]
fn a_dash_as_an_output_is_standard_output_and_the_report_makes_room() {
    let folder = tempfile::tempdir().expect("a folder");
    let params = params(folder.path());
    let at = |name: &str| folder.path().join(name).display().to_string();
    let inputs = at("inputs.json");
    let prove = ["prove", "--params", &params, "-o", "-", "--inputs"];
    let proof = crate::command(&[&prove[..], &[&inputs]].concat()).output();
    let proof = proof.expect("runs");
    assert_eq!(proof.status.code(), Some(0));
    assert_eq!(proof.stdout.len(), 192);
    let text = String::from_utf8(proof.stderr).expect("text");
    assert!(text.contains("1 of 1 proofs verified"), "{text}");
    let bench = ["bench", "--circuit", "mimc", "--size", "2^6", "-c", "1"];
    let said = cuzk(&[&bench[..], &["--trace", "-"]].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(
        said.out.starts_with("TIMELINE,0,TRACE_START"),
        "{}",
        said.out
    );
    assert!(
        said.out
            .lines()
            .all(|line| line.starts_with("TIMELINE,") || line.starts_with("CUZK"))
    );
    assert!(said.err.contains("Batch Summary"), "{}", said.err);
    for args in [
        &["prove", "--params", &params, "-o", "-"][..],
        &["prove", "--params", &params, "-o", "-", "--inputs", "-"],
        &["setup", "--circuit", "mimc", "--size", "2^6", "-o", "-"],
        &["bench", "--trace", "-", "--html", "page.html"],
    ] {
        let said = cuzk(args);
        assert_eq!(said.code, 2, "{args:?}: {}", said.err);
        assert!(said.err.contains("name"), "{args:?}: {}", said.err);
    }
    assert!(!Path::new("-").exists());
}

#[test]
fn parameters_that_are_not_those_of_their_manifest_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let params = params(folder.path());
    let other = folder.path().join("other.params").display().to_string();
    let made = [
        "setup",
        "--circuit",
        "mimc",
        "--size",
        "2^6",
        "--seed",
        "9",
        "-o",
        &other,
    ];
    assert_eq!(cuzk(&made).code, 0);
    std::fs::copy(&other, &params).expect("swapped");
    let proof = folder.path().join("proof.bin").display().to_string();
    let said = cuzk(&["prove", "--params", &params, "-o", &proof]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("manifest"), "{}", said.err);
    let bench = [
        "bench",
        "--params",
        &params,
        "--circuit",
        "mimc",
        "--size",
        "2^6",
    ];
    assert_eq!(cuzk(&bench).code, 2);
}

#[test]
fn a_circuit_that_a_build_leaves_out_names_its_feature() {
    let said = cuzk(&["setup", "--circuit", "window-post-2k", "--size", "2^3"]);
    assert_eq!(said.code, 2, "{}", said.err);
    let word = if cfg!(feature = "filecoin") {
        "2^15"
    } else {
        "`filecoin`"
    };
    assert!(said.err.contains(word), "{}", said.err);
}
