//! Kernels compiled as plain C++ and run thread by thread on the CPU: the passes of a transform,
//! the way out of its in-place order, a matrix times a witness, the digits of a sum's scalars.
//! Needs a C++ compiler and no GPU.

#![expect(
    clippy::expect_used,
    reason = "helpers of a test: a panic is how it reports"
)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError};
use blstrs::Scalar;
use ff::{Field as _, PrimeField as _};
use prover::groth16::{Matrix, Shape, evaluate};
use prover::ntt::Domain;
use prover::plan::constants::Constant;
use prover::plan::rows::{bytes, rows_that_fit};
use prover::plan::tables::{frequency, split};

/// The program, built once.
fn program() -> &'static Path {
    static BUILT: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, program) = BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cuda = Path::new(env!("CARGO_MANIFEST_DIR")).join("cuda");
        let program = folder.path().join("kernels");
        let built = Command::new("c++")
            .args(["-std=c++17", "-O1", "-w", "-pthread", "-I"])
            .arg(cuda.join("include"))
            .arg("-o")
            .arg(&program)
            .arg(cuda.join("test/kernels.cpp"))
            .status()
            .expect("a C++ compiler is installed");
        assert!(built.success(), "the kernels are valid C++");
        (folder, program)
    });
    program
}

/// Runs one operation; a line of the answer is a list.
fn run(operation: &str, input: &[u32]) -> Vec<Vec<u32>> {
    let mut child = Command::new(program())
        .arg(operation)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let text: Vec<String> = input.iter().map(u32::to_string).collect();
    let mut pipe = child.stdin.take().expect("its input is a pipe");
    let writer = std::thread::spawn(move || pipe.write_all((text.join(" ") + "\n").as_bytes()));
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("no panic").expect("all was read");
    assert!(output.status.success(), "{operation} ends well");
    let words = |line: &str| {
        line.split_whitespace()
            .map(|w| w.parse().expect("a word"))
            .collect()
    };
    let text = String::from_utf8(output.stdout).expect("ASCII");
    text.lines().map(words).collect()
}

/// Limbs as they lie in memory.
fn limbs(value: &Scalar) -> [u32; 8] {
    let limbs = blst::blst_fr::from(*value).l;
    std::array::from_fn(|at| (limbs[at / 2] >> (32 * (at % 2)) & 0xffff_ffff) as u32)
}

fn scalar_of(words: &[u32]) -> Scalar {
    let limb = |at: usize| u64::from(words[2 * at]) | u64::from(words[2 * at + 1]) << 32;
    // What leaves a kernel is below 2r: as a sum of two halves it is a scalar like any other.
    let mut l = [limb(0), limb(1), limb(2), limb(3)];
    let r: [u64; 4] = [
        0xffff_ffff_0000_0001,
        0x53bd_a402_fffe_5bfe,
        0x3339_d808_09a1_d805,
        0x73ed_a753_299d_7d48,
    ];
    if l.iter().rev().ge(r.iter().rev()) {
        let mut borrow = false;
        for (limb, r) in l.iter_mut().zip(r) {
            let (once, first) = limb.overflowing_sub(r);
            let (twice, second) = once.overflowing_sub(u64::from(borrow));
            (*limb, borrow) = (twice, first || second);
        }
    }
    assert!(l.iter().rev().lt(r.iter().rev()), "below 2r");
    Scalar::from(blst::blst_fr { l })
}

