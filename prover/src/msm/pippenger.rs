//! The bucket method with signed digits (Pippenger 1976; Bernstein, Doumen, Lange and Oosterwijk,
//! "Faster batch forgery identification", INDOCRYPT 2012), every addition a batched affine one.
//!
//! The terms of a window are sorted by bucket, so the points of a bucket lie together and are
//! summed by a tree: no bucket is added to twice in a round, whatever the scalars are. The buckets
//! of a window are cut into ranges, which are the tasks of the threads.

use super::affine::{Pair, Point, Source, Tree, round_pairs};
use super::field;
use super::lanes::{Lanes, WIDTH};
use super::terms::{Entry, Sorted, Terms, Windows};
use blstrs::Scalar;
use group::Group;
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Buckets in a chain of running sums.
const CHAIN: usize = 32;

/// A group of points that are summed.
pub(super) trait Curve: Sync {
    /// A coordinate.
    type Raw: Copy + Send + Sync + 'static;
    type Affine: Copy + Send + Sync;
    type Sum: Group<Scalar = Scalar>;

    fn coordinates(base: &Self::Affine) -> (&Self::Raw, &Self::Raw);
    /// The point of these coordinates; infinity when both are zero.
    fn point(x: Self::Raw, y: Self::Raw) -> Self::Sum;
}

/// Bases by entry.
struct Bases<'a, C: Curve> {
    bases: &'a [C::Affine],
    entries: &'a [Entry],
}

impl<C: Curve> Clone for Bases<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Curve> Copy for Bases<'_, C> {}

impl<C: Curve, L: Lanes<Raw = C::Raw>> Source<L> for Bases<'_, C> {
    #[inline(always)]
    fn load(&self, at: [u32; WIDTH]) -> (L, L) {
        let entries = at.map(|at| self.entries[at as usize]);
        let points = entries.map(|entry| C::coordinates(&self.bases[entry.index()]));
        let x = L::load_raw(points.map(|point| point.0));
        let y = L::load_raw(points.map(|point| point.1));
        let minus = |lanes, lane: usize| lanes | (u8::from(entries[lane].is_minus()) << lane);
        let minus = (0..WIDTH).fold(0, minus) & !y.blank_lanes();
        (x, y.negate_where(minus))
    }

    #[inline(always)]
    fn prefetch(&self, at: u32) {
        field::prefetch(&self.bases[self.entries[at as usize].index()]);
    }
}

/// What a thread needs to sum a range; kept from one range to the next, since fresh memory costs
/// more than the additions that are done in it.
struct Scratch<L: Lanes> {
    tree: Tree<L>,
    /// Entries that are summed at a time; what they need stays in the second-level cache.
    slice: usize,
    runs: Vec<u32>,
    owners: Vec<usize>,
    sums: Vec<Point<L::Kept>>,
    pairs: Vec<Pair>,
    spare: Vec<Vec<Point<L::Kept>>>,
}

impl<L: Lanes> Scratch<L> {
    /// For rounds of so many pairs and ranges of so many buckets, none if there are only ones.
    /// Room for all but awkward sums is asked for here, on the thread that wants the sum: what the
    /// threads of the pool ask for stays with each of them.
    fn new(round: usize, buckets: usize) -> Self {
        let chains = buckets.div_ceil(CHAIN);
        // A bucket has a sum from every slice it reaches into: two for most that have any.
        let owners = buckets + buckets / 4;
        let points = |count| Vec::with_capacity(count);
        Self {
            tree: Tree::new(round, owners),
            slice: 2 * round,
            runs: Vec::with_capacity(buckets.min(2 * round) + 1),
            owners: Vec::with_capacity(owners),
            sums: points(owners),
            pairs: Vec::with_capacity(2 * chains),
            // The last is taken first: the buckets with the sums of their chains, then those sums.
            spare: [2 * chains, buckets + 2 * chains].map(points).into(),
        }
    }

    /// As many points at infinity.
    fn points(&mut self, count: usize) -> Vec<Point<L::Kept>> {
        let mut points = self.spare.pop().unwrap_or_default();
        points.clear();
        points.resize(count, Point::default());
        points
    }
}

/// Scratch that is not in use, and what it is for: the pairs of a round, the buckets of a range.
struct Pool<L: Lanes> {
    free: Mutex<Vec<Scratch<L>>>,
    round: usize,
    buckets: usize,
}

impl<L: Lanes> Pool<L> {
    fn new(threads: usize, round: usize, buckets: usize) -> Self {
        let free = (0..threads).map(|_| Scratch::new(round, buckets));
        Self {
            free: Mutex::new(free.collect()),
            round,
            buckets,
        }
    }

