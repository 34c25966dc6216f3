//! Time stamps of log lines: `2026-02-19T04:24:22.996374Z`, with or without fraction and zone.

use nom::branch::alt;
use nom::bytes::complete::{take_while_m_n, take_while1};
use nom::character::complete::{char, one_of};
use nom::combinator::{map_opt, opt, value};
use nom::sequence::{preceded, terminated};
use nom::{IResult, Parser};

use crate::grammar::number;
use crate::record::Stamp;

/// Reads a stamp at the front; none if there is none or it names no moment.
pub(super) fn stamp(text: &[u8]) -> Option<(Stamp, &[u8])> {
    let (rest, stamp) = moment(text).ok()?;
    Some((stamp, rest))
}

fn moment(text: &[u8]) -> IResult<&[u8], Stamp> {
    let date = (
        terminated(fixed(4, 0, 9999), char('-')),
        terminated(fixed(2, 1, 12), char('-')),
        terminated(fixed(2, 1, 31), one_of("T ")),
    );
    let time = (
        terminated(fixed(2, 0, 23), char(':')),
        terminated(fixed(2, 0, 59), char(':')),
        fixed(2, 0, 60),
        opt(fraction),
        opt(zone),
    );
    let (rest, ((year, month, day), (hour, minute, second, micros, zone))) =
        (date, time).parse(text)?;
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    let unix_us = (seconds - zone.unwrap_or(0)) * 1_000_000 + micros.unwrap_or(0);
    Ok((
        rest,
        Stamp {
            unix_us,
            utc: zone.is_some(),
        },
    ))
}

/// Exactly so many digits, within bounds.
fn fixed<'a>(
    digits: usize,
    min: i64,
    max: i64,
) -> impl Parser<&'a [u8], Output = i64, Error = nom::error::Error<&'a [u8]>> {
    map_opt(
        take_while_m_n(digits, digits, |byte: u8| byte.is_ascii_digit()),
        move |text: &[u8]| number::signed::<i64>(text).filter(|value| (min..=max).contains(value)),
    )
}

/// The fraction of a second in microseconds; further digits are dropped.
fn fraction(text: &[u8]) -> IResult<&[u8], i64> {
    let digits = take_while1(|byte: u8| byte.is_ascii_digit());
    preceded(one_of(".,"), digits)
        .map(|digits: &[u8]| {
            let six = digits
                .iter()
                .copied()
                .chain(std::iter::repeat(b'0'))
                .take(6);
            six.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'))
        })
        .parse(text)
}

/// The zone's offset in seconds: `Z`, `+0800` or `+08:00`.
fn zone(text: &[u8]) -> IResult<&[u8], i64> {
    let sign = alt((value(1, char('+')), value(-1, char('-'))));
    let offset = (sign, fixed(2, 0, 23), opt(char(':')), fixed(2, 0, 59))
        .map(|(sign, hours, _, minutes)| sign * (hours * 3600 + minutes * 60));
    alt((value(0, char('Z')), offset)).parse(text)
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar; years begin in March, so that the
/// leap day is their last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let shifted = if month > 2 { month - 3 } else { month + 9 };
    let year = if month > 2 { year } else { year - 1 };
    let of_year = (153 * shifted + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year
        - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        let table = [
            ("1970-01-01T00:00:00Z", 0, true),
            ("1970-01-01 00:00:00.000001", 1, false),
            ("2000-02-29T00:00:00Z", 951_782_400_000_000, true),
            ("2000-03-01T00:00:00Z", 951_868_800_000_000, true),
            ("2026-02-19T04:24:22.996374Z", 1_771_475_062_996_374, true),
            ("2026-02-19T04:24:22.996", 1_771_475_062_996_000, false),
            (
                "2026-02-19T12:24:22.996374999+0800",
                1_771_475_062_996_374,
                true,
            ),
            (
                "2026-02-18T22:54:22,996374-05:30",
                1_771_475_062_996_374,
                true,
            ),
            ("1969-12-31T23:59:59Z", -1_000_000, true),
        ];
        for (text, unix_us, utc) in table {
            let expected = Stamp { unix_us, utc };
            assert_eq!(stamp(text.as_bytes()), Some((expected, &b""[..])), "{text}");
        }
        assert_eq!(stamp(b"2026-02-19T04:24:22Z INFO").unwrap().1, b" INFO");
    }

    #[test]
    fn no_moments() {
        for text in [
            "",
            "2026-02-19",
            "2026-13-19T04:24:22Z",
            "2026-02-32T04:24:22Z",
            "2026-02-19T24:24:22Z",
            "20260219T042422Z",
            "2026/02/19 15:13:03.389",
            "16:03:56 DBG",
        ] {
            assert_eq!(stamp(text.as_bytes()), None, "{text}");
        }
    }
}
