//! The kernels' arithmetic, compiled as plain C++ and run on the CPU, against big integers and
//! against blstrs. Needs a C++ compiler and no GPU. The lanes of Fp2 that are two threads on a GPU
//! run one after the other here.

#![expect(
    clippy::expect_used,
    reason = "helpers of a test: a panic is how it reports"
)]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use group::{Curve as _, Group as _};
use num_bigint::BigUint;

const R: &str = "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001";
const P: &str = "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f624\
                 1eabfffeb153ffffb9feffffffffaaab";

fn number(hex: &str) -> BigUint {
    BigUint::parse_bytes(hex.as_bytes(), 16).expect("hexadecimal digits")
}

/// Splitmix64.
struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `limit`; every eighth at one of its edges.
    fn below(&mut self, limit: &BigUint) -> BigUint {
        let edge = self.word() % 40;
        let small = BigUint::from(edge / 2);
        match edge {
            0..5 if edge.is_multiple_of(2) => small,
            0..5 => limit - 1_u32 - small,
            _ => {
                let bytes: Vec<u8> = (0..7).flat_map(|_| self.word().to_le_bytes()).collect();
                BigUint::from_bytes_le(&bytes) % limit
            }
        }
    }
}

/// Runs the operations, one a line, and returns the numbers of each line of the answer.
fn run(program: &Path, lines: &[String]) -> Vec<Vec<BigUint>> {
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let text = lines.join("\n") + "\n";
    let mut input = child.stdin.take().expect("its input is a pipe");
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("the program ends");
    writer.join().expect("no panic").expect("all was written");
    assert!(output.status.success(), "an operation is not known");
    let answers: Vec<Vec<BigUint>> = String::from_utf8(output.stdout)
        .expect("ASCII")
        .lines()
        .map(|line| line.split_whitespace().map(number).collect())
        .collect();
    assert_eq!(answers.len(), lines.len(), "one answer a line");
    answers
}

fn build(folder: &Path) -> std::path::PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("cuda/test/twins.cpp");
    let program = folder.join("twins");
    let built = Command::new("c++")
        .args(["-std=c++17", "-O1", "-o"])
        .arg(&program)
        .arg(source)
        .status()
        .expect("a C++ compiler is installed");
    assert!(built.success(), "the kernels' headers are valid C++");
    program
}

fn line(name: &str, operands: &[&BigUint]) -> String {
    operands.iter().fold(name.to_owned(), |line, operand| {
        format!("{line} {operand:x}")
    })
}

#[expect(clippy::many_single_char_names, reason = "the operands of a formula")]
/// What each field operation means for operands a, b, c, d and answer v, modulo m with Montgomery
/// factor k.
fn field_holds(
    name: &str,
    [a, b, c, d]: [&BigUint; 4],
    v: &BigUint,
    m: &BigUint,
    k: &BigUint,
) -> bool {
    let same = |x: BigUint, y: BigUint| x % m == y % m;
    match name {
        "fr_mul" | "fp_mul" => same(v * k, a * b),
        "fp_sqr" => same(v * k, a * a),
        "fp_dot" => same(v * k, a * b + c * d),
        "fr_add" | "fp_add" => same(v.clone(), a + b),
        "fr_sub" | "fp_sub" => same(v + b, a.clone()),
        "fr_canonical" => v < m && same(v.clone(), a.clone()),
        "fr_from_mont" => v < m && same(v * k, a.clone()),
        "fp_inverse" => same(v * a, k * k),
        _ => false,
    }
}

#[test]
fn field_operations_agree_with_big_integers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = build(folder.path());
    let mut random = Random(20_261_129);
    let (r, p) = (number(R), number(P));
    let cases = [
        ("fr_mul", 4000),
        ("fr_add", 2000),
        ("fr_sub", 2000),
        ("fr_canonical", 1000),
        ("fr_from_mont", 1000),
        ("fp_mul", 4000),
        ("fp_sqr", 4000),
        ("fp_dot", 4000),
        ("fp_add", 2000),
        ("fp_sub", 2000),
        ("fp_inverse", 20),
    ];
    for (name, count) in cases {
        let (m, bits) = if name.starts_with("fr") {
            (&r, 256)
        } else {
            (&p, 384)
        };
        let (twice, k) = (m * 2_u32, BigUint::from(1_u32) << bits);
        let operands: Vec<[BigUint; 4]> = (0..count)
            .map(|_| {
                // A factor of Fr is canonical; everything else is below twice the modulus.
                let second = if name == "fr_mul" { m } else { &twice };
                let mut first = random.below(&twice);
                if name == "fp_inverse" {
                    first += u32::from(&first % m == BigUint::ZERO);
                }
                [
                    first,
                    random.below(second),
                    random.below(&twice),
                    random.below(&twice),
                ]
            })
            .collect();
        let arity = match name {
            "fp_dot" => 4,
            "fp_sqr" | "fr_canonical" | "fr_from_mont" | "fp_inverse" => 1,
            _ => 2,
        };
        let lines: Vec<String> = operands
            .iter()
            .map(|all| line(name, &all.iter().take(arity).collect::<Vec<_>>()))
            .collect();
        for (all, answer) in operands.iter().zip(run(&program, &lines)) {
            let value = &answer[0];
            assert!(
                value < &twice,
                "{name} leaves [0, 2m): {all:x?} gives {value:x}"
            );
            assert!(
                field_holds(name, all.each_ref(), value, m, &k),
                "{name} {all:x?} gives {value:x}"
            );
        }
    }
}

