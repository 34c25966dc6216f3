//! The ranges of the pool's address space, in order of address: a list without gaps, each range
//! with the names of its neighbours, so that freeing one finds them at once.

use tracefmt::ops::Stream;

use super::streams::Moment;

/// The name of a range, as long as it is there.
pub(super) type Node = u32;

/// No range.
const NONE: Node = Node::MAX;

/// What a range is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Used,
    General,
    /// Freed on a stream at a moment that nothing has observed yet.
    Pending(Stream, Moment),
}

impl State {
    /// The one state of two neighbours, if they are of one kind.
    pub(super) fn merged(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::General, Self::General) => Some(Self::General),
            (Self::Pending(a, early), Self::Pending(b, late)) if a == b => {
                Some(Self::Pending(a, early.max(late)))
            }
            _ => None,
        }
    }
}

/// The bounds of a range, the end excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) end: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    span: Span,
    before: Node,
    after: Node,
    state: State,
    /// Of a general range: whether it counts among those that are mapped as a whole.
    whole: bool,
}

const NOTHING: Entry = Entry {
    span: Span { start: 0, end: 0 },
    before: NONE,
    after: NONE,
    state: State::Used,
    whole: false,
};

/// All ranges of one address space.
#[derive(Debug, Clone)]
pub(super) struct Ranges {
    entries: Vec<Entry>,
    /// Names that are free.
    spare: Vec<Node>,
    first: Node,
}

impl Ranges {
    /// One general range from 0 to `end`, and its name.
    pub(super) fn new(end: u64) -> (Self, Node) {
        let all = Entry {
            span: Span { start: 0, end },
            state: State::General,
            ..NOTHING
        };
        let ranges = Self {
            entries: vec![all],
            spare: Vec::new(),
            first: 0,
        };
        (ranges, 0)
    }

    fn get(&self, node: Node) -> &Entry {
        self.entries.get(node as usize).unwrap_or(&NOTHING)
    }

    fn change(&mut self, node: Node, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.entries.get_mut(node as usize) {
            change(entry);
        }
    }

    pub(super) fn span(&self, node: Node) -> Span {
        self.get(node).span
    }

    pub(super) fn state(&self, node: Node) -> State {
        self.get(node).state
    }

    pub(super) fn set_state(&mut self, node: Node, state: State) {
        self.change(node, |entry| entry.state = state);
    }

    pub(super) fn is_whole(&self, node: Node) -> bool {
        self.get(node).whole
    }

    pub(super) fn set_whole(&mut self, node: Node, whole: bool) {
        self.change(node, |entry| entry.whole = whole);
    }

    /// The ranges beside one.
    pub(super) fn neighbours(&self, node: Node) -> [Option<Node>; 2] {
        let entry = self.get(node);
        [entry.after, entry.before].map(|node| (node != NONE).then_some(node))
    }

    /// Cuts a range after `units`; the rest is a new one of the same state, if there is a rest.
    pub(super) fn split(&mut self, node: Node, units: u64) -> Option<Node> {
        let whole = *self.get(node);
        let middle = whole.span.start + units;
        if middle >= whole.span.end {
            return None;
        }
        let rest = Entry {
            span: Span {
                start: middle,
                end: whole.span.end,
            },
            before: node,
            ..whole
        };
        let name = self.name(rest);
        self.change(whole.after, |entry| entry.before = name);
        self.change(node, |entry| {
            entry.span.end = middle;
            entry.after = name;
        });
        Some(name)
    }

    /// Makes a neighbour a part of a range.
    pub(super) fn join(&mut self, node: Node, other: Node) {
        let Entry {
            span,
            before,
            after,
            ..
        } = *self.get(other);
        if self.get(node).after == other {
            self.change(node, |entry| {
                (entry.span.end, entry.after) = (span.end, after);
            });
            self.change(after, |entry| entry.before = node);
        } else {
            self.change(node, |entry| {
                (entry.span.start, entry.before) = (span.start, before);
            });
            self.change(before, |entry| entry.after = node);
            if before == NONE {
                self.first = node;
            }
        }
        self.spare.push(other);
    }

    fn name(&mut self, entry: Entry) -> Node {
        if let Some(name) = self.spare.pop() {
            self.change(name, |old| *old = entry);
            return name;
        }
        self.entries.push(entry);
        Node::try_from(self.entries.len() - 1).unwrap_or(NONE)
    }

    /// All ranges in order of address.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Span, State)> + '_ {
        let next = |node: &Node| {
            let after = self.get(*node).after;
            (after != NONE).then_some(after)
        };
        std::iter::successors(Some(self.first), next).map(|node| {
            let entry = self.get(node);
            (entry.span, entry.state)
        })
    }

    /// Roughly how many bytes they take.
    pub(super) fn size_bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + self.spare.capacity() * size_of::<Node>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(ranges: &Ranges) -> Vec<(u64, u64)> {
        ranges
            .iter()
            .map(|(span, _)| (span.start, span.end))
            .collect()
    }

    #[test]
    fn a_list_has_no_gaps_whatever_is_cut_and_joined() {
        let (mut ranges, a) = Ranges::new(100);
        let b = ranges.split(a, 10).expect("a rest");
        let c = ranges.split(b, 20).expect("a rest");
        assert_eq!(ranges.split(c, 70), None, "all of it");
        assert_eq!(spans(&ranges), [(0, 10), (10, 30), (30, 100)]);
        assert_eq!(ranges.neighbours(b), [Some(c), Some(a)]);
        ranges.join(b, a);
        assert_eq!(spans(&ranges), [(0, 30), (30, 100)]);
        assert_eq!(ranges.neighbours(b), [Some(c), None]);
        let d = ranges.split(c, 5).expect("a rest");
        assert_eq!(d, a, "a name that is free is used again");
        ranges.join(b, c);
        ranges.join(b, d);
        assert_eq!(spans(&ranges), [(0, 100)]);
    }
}
