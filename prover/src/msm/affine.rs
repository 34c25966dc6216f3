//! Adding many pairs of affine points with one inversion: 5 multiplications and a squaring a pair,
//! against 7 and 4 for a Jacobian mixed addition (and 8 and 2 in XYZZ coordinates).
//!
//! The pairs of a round must not depend on each other; [`Tree`] makes such rounds out of runs of
//! points that are to be summed. Memory: a round of n pairs holds 7·n field elements, and never
//! more pairs are taken at once than [`Adder::new`] was told.

use super::lanes::{Lanes, WIDTH, Work};

/// Most pairs under one inversion: 4096 pairs of G1 are 1.8 MB of scratch, and the inversion is
/// then under 1 % of the work.
const ROUND_PAIRS_MAX: usize = 4096;
/// Fewest, in sums of few points: an inversion is then a twentieth of the work.
const ROUND_PAIRS_MIN: usize = 512;

/// Pairs under one inversion for a sum of `count` points on so many threads: what the threads hold
/// together is to stay below what the points' scalars take.
pub(super) fn round_pairs(count: usize, threads: usize) -> usize {
    let share = count / (16 * threads.max(1));
    share
        .next_power_of_two()
        .clamp(ROUND_PAIRS_MIN, ROUND_PAIRS_MAX)
}

/// A point at rest; infinity is all zeros, which no point of the curve is (none has y = 0, since
/// the order of the curve is odd).
#[derive(Clone, Copy, Default)]
pub(super) struct Point<K> {
    pub(super) x: K,
    pub(super) y: K,
}

/// The sum of two points of a source, to be put at a place.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) to: u32,
}

/// Where points come from.
pub(super) trait Source<L: Lanes>: Copy {
    /// Eight of its points, by lane: x and y.
    fn load(&self, at: [u32; WIDTH]) -> (L, L);
    /// Asks the memory for a point that will be loaded soon.
    fn prefetch(&self, at: u32);
}

impl<L: Lanes> Source<L> for &[Point<L::Kept>] {
    #[inline(always)]
    fn load(&self, at: [u32; WIDTH]) -> (L, L) {
        let points = at.map(|at| &self[at as usize]);
        (
            L::load(points.map(|point| &point.x)),
            L::load(points.map(|point| &point.y)),
        )
    }

    #[inline(always)]
    fn prefetch(&self, _: u32) {}
}

/// What the way back needs of eight pairs.
struct Step<L> {
    left: (L, L),
    right: (L, L),
    slope_over: L,
    slope_under: L,
    /// The product of all earlier `slope_under`.
    before: L,
}

/// Lanes of a step that the chord rule does not hold for.
struct Exception {
    step: usize,
    left_infinite: u8,
    right_infinite: u8,
    opposite: u8,
}

/// The scratch of one thread.
pub(super) struct Adder<L: Lanes> {
    /// Pairs under one inversion.
    round: usize,
    steps: Vec<Step<L>>,
    exceptions: Vec<Exception>,
}

impl<L: Lanes> Adder<L> {
    /// An adder of rounds of `round` pairs.
    pub(super) fn new(round: usize) -> Self {
        Self {
            round,
            steps: Vec::with_capacity(round.div_ceil(WIDTH)),
            exceptions: Vec::new(),
        }
    }

    /// Adds every pair of `source` and puts the sums into `out`.
    pub(super) fn add<S: Source<L>>(
        &mut self,
        source: S,
        pairs: &[Pair],
        out: &mut [Point<L::Kept>],
    ) {
        for pairs in pairs.chunks(self.round) {
            L::within(Round {
                adder: self,
                source,
                pairs,
                out,
            });
        }
    }

    /// Puts the points at `left` of `source` where the moves say.
    pub(super) fn copy<S: Source<L>>(source: S, moves: &[Pair], out: &mut [Point<L::Kept>]) {
        L::within(Transfer {
            source,
            moves,
            out,
            lanes: std::marker::PhantomData::<L>,
        });
    }
}

struct Transfer<'a, L: Lanes, S> {
    source: S,
    moves: &'a [Pair],
    out: &'a mut [Point<L::Kept>],
    lanes: std::marker::PhantomData<L>,
}