#[test]
fn products_with_constants_agree_with_big_integers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = build(folder.path());
    let mut random = Random(20_261_130);
    let r = number(R);
    let twice = &r * 2_u32;
    let mut operands: Vec<[BigUint; 2]> = (0..20_000)
        .map(|_| [random.below(&twice), random.below(&r)])
        .collect();
    // Limbs of ones and of zeros, where carries run far.
    for at in 0..4096_u32 {
        let limbs = |bits: u32| {
            let limbs = (0..8).map(|limb| if bits >> limb & 1 == 1 { u32::MAX } else { 0 });
            BigUint::new(limbs.collect())
        };
        operands.push([limbs(at * 37) % &twice, limbs(at / 16) % &r]);
    }
    let lines: Vec<String> = operands
        .iter()
        .map(|[a, w]| line("fr_mul_const", &[a, w, &((w << 256_u32) / &r)]))
        .collect();
    for ([a, w], answer) in operands.iter().zip(run(&program, &lines)) {
        assert!(answer[0] < twice, "{a:x} by {w:x} gives {:x}", answer[0]);
        assert_eq!(&answer[0] % &r, a * w % &r, "{a:x} by {w:x}");
    }
}

/// An element of Fp2, or of Fp with imaginary part zero.
type Pair = [BigUint; 2];

/// a·b in Fp2, for parts below p.
fn product(a: &Pair, b: &Pair, p: &BigUint) -> Pair {
    let minus = p * p - &a[1] * &b[1];
    [
        (&a[0] * &b[0] + minus) % p,
        (&a[0] * &b[1] + &a[1] * &b[0]) % p,
    ]
}

/// Affine coordinates, none for infinity, from blstrs's uncompressed form: big-endian, the
/// imaginary part first.
fn coordinates(bytes: &[u8]) -> Option<[Pair; 2]> {
    let infinity = bytes[0] & 0x40 != 0;
    let mut plain = bytes.to_vec();
    plain[0] &= 0x1f;
    let parts: Vec<BigUint> = plain.chunks(48).map(BigUint::from_bytes_be).collect();
    let pair = |at: usize| match parts.len() {
        2 => [parts[at].clone(), BigUint::ZERO],
        _ => [parts[2 * at + 1].clone(), parts[2 * at].clone()],
    };
    (!infinity).then(|| [pair(0), pair(1)])
}

/// A group as the test sees it.
struct Group<'a> {
    name: &'a str,
    degree: usize,
    p: BigUint,
}

