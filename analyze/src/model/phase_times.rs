//! Milliseconds by phase, small enough for a million regions: a sorted list, names that are part
//! of the trace language are not copied. In JSON it is an object.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Phase -> milliseconds, sorted by name, each name once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseTimes {
    entries: Vec<(Cow<'static, str>, f32)>,
}

impl PhaseTimes {
    /// No phases, room for `n`.
    pub fn with_capacity(n: usize) -> Self {
        Self {
            entries: Vec::with_capacity(n),
        }
    }

    /// Milliseconds of a phase.
    pub fn get(&self, name: &str) -> Option<f64> {
        let at = self.find(name).ok()?;
        self.entries.get(at).map(|(_, ms)| f64::from(*ms))
    }

    /// Adds milliseconds to a phase, which begins with 0.
    ///
    /// Kept in single precision: exact to a microsecond up to 16 s, to a millisecond up to 4 h.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "single precision is the stated resolution"
    )]
    pub fn add(&mut self, name: impl Into<Cow<'static, str>>, ms: f64) {
        let name = name.into();
        match self.find(&name) {
            Ok(at) => {
                if let Some((_, sum)) = self.entries.get_mut(at) {
                    *sum = (f64::from(*sum) + ms) as f32;
                }
            }
            Err(at) => self.entries.insert(at, (name, ms as f32)),
        }
    }

    /// All phases in order of name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, f64)> {
        self.entries
            .iter()
            .map(|(name, ms)| (name.as_ref(), f64::from(*ms)))
    }

    /// Number of phases.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn find(&self, name: &str) -> Result<usize, usize> {
        self.entries
            .binary_search_by(|(known, _)| known.as_ref().cmp(name))
    }
}

impl Serialize for PhaseTimes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (name, ms) in &self.entries {
            // The shortest decimal of the single-precision value: 86.4, not 86.4000015258789.
            map.serialize_entry(name.as_ref(), ms)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for PhaseTimes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = PhaseTimes;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object of milliseconds by phase")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PhaseTimes, A::Error> {
                let mut times = PhaseTimes::default();
                while let Some((name, ms)) = map.next_entry::<String, f64>()? {
                    times.add(name, ms);
                }
                Ok(times)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_sums_kept() {
        let mut times = PhaseTimes::default();
        times.add("tail_msm", 86.0);
        times.add("batch_add", 656.0);
        times.add(String::from("tail_msm"), 0.5);
        let all: Vec<_> = times.iter().collect();
        assert_eq!(all, [("batch_add", 656.0), ("tail_msm", 86.5)]);
        assert_eq!(times.get("tail_msm"), Some(86.5));
        assert_eq!(times.get("ntt_msm_h"), None);
    }

    #[test]
    fn json_is_an_object_with_short_numbers() {
        let mut times = PhaseTimes::default();
        times.add("ntt_msm_h", 845.123);
        times.add("batch_add", 86.4);
        let json = serde_json::to_string(&times).unwrap();
        assert_eq!(json, r#"{"batch_add":86.4,"ntt_msm_h":845.123}"#);
        let back: PhaseTimes = serde_json::from_str(&json).unwrap();
        assert_eq!(back, times);
    }
}
