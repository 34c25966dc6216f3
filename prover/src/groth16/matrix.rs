//! One matrix of a constraint system, stored by rows, in the form that its product with a witness
//! is fastest in. It does not know what it belongs to.
//!
//! A row is a run of 32-bit words, a word a term: bits 0 to 28 are the index of the variable, bit
//! 29 says whether it is auxiliary (1) or an input (0), bits 30 and 31 are the kind of the
//! coefficient: 0 for one, 1 for minus one, 2 if the next word is its index in the table of
//! coefficients. Most terms of real circuits are of the first two kinds, so a term takes little
//! more than four bytes and no multiplication. Coefficients that are zero are left out: they change
//! neither the product nor the densities.

use std::collections::HashMap;

use bellpepper_core::{Index, LinearCombination};
use blstrs::Scalar;
use ff::Field as _;
use rayon::prelude::*;
use rustc_hash::FxBuildHasher;

use super::Assignment;

/// Most variables of a kind that a term can name.
pub(super) const MAX_VARIABLES: usize = 1 << 29;

const INDEX: u32 = (1 << 29) - 1;
const AUX: u32 = 1 << 29;
const MINUS: u32 = 1 << 30;
const TABLE: u32 = 1 << 31;

/// A sparse matrix over the scalar field: rows are constraints, columns are variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matrix {
    /// Where each row ends in `words`; it begins where the one before ends.
    ends: Vec<u32>,
    words: Vec<u32>,
    coefficients: Vec<Scalar>,
}