impl Group<'_> {
    /// XYZZ coordinates with a random Z, Montgomery form, some limbs not reduced.
    fn xyzz(&self, point: Option<&[Pair; 2]>, random: &mut Random) -> Vec<BigUint> {
        let Some([x, y]) = point else {
            return vec![BigUint::ZERO; 4 * self.degree];
        };
        let mut z = [random.below(&(&self.p - 1_u32)) + 1_u32, BigUint::ZERO];
        if self.degree == 2 {
            z[1] = random.below(&self.p);
        }
        let zz = product(&z, &z, &self.p);
        let zzz = product(&zz, &z, &self.p);
        let all = [product(x, &zz, &self.p), product(y, &zzz, &self.p), zz, zzz];
        self.montgomery(&all, random)
    }

    fn montgomery(&self, all: &[Pair], random: &mut Random) -> Vec<BigUint> {
        all.iter()
            .flat_map(|pair| pair.iter().take(self.degree))
            .map(|value| (value << 384_u32) % &self.p)
            .map(|value| {
                if random.word().is_multiple_of(3) {
                    value + &self.p
                } else {
                    value
                }
            })
            .collect()
    }

    /// Whether four coordinates are those of `want`.
    fn is(&self, answer: &[BigUint], want: Option<&[Pair; 2]>) -> bool {
        let all: Vec<Pair> = answer
            .chunks(self.degree)
            .map(|part| [part[0].clone(), part.get(1).cloned().unwrap_or_default()])
            .collect();
        let blank = all[2].iter().all(|part| *part == BigUint::ZERO);
        let all: Vec<Pair> = all
            .iter()
            .map(|pair| pair.each_ref().map(|v| v % &self.p))
            .collect();
        let Some([x, y]) = want else { return blank };
        let same = |a: &Pair, b: Pair| a.iter().zip(b).all(|(a, b)| a % &self.p == b % &self.p);
        let cube = product(&product(&all[2], &all[2], &self.p), &all[2], &self.p);
        let square = product(&all[3], &all[3], &self.p);
        // Both sides of ZZ^3 = ZZZ^2 carry powers of the Montgomery factor: one more on the left.
        let factor = [BigUint::from(1_u32) << 384_u32, BigUint::ZERO];
        !blank
            && same(&all[0], product(x, &all[2], &self.p))
            && same(&all[1], product(y, &all[3], &self.p))
            && same(&cube, product(&square, &factor, &self.p))
    }

    /// Adds, adds affine points and doubles; points by the scalars that make them.
    fn check(&self, program: &Path, point: impl Fn(&Scalar) -> Vec<u8>) {
        let mut random = Random(7);
        let at = |k: &Scalar| coordinates(&point(k));
        let mut lines = Vec::new();
        let mut wanted = Vec::new();
        for round in 0..300_u64 {
            let a = match round % 5 {
                0 => Scalar::from(0),
                _ => Scalar::from(random.word()),
            };
            // Other, same, opposite, none, one more.
            let b = match round % 7 {
                0 => a,
                1 => -a,
                2 => Scalar::from(0),
                3 => a + Scalar::from(1),
                _ => Scalar::from(random.word()),
            };
            let words = |parts: &[BigUint]| {
                parts
                    .iter()
                    .fold(String::new(), |t, v| format!("{t} {v:x}"))
            };
            let left = words(&self.xyzz(at(&a).as_ref(), &mut random));
            let right = words(&self.xyzz(at(&b).as_ref(), &mut random));
            lines.push(format!("{}_add{left}{right}", self.name));
            wanted.push(at(&(a + b)));
            lines.push(format!("{}_double{left}", self.name));
            wanted.push(at(&(a + a)));
            if let Some([x, y]) = at(&b) {
                let affine: Vec<BigUint> = self
                    .montgomery(&[x, y], &mut random)
                    .into_iter()
                    .map(|value| value % &self.p)
                    .collect();
                lines.push(format!("{}_add_affine{left}{}", self.name, words(&affine)));
                wanted.push(at(&(a + b)));
            }
        }
        for ((line, want), answer) in lines.iter().zip(&wanted).zip(run(program, &lines)) {
            assert!(self.is(&answer, want.as_ref()), "{line}");
        }
    }
}

impl Group<'_> {
    /// Multiples of a base from its tables, for scalars at the edges of windows.
    fn check_fixed_base(&self, program: &Path, point: impl Fn(&Scalar) -> Vec<u8>) {
        for bits in [3_u32, 5] {
            let base = Scalar::from(77);
            let mut tables: Vec<BigUint> = Vec::new();
            let mut window = base;
            for _ in 0..256_u32.div_ceil(bits) {
                let entries = (1..=1_u64 << (bits - 1)).map(|k| window * Scalar::from(k));
                for [x, y] in entries.filter_map(|entry| coordinates(&point(&entry))) {
                    let parts = [x, y].into_iter();
                    let parts = parts.flat_map(|pair| pair.into_iter().take(self.degree));
                    tables.extend(parts.map(|part| (part << 384_u32) % &self.p));
                }
                window *= Scalar::from(1 << bits);
            }
            let tables = line("", &tables.iter().collect::<Vec<_>>());
            let scalars = edges(12);
            let lines: Vec<String> = scalars
                .iter()
                .map(|scalar| {
                    let name = format!("{}_fixed", self.name);
                    line(&name, &[&montgomery(scalar), &bits.into()]) + &tables
                })
                .collect();
            for (scalar, answer) in scalars.iter().zip(run(program, &lines)) {
                let want = coordinates(&point(&(base * scalar)));
                assert!(self.is(&answer, want.as_ref()), "{bits} bits, {scalar:?}");
            }
        }
    }
}

