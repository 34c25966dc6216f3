//! The configuration key: what must be equal before times may be compared.
//!
//! The shape of the work (circuit, constraints, domain, partitions) is compared before the
//! machine and the build: another amount of work is another question, not a slower answer.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::GoldenError;

macro_rules! key_fields {
    ($($(#[doc = $doc:literal])+ $field:ident: $kind:ty, $shape:literal;)+) => {
        /// What a set of timings was measured on. A field that is unknown on one side only
        /// differs; one that is unknown on both sides does not.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Key {
            $(
                $(#[doc = $doc])+
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $field: Option<$kind>,
            )+
        }

        impl Key {
            /// Names of all fields, shape first.
            pub const FIELDS: &'static [&'static str] = &[$(stringify!($field),)+];

            /// Sets a field by its name.
            ///
            /// # Errors
            /// A name that is no field, or a value that is not of its kind.
            pub fn set(&mut self, field: &str, value: &str) -> Result<(), GoldenError> {
                match field {
                    $(stringify!($field) => {
                        let parsed: Result<$kind, _> = value.parse();
                        self.$field = Some(parsed.map_err(|error| GoldenError::Format {
                            expected: concat!("a value for ", stringify!($field)),
                            found: format!("{value:?}: {error}"),
                        })?);
                        Ok(())
                    })+
                    other => Err(GoldenError::Format {
                        expected: "a field of the key",
                        found: format!("{other:?}; the fields are {}", Self::FIELDS.join(", ")),
                    }),
                }
            }

            /// Every field as name, whether it is part of the shape, and its value as text.
            fn fields(&self) -> Vec<(&'static str, bool, Option<String>)> {
                let text = |value: Option<&dyn ToString>| value.map(ToString::to_string);
                vec![$((
                    stringify!($field),
                    $shape,
                    text(self.$field.as_ref().map(|value| value as &dyn ToString)),
                ),)+]
            }
        }
    };
}

key_fields! {
    #[doc = "Circuit, e.g. `porep-32g` or `synthetic-2^18`."]
    circuit: String, true;
    #[doc = "Proof kind, e.g. `porep`, `window_post`."]
    proof_kind: String, true;
    #[doc = "Constraints of one partition."]
    constraints: u64, true;
    #[doc = "Points of the evaluation domain."]
    domain: u64, true;
    #[doc = "Partitions of one proof."]
    partitions: u64, true;
    #[doc = "GPU model, or `cpu` for a run without one."]
    gpu: String, false;
    #[doc = "Bytes of device memory."]
    vram_bytes: u64, false;
    #[doc = "GPU driver version."]
    driver: String, false;
    #[doc = "CUDA version."]
    cuda: String, false;
    #[doc = "Whether the clocks were locked, and to what."]
    clocks: String, false;
    #[doc = "CPU model."]
    cpu: String, false;
    #[doc = "GPU workers."]
    workers: u64, false;
    #[doc = "Workers that synthesise partitions."]
    partition_workers: u64, false;
    #[doc = "Bytes of host memory that partitions in flight may hold."]
    host_bytes: u64, false;
    #[doc = "Proofs in flight at once."]
    concurrency: u64, false;
    #[doc = "Build profile, e.g. `release`."]
    build_profile: String, false;
    #[doc = "Build features, sorted and joined by commas."]
    features: String, false;
    #[doc = "Trace dialect the times come from."]
    dialect: String, false;
}

/// One field in which two keys differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Name of the field.
    pub field: &'static str,
    /// Whether it describes the amount of work rather than who did it.
    pub shape: bool,
    /// The golden's value; `None` if unknown.
    pub baseline: Option<String>,
    /// The candidate's value; `None` if unknown.
    pub candidate: Option<String>,
}

impl Key {
    /// The fields in which `self` (the golden) and `candidate` differ, shape first.
    #[must_use]
    pub fn differences(&self, candidate: &Self) -> Vec<Difference> {
        self.fields()
            .into_iter()
            .zip(candidate.fields())
            .filter(|(ours, theirs)| ours.2 != theirs.2)
            .map(|((field, shape, baseline), (_, _, candidate))| Difference {
                field,
                shape,
                baseline,
                candidate,
            })
            .collect()
    }