impl Matrix {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.ends.len()
    }

    /// Where each row ends in [`Matrix::words`]; it begins where the one before ends.
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// The terms, encoded as the head of the module `matrix` says.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The table of coefficients other than one and minus one, each once.
    pub fn coefficients(&self) -> &[Scalar] {
        &self.coefficients
    }

    /// Memory that it holds, in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(self.ends.as_slice())
            + size_of_val(self.words.as_slice())
            + size_of_val(self.coefficients.as_slice())
    }

    /// The terms of row `row`, none if there is no such row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (Index, Scalar)> + '_ {
        let mut words = self.row_words(row).iter();
        std::iter::from_fn(move || {
            let word = *words.next()?;
            let index = (word & INDEX) as usize;
            let coefficient = match word & (TABLE | MINUS) {
                0 => Scalar::ONE,
                MINUS => -Scalar::ONE,
                _ => *self.coefficients.get(*words.next()? as usize)?,
            };
            let index = match word & AUX {
                0 => Index::Input(index),
                _ => Index::Aux(index),
            };
            Some((index, coefficient))
        })
    }

    /// The product of row `row` with an assignment.
    #[inline]
    pub(super) fn product(&self, row: usize, assignment: &Assignment) -> Scalar {
        let mut sum = Scalar::ZERO;
        let mut words = self.row_words(row).iter();
        while let Some(&word) = words.next() {
            let index = (word & INDEX) as usize;
            let value = match word & AUX {
                0 => &assignment.inputs[index],
                _ => &assignment.aux[index],
            };
            match word & (TABLE | MINUS) {
                0 => sum += value,
                MINUS => sum -= value,
                _ => {
                    let Some(&at) = words.next() else { break };
                    // Witnesses are mostly bits: a look at the value is cheaper than a product.
                    if *value == Scalar::ONE {
                        sum += self.coefficients[at as usize];
                    } else if *value != Scalar::ZERO {
                        sum += self.coefficients[at as usize] * value;
                    }
                }
            }
        }
        sum
    }

    /// One more than the greatest index of an input and of an auxiliary variable that occurs.
    pub(super) fn columns(&self) -> (usize, usize) {
        let (mut inputs, mut aux) = (0, 0);
        self.for_each_variable(|is_aux, index| {
            let most = if is_aux { &mut aux } else { &mut inputs };
            *most = (*most).max(index + 1);
        });
        (inputs, aux)
    }

    /// Calls `f` with every variable of every term: whether it is auxiliary, and its index.
    pub(super) fn for_each_variable(&self, mut f: impl FnMut(bool, usize)) {
        let mut words = self.words.iter();
        while let Some(&word) = words.next() {
            f(word & AUX != 0, (word & INDEX) as usize);
            if word & TABLE != 0 {
                words.next();
            }
        }
    }

    /// The first `rows` rows so often, one copy after another: with each, all inputs but the first
    /// are `inputs` further on, the auxiliary variables `aux`. Nothing if it has more terms than
    /// the ends can name; that the words can name the variables is the caller's care.
    pub(super) fn repeat(
        &self,
        (rows, count): (usize, usize),
        (inputs, aux): (usize, usize),
    ) -> Option<Self> {
        let end = rows.checked_sub(1).and_then(|last| self.ends.get(last));
        let tile = self.words.get(..end.copied().unwrap_or(0) as usize)?;
        let total = tile.len().checked_mul(count)?;
        u32::try_from(total).ok()?;
        let mut words = vec![0; total];
        words
            .par_chunks_mut(tile.len().max(1))
            .enumerate()
            .for_each(|(copy, words)| shift(tile, words, (copy * inputs, copy * aux)));
        let mut ends = vec![0; rows * count];
        ends.par_chunks_mut(rows.max(1))
            .enumerate()
            .for_each(|(copy, ends)| {
                for (to, end) in ends.iter_mut().zip(&self.ends) {
                    // No end is beyond the total, which fits.
                    *to = u32::try_from(copy * tile.len()).unwrap_or(u32::MAX) + end;
                }
            });
        Some(Self {
            ends,
            words,
            coefficients: self.coefficients.clone(),
        })
    }

    /// Appends a row for each of the first `count` inputs, with that input alone or with nothing.
    /// Nothing is left if there are too many terms.
    pub(super) fn with_input_rows(mut self, count: usize, occur: bool) -> Option<Self> {
        for index in 0..u32::try_from(count).ok()? {
            if occur {
                self.words.push(index);
            }
            self.ends.push(u32::try_from(self.words.len()).ok()?);
        }
        Some(self)
    }

    /// Adds to each sum, of the variables of a kind from number `first` on, coefficient times the
    /// row's weight for every term of theirs.
    pub(crate) fn add_columns(
        &self,
        weights: &[Scalar],
        (is_aux, first): (bool, usize),
        sums: &mut [Scalar],
    ) {
        let kind = if is_aux { AUX } else { 0 };
        let mut start = 0;
        for (&end, weight) in self.ends.iter().zip(weights) {
            let row = self.words.get(start..end as usize).unwrap_or(&[]);
            start = end as usize;
            let mut words = row.iter();
            while let Some(&word) = words.next() {
                let coefficient = if word & TABLE == 0 {
                    None
                } else {
                    words.next()
                };
                if word & AUX != kind {
                    continue;
                }
                let at = ((word & INDEX) as usize).wrapping_sub(first);
                let Some(sum) = sums.get_mut(at) else {
                    continue;
                };
                match coefficient {
                    Some(&at) => *sum += self.coefficients[at as usize] * weight,
                    None if word & MINUS == 0 => *sum += weight,
                    None => *sum -= weight,
                }
            }
        }
    }

    fn row_words(&self, row: usize) -> &[u32] {
        let end = |row: usize| self.ends.get(row).copied();
        let start = row.checked_sub(1).map_or(Some(0), end).unwrap_or(0);
        let end = end(row).unwrap_or(start);
        self.words.get(start as usize..end as usize).unwrap_or(&[])
    }
}

/// Copies words, naming later variables: all inputs but the first, and the auxiliary ones.
fn shift(from: &[u32], to: &mut [u32], (inputs, aux): (usize, usize)) {
    // The caller knows that every index fits.
    let by = |of: usize| u32::try_from(of).unwrap_or(0);
    let (inputs, aux) = (by(inputs), by(aux));
    let mut words = to.iter_mut().zip(from);
    while let Some((to, &word)) = words.next() {
        *to = match word & (AUX | INDEX) {
            0 => word,
            of if of & AUX == 0 => word + inputs,
            _ => word + aux,
        };
        if word & TABLE != 0
            && let Some((to, &at)) = words.next()
        {
            *to = at;
        }
    }
}

