//! Words that several verbs print.

use tracefmt::finding::Confidence;

/// How sure, in a word.
pub(super) const fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Certain => "certain",
        Confidence::Inferred => "inferred",
        Confidence::Ambiguous => "ambiguous",
    }
}
