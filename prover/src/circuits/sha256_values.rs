//! The values of the gadget for SHA-256, without its constraints: what a witness needs, many times
//! faster. bellpepper's gadget forms linear combinations that nobody asks for then.
//!
//! Which bits the gadget allocates depends on which of its operands are constants or negations, so
//! a bit here knows that, too; the operations are those of the gadget, in its order.

use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::{ConstraintSystem, SynthesisError};
use blstrs::Scalar;
use ff::Field as _;

/// The round constants and the initial words (FIPS 180-4, sections 4.2.2 and 5.3.3).
const ROUNDS: [u32; 64] = [
    0x428a_2f98,
    0x7137_4491,
    0xb5c0_fbcf,
    0xe9b5_dba5,
    0x3956_c25b,
    0x59f1_11f1,
    0x923f_82a4,
    0xab1c_5ed5,
    0xd807_aa98,
    0x1283_5b01,
    0x2431_85be,
    0x550c_7dc3,
    0x72be_5d74,
    0x80de_b1fe,
    0x9bdc_06a7,
    0xc19b_f174,
    0xe49b_69c1,
    0xefbe_4786,
    0x0fc1_9dc6,
    0x240c_a1cc,
    0x2de9_2c6f,
    0x4a74_84aa,
    0x5cb0_a9dc,
    0x76f9_88da,
    0x983e_5152,
    0xa831_c66d,
    0xb003_27c8,
    0xbf59_7fc7,
    0xc6e0_0bf3,
    0xd5a7_9147,
    0x06ca_6351,
    0x1429_2967,
    0x27b7_0a85,
    0x2e1b_2138,
    0x4d2c_6dfc,
    0x5338_0d13,
    0x650a_7354,
    0x766a_0abb,
    0x81c2_c92e,
    0x9272_2c85,
    0xa2bf_e8a1,
    0xa81a_664b,
    0xc24b_8b70,
    0xc76c_51a3,
    0xd192_e819,
    0xd699_0624,
    0xf40e_3585,
    0x106a_a070,
    0x19a4_c116,
    0x1e37_6c08,
    0x2748_774c,
    0x34b0_bcb5,
    0x391c_0cb3,
    0x4ed8_aa4a,
    0x5b9c_ca4f,
    0x682e_6ff3,
    0x748f_82ee,
    0x78a5_636f,
    0x84c8_7814,
    0x8cc7_0208,
    0x90be_fffa,
    0xa450_6ceb,
    0xbef9_a3f7,
    0xc671_78f2,
];
const START: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// What a bit is to the gadget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Constant,
    Variable,
    Negated,
}

/// A bit of the gadget: its value, the negation taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bit {
    value: bool,
    kind: Kind,
}

impl Bit {
    const fn constant(value: bool) -> Self {
        let kind = Kind::Constant;
        Self { value, kind }
    }

    /// None if the value is not known.
    fn of(bit: &Boolean) -> Option<Self> {
        let kind = match bit {
            Boolean::Constant(_) => Kind::Constant,
            Boolean::Is(_) => Kind::Variable,
            Boolean::Not(_) => Kind::Negated,
        };
        let value = bit.get_value()?;
        Some(Self { value, kind })
    }

    const fn not(self) -> Self {
        let kind = match self.kind {
            Kind::Constant => Kind::Constant,
            Kind::Variable => Kind::Negated,
            Kind::Negated => Kind::Variable,
        };
        Self {
            value: !self.value,
            kind,
        }
    }

    /// The value if it is a constant.
    fn known(self) -> Option<bool> {
        (self.kind == Kind::Constant).then_some(self.value)
    }
}

/// 32 bits, the lowest first.
type Word = [Bit; 32];

fn constant(value: u32) -> Word {
    std::array::from_fn(|place| Bit::constant(value >> place & 1 == 1))
}

fn value(word: &Word) -> u64 {
    word.iter()
        .rev()
        .fold(0, |value, bit| value << 1 | u64::from(bit.value))
}

