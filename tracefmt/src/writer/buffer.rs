//! Text, numbers and escapes into a line that is being built. Nothing here fails.

/// Appends a decimal number.
pub(super) fn number(line: &mut Vec<u8>, value: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = value;
    loop {
        at -= 1;
        if let Some(digit) = digits.get_mut(at) {
            *digit = b'0' + u8::try_from(rest % 10).unwrap_or_default();
        }
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    line.extend_from_slice(digits.get(at..).unwrap_or_default());
}

/// Appends a decimal number with its sign.
pub(super) fn signed(line: &mut Vec<u8>, value: i64) {
    if value < 0 {
        line.push(b'-');
    }
    number(line, value.unsigned_abs());
}

/// Appends a text with everything escaped that a detail, a tag or a line end is made of: `%`,
/// comma, blank, `=` and all ASCII control characters.
pub(super) fn escaped(line: &mut Vec<u8>, text: &str) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        if matches!(byte, b'%' | b',' | b' ' | b'=') || byte.is_ascii_control() {
            let digit = |half: u8| HEX.get(usize::from(half)).copied().unwrap_or(b'0');
            line.extend_from_slice(&[b'%', digit(byte >> 4), digit(byte & 15)]);
        } else {
            line.push(byte);
        }
    }
}

/// Appends a text as it is; only line ends, which would make two lines of one, become blanks.
pub(super) fn raw(line: &mut Vec<u8>, text: &str) {
    line.extend(text.bytes().map(|byte| match byte {
        b'\n' | b'\r' => b' ',
        other => other,
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(build: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut line = Vec::new();
        build(&mut line);
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn numbers() {
        for value in [0, 9, 10, 12_345, u64::MAX] {
            assert_eq!(built(|line| number(line, value)), value.to_string());
        }
        for value in [0, -1, i64::MIN, i64::MAX] {
            assert_eq!(built(|line| signed(line, value)), value.to_string());
        }
    }

    #[test]
    fn texts() {
        let text = "a,b c=d%\r\n\u{1b}\u{7f}\u{2014}";
        assert_eq!(
            built(|line| escaped(line, text)),
            "a%2Cb%20c%3Dd%25%0D%0A%1B%7F\u{2014}"
        );
        assert_eq!(
            built(|line| raw(line, text)),
            "a,b c=d%  \u{1b}\u{7f}\u{2014}"
        );
    }
}
