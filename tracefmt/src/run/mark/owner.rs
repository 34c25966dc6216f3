//! Whose the timing lines are. Kept apart from the lines themselves: it is found when all of them
//! are read, by several walks at once, and taken over as it is.

use rustc_hash::FxHashMap;

use super::NONE;
use crate::finding::Confidence;

/// Owners of the lines from an index on; nothing is kept of those before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::run) struct Owners {
    first: usize,
    /// [`NONE`] for no call.
    calls: Vec<u32>,
    flags: Vec<Flags>,
    /// Lists of calls, each behind its length.
    candidates: Vec<u32>,
    /// Where the candidates of a line begin, for the few that have any.
    candidates_of: FxHashMap<usize, usize>,
}

/// The confidence in the low bits, [`ASSIGNED`], [`HAS_CANDIDATES`].
type Flags = u8;

const HAS_CANDIDATES: Flags = 0x80;
const ASSIGNED: Flags = 0x40;
const INFERRED: Flags = 1;
const CERTAIN: Flags = 2;

/// The owner of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    /// [`NONE`] for no call.
    pub(super) call: u32,
    flags: Flags,
}

impl Owner {
    #[inline]
    pub(super) const fn confidence(self) -> Confidence {
        match self.flags & !(HAS_CANDIDATES | ASSIGNED) {
            CERTAIN => Confidence::Certain,
            INFERRED => Confidence::Inferred,
            _ => Confidence::Ambiguous,
        }
    }

    #[inline]
    pub(super) const fn has_candidates(self) -> bool {
        self.flags & HAS_CANDIDATES != 0
    }
}

impl Owners {
    /// Of the lines from this index on, `room` of them.
    pub(in crate::run) fn from(first: usize, room: usize) -> Self {
        Self {
            first,
            calls: Vec::with_capacity(room),
            flags: Vec::with_capacity(room),
            ..Self::default()
        }
    }

    /// A line has this owner; `candidates` is empty when there is no other.
    #[inline]
    pub(in crate::run) fn assign(
        &mut self,
        index: usize,
        call: Option<u32>,
        confidence: Confidence,
        candidates: &[u32],
    ) {
        let Some(at) = index.checked_sub(self.first) else {
            return;
        };
        if at >= self.calls.len() {
            self.grow(at + 1);
        }
        let mut flags = ASSIGNED
            | match confidence {
                Confidence::Certain => CERTAIN,
                Confidence::Inferred => INFERRED,
                Confidence::Ambiguous => 0,
            };
        if candidates.len() > 1 {
            flags |= HAS_CANDIDATES;
            self.candidates_of.insert(index, self.candidates.len());
            self.candidates
                .push(u32::try_from(candidates.len()).unwrap_or(NONE));
            self.candidates.extend_from_slice(candidates);
        }
        if let Some((slot, known)) = self.calls.get_mut(at).zip(self.flags.get_mut(at)) {
            *slot = call.unwrap_or(NONE);
            *known = flags;
        }
    }

    fn grow(&mut self, len: usize) {
        self.calls.resize(len, NONE);
        self.flags.resize(len, 0);
    }

