//! What the verbs of the prover print as JSON, and the files that they leave, fit their schemas.

use std::path::Path;

use serde_json::Value;

use crate::schema_check::{load, misfits};
use crate::{cuzk, json};

/// Panics unless the value says which schema it is of, and fits it.
fn fits(value: &Value, schema: &str) {
    assert_eq!(value["schema"], schema);
    assert_eq!(
        misfits(&load(schema), value),
        Vec::<String>::new(),
        "{schema}: {value}"
    );
}

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("written");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn from_setup_to_verification_every_form_fits() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (params, proof, trace) = (at("m.params"), at("p.bin"), at("run.log"));
    let json_of = |args: &[&str]| {
        let said = cuzk(&[args, &["--format", "json"]].concat());
        assert_eq!(said.code, 0, "{args:?}: {}", said.err);
        json(&said)
    };
    fits(&json_of(&["setup", "--list"]), "cuzk.circuits/1");
    let made = json_of(&["setup", "--circuit", "mimc", "--size", "2^6", "-o", &params]);
    fits(&made, "cuzk.setup/1");
    fits(&made["manifest"], "cuzk.params/1");
    let manifest = read(&folder.path().join("m.params.json"));
    fits(&manifest, "cuzk.params/1");
    assert_eq!(manifest, made["manifest"]);
    for more in [&["--trace", &trace][..], &["--partitions", "2"]] {
        let prove = ["prove", "--params", &params, "-o", &proof];
        fits(&json_of(&[&prove, more].concat()), "cuzk.proof/1");
    }
    fits(
        &read(&folder.path().join("p.bin.inputs.json")),
        "cuzk.inputs/1",
    );
    let verify = ["verify", "--params", &params, &proof, "--format", "json"];
    fits(&json(&cuzk(&verify)), "cuzk.verification/1");
    // No point of the curve begins like that.
    std::fs::write(&proof, [0xff; 2 * 192]).expect("written");
    let said = cuzk(&verify);
    assert_eq!(said.code, 1, "{}", said.err);
    let checked = json(&said);
    assert!(checked["partitions"][1]["reason"].is_string(), "{checked}");
    fits(&checked, "cuzk.verification/1");
}

#[test]
fn a_batch_good_or_bad_fits() {
    let batch = [
        "bench",
        "--circuit",
        "mimc",
        "--size",
        "2^5",
        "--partitions",
        "2",
    ];
    for (more, code) in [
        (&["-c", "4"][..], 0),
        (&["-c", "1", "--inject", "bad-proof:1"], 1),
        (&["-c", "1", "--inject", "bad-proof:99"], 3),
        (&["-c", "1", "--memory", "1KiB"], 1),
    ] {
        let said = cuzk(&[&batch, more, &["--format", "json"]].concat());
        assert_eq!(said.code, code, "{more:?}: {}", said.err);
        fits(&json(&said), "cuzk.bench/1");
    }
}