fn rotated(word: &Word, by: usize) -> Word {
    let mut word = *word;
    word.rotate_left(by);
    word
}

fn shifted(word: &Word, by: usize) -> Word {
    let mut word = rotated(word, by);
    for bit in word.iter_mut().skip(32 - by) {
        *bit = Bit::constant(false);
    }
    word
}

/// The values of the variables that the gadget allocates, in order.
#[derive(Debug, Default)]
struct Trace(Vec<bool>);

impl Trace {
    fn alloc(&mut self, value: bool) -> Bit {
        self.0.push(value);
        let kind = Kind::Variable;
        Bit { value, kind }
    }

    fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        match (a.known(), b.known()) {
            (Some(false), _) => b,
            (_, Some(false)) => a,
            (Some(true), _) => b.not(),
            (_, Some(true)) => a.not(),
            _ if a.kind == b.kind => self.alloc(a.value ^ b.value),
            _ => self.alloc(!(a.value ^ b.value)).not(),
        }
    }

    fn and(&mut self, a: Bit, b: Bit) -> Bit {
        match (a.known(), b.known()) {
            (Some(false), _) | (_, Some(false)) => Bit::constant(false),
            (Some(true), _) => b,
            (_, Some(true)) => a,
            _ => self.alloc(a.value & b.value),
        }
    }

    /// a ? b : c
    fn choice(&mut self, [a, b, c]: [Bit; 3]) -> Bit {
        let value = if a.value { b.value } else { c.value };
        match (a.known(), b.known(), c.known()) {
            (Some(_), Some(_), Some(_)) => Bit::constant(value),
            (Some(false), _, _) => c,
            (_, Some(false), _) => self.and(a.not(), c),
            (_, _, Some(false)) => self.and(a, b),
            (_, _, Some(true)) => self.and(a, b.not()).not(),
            (_, Some(true), _) => self.and(a.not(), c.not()).not(),
            _ => self.alloc(value),
        }
    }

    fn majority(&mut self, [a, b, c]: [Bit; 3]) -> Bit {
        let value = if a.value == b.value { a } else { c }.value;
        match (a.known(), b.known(), c.known()) {
            (Some(_), Some(_), Some(_)) => Bit::constant(value),
            (Some(false), _, _) => self.and(b, c),
            (_, Some(false), _) => self.and(a, c),
            (_, _, Some(false)) => self.and(a, b),
            (_, _, Some(true)) => self.and(a.not(), b.not()).not(),
            (_, Some(true), _) => self.and(a.not(), c.not()).not(),
            (Some(true), _, _) => self.and(b.not(), c.not()).not(),
            _ => {
                let majority = self.alloc(value);
                self.and(b, c);
                majority
            }
        }
    }

    fn xor_words(&mut self, a: &Word, b: &Word) -> Word {
        std::array::from_fn(|place| self.xor(a[place], b[place]))
    }

    fn add(&mut self, words: &[Word]) -> Word {
        let sum = Sum::of(words);
        if sum.constant {
            return constant(u32::try_from(sum.value & u64::from(u32::MAX)).unwrap_or(0));
        }
        let mut word = constant(0);
        for place in 0..sum.bits {
            let bit = self.alloc(sum.value >> place & 1 == 1);
            if let Some(to) = word.get_mut(place as usize) {
                *to = bit;
            }
        }
        word
    }
}

/// A sum of words, and the bits that the gadget allocates for it.
#[derive(Clone, Copy, Debug)]
struct Sum {
    value: u64,
    bits: u32,
    constant: bool,
}

impl Sum {
    fn of(words: &[Word]) -> Self {
        let most = words.len() as u64 * u64::from(u32::MAX);
        let mut bits = words.iter().flatten();
        Self {
            value: words.iter().map(value).sum(),
            bits: u64::BITS - most.leading_zeros(),
            constant: bits.all(|bit| bit.kind == Kind::Constant),
        }
    }
}