impl<L: Lanes, S: Source<L>> Work for Transfer<'_, L, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for moves in self.moves.chunks(WIDTH) {
            let (x, y) = self.source.load(lanes_of(moves, |pair| pair.left));
            put::<L>(self.out, moves, &x, &y);
        }
    }
}

struct Round<'a, L: Lanes, S> {
    adder: &'a mut Adder<L>,
    source: S,
    pairs: &'a [Pair],
    out: &'a mut [Point<L::Kept>],
}

/// A field of eight pairs by lane; the lanes over repeat the last pair.
#[inline(always)]
fn lanes_of(pairs: &[Pair], field: impl Fn(&Pair) -> u32) -> [u32; WIDTH] {
    std::array::from_fn(|lane| field(&pairs[lane.min(pairs.len() - 1)]))
}

#[inline(always)]
fn put<L: Lanes>(out: &mut [Point<L::Kept>], pairs: &[Pair], x: &L, y: &L) {
    let (x, y) = (x.store(), y.store());
    for (pair, (x, y)) in pairs.iter().zip(x.into_iter().zip(y)) {
        out[pair.to as usize] = Point { x, y };
    }
}

impl<L: Lanes, S: Source<L>> Work for Round<'_, L, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self {
            adder,
            source,
            pairs,
            out,
        } = self;
        adder.steps.clear();
        adder.exceptions.clear();
        let product = adder.forward(source, pairs);
        adder.backward(product.invert(), pairs, out);
    }
}

impl<L: Lanes> Adder<L> {
    /// Slopes as fractions, and the product of all that is under.
    #[inline(always)]
    fn forward<S: Source<L>>(&mut self, source: S, pairs: &[Pair]) -> L {
        const AHEAD: usize = 3 * WIDTH;
        let mut product = L::one();
        for (index, eight) in pairs.chunks(WIDTH).enumerate() {
            for pair in pairs.iter().skip(index * WIDTH + AHEAD).take(WIDTH) {
                source.prefetch(pair.left);
                source.prefetch(pair.right);
            }
            let left = source.load(lanes_of(eight, |pair| pair.left));
            let right = source.load(lanes_of(eight, |pair| pair.right));
            let mut step = Step {
                left,
                right,
                slope_over: right.1.diff(&left.1),
                slope_under: right.0.diff(&left.0),
                before: product,
            };
            let odd = step.slope_under.zero_lanes() | left.1.blank_lanes() | right.1.blank_lanes();
            if odd != 0 {
                self.exceptions.push(step.except(index));
            }
            product = product.mul(&step.slope_under);
            self.steps.push(step);
        }
        product
    }

    /// Slopes, then sums, last pair first: `inverse` is that of the product of all that is under.
    #[inline(always)]
    fn backward(&mut self, mut inverse: L, pairs: &[Pair], out: &mut [Point<L::Kept>]) {
        let eights = pairs.chunks(WIDTH);
        for (index, (step, eight)) in self.steps.iter().zip(eights).enumerate().rev() {
            let slope = step.slope_over.mul(&inverse.mul(&step.before));
            inverse = inverse.mul(&step.slope_under);
            let x = slope.square().sub_two(&step.left.0, &step.right.0);
            let y = slope.mul(&step.left.0.diff(&x)).sub(&step.left.1);
            match self.exceptions.last() {
                Some(exception) if exception.step == index => {
                    let (x, y) = exception.correct(step, (x, y));
                    put(out, eight, &x, &y);
                    self.exceptions.pop();
                }
                _ => put(out, eight, &x, &y),
            }
        }
    }
}

impl<L: Lanes> Step<L> {
    /// Sorts out the lanes that hold infinity, a point twice, or a point and its opposite, and
    /// makes the slope fit: a tangent's for a point twice, one over one where it is not used.
    #[cold]
    fn except(&mut self, step: usize) -> Exception {
        let left_infinite = self.left.1.blank_lanes();
        let right_infinite = self.right.1.blank_lanes();
        let alike = self.slope_under.zero_lanes() & !left_infinite & !right_infinite;
        let twice = alike & self.slope_over.zero_lanes();
        let opposite = alike & !twice;
        let (x, y) = &self.left;
        let square = x.square();
        let triple = square.sum(&square).mul(&L::one()).sum(&square);
        self.slope_over = self.slope_over.select(twice, &triple);
        self.slope_under = self.slope_under.select(twice, &y.sum(y));
        let unused = left_infinite | right_infinite | opposite;
        self.slope_under = self.slope_under.select(unused, &L::one());
        Exception {
            step,
            left_infinite,
            right_infinite,
            opposite,
        }
    }
}

