//! Orders findings, numbers them, names the root and who follows from whom.

use std::cmp::Reverse;

use tracefmt::finding::{Finding, Severity};

use super::Drafted;

/// Gives each finding its id. At most one is root: among the errors the earliest; of errors at
/// one step the one that explains the others. A finding that another explains names it in
/// `caused_by`, and so does one that follows from the failure of a step; a warning is never root.
pub(super) fn number(mut drafts: Vec<Drafted>) -> Vec<Finding> {
    drafts.sort_by_key(|draft| (draft.at, Reverse(draft.explains.len()), draft.finding.code));
    for (index, draft) in drafts.iter_mut().enumerate() {
        draft.finding.id = format!("f{index}");
    }
    let mut caused: Vec<(usize, String)> = Vec::new();
    for draft in &drafts {
        for (index, other) in drafts.iter().enumerate() {
            let itself = other.finding.id == draft.finding.id;
            let mutual = other.explains.contains(&draft.at);
            if !itself && !mutual && draft.explains.contains(&other.at) {
                caused.push((index, draft.finding.id.clone()));
            }
        }
    }
    for (index, draft) in drafts.iter().enumerate() {
        let fails = |other: &&Drafted| {
            Some(other.at) == draft.follows
                && other.follows.is_none()
                && other.finding.severity == Severity::Error
        };
        let failure = drafts.iter().find(fails);
        caused.extend(failure.map(|failure| (index, failure.finding.id.clone())));
    }
    for (index, id) in caused {
        if let Some(draft) = drafts.get_mut(index) {
            draft.finding.caused_by.push(id);
        }
    }
    let root = drafts.iter().position(|draft| {
        draft.finding.severity == Severity::Error && draft.finding.caused_by.is_empty()
    });
    if let Some(draft) = root.and_then(|index| drafts.get_mut(index)) {
        draft.finding.root = true;
    }
    drafts.into_iter().map(|draft| draft.finding).collect()
}