#[expect(clippy::many_single_char_names, reason = "the standard's names")]
/// One block: the words that are to be added up for each word of the hash.
fn compress(trace: &mut Trace, block: &[Bit], hash: &[Word; 8]) -> [Vec<Word>; 8] {
    let mut words: Vec<Word> = block
        .chunks(32)
        .map(|bits| std::array::from_fn(|place| bits[31 - place]))
        .collect();
    for at in 16..64 {
        let (low, high) = (words[at - 15], words[at - 2]);
        let first = trace.xor_words(&rotated(&low, 7), &rotated(&low, 18));
        let first = trace.xor_words(&first, &shifted(&low, 3));
        let second = trace.xor_words(&rotated(&high, 17), &rotated(&high, 19));
        let second = trace.xor_words(&second, &shifted(&high, 10));
        let next = trace.add(&[words[at - 16], first, words[at - 7], second]);
        words.push(next);
    }
    let [a, mut b, mut c, mut d, e, mut f, mut g, mut h] = *hash;
    // Sums that the gadget puts off until they are used.
    let (mut new_a, mut new_e) = (vec![a], vec![e]);
    let now = |trace: &mut Trace, sum: &[Word]| match sum {
        [word] => *word,
        words => trace.add(words),
    };
    for (word, round) in words.iter().zip(ROUNDS) {
        let e = now(trace, &new_e);
        let s1 = trace.xor_words(&rotated(&e, 6), &rotated(&e, 11));
        let s1 = trace.xor_words(&s1, &rotated(&e, 25));
        let choice = std::array::from_fn(|at| trace.choice([e[at], f[at], g[at]]));
        let a = now(trace, &new_a);
        let s0 = trace.xor_words(&rotated(&a, 2), &rotated(&a, 13));
        let s0 = trace.xor_words(&s0, &rotated(&a, 22));
        let majority = std::array::from_fn(|at| trace.majority([a[at], b[at], c[at]]));
        let first = [h, s1, choice, constant(round), *word];
        new_e = [&first[..], &[d]].concat();
        new_a = [&first[..], &[s0, majority]].concat();
        (h, g, f) = (g, f, e);
        (d, c, b) = (c, b, a);
    }
    new_a.push(hash[0]);
    new_e.push(hash[4]);
    let [_, h1, h2, h3, _, h5, h6, h7] = *hash;
    [
        new_a,
        vec![h1, b],
        vec![h2, c],
        vec![h3, d],
        new_e,
        vec![h5, f],
        vec![h6, g],
        vec![h7, h],
    ]
}

/// Allocates what the gadget allocates for the digest of `text`, in a constraint system that takes
/// values only, and gives the same bits.
pub(super) fn sha256<CS: ConstraintSystem<Scalar>>(
    cs: &mut CS,
    text: &[Boolean],
) -> Result<Vec<Boolean>, SynthesisError> {
    let bits = text.iter().map(Bit::of).collect::<Option<Vec<Bit>>>();
    let mut bits = bits.ok_or(SynthesisError::AssignmentMissing)?;
    let length = bits.len() as u64;
    bits.push(Bit::constant(true));
    let zeros = (512 - (bits.len() + 64) % 512) % 512;
    bits.resize(bits.len() + zeros, Bit::constant(false));
    bits.extend(
        (0..64)
            .rev()
            .map(|place| Bit::constant(length >> place & 1 == 1)),
    );
    let mut trace = Trace::default();
    let mut hash = START.map(constant);
    let mut sums = hash.map(|word| vec![word]);
    for (at, block) in bits.chunks(512).enumerate() {
        if at > 0 {
            hash = sums.map(|sum| trace.add(&sum));
        }
        sums = compress(&mut trace, block, &hash);
    }
    let values = trace.0.into_iter();
    let values = values.map(|bit| if bit { Scalar::ONE } else { Scalar::ZERO });
    cs.extend_aux(&values.collect::<Vec<Scalar>>());
    let mut digest = Vec::with_capacity(256);
    for sum in sums.map(|words| Sum::of(&words)) {
        if sum.constant {
            let bit = |place: u32| Boolean::constant(sum.value >> place & 1 == 1);
            digest.extend((0..32).rev().map(bit));
            continue;
        }
        let mut word = (0..sum.bits)
            .map(|place| {
                let bit = Some(sum.value >> place & 1 == 1);
                AllocatedBit::alloc(cs.namespace(|| "digest"), bit).map(Boolean::from)
            })
            .collect::<Result<Vec<_>, _>>()?;
        word.truncate(32);
        digest.extend(word.into_iter().rev());
    }
    Ok(digest)
}