/// Splitmix64.
fn word(seed: u64, at: u64) -> u64 {
    let mut z = seed.wrapping_add(at.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn random(seed: u64, at: u64) -> Scalar {
    let limb = |k| word(seed, 4 * at + k);
    let l = [limb(0), limb(1), limb(2), limb(3) & (u64::MAX >> 2)];
    Scalar::from(blst::blst_fr { l })
}

#[test]
fn the_natural_order_is_restored() {
    for log2 in [10, 11, 13] {
        let [first, last, _] = split(log2);
        let sources = &run("natural", &[first, 0, last])[0];
        for place in 0..1_u64 << log2 {
            let number = usize::try_from(frequency(place, split(log2))).expect("small");
            assert_eq!(u64::from(sources[number]), place, "2^{log2}");
        }
    }
}

#[test]
fn three_passes_are_restored_too() {
    for [b0, b1, b2] in [[5, 1, 5], [6, 2, 5], [5, 3, 6]] {
        let sources = &run("natural", &[b0, b1, b2])[0];
        for place in 0..1_u64 << (b0 + b1 + b2) {
            let number = usize::try_from(frequency(place, [b0, b1, b2])).expect("small");
            assert_eq!(u64::from(sources[number]), place, "{b0} {b1} {b2}");
        }
    }
}

/// Points of a block, as a binary logarithm.
const BLOCK: u32 = 11;

fn powers(base: Scalar, count: usize) -> Vec<Scalar> {
    std::iter::successors(Some(Scalar::ONE), |power| Some(power * base))
        .take(count)
        .collect()
}

/// How a pass multiplies: nothing, by row times column, by an entry a place; and whether by a
/// constant a row too.
#[derive(Clone, Copy, Debug)]
struct Scale {
    kind: u32,
    rows: bool,
}

/// A pass of one block: its size and what it multiplies by before and after.
#[derive(Clone, Copy, Debug)]
struct Block {
    bits: u32,
    before: Scale,
    after: Scale,
}

impl Block {
    fn columns(self) -> u32 {
        BLOCK - self.bits
    }

    /// The transforms of one block, factors before and after, by the CPU.
    fn by_cpu(self, values: &[Scalar], factors: &[Scalar], rows: &[Scalar]) -> Vec<Scalar> {
        let columns = 1 << self.columns();
        let domain = Domain::new(self.bits).expect("small");
        let mut out = values.to_vec();
        for column in 0..columns {
            let factor = |scale: Scale, row: usize| {
                let places = [0, row * column, row * columns + column];
                let own = if scale.rows { rows[row] } else { Scalar::ONE };
                own * factors[places[scale.kind as usize]]
            };
            let mut x: Vec<Scalar> = (0..1 << self.bits)
                .map(|row| values[row * columns + column] * factor(self.before, row))
                .collect();
            domain.fft(&mut x).expect("as many as points");
            for (row, value) in x.into_iter().enumerate() {
                out[row * columns + column] = value * factor(self.after, row);
            }
        }
        out
    }

    /// The same by the kernel, its tables whole or in two parts.
    fn by_kernel(
        self,
        values: &[Scalar],
        tables: &[Vec<Scalar>; 2],
        rows: &[Scalar],
    ) -> Vec<Scalar> {
        let root = (9..Scalar::S).fold(Scalar::ROOT_OF_UNITY, |root, _| root.square());
        let narrow = |len: usize| u32::try_from(len).expect("small");
        let columns = self.columns();
        let walk = [1 << BLOCK, 1, 1 << columns, columns];
        let mut input = vec![self.bits];
        input.extend([walk, walk].concat());
        let low_bits = if tables[1].is_empty() {
            0
        } else {
            tables[0].len().ilog2()
        };
        input.extend([columns, self.before.kind, self.after.kind, low_bits]);
        let constants = |of: &[Scalar]| -> Vec<u32> {
            let constants = of.iter().map(|factor| Constant::new(*factor));
            constants.flat_map(|constant| constant.words()).collect()
        };
        input.extend(constants(&powers(root, 512)));
        for table in tables {
            input.push(narrow(table.len()));
            input.extend(table.iter().flat_map(limbs));
        }
        for scale in [self.before, self.after] {
            let rows = if scale.rows {
                &rows[..1 << self.bits]
            } else {
                &[]
            };
            input.push(narrow(rows.len()));
            input.extend(constants(rows));
        }
        input.extend(values.iter().flat_map(limbs));
        run("pass", &input)[0].chunks(8).map(scalar_of).collect()
    }
}

#[test]
fn a_pass_of_every_size_is_the_cpus() {
    let values: Vec<Scalar> = (0..1 << BLOCK).map(|at| random(6, at)).collect();
    let base = random(7, 0);
    let factors = powers(base, 1 << BLOCK);
    let rows = powers(random(8, 0), 512);
    let whole = [factors.clone(), vec![]];
    let two = [powers(base, 32), powers(factors[32], 1 << (BLOCK - 5))];
    let scale = |kind, rows| Scale { kind, rows };
    let no = scale(0, false);
    let scales = [
        (no, no),
        (no, scale(1, false)),
        (scale(2, false), no),
        (scale(1, true), no),
        (no, scale(1, true)),
        (scale(0, true), no),
        (no, scale(0, true)),
        (no, scale(2, false)),
        (scale(2, true), scale(1, true)),
    ];
    for bits in 5..=9 {
        for (before, after) in scales {
            let block = Block {
                bits,
                before,
                after,
            };
            for tables in [&whole, &two] {
                let found = block.by_kernel(&values, tables, &rows);
                let want = block.by_cpu(&values, &factors, &rows);
                assert!(
                    found == want,
                    "{block:?}, {} in the second part",
                    tables[1].len()
                );
            }
        }
    }
}

#[test]
fn tables_of_powers_are_the_cpus() {
    let [base, rows, scale] = [1, 2, 3].map(|at| random(9, at));
    let squares = |base: Scalar, count| -> Vec<Scalar> {
        std::iter::successors(Some(base), |power| Some(power.square()))
            .take(count)
            .collect()
    };
    let numbers = [squares(base, 32), squares(rows, 9), vec![scale]].concat();
    let power = |base: Scalar, exponent: u64| base.pow_vartime([exponent]);
    for (n, stride, column_bits) in [(1000, 1, 64), (300, 1 << 20, 64), (2048, 0, 2), (512, 0, 5)] {
        let mut input = vec![n, stride, column_bits];
        input.extend(numbers.iter().flat_map(limbs));
        let answer = run("powers", &input);
        let found: Vec<Scalar> = answer[0].chunks(8).map(scalar_of).collect();
        for (at, found) in (0..u64::from(n)).zip(found) {
            let want = if column_bits < 64 {
                let (row, column) = (at >> column_bits, at & ((1 << column_bits) - 1));
                power(base, row * column) * power(rows, row)
            } else {
                power(base, at * u64::from(stride))
            };
            assert_eq!(found, want * scale, "entry {at} of {n}, {column_bits}");
        }
    }
}

/// Rows of no term to hundreds, over bits and over dense values, with every kind of coefficient.
struct Lengths;

const ROWS: u64 = 300;

impl Circuit<Scalar> for Lengths {
    fn synthesize<CS: ConstraintSystem<Scalar>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut variables = vec![CS::one()];
        for at in 0..ROWS {
            let value = match word(1, at) % 3 {
                0 => Scalar::ZERO,
                1 => Scalar::ONE,
                _ => random(2, at),
            };
            variables.push(if at % 41 == 7 {
                cs.alloc_input(|| "input", || Ok(value))?
            } else {
                cs.alloc(|| "aux", || Ok(value))?
            });
        }
        let combination = |row: u64, terms: u64| {
            (0..terms).fold(LinearCombination::zero(), |sum, term| {
                let word = word(row + 3, term);
                let pick = usize::try_from(word >> 32).expect("small") % variables.len();
                let coefficient = match word % 4 {
                    0 => Scalar::ONE,
                    1 => -Scalar::ONE,
                    2 => Scalar::from(1 << (word >> 8 & 31)),
                    _ => random(4, word >> 60),
                };
                sum + (coefficient, variables[pick])
            })
        };
        for row in 0..ROWS {
            let short = [0, 1, 2, 5, 40, 64, 3, 7][usize::try_from(row % 8).expect("small")];
            let terms = match row % 29 {
                3 => 65,
                11 => 250,
                _ => short,
            };
            cs.enforce(
                || "row",
                |_| combination(row, terms),
                |_| combination(row + 1000, row % 3),
                |_| combination(row + 2000, 13 * (row % 6)),
            );
        }
        Ok(())
    }
}

/// The rows from `first` to `next` times the witness, by the kernel.
fn product(
    matrix: &Matrix,
    first: usize,
    next: usize,
    witness: &[Scalar],
    inputs: u32,
) -> Vec<Scalar> {
    let end_before = |row: usize| row.checked_sub(1).map_or(0, |row| matrix.ends()[row]);
    let (start, end) = (end_before(first), end_before(next));
    let words = &matrix.words()[start as usize..end as usize];
    let narrow = |len: usize| u32::try_from(len).expect("small");
    let mut input = vec![narrow(next - first), start, inputs];
    input.extend(&matrix.ends()[first..next]);
    input.push(narrow(words.len()));
    input.extend(words);
    for scalars in [matrix.coefficients(), witness] {
        input.push(narrow(scalars.len()));
        input.extend(scalars.iter().flat_map(limbs));
    }
    run("rows", &input)[0].chunks(8).map(scalar_of).collect()
}

#[test]
fn rows_times_a_witness_are_the_cpus() {
    let (shape, values) = Shape::record(Lengths).expect("it synthesises");
    let cpu = evaluate(&shape, &values);
    let witness = [values.inputs.as_slice(), &values.aux].concat();
    let inputs = u32::try_from(values.inputs.len()).expect("small");
    for (matrix, want) in [(shape.a(), cpu.a), (shape.b(), cpu.b), (shape.c(), cpu.c)] {
        let rows = matrix.rows();
        assert_eq!(product(matrix, 0, rows, &witness, inputs), want[..rows]);
        let longest = (0..rows)
            .map(|row| matrix.row(row).count())
            .max()
            .unwrap_or(0);
        let table = matrix.coefficients().len() as u64;
        let room = bytes(
            rows as u64 / 4,
            (matrix.words().len() / 4 + 2 * longest) as u64,
            table,
        );
        let (mut first, mut pieces) = (0, 0);
        while first < rows {
            let next = rows_that_fit(matrix, first, room);
            let found = product(matrix, first, next, &witness, inputs);
            assert_eq!(found, want[first..next], "rows {first} to {next}");
            (first, pieces) = (next, pieces + 1);
        }
        assert!(pieces > 1, "{rows} rows in one piece");
    }
}

/// Scalars that are awkward for signed digits, and some of them once more with r added.
fn awkward() -> Vec<([u32; 8], Scalar)> {
    let half = Scalar::from(2).invert().expect("two is not zero");
    let mut values = vec![
        Scalar::ZERO,
        Scalar::ONE,
        -Scalar::ONE,
        half,
        half - Scalar::ONE,
    ];
    values.extend([Scalar::from(2), -Scalar::from(2), Scalar::from(u64::MAX)]);
    values.extend((0..300).map(|at| random(5, at)));
    let r: [u32; 8] = [
        1,
        0xffff_ffff,
        0xfffe_5bfe,
        0x53bd_a402,
        0x09a1_d805,
        0x3339_d808,
        0x299d_7d48,
        0x73ed_a753,
    ];
    let plus_r = |value: &Scalar| {
        let mut carry = 0;
        let own = limbs(value);
        std::array::from_fn(|at| {
            carry += u64::from(own[at]) + u64::from(r[at]);
            let limb = (carry & 0xffff_ffff) as u32;
            carry >>= 32;
            limb
        })
    };
    let again: Vec<_> = values.iter().map(|value| (plus_r(value), *value)).collect();
    let mut all: Vec<_> = values.iter().map(|value| (limbs(value), *value)).collect();
    all.extend(again);
    all
}

#[test]
fn digits_add_up_to_the_scalars() {
    let all = awkward();
    let narrow = |len: usize| u32::try_from(len).expect("small");
    let every_third: Vec<u32> = (0..narrow(all.len())).step_by(3).collect();
    for (bits, indices) in [(4, vec![]), (13, vec![]), (20, vec![]), (9, every_third)] {
        let places = if indices.is_empty() {
            (0..narrow(all.len())).collect()
        } else {
            indices.clone()
        };
        let sets = 255_u32.div_ceil(bits);
        let mut input = vec![narrow(places.len()), sets, bits, narrow(indices.len())];
        input.extend(&indices);
        input.push(narrow(all.len()));
        input.extend(all.iter().flat_map(|(limbs, _)| limbs));
        let answer = run("digits", &input);
        let ones = answer.get(1).cloned().unwrap_or_default();
        for (at, &place) in places.iter().enumerate() {
            let mut sum = Scalar::ZERO;
            for set in (0..sets as usize).rev() {
                let digit = answer[0][set * places.len() + at];
                let size = Scalar::from(u64::from(digit & 0x7fff_ffff));
                assert!(
                    digit & 0x7fff_ffff <= 1 << (bits - 1),
                    "a digit has a bucket"
                );
                sum = sum * Scalar::from(1 << bits) + if digit >> 31 == 0 { size } else { -size };
            }
            for &one in ones
                .iter()
                .filter(|&&one| (one & 0x7fff_ffff) as usize == at)
            {
                sum += if one >> 31 == 0 {
                    Scalar::ONE
                } else {
                    -Scalar::ONE
                };
            }
            assert_eq!(sum, all[place as usize].1, "scalar {place}, {bits} bits");
        }
        let is_one = |&&at: &&u32| {
            let value = all[at as usize].1;
            value == Scalar::ONE || value == -Scalar::ONE
        };
        assert_eq!(ones.len(), places.iter().filter(is_one).count());
        assert!(Scalar::NUM_BITS <= bits * sets);
    }
}
