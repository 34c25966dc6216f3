//! Multi-scalar multiplication on the device: how the scalars are cut into windows, the scratch
//! memory that takes, and the order of the kernels. What the kernels do stands in `msm_sort.cu`
//! and `msm_sum.cu`; the host's share is one doubling a bit of the scalar.

#![expect(
    unsafe_code,
    reason = "launching kernels; each block says why it is sound"
)]

use std::marker::PhantomData;

use group::Group as _;

use super::arena::Arena;
use super::device::{Buffer, Device, Grid, Plain, arg};
use crate::ProverError;
use crate::plan::sums::{SumShape, SumTables};

const SORT_THREADS: u32 = 512;
const TILE: u64 = 512 * 16;
/// Most entries of a bin that are sorted in shared memory.
const MOST_ROOM: u32 = 44 << 10;

/// A group whose sums the device computes.
pub trait Curve: Sized {
    /// Its affine points, as they lie in memory.
    type Affine: Plain;
    /// Its projective points.
    type Projective: Plain + group::Group;
    /// What the kernels' names end with.
    const SUFFIX: &'static str;
    /// Neighbouring threads that work on one point.
    const LANES: u64;
}

/// G1.
#[derive(Debug)]
pub enum G1 {}
/// G2.
#[derive(Debug)]
pub enum G2 {}

impl Curve for G1 {
    type Affine = blstrs::G1Affine;
    type Projective = blstrs::G1Projective;
    const SUFFIX: &'static str = "g1";
    const LANES: u64 = 1;
}

impl Curve for G2 {
    type Affine = blstrs::G2Affine;
    type Projective = blstrs::G2Projective;
    const SUFFIX: &'static str = "g2";
    const LANES: u64 = 2;
}

/// Scratch memory for sums of one shape, and the way to compute them.
#[derive(Debug)]
pub struct Msm<'a, C> {
    device: &'a Device,
    shape: SumShape,
    digits: Buffer,
    pairs: Buffer,
    buckets: Buffer,
    tables: Buffer,
    items: Buffer,
    partials: Buffer,
    offsets: SumTables,
    curve: PhantomData<C>,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct DigitArgs {
    scalars: u64,
    indices: u64,
    digits: u64,
    ones: u64,
    counters: u64,
    n: u32,
    sets: u32,
    tables: u32,
    bits: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct ItemArgs {
    starts: u64,
    counts: u64,
    hist: u64,
    cursor: u64,
    items: u64,
    runs: u64,
    bigs: u64,
    counters: u64,
    buckets: u32,
    piece: u32,
    shift: u32,
    ones_start: u32,
}

/// Milliseconds of device time of the parts of one sum.
#[expect(clippy::struct_field_names, reason = "a unit ends a name")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts {
    /// Digits and sorting.
    pub sort_ms: f64,
    /// Adding up the buckets.
    pub accumulate_ms: f64,
    /// Joining pieces and reducing the buckets.
    pub reduce_ms: f64,
}

impl Parts {
    /// All of it.
    pub fn total_ms(&self) -> f64 {
        self.sort_ms + self.accumulate_ms + self.reduce_ms
    }
}

/// The scalars of a sum, in blst's Montgomery form, canonical or not: scalar i is number
/// `first + i` of the buffer or, with indices, number `first + indices[i]`.
#[derive(Clone, Copy, Debug)]
pub struct Scalars<'a> {
    /// All scalars.
    pub buffer: &'a Buffer,
    /// Number of the first.
    pub first: u64,
    /// Which, as 32-bit words; the buffer has every one of them.
    pub indices: Option<&'a Buffer>,
}

impl<'a> From<&'a Buffer> for Scalars<'a> {
    fn from(buffer: &'a Buffer) -> Self {
        Self {
            buffer,
            first: 0,
            indices: None,
        }
    }
}

impl<'a, C: Curve> Msm<'a, C> {
    /// Allocates the scratch memory for `shape`; see [`over`](Self::over).
    ///
    /// # Errors
    /// As [`over`](Self::over), out of memory included.
    pub fn new(device: &'a Device, shape: SumShape) -> Result<Self, ProverError> {
        let bytes = shape.scratch_bytes(C::LANES);
        let scratch = device.alloc(usize::try_from(bytes).unwrap_or(usize::MAX))?;
        Self::over(device, shape, &scratch)
    }