    /// The owner of a line.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Owner {
        let at = index.wrapping_sub(self.first);
        match self.calls.get(at).zip(self.flags.get(at)) {
            Some((call, flags)) => Owner {
                call: *call,
                flags: *flags,
            },
            None => Owner {
                call: NONE,
                flags: 0,
            },
        }
    }

    /// The calls of all lines in order, [`NONE`] for no call; those of the last lines may be
    /// missing.
    pub(super) fn calls(&self) -> &[u32] {
        &self.calls
    }

    /// All calls that could own a line when there are several.
    pub(super) fn candidates(&self, index: usize) -> &[u32] {
        let at = self.candidates_of.get(&index);
        let list = at.and_then(|at| self.candidates.get(*at..));
        let list = list.and_then(|list| {
            let (len, list) = list.split_first()?;
            list.get(..*len as usize)
        });
        list.unwrap_or_default()
    }

    /// Takes over what was found of the lines from `later.first` on. Where both know an owner, the
    /// later one holds.
    pub(in crate::run) fn append(&mut self, later: Self) {
        if self.calls.is_empty() && self.first == later.first {
            *self = later;
            return;
        }
        let shift = self.candidates.len();
        self.candidates.extend(later.candidates);
        let moved = later.candidates_of.into_iter();
        self.candidates_of
            .extend(moved.map(|(index, at)| (index, at + shift)));
        let from = later.first.saturating_sub(self.first);
        if from >= self.calls.len() {
            self.grow(from);
            self.calls.extend(later.calls);
            self.flags.extend(later.flags);
            return;
        }
        let len = self.calls.len().max(from + later.calls.len());
        self.grow(len);
        let (calls, flags) = (self.calls.iter_mut(), self.flags.iter_mut());
        let known = calls.zip(flags).skip(from);
        for ((slot, known), (call, flags)) in known.zip(later.calls.iter().zip(&later.flags)) {
            if flags & ASSIGNED != 0 {
                (*slot, *known) = (*call, *flags);
            }
        }
    }

    /// Takes out every second of the first `len` lines, which have no candidates yet.
    pub(super) fn halve(&mut self, len: usize) {
        if !self.calls.is_empty() {
            self.grow(len);
            crate::run::copies::halve(&mut self.calls, |_, _| true);
            crate::run::copies::halve(&mut self.flags, |_, _| true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(owners: &Owners, len: usize) -> Vec<(u32, Confidence, Vec<u32>)> {
        let all = (0..len).map(|index| {
            let owner = owners.get(index);
            let candidates = owners.candidates(index).to_vec();
            assert_eq!(owner.has_candidates(), !candidates.is_empty());
            (owner.call, owner.confidence(), candidates)
        });
        all.collect()
    }

    #[test]
    fn two_halves_are_what_one_list_is() {
        let (sure, inferred, open) = (
            Confidence::Certain,
            Confidence::Inferred,
            Confidence::Ambiguous,
        );
        let found: [(usize, u32, Confidence, &[u32]); 5] = [
            (1, 7, sure, &[]),
            (2, 8, open, &[8, 9]),
            (4, 9, inferred, &[]),
            (5, 3, open, &[1, 3, 4]),
            (8, 4, sure, &[]),
        ];
        let mut one = Owners::default();
        for (index, call, confidence, candidates) in found {
            one.assign(index, Some(call), confidence, candidates);
        }
        for middle in 0..10 {
            let (mut first, mut second) = (Owners::from(0, 9), Owners::from(middle, 9));
            for (index, call, confidence, candidates) in found {
                // The second walk begins earlier, and what it finds there is not kept.
                second.assign(index, Some(call), confidence, candidates);
                if index < middle {
                    first.assign(index, Some(call), confidence, candidates);
                }
            }
            first.append(second);
            assert_eq!(list(&first, 10), list(&one, 10), "{middle}");
        }
    }

    #[test]
    fn what_a_line_says_itself_stays_where_nothing_else_was_found() {
        let mut owners = Owners::default();
        owners.assign(0, Some(5), Confidence::Certain, &[]);
        owners.assign(2, Some(6), Confidence::Certain, &[]);
        let mut found = Owners::default();
        found.assign(1, Some(1), Confidence::Inferred, &[]);
        found.assign(2, None, Confidence::Ambiguous, &[]);
        owners.append(found);
        let calls: Vec<u32> = (0..4).map(|index| owners.get(index).call).collect();
        assert_eq!(calls, [5, 1, NONE, NONE]);
        assert_eq!(owners.get(0).confidence(), Confidence::Certain);
        assert_eq!(owners.get(2).confidence(), Confidence::Ambiguous);
    }

    #[test]
    fn every_second_owner_goes_with_its_line() {
        let mut owners = Owners::default();
        for (index, call) in [0, 0, 1, 1].into_iter().enumerate() {
            owners.assign(index, Some(call), Confidence::Certain, &[]);
        }
        owners.halve(6);
        let calls: Vec<u32> = (0..3).map(|index| owners.get(index).call).collect();
        assert_eq!(calls, [0, 1, NONE]);
    }
}
