//! Verbs behind features: a build that lacks one says which feature brings it.

use crate::cuzk;

const VERBS: &[(&str, &str, bool)] = &[
    ("diagnose", "logs", cfg!(feature = "logs")),
    ("trace", "logs", cfg!(feature = "logs")),
    ("golden", "gate", cfg!(feature = "gate")),
];

#[test]
fn a_verb_that_this_build_lacks_names_its_feature() {
    for (verb, feature, has) in VERBS {
        let said = cuzk(&[verb, "--help"]);
        if *has {
            assert_eq!(said.code, 0, "{verb}: {}", said.err);
        } else {
            let wanted = format!("--features {feature}");
            assert_eq!(said.code, 2, "{verb}");
            assert!(said.err.contains(&wanted), "{verb}: {}", said.err);
        }
    }
}

#[test]
fn a_verb_that_nobody_has_is_wrong_usage() {
    let said = cuzk(&["digest"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(
        said.err.contains("digest") && said.err.contains("Usage"),
        "{}",
        said.err
    );
}
