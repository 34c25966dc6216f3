//! Wall-clock instants as text.

use jiff::Timestamp;

/// An instant as RFC 3339 in UTC with milliseconds, such as `2026-02-19T04:20:17.307Z`.
/// `unix_us` is microseconds since 1970 UTC; what no calendar holds is shown as a number.
pub fn rfc3339(unix_us: i64) -> String {
    Timestamp::from_microsecond(unix_us).map_or_else(
        |_| format!("@{unix_us}us"),
        |instant| format!("{instant:.3}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_are_kept_and_nonsense_survives() {
        assert_eq!(rfc3339(1_771_474_817_307_000), "2026-02-19T04:20:17.307Z");
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(i64::MAX), format!("@{}us", i64::MAX));
    }
}