    /// Takes the scratch memory for `shape` from `scratch`, which has
    /// [`SumShape::scratch_bytes`] bytes. The sums keep the allocation alive.
    ///
    /// # Errors
    /// [`ProverError::DeviceLength`] if it is too small, or the shape has more entries than can be
    /// counted ([`SumShape::is_countable`]).
    pub fn over(
        device: &'a Device,
        shape: SumShape,
        scratch: &Buffer,
    ) -> Result<Self, ProverError> {
        if !shape.is_countable() {
            return Err(too_long("a sum's entries", 1 << 31, shape.entries()));
        }
        let (mut arena, pieces) = (Arena::new(scratch), shape.scratch(C::LANES));
        Ok(Self {
            device,
            shape,
            digits: arena.take(pieces.digits)?,
            pairs: arena.take(pieces.pairs)?,
            buckets: arena.take(pieces.buckets)?,
            tables: arena.take(pieces.tables)?,
            items: arena.take(pieces.items)?,
            partials: arena.take(pieces.partials)?,
            offsets: shape.tables(),
            curve: PhantomData,
        })
    }

    /// Σ scalarᵢ·pointᵢ over as many points as the shape has, and the milliseconds that the device
    /// took. `points` holds the tables one after the other. Both buffers may be longer.
    ///
    /// # Errors
    /// [`ProverError::DeviceLength`] if a buffer is too short, [`ProverError::DeviceCall`].
    pub fn sum(
        &self,
        points: &Buffer,
        scalars: Scalars<'_>,
    ) -> Result<(C::Projective, f64), ProverError> {
        let (point, parts) = self.timed(points, scalars)?;
        Ok((point, parts.total_ms()))
    }

    /// As [`sum`](Self::sum), with the device time of its parts.
    ///
    /// # Errors
    /// As [`sum`](Self::sum).
    pub fn timed(
        &self,
        points: &Buffer,
        scalars: Scalars<'_>,
    ) -> Result<(C::Projective, Parts), ProverError> {
        if self.shape.points == 0 {
            return Ok((C::Projective::identity(), Parts::default()));
        }
        self.check(points, scalars)?;
        let start = self.device.mark()?;
        self.sort(scalars)?;
        let sorted = self.device.mark()?;
        self.accumulate(points)?;
        let summed = self.device.mark()?;
        let rows = self.reduce()?;
        self.to_jacobian(rows)?;
        let reduced = self.device.mark()?;
        let point = self.finish()?;
        let parts = Parts {
            sort_ms: self.device.elapsed_ms(&start, &sorted)?,
            accumulate_ms: self.device.elapsed_ms(&sorted, &summed)?,
            reduce_ms: self.device.elapsed_ms(&summed, &reduced)?,
        };
        Ok((point, parts))
    }

    fn check(&self, points: &Buffer, scalars: Scalars<'_>) -> Result<(), ProverError> {
        let have = (points.bytes() / size_of::<C::Affine>()) as u64;
        if have < self.shape.entries() {
            return Err(too_long("a sum's points", self.shape.entries(), have));
        }
        let (what, have) = match scalars.indices {
            None => {
                let have = (scalars.buffer.bytes() / 32) as u64;
                ("a sum's scalars", have.saturating_sub(scalars.first))
            }
            Some(indices) => ("a sum's indices", (indices.bytes() / 4) as u64),
        };
        if have < self.shape.points {
            return Err(too_long(what, self.shape.points, have));
        }
        Ok(())
    }

    fn table(&self, offset: u64) -> u64 {
        self.tables.ptr() + offset
    }

