//! Whose the lines are, as one walk through the log finds it; written into the marks at the end,
//! so that several walks can read the same run.

use rustc_hash::FxHashMap;

use super::hypothesis::NOBODY;
use crate::finding::Confidence;
use crate::run::MarkStore;

/// Owners of the marks from an index on.
#[derive(Clone, Debug, Default)]
pub(super) struct Owners {
    first: usize,
    calls: Vec<u32>,
    /// None for marks that were not asked about.
    sure: Vec<Option<Confidence>>,
    candidates: FxHashMap<usize, Vec<u32>>,
}

impl Owners {
    /// Of the marks from this index on; nothing is kept of those before.
    pub(super) fn from(first: usize) -> Self {
        Self {
            first,
            ..Self::default()
        }
    }

    /// A mark has this owner; `candidates` is empty when there is no other.
    pub(super) fn assign(
        &mut self,
        index: usize,
        owner: Option<u32>,
        sure: Confidence,
        candidates: &[u32],
    ) {
        let Some(at) = index.checked_sub(self.first) else {
            return;
        };
        if at >= self.calls.len() {
            self.calls.resize(at + 1, NOBODY);
            self.sure.resize(at + 1, None);
        }
        if let Some((call, slot)) = self.calls.get_mut(at).zip(self.sure.get_mut(at)) {
            *call = owner.unwrap_or(NOBODY);
            *slot = Some(sure);
        }
        if !candidates.is_empty() {
            self.candidates.insert(index, candidates.to_vec());
        }
    }

    /// Writes them down.
    pub(super) fn write(self, marks: &mut MarkStore) {
        let found = self.calls.iter().zip(&self.sure);
        for (index, (call, sure)) in (self.first..).zip(found) {
            let Some(sure) = sure else { continue };
            let owner = (*call != NOBODY).then_some(*call);
            let candidates = match sure {
                Confidence::Ambiguous => self.candidates.get(&index).map_or(&[][..], Vec::as_slice),
                _ => &[],
            };
            marks.assign(index, owner, *sure, candidates);
        }
    }
}