    fn with<R>(&self, work: impl FnOnce(&mut Scratch<L>) -> R) -> R {
        // A thread that panicked gave nothing back, so what is there is whole.
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let scratch = free.pop();
        drop(free);
        let mut scratch = scratch.unwrap_or_else(|| Scratch::new(self.round, self.buckets));
        let result = work(&mut scratch);
        self.free
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(scratch);
        result
    }
}

/// The sum over `bases` of `terms`.
pub(super) fn sum<C: Curve, L: Lanes<Raw = C::Raw>>(
    bases: &[C::Affine],
    mut terms: Terms,
) -> C::Sum {
    let (count, bits) = terms.dense();
    let threads = rayon::current_num_threads();
    let round = round_pairs(count.max(terms.count_ones()), threads);
    let windows = Windows::choose(count, bits);
    let buckets = if count == 0 { 0 } else { windows.ranges().1 };
    let pool = Pool::<L>::new(threads, round, buckets);
    let ones = terms.ones().map(|entries| {
        pool.with(|scratch| {
            let sum = |entries| {
                let runs = &mut [length(entries)];
                let sums = scratch.tree.sum(Bases::<C> { bases, entries }, runs);
                sums.iter().map(projective::<C, L>).sum::<C::Sum>()
            };
            entries.chunks(scratch.slice).map(sum).sum::<C::Sum>()
        })
    });
    let ones = ones.reduce(C::Sum::identity, |left, right| left + right);
    if count == 0 {
        return ones;
    }
    terms.raise(windows);
    let mut dense = C::Sum::identity();
    for sum in window_sums::<C, L>(bases, &terms, windows, &pool)
        .iter()
        .rev()
    {
        for _ in 0..windows.width {
            dense = dense.double();
        }
        dense += sum;
    }
    dense + ones
}

/// The sum of every window, the lowest first; twice as many windows at a time as there are threads.
fn window_sums<C: Curve, L: Lanes<Raw = C::Raw>>(
    bases: &[C::Affine],
    terms: &Terms,
    windows: Windows,
    pool: &Pool<L>,
) -> Vec<C::Sum> {
    let (ranges, buckets) = windows.ranges();
    let mut sums = Vec::new();
    let together = 2 * rayon::current_num_threads();
    let all: Vec<u32> = (0..windows.count).collect();
    let mut sorted: Vec<Sorted> = all
        .iter()
        .take(together)
        .map(|_| terms.room(windows))
        .collect();
    for group in all.chunks(together) {
        let each = sorted.par_iter_mut().zip(group);
        each.for_each(|(sorted, window)| terms.window(windows, *window, sorted));
        let parts = (0..group.len() * ranges)
            .into_par_iter()
            .with_max_len(1)
            .map(|part| {
                let (window, range) = (&sorted[part / ranges], part % ranges);
                let starts = &window.starts[range * buckets..=(range + 1) * buckets];
                let range_of = Range::<C> {
                    bases,
                    entries: &window.entries,
                    starts,
                };
                pool.with(|scratch| range_of.sum((range * buckets) as u64, scratch))
            });
        let parts: Vec<C::Sum> = parts.collect();
        sums.extend(
            parts
                .chunks(ranges)
                .map(|parts| parts.iter().sum::<C::Sum>()),
        );
    }
    sums
}

fn length<T>(items: &[T]) -> u32 {
    u32::try_from(items.len()).unwrap_or(u32::MAX)
}

fn projective<C: Curve, L: Lanes<Raw = C::Raw>>(point: &Point<L::Kept>) -> C::Sum {
    C::point(L::raw(&point.x), L::raw(&point.y))
}

/// A range of the buckets of a window.
struct Range<'a, C: Curve> {
    bases: &'a [C::Affine],
    entries: &'a [Entry],
    starts: &'a [u32],
}