    /// Scalars to sorted entries, and each bucket's start and count.
    fn sort(&self, scalars: Scalars<'_>) -> Result<(), ProverError> {
        let (shape, at) = (&self.shape, &self.offsets);
        let entries = shape.entries();
        let (low, high) = shape.sort_bits();
        self.device.fill_bytes(&self.tables, at.cleared)?;
        let digits = self.digit_args(scalars);
        let (digit_ptr, pair_ptr) = (self.digits.ptr(), self.pairs.ptr());
        let (hist, cursor) = (self.table(at.hist), self.table(at.cursor));
        let (bins, starts) = (self.table(at.bin_starts), self.table(at.starts));
        let counts = self.table(at.counts);
        let tiles = Grid {
            blocks: (narrow(entries.div_ceil(TILE)), shape.sets),
            threads: SORT_THREADS,
            shared: 4 << low,
        };
        let staged = Grid {
            shared: (8 << low) + (narrow(TILE) * 8),
            ..tiles
        };
        let a_set = Grid {
            blocks: (shape.sets, 1),
            ..tiles
        };
        let mean = narrow(entries >> low);
        // Some static shared memory is the kernel's own: 1 KiB is left for it.
        let spare = self
            .device
            .shared_memory()?
            .saturating_sub((4 << high) + 1024)
            / 4;
        let room = (mean + mean / 4).max(1 << 10).min(MOST_ROOM.min(spare));
        let a_bin = Grid {
            blocks: (1 << low, shape.sets),
            threads: 1024,
            shared: (4 << high) + room * 4,
        };
        let launch = |name: &str, grid, args: &[_]| {
            // SAFETY: the pieces were taken for this shape by `over`, their lengths are what
            // the kernels' heads say; scalars were checked.
            unsafe { self.device.launch(name, grid, args) }
        };
        launch("msm_digits", Grid::over(shape.points, 256), &[arg(&digits)])?;
        let args = [arg(&digit_ptr), arg(&hist), arg(&entries), arg(&low)];
        launch("msm_count", tiles, &args)?;
        let args = [&hist, &bins, &cursor, &entries].map(arg);
        launch("msm_offsets", a_set, &[&args[..], &[arg(&low)]].concat())?;
        let args = [&digit_ptr, &cursor, &pair_ptr, &entries].map(arg);
        launch("msm_partition", staged, &[&args[..], &[arg(&low)]].concat())?;
        let args = [&pair_ptr, &bins, &digit_ptr, &starts, &counts].map(arg);
        let bits = [&low, &high, &room].map(arg);
        launch("msm_buckets", a_bin, &[&args[..], &bits].concat())
    }

    fn digit_args(&self, scalars: Scalars<'_>) -> DigitArgs {
        let shape = &self.shape;
        DigitArgs {
            scalars: scalars.buffer.ptr() + scalars.first * 32,
            indices: scalars.indices.map_or(0, Buffer::ptr),
            digits: self.digits.ptr(),
            ones: self.digits.ptr() + u64::from(shape.sets) * shape.entries() * 4,
            counters: self.table(self.offsets.counters),
            n: narrow(shape.points),
            sets: shape.sets,
            tables: shape.tables,
            bits: shape.bits,
        }
    }

    fn item_args(&self) -> ItemArgs {
        let (shape, at) = (&self.shape, &self.offsets);
        let items = self.items.ptr();
        ItemArgs {
            starts: self.table(at.starts),
            counts: self.table(at.counts),
            hist: self.table(at.lengths),
            cursor: self.table(at.slots),
            items,
            runs: items + at.items * 16,
            bigs: items + (at.items + at.runs) * 16,
            counters: self.table(at.counters),
            buckets: narrow(shape.buckets()),
            piece: shape.piece,
            shift: shape.length_shift(),
            ones_start: narrow(u64::from(shape.sets) * shape.entries()),
        }
    }

