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

#[test]
fn the_circuits_are_listed() {
    let said = cuzk(&["setup", "--list"]);
    assert_eq!(said.code, 0);
    assert!(said.out.contains("porep-shaped"), "{}", said.out);
}