/// A matrix while its rows come in.
#[derive(Clone, Debug, Default)]
pub(super) struct Builder {
    matrix: Matrix,
    known: HashMap<[u64; 4], u32, FxBuildHasher>,
    /// Whether something did not fit into the words; the matrix is then of no use.
    overflow: bool,
}

impl Builder {
    /// Appends a row.
    pub(super) fn push(&mut self, row: &LinearCombination<Scalar>) {
        for (index, coefficient) in row.iter_inputs() {
            self.term(*index, 0, coefficient);
        }
        for (index, coefficient) in row.iter_aux() {
            self.term(*index, AUX, coefficient);
        }
        self.end_row(self.matrix.words.len());
    }

    /// Appends the rows of `other`, whose first input is the one that all share: its other inputs
    /// follow after `inputs`, its auxiliary variables after `aux`.
    pub(super) fn extend(&mut self, other: &Self, inputs: usize, aux: usize) {
        self.overflow |= other.overflow;
        let table: Vec<u32> = other
            .matrix
            .coefficients
            .iter()
            .map(|of| self.at(of))
            .collect();
        let start = self.matrix.words.len();
        let mut words = other.matrix.words.iter();
        while let Some(&word) = words.next() {
            let index = (word & INDEX) as usize;
            let index = match (word & AUX, index) {
                (0, 0) => 0,
                (0, index) => index - 1 + inputs,
                (_, index) => index + aux,
            };
            let index = self.index(index);
            self.matrix.words.push(index | word & !INDEX);
            if word & TABLE != 0 {
                self.matrix
                    .words
                    .extend(words.next().map(|&at| table[at as usize]));
            }
        }
        let ends = other.matrix.ends.iter().map(|&end| start + end as usize);
        for end in ends {
            self.end_row(end);
        }
    }

    /// The matrix, or nothing if it has more variables or terms than the words can name.
    pub(super) fn finish(self) -> Option<Matrix> {
        let mut matrix = self.matrix;
        matrix.ends.shrink_to_fit();
        matrix.words.shrink_to_fit();
        matrix.coefficients.shrink_to_fit();
        (!self.overflow).then_some(matrix)
    }

    #[inline]
    fn term(&mut self, index: usize, kind: u32, coefficient: &Scalar) {
        let index = self.index(index);
        if *coefficient == Scalar::ONE {
            self.matrix.words.push(index | kind);
        } else if *coefficient == -Scalar::ONE {
            self.matrix.words.push(index | kind | MINUS);
        } else if *coefficient != Scalar::ZERO {
            let at = self.at(coefficient);
            self.matrix.words.extend([index | kind | TABLE, at]);
        }
    }

    fn at(&mut self, coefficient: &Scalar) -> u32 {
        let table = &mut self.matrix.coefficients;
        let next = u32::try_from(table.len()).unwrap_or(u32::MAX);
        *self.known.entry(limbs(coefficient)).or_insert_with(|| {
            table.push(*coefficient);
            next
        })
    }

    /// An index as a word holds it.
    fn index(&mut self, index: usize) -> u32 {
        let fits = u32::try_from(index).ok().filter(|&index| index <= INDEX);
        self.overflow |= fits.is_none();
        fits.unwrap_or(0)
    }

    fn end_row(&mut self, end: usize) {
        let end = u32::try_from(end);
        self.overflow |= end.is_err();
        self.matrix.ends.push(end.unwrap_or(u32::MAX));
    }
}

/// What tells one scalar from another, without leaving Montgomery form.
fn limbs(scalar: &Scalar) -> [u64; 4] {
    blst::blst_fr::from(*scalar).l
}

#[cfg(test)]
mod tests {
    use bellpepper_core::Variable;
    use ff::PrimeField as _;
    use proptest::prelude::*;

    use super::*;

    /// Coefficients of every kind, zero among them.
    fn coefficient(kind: u8) -> Scalar {
        match kind {
            0 => Scalar::ZERO,
            1 => Scalar::ONE,
            2 => -Scalar::ONE,
            _ => Scalar::from(u64::from(kind)) * Scalar::ROOT_OF_UNITY,
        }
    }