impl<C: Curve> Range<'_, C> {
    /// Σ (`before` + i + 1)·bucket i.
    fn sum<L: Lanes<Raw = C::Raw>>(&self, before: u64, scratch: &mut Scratch<L>) -> C::Sum {
        let buckets = self.buckets(scratch);
        let (weighted, total) = weigh::<C, L>(scratch, buckets);
        weighted + times(total, before)
    }

    /// The sum of every bucket.
    fn buckets<L: Lanes<Raw = C::Raw>>(&self, scratch: &mut Scratch<L>) -> Vec<Point<L::Kept>> {
        let mut buckets = scratch.points(self.starts.len() - 1);
        let Scratch {
            tree,
            runs,
            owners,
            sums,
            slice,
            ..
        } = scratch;
        let slice = *slice;
        owners.clear();
        sums.clear();
        let (from, to) = (self.starts[0] as usize, self.starts[buckets.len()] as usize);
        let mut bucket = 0;
        for at in (from..to).step_by(slice) {
            let end = to.min(at + slice);
            runs.clear();
            self.runs(at..end, &mut bucket, owners, runs);
            let source = Bases::<C> {
                bases: self.bases,
                entries: &self.entries[at..end],
            };
            sums.extend_from_slice(tree.sum(source, runs));
        }
        // A bucket that was cut between slices has a sum from each.
        runs.clear();
        runs.extend(owners.chunk_by(|a, b| a == b).map(length));
        owners.dedup();
        if !owners.is_empty() {
            for (owner, sum) in owners.iter().zip(tree.sum(sums.as_slice(), runs)) {
                buckets[*owner] = *sum;
            }
        }
        buckets
    }

    /// How the entries of a slice are shared between buckets, from `bucket` on; adds the buckets
    /// that have any to `owners`.
    fn runs(
        &self,
        slice: std::ops::Range<usize>,
        bucket: &mut usize,
        owners: &mut Vec<usize>,
        runs: &mut Vec<u32>,
    ) {
        let mut at = slice.start;
        while at < slice.end {
            while self.starts[*bucket + 1] as usize <= at {
                *bucket += 1;
            }
            let end = slice.end.min(self.starts[*bucket + 1] as usize);
            runs.push(u32::try_from(end - at).unwrap_or(u32::MAX));
            owners.push(*bucket);
            at = end;
        }
    }
}

/// `factor`·point, for a small factor.
fn times<G: Group>(point: G, factor: u64) -> G {
    let mut out = G::identity();
    for bit in (0..u64::BITS - factor.leading_zeros()).rev() {
        out = out.double();
        if (factor >> bit) & 1 == 1 {
            out += point;
        }
    }
    out
}

/// Σ (i + 1)·Pᵢ and Σ Pᵢ, by running sums down chains that all go on at once.
fn weigh<C: Curve, L: Lanes<Raw = C::Raw>>(
    scratch: &mut Scratch<L>,
    points: Vec<Point<L::Kept>>,
) -> (C::Sum, C::Sum) {
    if points.len() <= 2 * CHAIN {
        let mut total = C::Sum::identity();
        let mut weighted = C::Sum::identity();
        for point in points.iter().rev() {
            total += projective::<C, L>(point);
            weighted += total;
        }
        scratch.spare.push(points);
        return (weighted, total);
    }
    let chains = points.len().div_ceil(CHAIN);
    let sums = chain_sums(scratch, points);
    let (totals, weights) = sums.split_at(chains);
    let runs = &mut [length(weights)];
    let within = scratch
        .tree
        .sum(weights, runs)
        .iter()
        .map(projective::<C, L>);
    let within: C::Sum = within.sum();
    let mut next = scratch.points(0);
    next.extend_from_slice(totals);
    scratch.spare.push(sums);
    let (weighted, total) = weigh::<C, L>(scratch, next);
    // Chain k begins at k·CHAIN, and `weighted` counts chains from one.
    (times(weighted - total, CHAIN as u64) + within, total)
}

/// Of every chain of [`CHAIN`] points: Σ Pᵢ, and behind all those, Σ (i + 1)·Pᵢ.
fn chain_sums<L: Lanes>(
    scratch: &mut Scratch<L>,
    mut points: Vec<Point<L::Kept>>,
) -> Vec<Point<L::Kept>> {
    let count = points.len().div_ceil(CHAIN);
    let (totals, weights) = (count * CHAIN, count * CHAIN + count);
    points.resize(weights + count, Point::default());
    let mut out = scratch.points(2 * count);
    let index = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    for chain in 0..count {
        points[totals + chain] = points[chain * CHAIN + CHAIN - 1];
    }
    let pairs = &mut scratch.pairs;
    for at in (0..CHAIN).rev() {
        // The weights lag a step behind, so that both sums are in one round.
        let grow = (0..count).filter(|_| at > 0).map(|chain| Pair {
            left: index(totals + chain),
            right: index(chain * CHAIN + at - 1),
            to: index(chain),
        });
        let weigh = (0..count).map(|chain| Pair {
            left: index(weights + chain),
            right: index(totals + chain),
            to: index(count + chain),
        });
        pairs.clear();
        pairs.extend(grow.chain(weigh));
        out[..count].copy_from_slice(&points[totals..weights]);
        scratch.tree.adder().add(points.as_slice(), pairs, &mut out);
        points[totals..].copy_from_slice(&out);
    }
    scratch.spare.push(points);
    out
}

