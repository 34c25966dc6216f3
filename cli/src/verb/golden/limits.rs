//! What the gate is asked to hold, as flags; the defaults are the library's.

use clap::{Args, value_parser};
use golden::evidence::Rules;
use golden::gate::Options;

/// Settings of the gate.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Limits")]
pub(super) struct Limits {
    /// A pass proves that no phase is slower by this much
    #[arg(long, value_name = "PERCENT", default_value = "5", value_parser = percent)]
    limit: f64,
    /// Slow-downs up to this are no regression, however certain
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent)]
    smallest: f64,
    /// Changes of fewer milliseconds are no regression
    #[arg(long, value_name = "MS", default_value = "0.05", value_parser = milliseconds)]
    floor_ms: f64,
    /// Planned looks at growing numbers of runs, between which the error rates are divided
    #[arg(long, value_name = "N", default_value_t = 3)]
    #[arg(value_parser = value_parser!(u32).range(1..=100))]
    looks: u32,
    /// Slow-down against the anchor that accepts may add up to
    #[arg(long, value_name = "PERCENT", default_value = "10", value_parser = percent)]
    drift_budget: f64,
    /// A phase that the code under test cannot change, such as a calibration kernel; may be
    /// repeated
    #[arg(long, value_name = "PHASE")]
    control: Vec<String>,
    /// A phase that is shown and not judged, such as a wait; may be repeated
    #[arg(long, value_name = "PHASE")]
    ungated: Vec<String>,
    /// Phases too short for the clock of the log need not pass; they can still be slower
    #[arg(long)]
    ungate_short: bool,
    /// The golden's runs and these were measured in turn, in one session
    #[arg(long)]
    interleaved: bool,
}

impl Limits {
    /// As the library takes them.
    pub(super) fn options(&self, rules: Rules) -> Options {
        Options {
            looks: self.looks,
            effect_min: self.smallest,
            effect_max: self.limit,
            floor_ms: self.floor_ms,
            drift_budget: self.drift_budget,
            controls: self.control.clone(),
            ungated: self.ungated.clone(),
            ungate_short: self.ungate_short,
            interleaved: self.interleaved,
            rules,
            ..Options::default()
        }
    }
}

/// Parses per cent, `5` or `5%`, to a share.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').trim();
    match number.parse::<f64>() {
        Ok(percent) if percent > 0.0 && percent <= 100.0 => Ok(percent / 100.0),
        _ => Err("expected per cent above 0 and up to 100".to_owned()),
    }
}

fn milliseconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(ms) if ms.is_finite() && ms >= 0.0 => Ok(ms),
        _ => Err("expected milliseconds from 0 on".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        limits: Limits,
    }

    fn options(args: &[&str]) -> Options {
        let args = ["x"].iter().chain(args);
        Line::parse_from(args).limits.options(Rules::default())
    }

    #[test]
    fn the_defaults_are_the_librarys() {
        assert_eq!(options(&[]), Options::default());
    }

    #[test]
    fn limits_are_taken() {
        let found = options(&["--limit", "3%", "--control", "calibrate", "--looks", "1"]);
        assert!((found.effect_max - 0.03).abs() < 1e-12);
        assert_eq!(
            (found.controls.as_slice(), found.looks),
            (&["calibrate".to_owned()][..], 1)
        );
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["0", "-1", "NaN", "inf", "101", "five", ""] {
            assert!(percent(text).is_err(), "{text}");
        }
        for text in ["-1", "NaN", "inf", "x"] {
            assert!(milliseconds(text).is_err(), "{text}");
        }
        for args in [["--looks", "0"], ["--limit", "0"]] {
            assert!(Line::try_parse_from(["x"].iter().chain(&args)).is_err());
        }
    }
}
