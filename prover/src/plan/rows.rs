//! What a matrix takes on a device, in the form that the CPU keeps it in: where its rows end, their
//! words, its table of coefficients.

use super::arena::aligned;
use crate::groth16::Matrix;

const WORD_BYTES: u64 = 4;
const SCALAR_BYTES: u64 = 32;

/// Bytes of `matrix` on a device, as one arena.
pub fn rows_bytes(matrix: &Matrix) -> u64 {
    bytes(
        matrix.rows() as u64,
        matrix.words().len() as u64,
        matrix.coefficients().len() as u64,
    )
}

/// Bytes of a matrix, or of a piece of one, with so many rows, words and coefficients.
pub const fn bytes(rows: u64, words: u64, coefficients: u64) -> u64 {
    aligned(coefficients * SCALAR_BYTES) + aligned(rows * WORD_BYTES) + aligned(words * WORD_BYTES)
}

/// The first row that does not fit any more when rows from `first` on are put, with the table of
/// coefficients, into `room` bytes; `first` itself if not even one does.
pub fn rows_that_fit(matrix: &Matrix, first: usize, room: u64) -> usize {
    let ends = matrix.ends();
    let end_of = |row: usize| ends.get(row).copied().map_or(0, u64::from);
    let start = first.checked_sub(1).map_or(0, end_of);
    let fits = |&row: &usize| {
        let words = end_of(row) - start;
        let rows = (row + 1 - first) as u64;
        bytes(rows, words, matrix.coefficients().len() as u64) <= room
    };
    // Rows grow the piece one after the other, so the first that does not fit is found by halves.
    let rest: std::ops::Range<usize> = first..ends.len();
    let (mut low, mut high) = (rest.start, rest.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if fits(&middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuits::by_name;
    use crate::groth16::Shape;

    fn poseidon() -> Shape {
        let family = by_name("poseidon", 10).expect("a circuit of the registry");
        let (shape, _) = Shape::record(family.example().circuit).expect("it synthesises");
        shape
    }

    #[test]
    fn a_matrix_takes_what_its_parts_take() {
        let shape = poseidon();
        let own = shape.a().bytes() as u64;
        let on_device = rows_bytes(shape.a());
        assert!(
            (own..own + 3 * 256).contains(&on_device),
            "{own} {on_device}"
        );
        assert_eq!(rows_bytes(&Matrix::default()), 0);
    }

    #[test]
    fn pieces_cover_all_rows_and_fit() {
        let shape = poseidon();
        for matrix in [shape.a(), shape.b(), shape.c()] {
            let table = matrix.coefficients().len() as u64;
            let longest = (0..matrix.rows()).map(|row| matrix.row(row).count()).max();
            let least = bytes(1, 2 * longest.unwrap_or(0) as u64, table);
            for room in [least, 2 * least, rows_bytes(matrix)] {
                let mut first = 0;
                while first < matrix.rows() {
                    let next = rows_that_fit(matrix, first, room);
                    assert!(next > first, "{room} bytes hold row {first}");
                    let words = |row: usize| row.checked_sub(1).map_or(0, |row| matrix.ends()[row]);
                    let size = |end| {
                        let rows = (end - first) as u64;
                        bytes(rows, u64::from(words(end) - words(first)), table)
                    };
                    assert!(size(next) <= room);
                    assert!(next == matrix.rows() || size(next + 1) > room);
                    first = next;
                }
            }
            assert_eq!(rows_that_fit(matrix, 0, rows_bytes(matrix)), matrix.rows());
        }
    }

    #[test]
    fn no_room_holds_no_row() {
        let shape = poseidon();
        assert_eq!(rows_that_fit(shape.a(), 0, 0), 0);
        assert_eq!(rows_that_fit(shape.a(), 7, 256), 7);
    }
}
