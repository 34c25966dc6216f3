//! Text out of bytes: lossy UTF-8, and the percent-escapes of our own writer.

use std::borrow::Cow;

/// The bytes as text; what is not UTF-8 becomes U+FFFD.
#[inline]
pub(super) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(String::from_utf8_lossy(bytes).into_owned()),
    }
}

/// Undoes `%2C` and its like; a `%` that two hexadecimal digits do not follow stands for itself.
#[inline]
pub(super) fn unescape(bytes: &[u8]) -> Cow<'_, str> {
    match memchr::memchr(b'%', bytes) {
        None => lossy(bytes),
        Some(_) => Cow::Owned(unescape_slow(bytes)),
    }
}

#[cold]
fn unescape_slow(bytes: &[u8]) -> String {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, tail @ ..] = rest {
        rest = tail;
        let escaped = match (first, tail) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)),
            _ => None,
        };
        match escaped {
            Some((high, low)) => {
                plain.push(high << 4 | low);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => plain.push(*first),
        }
    }
    lossy(&plain).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        for (escaped, plain) in [
            ("plain", "plain"),
            ("a%2Cb%20c%3Dd%25%0D%0A", "a,b c=d%\r\n"),
            ("%2c", ","),
            ("100%", "100%"),
            ("%zz%2", "%zz%2"),
            ("%E2%80%94", "\u{2014}"),
            ("", ""),
        ] {
            assert_eq!(unescape(escaped.as_bytes()), plain);
        }
    }

    #[test]
    fn what_is_not_utf8_is_replaced() {
        assert_eq!(lossy(b"a\xffb"), "a\u{fffd}b");
        assert_eq!(unescape(b"%FF"), "\u{fffd}");
        assert!(matches!(lossy(b"abc"), Cow::Borrowed("abc")));
    }
}
