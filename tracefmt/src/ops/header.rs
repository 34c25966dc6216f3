//! The first line of a schedule: the cards, the driver, the number of workers.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::Extra;
use super::error::{LineError, OpsError};
use super::fields::{FieldError, Fields, describe};

/// The schema that this module reads and writes.
pub const SCHEMA: &str = "cuzk.ops/1";

/// The driver profile of a header that names none.
pub const DEFAULT_DRIVER: &str = "h200-580";

/// One card.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GpuSpec {
    /// Bytes of memory on the card.
    pub capacity: u64,
    /// Bytes in use before the schedule starts: the context, other processes.
    pub baseline: u64,
    /// Keys that this version does not know.
    pub extra: Extra,
}

impl GpuSpec {
    /// A card with nothing on it but `baseline` bytes.
    pub fn new(capacity: u64, baseline: u64) -> Self {
        Self {
            capacity,
            baseline,
            extra: Extra::new(),
        }
    }
}

/// The header of a schedule.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// The cards; never empty in a header that was read.
    pub gpus: Vec<GpuSpec>,
    /// The name of the driver profile.
    pub driver: String,
    /// How many workers the schedule has.
    pub workers: u64,
    /// Keys that this version does not know.
    pub extra: Extra,
}

impl Header {
    /// A header for one card and one worker under the default driver.
    pub fn one_gpu(capacity: u64, baseline: u64) -> Self {
        Self {
            gpus: vec![GpuSpec::new(capacity, baseline)],
            driver: DEFAULT_DRIVER.to_owned(),
            workers: 1,
            extra: Extra::new(),
        }
    }

    /// Reads a header from the bytes of its line.
    ///
    /// # Errors
    /// [`OpsError::Header`] with the place of the fault, or [`OpsError::Version`] when the
    /// schema is another version of this format.
    pub fn parse(line: u64, bytes: &[u8]) -> Result<Self, OpsError> {
        let mut fields = Fields::default();
        let header = |error: FieldError| OpsError::Header(error.at(line));
        fields.parse(bytes).map_err(header)?;
        match fields.take_text("schema").map_err(header)? {
            Some(name) if name == SCHEMA => {}
            Some(name) if name.starts_with("cuzk.ops/") => {
                return Err(OpsError::Version { line, found: name });
            }
            other => {
                let found = other.unwrap_or_else(|| "no such key".to_owned());
                return Err(OpsError::Header(LineError {
                    line,
                    place: "schema".to_owned(),
                    expected: format!("\"{SCHEMA}\""),
                    found,
                }));
            }
        }
        Self::from_fields(fields).map_err(header)
    }

    fn from_fields(mut fields: Fields) -> Result<Self, FieldError> {
        let driver = fields.take_text("driver")?;
        let workers = fields.take_u64("workers")?;
        let gpus = match fields.take("gpus") {
            None => vec![GpuSpec {
                capacity: fields.need_u64("capacity")?,
                baseline: fields.take_u64("baseline")?.unwrap_or(0),
                extra: Extra::new(),
            }],
            Some(serde_json::Value::Array(list)) if !list.is_empty() => {
                list.into_iter().map(gpu_spec).collect::<Result<_, _>>()?
            }
            Some(other) => {
                return Err(FieldError::new(
                    "gpus",
                    "a list of at least one {\"capacity\":N,\"baseline\":N}",
                    describe(&other),
                ));
            }
        };
        Ok(Self {
            gpus,
            driver: driver.unwrap_or_else(|| DEFAULT_DRIVER.to_owned()),
            workers: workers.unwrap_or(1),
            extra: fields.into_extra(),
        })
    }
}

fn gpu_spec(value: serde_json::Value) -> Result<GpuSpec, FieldError> {
    let serde_json::Value::Object(map) = value else {
        return Err(FieldError::new(
            "gpus",
            "an object with a capacity",
            describe(&value),
        ));
    };
    let mut fields = Fields::from_map(map);
    Ok(GpuSpec {
        capacity: fields.need_u64("capacity")?,
        baseline: fields.take_u64("baseline")?.unwrap_or(0),
        extra: fields.into_extra(),
    })
}

impl Serialize for GpuSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("capacity", &self.capacity)?;
        map.serialize_entry("baseline", &self.baseline)?;
        for (key, value) in &self.extra {
            if !matches!(key.as_str(), "capacity" | "baseline") {
                map.serialize_entry(key, value)?;
            }
        }
        map.end()
    }
}

impl Serialize for Header {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema", SCHEMA)?;
        match self.gpus.as_slice() {
            // One plain card has its numbers on the header itself.
            [gpu] if gpu.extra.is_empty() => {
                map.serialize_entry("capacity", &gpu.capacity)?;
                map.serialize_entry("baseline", &gpu.baseline)?;
            }
            gpus => map.serialize_entry("gpus", gpus)?,
        }
        map.serialize_entry("driver", &self.driver)?;
        map.serialize_entry("workers", &self.workers)?;
        let own = ["schema", "gpus", "driver", "workers"];
        let flat = ["capacity", "baseline"];
        let is_flat = matches!(self.gpus.as_slice(), [gpu] if gpu.extra.is_empty());
        for (key, value) in &self.extra {
            let taken = own.contains(&key.as_str()) || is_flat && flat.contains(&key.as_str());
            if !taken {
                map.serialize_entry(key, value)?;
            }
        }
        map.end()
    }
}
