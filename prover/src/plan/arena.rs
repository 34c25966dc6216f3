//! How pieces lie in one allocation of device memory: one after the other, each at a multiple of
//! [`ALIGN`].

/// Where a piece may begin, in bytes: a multiple of what the widest loads and copies want.
pub const ALIGN: u64 = 256;

/// Bytes that a piece takes.
pub const fn aligned(bytes: u64) -> u64 {
    bytes.next_multiple_of(ALIGN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_takes_whole_units() {
        let taken = [0, 1, 255, 256, 257, 1 << 32].map(aligned);
        assert_eq!(taken, [0, 256, 256, 256, 512, 1 << 32]);
    }
}
