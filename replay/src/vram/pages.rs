//! Pages: the physical side of the pool.
//!
//! A pool's memory is mapped page by page (32 MiB) into its address space. Each page counts the
//! blocks that use it and the frees on it that no synchronisation has observed. Only an idle
//! page, one with neither, can be moved or given back.

use std::hash::{Hash, Hasher};

use super::bits::Bits;

/// Who uses a page of the pool's address space.
#[derive(Debug, Clone, Copy, Default)]
struct Page {
    used: u32,
    unobserved: u32,
}

impl Page {
    /// Whether something keeps it from being idle.
    fn is_kept(self) -> bool {
        self.used > 0 || self.unobserved > 0
    }
}

/// The pages of one pool. Ranges are in pages, the end excluded.
#[derive(Debug, Clone, Default)]
pub(super) struct Pages {
    all: Vec<Page>,
    mapped: Bits,
    /// Mapped pages that nobody uses and whose frees are observed.
    idle: Bits,
    mapped_count: u64,
    idle_count: u64,
}

/// A range of pages, the end excluded.
pub(super) type Range = std::ops::Range<usize>;

impl Pages {
    /// How many pages are mapped.
    pub(super) fn mapped(&self) -> u64 {
        self.mapped_count
    }

    /// How many pages are idle.
    pub(super) fn idle(&self) -> u64 {
        self.idle_count
    }

    /// Counts a block in or out of every page that it touches.
    pub(super) fn use_range(&mut self, range: Range, add: bool) {
        self.change(range, |page| page.used = step(page.used, add));
    }

    /// Counts an unobserved free in or out of every page that it touches.
    pub(super) fn pend_range(&mut self, range: Range, add: bool) {
        self.change(range, |page| page.unobserved = step(page.unobserved, add));
    }

    /// A block that was used is freed and not observed yet: on each page it counts as the one
    /// where it counted as the other.
    pub(super) fn use_to_pend(&mut self, range: Range) {
        self.change(range, |page| {
            page.used = step(page.used, false);
            page.unobserved = step(page.unobserved, true);
        });
    }

    /// A block takes the first pages of an unobserved free, whose rest, from the page `rest` on,
    /// stays what it was.
    pub(super) fn pend_to_use(&mut self, range: Range, rest: usize) {
        let (gone, shared) = (range.start..rest.min(range.end), rest..range.end);
        self.change(gone, |page| {
            page.used = step(page.used, true);
            page.unobserved = step(page.unobserved, false);
        });
        self.change(shared, |page| page.used = step(page.used, true));
    }

    /// How many pages of a range are mapped.
    pub(super) fn mapped_in(&self, range: &Range) -> u64 {
        self.mapped.count(range) as u64
    }

    /// How many pages of a range are idle.
    pub(super) fn idle_in(&self, range: &Range) -> u64 {
        self.idle.count(range) as u64
    }

    /// Maps up to `count` pages of a range, lowest first.
    pub(super) fn map(&mut self, range: Range, mut count: u64) {
        for at in range {
            if count == 0 {
                return;
            }
            if !self.mapped.get(at) {
                if self.all.len() <= at {
                    self.all.resize(at + 1, Page::default());
                }
                self.mapped.set(at, true);
                self.mapped_count += 1;
                count -= 1;
                self.settle(at);
            }
        }
    }

    /// Unmaps up to `count` idle pages outside a range, highest first.
    pub(super) fn unmap_outside(&mut self, range: &Range, count: u64) {
        let above = self.unmap_idle(range.end..usize::MAX, count);
        self.unmap_idle(0..range.start, count - above);
    }

    /// Unmaps up to `count` idle pages of a range, highest first.
    pub(super) fn unmap_in(&mut self, range: Range, count: u64) {
        self.unmap_idle(range, count);
    }

    /// Unmaps up to `count` idle pages, highest first.
    pub(super) fn unmap(&mut self, count: u64) {
        self.unmap_idle(0..usize::MAX, count);
    }

    /// Unmaps idle pages, and says how many.
    fn unmap_idle(&mut self, mut range: Range, count: u64) -> u64 {
        let wanted = count.min(self.idle_count);
        let mut done = 0;
        while done < wanted {
            let Some(at) = self.idle.highest(&range) else {
                break;
            };
            self.mapped.set(at, false);
            self.mapped_count -= 1;
            self.settle(at);
            range.end = at;
            done += 1;
        }
        done
    }

    /// How many blocks use a page, and how many unobserved frees are on it.
    #[cfg(test)]
    pub(super) fn counts(&self, at: usize) -> (u32, u32) {
        let page = self.all.get(at).copied().unwrap_or_default();
        (page.used, page.unobserved)
    }

    /// Hashes which pages are mapped; who uses them follows from the ranges.
    pub(super) fn hash_mapped<H: Hasher>(&self, state: &mut H) {
        self.mapped_count.hash(state);
        let mut mapped = false;
        for at in 0..self.all.len() {
            if self.mapped.get(at) != mapped {
                mapped = !mapped;
                at.hash(state);
            }
        }
    }

    /// Roughly how many bytes they take.
    pub(super) fn size_bytes(&self) -> usize {
        let bits = self.mapped.size_bytes() + self.idle.size_bytes();
        self.all.capacity() * size_of::<Page>() + bits
    }

    /// Changes every page of a range and keeps the idle ones right.
    fn change(&mut self, range: Range, change: impl Fn(&mut Page)) {
        if self.all.len() < range.end {
            self.all.resize(range.end, Page::default());
        }
        for at in range {
            let Some(page) = self.all.get_mut(at) else {
                continue;
            };
            let was_kept = page.is_kept();
            change(page);
            if page.is_kept() != was_kept {
                self.settle(at);
            }
        }
    }

    /// Says of one page whether it is idle now.
    fn settle(&mut self, at: usize) {
        let page = self.all.get(at).copied().unwrap_or_default();
        let idle = !page.is_kept() && self.mapped.get(at);
        if idle != self.idle.get(at) {
            self.idle.set(at, idle);
            if idle {
                self.idle_count += 1;
            } else {
                self.idle_count -= 1;
            }
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