impl Exception {
    #[cold]
    fn correct<L: Lanes>(&self, step: &Step<L>, sum: (L, L)) -> (L, L) {
        let zero = L::load([&L::Kept::default(); WIDTH]);
        let pick = |sum: L, left: &L, right: &L| {
            let sum = sum.select(self.left_infinite, right);
            let sum = sum.select(self.right_infinite & !self.left_infinite, left);
            sum.select(self.opposite, &zero)
        };
        (
            pick(sum.0, &step.left.0, &step.right.0),
            pick(sum.1, &step.left.1, &step.right.1),
        )
    }
}

/// Sums runs of points by rounds of pairs, with the scratch that needs.
pub(super) struct Tree<L: Lanes> {
    adder: Adder<L>,
    pairs: Vec<Pair>,
    moves: Vec<Pair>,
    points: Vec<Point<L::Kept>>,
    next: Vec<Point<L::Kept>>,
}

impl<L: Lanes> Tree<L> {
    /// A tree whose rounds are of `round` pairs, with room for twice as many points in runs that
    /// are long, and for `runs` runs of any length.
    pub(super) fn new(round: usize, runs: usize) -> Self {
        Self {
            adder: Adder::new(round),
            pairs: Vec::with_capacity(round),
            moves: Vec::with_capacity(runs.max(round / 4)),
            points: Vec::with_capacity(runs.max(round + round / 4)),
            next: Vec::with_capacity(round / 2 + round / 4),
        }
    }

    /// Of each of its lists, in points and pairs, what it has asked for; the larger place first.
    #[cfg(test)]
    pub(super) fn room(&self) -> [usize; 4] {
        let [a, b] = [self.points.capacity(), self.next.capacity()];
        [
            a.max(b),
            a.min(b),
            self.pairs.capacity(),
            self.moves.capacity(),
        ]
    }

    pub(super) fn adder(&mut self) -> &mut Adder<L> {
        &mut self.adder
    }

    /// One sum a run: the first `runs[0]` points of `source`, the next `runs[1]`, and so on.
    ///
    /// `runs` is left in pieces; none may be zero. Holds 1.5 points a point of the source.
    pub(super) fn sum<S: Source<L>>(&mut self, source: S, runs: &mut [u32]) -> &[Point<L::Kept>] {
        self.halve(runs);
        // The first round leaves the most; an odd number of rounds has left the places changed.
        if self.points.capacity() < self.next.capacity() {
            std::mem::swap(&mut self.points, &mut self.next);
        }
        self.points.resize(self.count(), Point::default());
        self.adder.add(source, &self.pairs, &mut self.points);
        Adder::<L>::copy(source, &self.moves, &mut self.points);
        while runs.iter().any(|run| *run > 1) {
            self.halve(runs);
            self.next.resize(self.count(), Point::default());
            self.adder
                .add(self.points.as_slice(), &self.pairs, &mut self.next);
            for step in &self.moves {
                self.next[step.to as usize] = self.points[step.left as usize];
            }
            std::mem::swap(&mut self.points, &mut self.next);
        }
        &self.points
    }

    fn count(&self) -> usize {
        self.pairs.len() + self.moves.len()
    }

    /// Pairs up the points of every run, and halves its length.
    fn halve(&mut self, runs: &mut [u32]) {
        self.pairs.clear();
        self.moves.clear();
        let (mut from, mut to) = (0, 0);
        for run in runs {
            for _ in 0..*run / 2 {
                self.pairs.push(Pair {
                    left: from,
                    right: from + 1,
                    to,
                });
                from += 2;
                to += 1;
            }
            if *run % 2 == 1 {
                self.moves.push(Pair {
                    left: from,
                    right: from,
                    to,
                });
                from += 1;
                to += 1;
            }
            *run = run.div_ceil(2);
        }
    }
}
