//! Milliseconds by phase, small enough for a million regions: the phases of the trace language
//! are numbers, others keep their name. In JSON it is an object.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tracefmt::phase::KnownPhase;

/// [`PhaseTimes`] has a bit for each.
const _: () = assert!(KnownPhase::COUNT <= 32, "more phases than bits");

/// Phase -> milliseconds, each phase once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseTimes {
    /// Bit by phase: whether it has a time.
    has: u32,
    /// The times that there are, in order of phase.
    known: Box<[f32]>,
    /// Boxed, since a million regions of an old log have none.
    own: Option<Box<OwnPhases>>,
}

/// Phases of our own traces, sorted by name.
type OwnPhases = Vec<(Box<str>, f32)>;

impl PhaseTimes {
    /// Takes the phases that have a time, in order of name.
    pub fn of_known(times: &[Option<f32>; KnownPhase::COUNT]) -> Self {
        let mut known = Vec::with_capacity(times.iter().flatten().count());
        known.extend(times.iter().flatten());
        let bits = times.iter().rev();
        Self {
            has: bits.fold(0, |bits, ms| bits << 1 | u32::from(ms.is_some())),
            known: known.into_boxed_slice(),
            own: None,
        }
    }

    /// Whether a phase has a time, and where it stands or belongs.
    const fn place(&self, phase: KnownPhase) -> (bool, usize) {
        let bit = 1 << phase.index();
        let before = self.has & (bit - 1);
        (self.has & bit != 0, before.count_ones() as usize)
    }

    /// Milliseconds of a phase.
    pub fn get(&self, name: &str) -> Option<f64> {
        let ms = match KnownPhase::find(name) {
            Some(phase) => match self.place(phase) {
                (true, at) => *self.known.get(at)?,
                (false, _) => return None,
            },
            None => self.own().iter().find(|(own, _)| **own == *name)?.1,
        };
        Some(f64::from(ms))
    }

    /// Adds milliseconds to a phase, which begins with 0.
    ///
    /// Kept in single precision: exact to a microsecond up to 16 s, to a millisecond up to 4 h.
    pub fn add(&mut self, name: &str, ms: f64) {
        if let Some(phase) = KnownPhase::find(name) {
            let (there, at) = self.place(phase);
            if !there {
                let mut known = std::mem::take(&mut self.known).into_vec();
                known.insert(at, 0.0);
                self.known = known.into_boxed_slice();
                self.has |= 1 << phase.index();
            }
            if let Some(sum) = self.known.get_mut(at) {
                *sum = sum_of(*sum, ms);
            }
        } else {
            let own = self.own.get_or_insert_default();
            match own.binary_search_by(|(known, _)| known.as_ref().cmp(name)) {
                Ok(at) => {
                    if let Some((_, sum)) = own.get_mut(at) {
                        *sum = sum_of(*sum, ms);
                    }
                }
                Err(at) => own.insert(at, (name.into(), sum_of(0.0, ms))),
            }
        }
    }

    fn own(&self) -> &[(Box<str>, f32)] {
        self.own.as_deref().map(Vec::as_slice).unwrap_or_default()
    }

    /// All phases in order of name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        let there = KnownPhase::all().filter(|phase| self.place(*phase).0);
        let known = there
            .zip(&self.known)
            .map(|(phase, ms)| -> (&str, _) { (phase.name(), *ms) });
        let own = self.own().iter().map(|(name, ms)| (name.as_ref(), *ms));
        let mut all: Vec<(&str, f32)> = known.chain(own).collect();
        all.sort_by_key(|(name, _)| *name);
        all.into_iter().map(|(name, ms)| (name, f64::from(ms)))
    }

    /// Number of phases.
    pub fn len(&self) -> usize {
        self.known.len() + self.own().len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "single precision is the stated resolution"
)]
fn sum_of(sum: f32, ms: f64) -> f32 {
    (f64::from(sum) + ms) as f32
}

impl Serialize for PhaseTimes {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "comes from single precision; its shortest decimal is 86.4, not 86.4000015258789"
    )]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (name, ms) in self.iter() {
            map.serialize_entry(name, &(ms as f32))?;
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
                    times.add(&name, ms);
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
        times.add("merkle", 7.0);
        times.add("batch_add", 656.0);
        times.add("tail_msm", 0.5);
        let all: Vec<_> = times.iter().collect();
        let wanted = [("batch_add", 656.0), ("merkle", 7.0), ("tail_msm", 86.5)];
        assert_eq!(all, wanted);
        assert_eq!(times.get("tail_msm"), Some(86.5));
        assert_eq!(times.get("merkle"), Some(7.0));
        assert_eq!(times.get("ntt_msm_h"), None);
    }

    #[test]
    fn a_table_becomes_a_list() {
        let mut table = [None; KnownPhase::COUNT];
        table[KnownPhase::SYNTH.index()] = Some(30_000.0);
        table[KnownPhase::BATCH_ADD.index()] = Some(656.0);
        let times = PhaseTimes::of_known(&table);
        let all: Vec<_> = times.iter().collect();
        assert_eq!(all, [("batch_add", 656.0), ("synth", 30_000.0)]);
    }

    #[test]
    fn json_is_an_object_with_short_numbers() {
        let mut times = PhaseTimes::default();
        times.add("ntt_msm_h", 845.123);
        times.add("batch_add", 86.4);
        times.add("merkle", 1.0);
        let json = serde_json::to_string(&times).unwrap();
        assert_eq!(
            json,
            r#"{"batch_add":86.4,"merkle":1.0,"ntt_msm_h":845.123}"#
        );
        let back: PhaseTimes = serde_json::from_str(&json).unwrap();
        assert_eq!(back, times);
    }
}
