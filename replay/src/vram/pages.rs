//! Pages: the physical side of the pool.
//!
//! A pool's memory is mapped page by page (32 MiB) into its address space. Each page counts the
//! blocks that use it and the frees on it that no synchronisation has observed. Only an idle
//! page, one with neither, can be moved or given back.

use std::hash::{Hash, Hasher};

/// One page of the pool's address space.
#[derive(Debug, Clone, Copy, Default)]
struct Page {
    mapped: bool,
    used: u32,
    unobserved: u32,
}

impl Page {
    fn is_idle(self) -> bool {
        self.mapped && self.used == 0 && self.unobserved == 0
    }
}

/// The pages of one pool. Ranges are in pages, the end excluded.
#[derive(Debug, Clone, Default)]
pub(super) struct Pages {
    all: Vec<Page>,
    mapped: u64,
    idle: u64,
}

/// A range of pages, the end excluded.
pub(super) type Range = std::ops::Range<usize>;

impl Pages {
    /// How many pages are mapped.
    pub(super) fn mapped(&self) -> u64 {
        self.mapped
    }

    /// How many pages are idle.
    pub(super) fn idle(&self) -> u64 {
        self.idle
    }

    /// Counts a block in or out of every page that it touches.
    pub(super) fn use_range(&mut self, range: Range, add: bool) {
        self.change(range, |page| page.used = step(page.used, add));
    }

    /// Counts an unobserved free in or out of every page that it touches.
    pub(super) fn pend_range(&mut self, range: Range, add: bool) {
        self.change(range, |page| page.unobserved = step(page.unobserved, add));
    }

    /// How many pages of a range are mapped.
    pub(super) fn mapped_in(&self, range: &Range) -> u64 {
        self.slice(range).iter().filter(|page| page.mapped).count() as u64
    }

    /// How many pages of a range are idle.
    pub(super) fn idle_in(&self, range: &Range) -> u64 {
        self.slice(range)
            .iter()
            .filter(|page| page.is_idle())
            .count() as u64
    }

    /// Maps up to `count` pages of a range, lowest first.
    pub(super) fn map(&mut self, range: Range, mut count: u64) {
        for at in range {
            if count == 0 {
                return;
            }
            if !self.all.get(at).is_some_and(|page| page.mapped) {
                self.change(at..at + 1, |page| page.mapped = true);
                self.mapped += 1;
                count -= 1;
            }
        }
    }

    /// Unmaps up to `count` idle pages outside a range, highest first.
    pub(super) fn unmap_outside(&mut self, range: &Range, count: u64) {
        self.unmap_where(0..self.all.len(), count, |at| !range.contains(&at));
    }

    /// Unmaps up to `count` idle pages of a range, highest first.
    pub(super) fn unmap_in(&mut self, range: Range, count: u64) {
        self.unmap_where(range, count, |_at| true);
    }

    /// Unmaps up to `count` idle pages, highest first.
    pub(super) fn unmap(&mut self, count: u64) {
        self.unmap_where(0..self.all.len(), count, |_at| true);
    }

    fn unmap_where(&mut self, range: Range, count: u64, wanted: impl Fn(usize) -> bool) {
        let mut left = count.min(self.idle);
        let end = range.end.min(self.all.len());
        for at in (range.start.min(end)..end).rev() {
            if left == 0 {
                return;
            }
            if self.all.get(at).is_some_and(|page| page.is_idle()) && wanted(at) {
                self.change(at..at + 1, |page| page.mapped = false);
                self.mapped -= 1;
                left -= 1;
            }
        }
    }

    /// Hashes which pages are mapped; who uses them follows from the ranges.
    pub(super) fn hash_mapped<H: Hasher>(&self, state: &mut H) {
        self.mapped.hash(state);
        let mut mapped = false;
        for (at, page) in self.all.iter().enumerate() {
            if page.mapped != mapped {
                mapped = page.mapped;
                at.hash(state);
            }
        }
    }

    /// Roughly how many bytes they take.
    pub(super) fn size_bytes(&self) -> usize {
        self.all.len() * size_of::<Page>()
    }

    fn slice(&self, range: &Range) -> &[Page] {
        let end = range.end.min(self.all.len());
        self.all.get(range.start.min(end)..end).unwrap_or(&[])
    }

    /// Changes every page of a range and keeps the count of idle ones right.
    fn change(&mut self, range: Range, change: impl Fn(&mut Page)) {
        if self.all.len() < range.end {
            self.all.resize(range.end, Page::default());
        }
        for page in self.all.get_mut(range).unwrap_or_default() {
            let before = page.is_idle();
            change(page);
            self.idle = self.idle + u64::from(page.is_idle()) - u64::from(before);
        }
    }
}

fn step(count: u32, add: bool) -> u32 {
    if add {
        count.saturating_add(1)
    } else {
        count.saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_idle_when_nobody_uses_it_and_every_free_is_observed() {
        let mut pages = Pages::default();
        pages.map(0..4, u64::MAX);
        pages.use_range(1..3, true);
        pages.pend_range(2..4, true);
        assert_eq!((pages.mapped(), pages.idle()), (4, 1));
        pages.use_range(1..3, false);
        assert_eq!(pages.idle(), 2, "pages 0 and 1");
        pages.pend_range(2..4, false);
        assert_eq!(pages.idle(), 4);
    }

    #[test]
    fn the_highest_idle_pages_go_first() {
        let mut pages = Pages::default();
        pages.map(0..6, u64::MAX);
        pages.use_range(5..6, true);
        pages.unmap_outside(&(4..5), 2);
        assert_eq!(pages.mapped_in(&(2..4)), 0);
        assert_eq!(pages.mapped_in(&(4..6)), 2);
        pages.unmap_in(0..1, 9);
        assert_eq!(pages.mapped_in(&(0..2)), 1);
        pages.unmap(9);
        assert_eq!(pages.mapped(), 1, "the used page stays");
    }

    #[test]
    fn mapping_counts_only_what_was_not_mapped() {
        let mut pages = Pages::default();
        pages.map(1..2, 9);
        pages.map(0..4, 2);
        assert_eq!(pages.mapped(), 3);
        assert_eq!(pages.mapped_in(&(0..3)), 3);
        assert_eq!(pages.mapped_in(&(3..900)), 0);
        assert_eq!(pages.idle_in(&(0..2)), 2);
    }
}
