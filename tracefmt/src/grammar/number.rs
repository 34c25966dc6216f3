//! Decimal numbers out of bytes, from either end of a text, without going through `str`.

/// As many digits as no number of 64 bits overflows with.
const DIGITS_SAFE: usize = 19;

/// The decimal number at the front and what follows it; none without a digit or beyond `u64`.
#[inline]
pub(super) fn front(text: &[u8]) -> Option<(u64, &[u8])> {
    let mut value: u64 = 0;
    let mut rest = text;
    while let [digit @ b'0'..=b'9', tail @ ..] = rest {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
        rest = tail;
    }
    match text.len() - rest.len() {
        0 => None,
        1..=DIGITS_SAFE => Some((value, rest)),
        long => Some((checked(text.get(..long)?)?, rest)),
    }
}

/// What precedes the decimal number at the end, and the number.
#[inline]
pub(super) fn back(text: &[u8]) -> Option<(&[u8], u64)> {
    let mut value: u64 = 0;
    let mut unit: u64 = 1;
    let mut head = text;
    while let [shorter @ .., digit @ b'0'..=b'9'] = head {
        value = value.wrapping_add(u64::from(digit - b'0').wrapping_mul(unit));
        unit = unit.wrapping_mul(10);
        head = shorter;
    }
    match text.len() - head.len() {
        0 => None,
        1..=DIGITS_SAFE => Some((head, value)),
        _ => Some((head, checked(text.get(head.len()..)?)?)),
    }
}

/// The value of many digits, if it has 64 bits.
#[cold]
fn checked(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |value, digit| {
        value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
    })
}

/// A text that is one decimal number and nothing else.
#[inline]
pub(super) fn whole<T: TryFrom<u64>>(text: &[u8]) -> Option<T> {
    match front(text)? {
        (value, []) => T::try_from(value).ok(),
        _ => None,
    }
}

/// A text that is one decimal number with an optional minus sign, as C's `%ld` prints it.
#[inline]
pub(super) fn signed<T: TryFrom<i64>>(text: &[u8]) -> Option<T> {
    let value = match text.strip_prefix(b"-") {
        Some(digits) => 0i64.checked_sub_unsigned(whole(digits)?)?,
        None => whole(text)?,
    };
    T::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_agree_on_the_limits() {
        for (text, value) in [
            ("0", Some(0)),
            ("007", Some(7)),
            ("18446744073709551615", Some(u64::MAX)),
            (
                "00000000000000000000000018446744073709551615",
                Some(u64::MAX),
            ),
            ("18446744073709551616", None),
            ("99999999999999999999", None),
            ("100000000000000000000", None),
            ("", None),
        ] {
            let bytes = text.as_bytes();
            assert_eq!(front(bytes).map(|(value, _)| value), value, "{text}");
            assert_eq!(back(bytes).map(|(_, value)| value), value, "{text}");
        }
        assert_eq!(front(b"12,x"), Some((12, &b",x"[..])));
        assert_eq!(back(b"x=12"), Some((&b"x="[..], 12)));
    }

    #[test]
    fn signs_and_widths() {
        assert_eq!(signed::<i64>(b"-9223372036854775808"), Some(i64::MIN));
        assert_eq!(signed::<i64>(b"9223372036854775808"), None);
        assert_eq!(signed::<i64>(b"--1"), None);
        assert_eq!(signed::<i64>(b"-"), None);
        assert_eq!(signed::<i32>(b"-2147483649"), None);
        assert_eq!(whole::<u32>(b"4294967296"), None);
        assert_eq!(whole::<u32>(b"4294967295"), Some(u32::MAX));
        assert_eq!(whole::<u32>(b"1 "), None);
    }
}