    fn combination(terms: &[(bool, usize, u8)]) -> LinearCombination<Scalar> {
        let zero = LinearCombination::zero();
        terms.iter().fold(zero, |sum, &(is_aux, index, kind)| {
            let index = if is_aux {
                Index::Aux(index)
            } else {
                Index::Input(index)
            };
            sum + (coefficient(kind), Variable(index))
        })
    }

    fn rows() -> impl Strategy<Value = Vec<Vec<(bool, usize, u8)>>> {
        let term = (any::<bool>(), 0_usize..8, 0_u8..6);
        prop::collection::vec(prop::collection::vec(term, 0..7), 0..9)
    }

    proptest! {
        #[test]
        fn a_row_is_its_combination_without_zeros(
            rows in rows(),
            values in prop::collection::vec(0_u64..4, 16),
        ) {
            let values: Vec<Scalar> = values.into_iter().map(Scalar::from).collect();
            let (inputs, aux) = values.split_at(8);
            let assignment = Assignment { inputs: inputs.to_vec(), aux: aux.to_vec() };
            let mut builder = Builder::default();
            let combinations: Vec<_> = rows.iter().map(|terms| combination(terms)).collect();
            for row in &combinations {
                builder.push(row);
            }
            let matrix = builder.finish().expect("small");
            prop_assert_eq!(matrix.rows(), rows.len());
            for (row, combination) in combinations.iter().enumerate() {
                prop_assert_eq!(matrix.product(row, &assignment), combination.eval(inputs, aux));
                let terms = combination.iter().map(|(variable, value)| (variable.0, *value));
                let expected: Vec<_> = terms.filter(|(_, value)| *value != Scalar::ZERO).collect();
                prop_assert_eq!(matrix.row(row).collect::<Vec<_>>(), expected);
            }
            prop_assert_eq!(matrix.row(rows.len()).count(), 0);
        }

        #[test]
        fn parts_that_were_built_apart_are_the_whole(first in rows(), second in rows()) {
            // The second part's own input 0 is the one of the first; its others come after.
            let shifted = |&(is_aux, index, kind): &(bool, usize, u8)| match (is_aux, index) {
                (true, index) => (true, index + 8, kind),
                (false, 0) => (false, 0, kind),
                (false, index) => (false, index - 1 + 8, kind),
            };
            let (mut whole, mut part, mut joined) =
                (Builder::default(), Builder::default(), Builder::default());
            for row in &first {
                whole.push(&combination(row));
                joined.push(&combination(row));
            }
            for row in &second {
                let row_shifted: Vec<_> = row.iter().map(shifted).collect();
                whole.push(&combination(&row_shifted));
                part.push(&combination(row));
            }
            joined.extend(&part, 8, 8);
            prop_assert_eq!(joined.finish(), whole.finish());
        }
    }

    #[test]
    fn a_term_of_real_circuits_takes_four_bytes() {
        let row = combination(&[(true, 1, 1), (true, 2, 2), (false, 0, 1), (true, 4, 0)]);
        let mut builder = Builder::default();
        builder.push(&row);
        let matrix = builder.finish().expect("small");
        assert_eq!((matrix.words().len(), matrix.coefficients().len()), (3, 0));
        assert_eq!((matrix.ends(), matrix.columns()), ([3].as_slice(), (1, 3)));
    }

    #[test]
    fn a_coefficient_is_kept_once() {
        let mut builder = Builder::default();
        for index in 0..5 {
            builder.push(&combination(&[(true, index, 5), (false, index, 4)]));
        }
        let matrix = builder.finish().expect("small");
        assert_eq!((matrix.words().len(), matrix.coefficients().len()), (20, 2));
        assert_eq!(matrix.bytes(), 4 * 5 + 4 * 20 + 32 * 2);
    }

    #[test]
    fn a_variable_beyond_the_words_is_no_matrix() {
        for (index, fits) in [(MAX_VARIABLES - 1, true), (MAX_VARIABLES, false)] {
            let mut builder = Builder::default();
            builder.push(&combination(&[(true, index, 1)]));
            assert_eq!(builder.finish().is_some(), fits, "{index}");
        }
    }
}