#[cfg(test)]
mod tests {
    use super::super::{G1, field::Assembly};
    use super::*;
    use blstrs::{G1Affine, G1Projective};
    use ff::{Field as _, PrimeField as _};
    use group::Curve as _;

    fn points(count: u64) -> Vec<G1Affine> {
        let generator = G1Projective::generator();
        (1..=count)
            .map(|at| (generator * Scalar::from(at)).to_affine())
            .collect()
    }

    fn kept(points: &[G1Affine]) -> Vec<Point<blst::blst_fp>> {
        points
            .iter()
            .map(|point| Point {
                x: point.as_ref().x,
                y: point.as_ref().y,
            })
            .collect()
    }

    #[test]
    fn runs_are_summed_each_for_itself() {
        let points = points(100);
        let mut tree = Tree::<Assembly>::new(64, 0);
        let kept = kept(&points);
        for run in [1, 2, 3, 7, 50, 100] {
            let runs = &mut [run, 100 - run, 0];
            let runs = if run == 100 {
                &mut runs[..1]
            } else {
                &mut runs[..2]
            };
            let sums = tree.sum(kept.as_slice(), runs);
            let first: u64 = (1..=u64::from(run)).sum();
            let expected = G1Projective::generator() * Scalar::from(first);
            assert_eq!(
                projective::<G1, Assembly>(&sums[0]),
                expected,
                "run of {run}"
            );
        }
    }

    #[test]
    fn weights_count_from_one() {
        for count in [1, 2, 64, 65, 100, 2100] {
            let kept = kept(&points(count));
            let (weighted, total) = weigh::<G1, Assembly>(&mut Scratch::new(64, 64), kept);
            let generator = G1Projective::generator();
            assert_eq!(
                total,
                generator * Scalar::from((1..=count).sum::<u64>()),
                "{count}"
            );
            let squares: u64 = (1..=count).map(|at| at * at).sum();
            assert_eq!(weighted, generator * Scalar::from(squares), "{count}");
        }
    }

    /// What has been asked for of the memory that is kept from one range to the next.
    fn room(scratch: &Scratch<Assembly>) -> Vec<usize> {
        let Scratch {
            runs,
            owners,
            sums,
            pairs,
            spare,
            ..
        } = scratch;
        let mut room = vec![
            runs.capacity(),
            owners.capacity(),
            sums.capacity(),
            pairs.capacity(),
        ];
        room.extend(spare.iter().map(Vec::capacity));
        room.extend(scratch.tree.room());
        room
    }

    #[test]
    fn an_ordinary_sum_asks_for_no_more_than_its_scratch_has() {
        let some = points(64);
        let bases: Vec<G1Affine> = some.iter().cycle().take(1 << 13).copied().collect();
        let turn = Scalar::ROOT_OF_UNITY;
        let scalars: Vec<Scalar> = (1..=bases.len() as u64)
            .map(|at| turn * (Scalar::from(at) + turn.square()).invert().unwrap_or(turn))
            .collect();
        let mut terms = Terms::sort(bases.len(), |at| &scalars[at]);
        let (count, bits) = terms.dense();
        let windows = Windows::choose(count, bits);
        terms.raise(windows);
        let (ranges, buckets) = windows.ranges();
        let mut scratch = Scratch::<Assembly>::new(round_pairs(count, 2), buckets);
        let (before, mut sorted) = (room(&scratch), terms.room(windows));
        assert!(before.iter().all(|capacity| *capacity > 0), "{before:?}");
        for window in 0..windows.count {
            terms.window(windows, window, &mut sorted);
            for range in 0..ranges {
                let from = range * buckets;
                let range = Range::<G1> {
                    bases: &bases,
                    entries: &sorted.entries,
                    starts: &sorted.starts[from..=from + buckets],
                };
                range.sum(from as u64, &mut scratch);
            }
            assert_eq!(room(&scratch), before, "window {window}");
        }
    }

    #[test]
    fn small_multiples_are_sums() {
        let generator = G1Projective::generator();
        for factor in [0, 1, 2, 3, 31, 32, 1000] {
            assert_eq!(times(generator, factor), generator * Scalar::from(factor));
        }
    }
}