/// A scalar as a number, and in Montgomery form.
fn plain(scalar: &Scalar) -> BigUint {
    BigUint::from_bytes_le(&scalar.to_bytes_le())
}

fn montgomery(scalar: &Scalar) -> BigUint {
    (plain(scalar) << 256_u32) % number(R)
}

/// 0, 1, −1, powers of two and their neighbours, and some random scalars.
fn edges(count: usize) -> Vec<Scalar> {
    let mut random = Random(23);
    let mut all = vec![Scalar::from(0), Scalar::from(1), -Scalar::from(1)];
    for bit in [1_u32, 2, 3, 15, 16, 17, 63, 128, 253, 254] {
        let power = (0..bit).fold(Scalar::from(1), |power, _| power + power);
        all.extend([
            power,
            power + Scalar::from(1),
            power - Scalar::from(1),
            -power,
        ]);
    }
    all.extend((0..count).map(|_| {
        (0..4).fold(Scalar::from(0), |sum, _| {
            (0..64).fold(sum, |sum, _| sum + sum) + Scalar::from(random.word())
        })
    }));
    all
}

/// Digits in a range of 2^bits that sum up to the scalar are unique, so they are also those of the
/// processor's tables.
#[test]
fn digits_sum_up_to_the_scalar() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = build(folder.path());
    let cases: Vec<(u32, Scalar)> = (2..=17)
        .chain([24])
        .flat_map(|bits| edges(40).into_iter().map(move |scalar| (bits, scalar)))
        .collect();
    let lines: Vec<String> = cases
        .iter()
        .map(|(bits, scalar)| line("digits", &[&montgomery(scalar), &(*bits).into()]))
        .collect();
    for ((bits, scalar), answer) in cases.iter().zip(run(&program, &lines)) {
        let half = 1_i64 << (bits - 1);
        let (carry, digits) = answer.split_last().expect("a carry");
        assert_eq!(*carry, BigUint::ZERO, "the last carry is taken up");
        assert_eq!(digits.len(), 256_usize.div_ceil(*bits as usize));
        let mut sum = num_bigint::BigInt::ZERO;
        for digit in digits.iter().rev() {
            let word = u32::try_from(digit).expect("a word");
            let digit = i64::from(word.cast_signed());
            assert!(-half < digit && digit <= half, "{bits} bits: {digit}");
            sum = (sum << *bits) + digit;
        }
        assert_eq!(sum, plain(scalar).into(), "{bits} bits, {scalar:?}");
    }
}

#[test]
fn points_agree_with_blstrs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = build(folder.path());
    let p = number(P);
    let g1 = Group {
        name: "g1",
        degree: 1,
        p: p.clone(),
    };
    let point = |k: &Scalar| {
        let point: G1Affine = (G1Projective::generator() * k).to_affine();
        point.to_uncompressed().to_vec()
    };
    g1.check(&program, point);
    g1.check_fixed_base(&program, point);
    let g2 = Group {
        name: "g2",
        degree: 2,
        p,
    };
    let point = |k: &Scalar| {
        let point: G2Affine = (G2Projective::generator() * k).to_affine();
        point.to_uncompressed().to_vec()
    };
    g2.check(&program, point);
    g2.check_fixed_base(&program, point);
}

#[test]
fn extension_field_agrees_with_big_integers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = build(folder.path());
    let p = number(P);
    let twice = &p * 2_u32;
    let mut random = Random(11);
    let pairs: Vec<[Pair; 2]> = (0..1000)
        .map(|_| {
            let mut pair = || [random.below(&twice), random.below(&twice)];
            [pair(), pair()]
        })
        .collect();
    for name in ["fp2_mul", "fp2_sqr"] {
        let lines: Vec<String> = pairs
            .iter()
            .map(|[a, b]| match name {
                "fp2_mul" => line(name, &[&a[0], &a[1], &b[0], &b[1]]),
                _ => line(name, &[&a[0], &a[1]]),
            })
            .collect();
        for ([a, b], answer) in pairs.iter().zip(run(&program, &lines)) {
            let second = if name == "fp2_mul" { b } else { a };
            let reduced = |pair: &Pair| pair.each_ref().map(|part| part % &p);
            let want = product(&reduced(a), &reduced(second), &p);
            for (value, want) in answer.iter().zip(&want) {
                assert!(
                    value < &twice && (value << 384_u32) % &p == *want,
                    "{name} {a:x?} {b:x?}"
                );
            }
        }
    }
}
