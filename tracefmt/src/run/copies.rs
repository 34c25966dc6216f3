//! Lines that are in a log twice: how many, and taking out the second of each pair. Which lines are
//! the same is decided in `assemble`.

/// Events of partitions that are in the log again with the same time: the same lines, not the same
/// work. They count once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copies {
    /// How many there are; 0 where other events of partitions came again with another time.
    pub events: u64,
    /// Every event of every partition is there twice.
    pub all: bool,
}

/// Takes out every second item, if each is the same as the one before it.
pub(super) fn halve<T>(items: &mut Vec<T>, same: impl Fn(&T, &T) -> bool) {
    let (pairs, rest) = items.as_chunks::<2>();
    if !rest.is_empty() || !pairs.iter().all(|[a, b]| same(a, b)) {
        return;
    }
    let mut first = false;
    items.retain(|_| {
        first = !first;
        first
    });
}

#[cfg(test)]
mod tests {
    use super::halve;

    #[test]
    fn what_is_no_pair_is_kept() {
        for (before, after) in [
            (vec![1, 1, 2, 2], vec![1, 2]),
            (vec![1, 2, 1, 2], vec![1, 2, 1, 2]),
        ] {
            let mut items = before;
            halve(&mut items, |a, b| a == b);
            assert_eq!(items, after);
        }
        let mut odd = vec![1, 1, 2];
        halve(&mut odd, |a, b| a == b);
        assert_eq!(odd.len(), 3);
    }
}
