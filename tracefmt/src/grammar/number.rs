//! Decimal numbers out of bytes, from either end of a text, without going through `str`.

/// As many digits as no number of 64 bits overflows with.
const DIGITS_SAFE: usize = 19;

/// The decimal number at the front and what follows it; none without a digit or beyond `u64`.
#[inline]
pub(super) fn front(text: &[u8]) -> Option<(u64, &[u8])> {
    if let Some(eight) = text.first_chunk::<8>() {
        let lanes = u64::from_le_bytes(*eight);
        // The first lane without a digit; 8 if all hold one.
        let count = not_digits(lanes).trailing_zeros() / 8;
        if count == 0 {
            return None;
        }
        if count < 8 {
            let value = eight_digits(lanes << (64 - 8 * count));
            return Some((value, text.get(count as usize..)?));
        }
        return front_long(eight_digits(lanes), text.get(8..)?).or_else(|| front_slow(text));
    }
    front_slow(text)
}

/// [`front`] behind eight digits; none for sixteen of them and more, and near the end.
#[inline]
fn front_long(high: u64, text: &[u8]) -> Option<(u64, &[u8])> {
    const POWERS: [u64; 8] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000];
    let lanes = u64::from_le_bytes(*text.first_chunk::<8>()?);
    let count = not_digits(lanes).trailing_zeros() / 8;
    let power = POWERS.get(count as usize)?;
    let low = match count {
        0 => 0,
        _ => eight_digits(lanes << (64 - 8 * count)),
    };
    Some((high * power + low, text.get(count as usize..)?))
}

/// [`front`] of a short text or a long number, digit by digit.
#[inline]
fn front_slow(text: &[u8]) -> Option<(u64, &[u8])> {
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
    if let Some(eight) = text.last_chunk::<8>() {
        let lanes = u64::from_le_bytes(*eight);
        let count = not_digits(lanes).leading_zeros() / 8;
        if count == 0 {
            return None;
        }
        if count < 8 {
            let value = eight_digits(lanes >> (64 - 8 * count) << (64 - 8 * count));
            return Some((text.get(..text.len() - count as usize)?, value));
        }
    }
    back_slow(text)
}

/// [`back`] of a short text or a long number, digit by digit.
#[inline]
fn back_slow(text: &[u8]) -> Option<(&[u8], u64)> {
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

/// A byte in each of the eight lanes.
const ONES: u64 = u64::MAX / 0xff;

/// The top bit of each lane that holds no digit.
#[inline]
const fn not_digits(lanes: u64) -> u64 {
    // Lane by lane, without a carry: seven bits are added up, the eighth is looked at by itself.
    let low = (lanes ^ (ONES * 0x30)) & (ONES * 0x7f);
    ((low + ONES * (0x7f - 9)) | lanes) & (ONES << 7)
}

/// The value of up to eight digits, the last of them in the top lane, empty lanes below them.
#[inline]
const fn eight_digits(lanes: u64) -> u64 {
    let ones = lanes & (ONES * 0x0f);
    let twos = (ones.wrapping_mul(10 * 256 + 1) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (twos.wrapping_mul(100 * (1 << 16) + 1) >> 16) & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(10_000 * (1 << 32) + 1) >> 32
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
    fn eight_bytes_at_once_read_what_single_digits_say() {
        let around = [
            "",
            "x",
            "/",
            ":",
            " ",
            "=",
            "a,b",
            "\u{b0}",
            "1x",
            "\u{80}\u{ff}",
        ];
        let numbers = [
            "",
            "0",
            "7",
            "42",
            "987",
            "1234567",
            "12345678",
            "123456789012",
            "123456789012345",
            "1234567890123456",
            "99999999999999999999",
        ];
        for digits in numbers {
            for other in around {
                let text = format!("{digits}{other}1 tail of it");
                let bytes = text.as_bytes();
                assert_eq!(front(bytes), front_slow(bytes), "{text}");
                let text = format!("head of it 1{other}{digits}");
                let bytes = text.as_bytes();
                assert_eq!(back(bytes), back_slow(bytes), "{text}");
            }
        }
        for byte in 0..=u8::MAX {
            let bytes = [b'1', byte, b'2', b'3', byte, b'4', b'5', b'6'];
            assert_eq!(front(&bytes), front_slow(&bytes), "{bytes:?}");
            assert_eq!(back(&bytes), back_slow(&bytes), "{bytes:?}");
        }
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
