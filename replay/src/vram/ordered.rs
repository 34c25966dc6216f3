//! An ordered set of small keys: sorted pieces of bounded length, and the last key of each.
//!
//! What the model asks of it is the first key that is not below another, ten million times a
//! second, with a few hundred keys in it. Binary search over a few contiguous lines of memory does
//! that in less time than the nodes of a tree take, and a copy is a few copies of memory.

/// Keys of a piece above which it is cut in two.
const PIECE_MAX: usize = 48;

/// An ordered set.
#[derive(Debug, Clone)]
pub(super) struct Ordered<K> {
    /// None is empty, but the only one of an empty set.
    pieces: Vec<Vec<K>>,
    /// The last key of each piece.
    lasts: Vec<K>,
}

impl<K> Default for Ordered<K> {
    fn default() -> Self {
        Self {
            pieces: Vec::new(),
            lasts: Vec::new(),
        }
    }
}

impl<K: Copy + Ord> Ordered<K> {
    /// Whether there is no key.
    pub(super) fn is_empty(&self) -> bool {
        self.lasts.is_empty()
    }

    /// The first key that is not below `key`.
    pub(super) fn at_least(&self, key: K) -> Option<K> {
        self.starting_at(key).next()
    }

    /// The keys that are not below `key`, ascending.
    pub(super) fn starting_at(&self, key: K) -> impl Iterator<Item = K> + '_ {
        let at = self.piece_of(key);
        let first = self.pieces.get(at).map_or(&[][..], Vec::as_slice);
        let within = first.partition_point(|known| *known < key);
        let rest = self.pieces.iter().skip(at + 1).flatten();
        first.iter().skip(within).chain(rest).copied()
    }

    /// Every key, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = K> + '_ {
        self.pieces.iter().flatten().copied()
    }

    /// Adds a key.
    pub(super) fn insert(&mut self, key: K) {
        let at = self.piece_of(key).min(self.lasts.len().saturating_sub(1));
        let Some(piece) = self.pieces.get_mut(at) else {
            self.pieces.push(vec![key]);
            self.lasts.push(key);
            return;
        };
        let within = piece.partition_point(|known| *known < key);
        piece.insert(within, key);
        let right = if piece.len() > PIECE_MAX {
            piece.split_off(PIECE_MAX / 2)
        } else {
            Vec::new()
        };
        let end = piece.last().copied().unwrap_or(key);
        match self.lasts.get_mut(at) {
            Some(last) => *last = end,
            None => self.lasts.push(end),
        }
        if let Some(end) = right.last().copied() {
            self.lasts.insert(at + 1, end);
            self.pieces.insert(at + 1, right);
        }
    }

    /// Takes a key out, if it is there.
    pub(super) fn remove(&mut self, key: K) {
        let at = self.piece_of(key);
        let Some(piece) = self.pieces.get_mut(at) else {
            return;
        };
        let within = piece.partition_point(|known| *known < key);
        if piece.get(within) != Some(&key) {
            return;
        }
        piece.remove(within);
        if let Some(end) = piece.last().copied() {
            if let Some(last) = self.lasts.get_mut(at) {
                *last = end;
            }
        } else if self.lasts.len() > 1 {
            self.pieces.remove(at);
            self.lasts.remove(at);
        } else {
            // The room of the last piece stays for the next key.
            self.lasts.clear();
        }
    }

    /// Roughly how many bytes it takes.
    pub(super) fn size_bytes(&self) -> usize {
        let keys = self.pieces.iter().map(Vec::capacity).sum::<usize>();
        keys * size_of::<K>() + self.pieces.capacity() * (size_of::<Vec<K>>() + size_of::<K>())
    }

    /// The first piece whose last key is not below `key`.
    fn piece_of(&self, key: K) -> usize {
        self.lasts.partition_point(|last| *last < key)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_holds_what_a_tree_holds(
            changes in proptest::collection::vec((any::<bool>(), 0_u32..300), 0..2000),
        ) {
            let (mut ordered, mut tree) = (Ordered::default(), BTreeSet::new());
            for (add, key) in changes {
                if add && tree.insert(key) {
                    ordered.insert(key);
                } else if !add {
                    tree.remove(&key);
                    ordered.remove(key);
                }
                prop_assert_eq!(ordered.is_empty(), tree.is_empty());
                prop_assert_eq!(ordered.at_least(key), tree.range(key..).next().copied());
            }
            prop_assert!(ordered.iter().eq(tree.iter().copied()));
            prop_assert!(ordered.starting_at(150).eq(tree.range(150..).copied()));
        }
    }
}