    /// The known fields as name and value, shape first.
    #[must_use]
    pub fn known(&self) -> Vec<(&'static str, String)> {
        self.fields()
            .into_iter()
            .filter_map(|(name, _, value)| Some((name, value?)))
            .collect()
    }

    /// Eight hexadecimal digits that stand for the whole key.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut text = String::new();
        for (name, value) in self.known() {
            // Writing into a String does not fail.
            let written = writeln!(text, "{name}={value}");
            debug_assert!(written.is_ok(), "a String takes any text");
        }
        format!("{:08x}", fnv1a(text.as_bytes()))
    }

    /// Folder and file stem of the golden of this key: `<gpu>/<circuit>-<digest>`.
    #[must_use]
    pub fn location(&self) -> (String, String) {
        let gpu = slug(self.gpu.as_deref().unwrap_or("unknown"));
        let circuit = slug(self.circuit.as_deref().unwrap_or("unnamed"));
        (gpu, format!("{circuit}-{}", self.digest()))
    }
}

/// 32-bit FNV-1a: the digest only names a file, the key inside it is what gets compared.
fn fnv1a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

/// Lower-case letters, digits and single dashes, at most 40 of them: safe as a file name anywhere.
fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
        if out.len() == 40 {
            break;
        }
    }
    let trimmed = out.trim_end_matches('-');
    if trimmed.is_empty() {
        "unknown".to_owned()
    } else {
        trimmed.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key {
        Key {
            circuit: Some("PoRep 32 GiB".to_owned()),
            gpu: Some("NVIDIA GeForce RTX 5070 Ti".to_owned()),
            domain: Some(1 << 27),
            partitions: Some(10),
            ..Key::default()
        }
    }

    #[test]
    fn differences_name_the_shape_first() {
        let other = Key {
            gpu: Some("NVIDIA H200".to_owned()),
            domain: Some(1 << 26),
            driver: Some("580.65".to_owned()),
            ..key()
        };
        let found: Vec<_> = key()
            .differences(&other)
            .into_iter()
            .map(|d| (d.field, d.shape))
            .collect();
        assert_eq!(found, [("domain", true), ("gpu", false), ("driver", false)]);
        assert!(key().differences(&key()).is_empty());
    }

    #[test]
    fn the_location_is_stable() {
        let (folder, stem) = key().location();
        assert_eq!(folder, "nvidia-geforce-rtx-5070-ti");
        // Fixed on purpose: another value would orphan every golden in every repository.
        assert_eq!(stem, format!("porep-32-gib-{}", key().digest()));
        assert_eq!(key().digest().len(), 8);
        assert_eq!(fnv1a(b"foobar"), 0xbf9c_f968);
        assert_eq!(Key::default().location().0, "unknown");
        assert_eq!(slug("../../etc"), "etc");
        assert_eq!(slug("…"), "unknown");
    }

    #[test]
    fn every_field_changes_the_digest() {
        for field in Key::FIELDS {
            let mut other = key();
            other.set(field, "7").unwrap();
            assert_ne!(other.digest(), key().digest(), "{field}");
            assert_eq!(key().differences(&other)[0].field, *field);
        }
    }

    #[test]
    fn a_field_is_set_by_its_name() {
        let mut set = Key::default();
        for (field, value) in [("circuit", "PoRep 32 GiB"), ("partitions", "10")] {
            set.set(field, value).unwrap();
        }
        assert_eq!((set.circuit, set.partitions), (key().circuit, Some(10)));
        let mut set = Key::default();
        assert!(
            set.set("partitions", "ten")
                .unwrap_err()
                .to_string()
                .contains("ten")
        );
        let error = set.set("gpuu", "x").unwrap_err().to_string();
        assert!(
            error.contains("gpuu") && error.contains("vram_bytes"),
            "{error}"
        );
        assert_eq!(Key::FIELDS.len(), key().fields().len());
    }

    #[test]
    fn an_unknown_field_is_refused() {
        assert!(serde_json::from_str::<Key>(r#"{"gpuu":"x"}"#).is_err());
    }
}