    /// The buckets cut into pieces, the pieces added up and joined.
    fn accumulate(&self, points: &Buffer) -> Result<(), ProverError> {
        let args = self.item_args();
        let at = &self.offsets;
        let quarter = Grid::over((self.shape.buckets() + 1).div_ceil(4), 256);
        let one = Grid::over(1, 256);
        let some = |blocks| Grid {
            blocks: (blocks, 1),
            threads: 128,
            shared: 0,
        };
        let (points, sorted, buckets) = (points.ptr(), self.digits.ptr(), self.buckets.ptr());
        let partials = self.partials.ptr();
        let groups = partials + at.partials * 192 * C::LANES;
        let (item_count, run_count) = (args.counters + 4, args.counters + 12);
        let launch = |name: &str, grid, args: &[_]| {
            let name = format!("{name}_{}", C::SUFFIX);
            // SAFETY: the pieces were taken for this shape by `over`; the counts on the device
            // bound what the kernels touch, and `SumTables` bounds the counts.
            unsafe { self.device.launch(&name, grid, args) }
        };
        for (name, grid) in [
            ("msm_lengths", quarter),
            ("msm_slots", one),
            ("msm_items", quarter),
            ("msm_big_items", some(256)),
        ] {
            // SAFETY: as above.
            unsafe { self.device.launch(name, grid, &[arg(&args)]) }?;
        }
        let values = [points, sorted, args.items, item_count, buckets, partials];
        let grid = Grid::over(at.items * C::LANES, 128);
        launch("msm_accumulate", grid, &values.each_ref().map(arg))?;
        let values = [partials, args.runs, run_count, buckets, groups];
        launch("msm_runs", some(1024), &values.each_ref().map(arg))?;
        let list = [
            arg(&groups),
            arg(&args.bigs),
            arg(&args.counters),
            arg(&args.counts),
            arg(&args.buckets),
            arg(&args.piece),
            arg(&buckets),
        ];
        launch("msm_groups", some(64), &list)
    }

    /// The buckets of every set to one sum a bit; returns where the rows lie.
    fn reduce(&self) -> Result<u64, ProverError> {
        let (mut from, mut to) = (self.buckets.ptr(), self.pairs.ptr());
        let (mut vectors, mut len) = (1_u32, 1_u32 << (self.shape.bits - 1));
        let sets = self.shape.sets;
        // The sum of the ones lies behind the buckets and leaves before the fold comes back there.
        while len > 1 {
            let work = u64::from(len / 2) * u64::from(vectors + 1) * u64::from(sets);
            let args = [arg(&from), arg(&to), arg(&sets), arg(&vectors), arg(&len)];
            let name = format!("msm_fold_{}", C::SUFFIX);
            // SAFETY: a level's output has at most as many points as its input had buckets.
            unsafe {
                self.device
                    .launch(&name, Grid::over(work * C::LANES, 128), &args)
            }?;
            std::mem::swap(&mut from, &mut to);
            (vectors, len) = (vectors + 1, len / 2);
        }
        Ok(from)
    }

    /// Rows of sums and the sum of the ones, in the host's form, to the start of `partials`.
    fn to_jacobian(&self, rows: u64) -> Result<(), ProverError> {
        let shape = &self.shape;
        let count = shape.sets * shape.bits;
        let ones = self.buckets.ptr() + shape.buckets() * 192 * C::LANES;
        let out = self.partials.ptr();
        let ones_out = out + u64::from(count) * 144 * C::LANES;
        let name = format!("msm_jacobian_{}", C::SUFFIX);
        let one = 1_u32;
        let grid = |points: u32| Grid::over(u64::from(points) * C::LANES, 32);
        let launch = |points: u32, args: &[_]| {
            // SAFETY: `partials` is scratch by now, longer than the rows (see `SumTables`).
            unsafe { self.device.launch(&name, grid(points), args) }
        };
        launch(count, &[arg(&rows), arg(&out), arg(&count)])?;
        launch(1, &[arg(&ones), arg(&ones_out), arg(&one)])
    }

    /// Rows of sums and the sum of the ones to one point, on the host.
    fn finish(&self) -> Result<C::Projective, ProverError> {
        let shape = &self.shape;
        let count = shape.sets * shape.bits;
        let mut sums = vec![C::Projective::identity(); count as usize + 1];
        self.device.read(&self.partials, &mut sums)?;
        let Some((ones, sums)) = sums.split_last() else {
            return Ok(C::Projective::identity());
        };
        let rows: Vec<&[C::Projective]> = sums.chunks(shape.bits as usize).collect();
        let mut total = C::Projective::identity();
        for row in rows.iter().rev() {
            // Row 0 is the sum of all buckets, row k + 1 the sum of those with bit k set.
            for bit in (0..shape.bits as usize).rev() {
                total = total.double();
                if let Some(sum) = row.get(bit + 1) {
                    total += sum;
                }
            }
            if let Some(sum) = row.first() {
                total += sum;
            }
        }
        Ok(total + ones)
    }
}

fn narrow(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

fn too_long(what: &'static str, expected: u64, found: u64) -> ProverError {
    let size = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    ProverError::DeviceLength {
        what,
        expected: size(expected),
        found: size(found),
    }
}
