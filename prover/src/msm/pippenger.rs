//! The bucket method with signed digits (Pippenger 1976; Bernstein, Doumen, Lange and Oosterwijk,
//! "Faster batch forgery identification", INDOCRYPT 2012), every addition a batched affine one.
//!
//! The terms of a window are sorted by bucket, so the points of a bucket lie together and are
//! summed by a tree: no bucket is added to twice in a round, whatever the scalars are. The buckets
//! of a window are cut into ranges, which are the tasks of the threads.

use super::affine::{Pair, Point, Source, Tree};
use super::field;
use super::lanes::{Lanes, WIDTH};
use super::terms::{Entry, Sorted, Terms, Windows};
use blstrs::Scalar;
use group::Group;
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Entries that are summed at a time; what they need stays in the second-level cache.
const SLICE: usize = 2 * super::affine::ROUND_PAIRS;
/// Buckets in a chain of running sums.
const CHAIN: usize = 32;
/// Ranges that the buckets of a window are cut into, and how many buckets one has at least.
const RANGES: usize = 8;
const RANGE_BUCKETS_MIN: usize = 512;

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
    runs: Vec<u32>,
    owners: Vec<usize>,
    sums: Vec<Point<L::Kept>>,
    pairs: Vec<Pair>,
    spare: Vec<Vec<Point<L::Kept>>>,
}

impl<L: Lanes> Scratch<L> {
    fn new() -> Self {
        Self {
            tree: Tree::new(),
            runs: Vec::new(),
            owners: Vec::new(),
            sums: Vec::new(),
            pairs: Vec::new(),
            spare: Vec::new(),
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

/// Scratch that is not in use.
struct Pool<L: Lanes>(Mutex<Vec<Scratch<L>>>);

impl<L: Lanes> Pool<L> {
    fn with<R>(&self, work: impl FnOnce(&mut Scratch<L>) -> R) -> R {
        // A thread that panicked gave nothing back, so what is there is whole.
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = free.pop().unwrap_or_else(Scratch::new);
        drop(free);
        let result = work(&mut scratch);
        self.0
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
    let pool = Pool::<L>(Mutex::new(Vec::new()));
    let ones = terms.ones().map(|entries| {
        pool.with(|scratch| {
            let runs = &mut [length(entries)];
            let sums = scratch.tree.sum(Bases::<C> { bases, entries }, runs);
            sums.iter().map(projective::<C, L>).sum::<C::Sum>()
        })
    });
    let ones = ones.reduce(C::Sum::identity, |left, right| left + right);
    let (count, bits) = terms.dense();
    if count == 0 {
        return ones;
    }
    let windows = Windows::choose(count, bits);
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
    let ranges = (windows.buckets() / RANGE_BUCKETS_MIN).clamp(1, RANGES);
    let buckets = windows.buckets() / ranges;
    let mut sums = Vec::new();
    let together = 2 * rayon::current_num_threads();
    let all: Vec<u32> = (0..windows.count).collect();
    for group in all.chunks(together) {
        let sorted: Vec<Sorted> = group
            .par_iter()
            .map(|window| terms.window(windows, *window))
            .collect();
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
            ..
        } = scratch;
        owners.clear();
        sums.clear();
        let (from, to) = (self.starts[0] as usize, self.starts[buckets.len()] as usize);
        let mut bucket = 0;
        for at in (from..to).step_by(SLICE) {
            let end = to.min(at + SLICE);
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
        let mut tree = Tree::<Assembly>::new();
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
            let (weighted, total) = weigh::<G1, Assembly>(&mut Scratch::new(), kept);
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

    #[test]
    fn small_multiples_are_sums() {
        let generator = G1Projective::generator();
        for factor in [0, 1, 2, 3, 31, 32, 1000] {
            assert_eq!(times(generator, factor), generator * Scalar::from(factor));
        }
    }
}
