//! The keys of one JSON line, taken out one by one with a type; what is left is kept.
//!
//! A key that stands twice is an error, a `null` counts as absent, and every refusal says
//! which key, what was expected and what was found.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::Value;

use super::error::LineError;

/// Keys that this version does not know, with their values.
pub type Extra = BTreeMap<String, Value>;

/// The longest piece of found text that a message quotes, in characters.
const QUOTE_CHARS_MAX: usize = 60;

/// A key with the wrong value, before its line is known.
#[derive(Debug)]
pub(super) struct FieldError {
    place: String,
    expected: String,
    found: String,
}

impl FieldError {
    pub(super) fn new(place: &str, expected: &str, found: String) -> Self {
        Self {
            place: place.to_owned(),
            expected: expected.to_owned(),
            found,
        }
    }

    pub(super) fn at(self, line: u64) -> LineError {
        LineError {
            line,
            place: self.place,
            expected: self.expected,
            found: self.found,
        }
    }
}

/// A value as a message shows it: its JSON text, cut to a readable length.
pub(super) fn describe(value: &Value) -> String {
    shorten(&value.to_string())
}

/// Text cut to a readable length.
pub(super) fn shorten(text: &str) -> String {
    if text.chars().count() <= QUOTE_CHARS_MAX {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(QUOTE_CHARS_MAX).collect();
    cut.push_str("...");
    cut
}

/// The keys of one line; reusable, so that a reader allocates once.
#[derive(Debug, Default)]
pub(super) struct Fields {
    entries: Vec<(Cow<'static, str>, Value)>,
}

impl Fields {
    /// Takes over the keys of an object that was already parsed.
    pub(super) fn from_map(map: serde_json::Map<String, Value>) -> Self {
        Self {
            entries: map.into_iter().map(|(k, v)| (Cow::Owned(k), v)).collect(),
        }
    }

    /// Replaces the content by the keys of one JSON object.
    pub(super) fn parse(&mut self, bytes: &[u8]) -> Result<(), FieldError> {
        self.entries.clear();
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let parsed = Collect(&mut self.entries)
            .deserialize(&mut json)
            .and_then(|()| json.end());
        parsed.map_err(|error| {
            let text = String::from_utf8_lossy(bytes);
            let found = format!("{} ({error})", shorten(text.trim()));
            FieldError::new("the line", "one JSON object with each key once", found)
        })
    }

    /// Takes a key out; `null` counts as absent.
    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        let at = self.entries.iter().position(|(name, _)| name == key)?;
        match self.entries.swap_remove(at).1 {
            Value::Null => None,
            value => Some(value),
        }
    }

    /// Takes an optional unsigned integer.
    pub(super) fn take_u64(&mut self, key: &str) -> Result<Option<u64>, FieldError> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        value.as_u64().map(Some).ok_or_else(|| {
            FieldError::new(
                key,
                "an integer from 0 to 18446744073709551615",
                describe(&value),
            )
        })
    }

    /// Takes an optional unsigned integer of 32 bits.
    pub(super) fn take_u32(&mut self, key: &str) -> Result<Option<u32>, FieldError> {
        match self.take_u64(key)? {
            None => Ok(None),
            Some(wide) => u32::try_from(wide).map(Some).map_err(|_error| {
                FieldError::new(key, "an integer from 0 to 4294967295", wide.to_string())
            }),
        }
    }

    /// Takes an optional text.
    pub(super) fn take_text(&mut self, key: &str) -> Result<Option<String>, FieldError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(FieldError::new(key, "a text", describe(&other))),
        }
    }

    /// Takes an unsigned integer that has to be there.
    pub(super) fn need_u64(&mut self, key: &str) -> Result<u64, FieldError> {
        self.take_u64(key)?.ok_or_else(|| {
            FieldError::new(
                key,
                "an integer from 0 to 18446744073709551615",
                "no such key".to_owned(),
            )
        })
    }

    /// Takes a text that has to be there.
    pub(super) fn need_text(&mut self, key: &str) -> Result<String, FieldError> {
        self.take_text(key)?
            .ok_or_else(|| FieldError::new(key, "a text", "no such key".to_owned()))
    }

    /// What nobody took.
    pub(super) fn into_extra(mut self) -> Extra {
        self.drain_extra()
    }

    /// What nobody took; the room stays for the next line.
    pub(super) fn drain_extra(&mut self) -> Extra {
        self.entries
            .drain(..)
            .map(|(key, value)| (key.into_owned(), value))
            .collect()
    }
}

/// Collects the entries of one JSON object and refuses a key that stands twice.
struct Collect<'a>(&'a mut Vec<(Cow<'static, str>, Value)>);

impl<'de> DeserializeSeed<'de> for Collect<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Collect<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key_seed(KeySeed)? {
            if self.0.iter().any(|(name, _)| *name == key) {
                return Err(A::Error::custom(format_args!(
                    "the key \"{key}\" stands twice"
                )));
            }
            let value = map.next_value()?;
            self.0.push((key, value));
        }
        Ok(())
    }
}

/// Reads a key; the ones that every schedule uses cost no allocation.
struct KeySeed;

/// Keys common enough to be worth not allocating for.
const FREQUENT_KEYS: &[&str] = &[
    "op",
    "id",
    "bytes",
    "stream",
    "rc",
    "free",
    "worker",
    "buf",
    "job",
    "partition",
    "gpu",
    "event",
    "name",
    "reads",
    "writes",
    "ms",
    "thread",
    "on_error",
    "pool_reserved",
    "pool_used",
    "addr",
    "keep",
    "step",
];

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = Cow<'static, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed {
    type Value = Cow<'static, str>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        let known = FREQUENT_KEYS.iter().find(|key| **key == text);
        Ok(known.map_or_else(|| Cow::Owned(text.to_owned()), |key| Cow::Borrowed(*key)))
    }
}
