//! Verbs that this build lacks: they are named with the feature that brings them, not as unknown.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::error::CliError;

/// A verb, the feature of the crate `cli` that brings it, and whether this build has it.
type Verb = (&'static str, &'static str, bool);

/// The verbs behind features.
const VERBS: &[Verb] = &[
    ("diagnose", "logs", cfg!(feature = "logs")),
    ("replay", "logs", cfg!(feature = "logs")),
    ("analyze", "logs", cfg!(feature = "logs")),
    ("compare", "logs", cfg!(feature = "logs")),
    ("trace", "logs", cfg!(feature = "logs")),
    ("golden", "gate", cfg!(feature = "gate")),
    ("setup", "prove", cfg!(feature = "prove")),
    ("prove", "prove", cfg!(feature = "prove")),
    ("verify", "prove", cfg!(feature = "prove")),
    ("preflight", "prove", cfg!(feature = "prove")),
    ("bench", "prove", cfg!(feature = "prove")),
    ("serve", "serve", cfg!(feature = "serve")),
];

/// What to say of arguments that were refused because this build lacks their verb; `None` for any
/// other refusal.
pub fn said(refused: &clap::Error) -> Option<CliError> {
    if refused.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(named)) = refused.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    lacking(VERBS, named).map(CliError::Usage)
}

fn lacking(verbs: &[Verb], named: &str) -> Option<String> {
    let (verb, feature, _) = verbs.iter().find(|(verb, _, has)| verb == &named && !has)?;
    Some(format!(
        "this cuzk was built without {verb}; build it with the feature {feature}: \
         cargo build --release -p cli --features {feature}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[test]
    fn a_verb_left_out_is_named_with_its_feature() {
        let verbs = [("diagnose", "logs", false), ("golden", "gate", true)];
        let text = lacking(&verbs, "diagnose").unwrap();
        assert!(text.contains("without diagnose") && text.contains("--features logs"));
        assert_eq!(lacking(&verbs, "golden"), None, "this build has it");
        assert_eq!(lacking(&verbs, "digest"), None, "nobody has it");
    }

    #[test]
    fn the_table_agrees_with_the_arguments() {
        for (verb, _, has) in VERBS {
            let parsed = crate::args::Args::try_parse_from(["cuzk", verb, "--help"]);
            let refused = parsed.expect_err("help is no verb's work");
            assert_eq!(refused.kind() == ErrorKind::DisplayHelp, *has, "{verb}");
            assert_eq!(said(&refused).is_some(), !has, "{verb}");
        }
        let refused = crate::args::Args::try_parse_from(["cuzk", "digest"]).unwrap_err();
        assert!(said(&refused).is_none());
    }
}