#[cfg(test)]
mod tests {
    use bellpepper_core::Circuit;
    use proptest::prelude::*;

    use super::*;
    use crate::groth16::Shape;

    /// The digest of bits of every kind, by the gadget or by its values alone.
    #[derive(Clone, Debug)]
    struct Hash(Vec<(bool, u8)>);

    impl Circuit<Scalar> for Hash {
        fn synthesize<CS: ConstraintSystem<Scalar>>(
            self,
            cs: &mut CS,
        ) -> Result<(), SynthesisError> {
            let mut text = Vec::new();
            for (value, kind) in self.0 {
                if kind == 0 {
                    text.push(Boolean::constant(value));
                    continue;
                }
                let bit = AllocatedBit::alloc(cs.namespace(|| "bit"), Some(value))?;
                let bit = Boolean::from(bit);
                text.push(if kind == 1 { bit } else { bit.not() });
            }
            let digest = if cs.is_witness_generator() {
                sha256(cs, &text)?
            } else {
                bellpepper::gadgets::sha256::sha256(cs.namespace(|| "digest"), &text)?
            };
            for bit in digest {
                let value = bit.get_value().ok_or(SynthesisError::AssignmentMissing)?;
                let copy = if value { Scalar::ONE } else { Scalar::ZERO };
                cs.alloc(|| "copy", || Ok(copy))?;
            }
            Ok(())
        }
    }

    /// Whole bytes, each with bits of one kind or of any.
    fn texts() -> impl Strategy<Value = Vec<(bool, u8)>> {
        let byte = (any::<[bool; 8]>(), any::<[u8; 8]>(), 0_u8..5);
        prop::collection::vec(byte, 0..130).prop_map(|bytes| {
            bytes
                .into_iter()
                .flat_map(|(bits, kinds, all)| {
                    let kind = move |kind: u8| if all < 3 { all } else { kind % 3 };
                    std::array::from_fn::<_, 8, _>(|at| (bits[at], kind(kinds[at])))
                })
                .collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn values_are_those_of_the_gadget(text in texts()) {
            let (shape, values) = Shape::record(Hash(text.clone())).expect("recorded");
            let witness = shape.witness(Hash(text)).expect("as many variables");
            prop_assert!(witness == values, "another value");
        }
    }

    #[test]
    fn the_digest_is_that_of_the_standard() {
        use sha2::Digest as _;
        let text = b"a text that is longer than one block of sixty-four bytes, to be sure of it";
        let bits: Vec<(bool, u8)> = text
            .iter()
            .flat_map(|byte| (0..8).rev().map(move |at| (byte >> at & 1 == 1, 1)))
            .collect();
        let (shape, _) = Shape::record(Hash(bits.clone())).expect("recorded");
        let witness = shape.witness(Hash(bits)).expect("as many variables");
        let digest = &witness.aux[witness.aux.len() - 256..];
        let wanted = sha2::Sha256::digest(text);
        for (at, bit) in digest.iter().enumerate() {
            let expected = wanted[at / 8] >> (7 - at % 8) & 1 == 1;
            assert_eq!(*bit == Scalar::ONE, expected, "bit {at}");
        }
    }
}
