//! Words that several verbs print.

use tracefmt::finding::{Confidence, Severity};

/// How sure, in a word.
pub(super) const fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Certain => "certain",
        Confidence::Inferred => "inferred",
        Confidence::Ambiguous => "ambiguous",
    }
}

/// How bad, in a word.
pub(super) const fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "info",
    }
}
