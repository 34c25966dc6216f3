//! Changes in per cent, as people read them.

/// Beyond a thousandfold the digits say nothing any more, and the per cent may have none.
const MOST: f64 = 1e3;

/// A ratio as a signed change, e.g. `+6.1 %`; none if it is not a number or has no bound.
pub(crate) fn change(ratio: f64) -> Option<String> {
    match ratio {
        _ if !ratio.is_finite() => None,
        _ if ratio > MOST => Some("> +100000 %".to_owned()),
        _ => Some(format!("{:+.1} %", (ratio - 1.0) * 100.0)),
    }
}

/// An effect without its sign, e.g. `6.1 %`; none if it is not a number or has no bound.
pub(crate) fn effect(effect: f64) -> Option<String> {
    match effect {
        _ if !effect.is_finite() => None,
        _ if effect > MOST => Some("> 100000 %".to_owned()),
        _ => Some(format!("{:.1} %", effect * 100.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_all_bounds_is_said_in_few_digits() {
        let table = [
            (1.061, Some("+6.1 %")),
            (0.0, Some("-100.0 %")),
            (1000.0, Some("+99900.0 %")),
            (1e61, Some("> +100000 %")),
            (f64::MAX, Some("> +100000 %")),
            (f64::INFINITY, None),
            (f64::NAN, None),
        ];
        for (ratio, text) in table {
            assert_eq!(change(ratio).as_deref(), text, "{ratio}");
        }
        assert_eq!(effect(0.061).as_deref(), Some("6.1 %"));
        assert_eq!(effect(1e307).as_deref(), Some("> 100000 %"));
        assert_eq!(effect(f64::INFINITY), None);
    }
}
