//! The syntax of changes: `free:d_bc=after:ntt`, `workers=1`, `vram=24GiB`, ...

use std::fmt;
use std::str::FromStr;

use super::{Change, FreeAt};
use crate::vram::Profile;

/// A text that is no change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("what-if \"{text}\": expected {expected}")]
pub struct BadChange {
    /// What was given.
    pub text: String,
    /// What would do.
    pub expected: String,
}

const FORMS: &str = "free:BUF=after:last-use|after:NAME|before:unlock, workers=1, vram=SIZE, \
                     baseline=SIZE, driver=NAME, margin=SIZE, sync=every-partition, \
                     sync=every-allocation, trim=every-partition or trim=every-allocation";

impl FromStr for Change {
    type Err = BadChange;

    fn from_str(text: &str) -> Result<Self, BadChange> {
        let bad = |expected: &str| BadChange {
            text: text.to_owned(),
            expected: expected.to_owned(),
        };
        let (key, value) = text.split_once('=').ok_or_else(|| bad(FORMS))?;
        if let Some(buf) = key.strip_prefix("free:") {
            let at = free_at(value).ok_or_else(|| {
                bad("after:last-use, after:NAME or before:unlock as the place of the free")
            })?;
            let buf = buf.to_owned();
            return Ok(Self::Free { buf, at });
        }
        let size = || bytes(value).ok_or_else(|| bad("a size such as 24GiB, 512MiB or 1000"));
        match (key, value) {
            ("workers", "1") => Ok(Self::OneWorker),
            ("sync", "every-partition") => Ok(Self::Sync),
            ("sync", "every-allocation") => Ok(Self::SyncOften),
            ("trim", "every-partition") => Ok(Self::Trim),
            ("trim", "every-allocation") => Ok(Self::TrimOften),
            ("vram", _) => size().map(Self::Vram),
            ("baseline", _) => size().map(Self::Baseline),
            ("margin", _) => size().map(Self::Margin),
            ("driver", _) => Profile::named(value)
                .map(Self::Driver)
                .map_err(|error| bad(&error.to_string())),
            _ => Err(bad(FORMS)),
        }
    }
}

fn free_at(text: &str) -> Option<FreeAt> {
    match text.split_once(':')? {
        ("after", "last-use") => Some(FreeAt::LastUse),
        ("after", name) if !name.is_empty() => Some(FreeAt::After(name.to_owned())),
        ("before", "unlock") => Some(FreeAt::BeforeUnlock),
        _ => None,
    }
}

/// Bytes from `24GiB`, `512MiB`, `4KiB` or a plain number.
pub fn bytes(text: &str) -> Option<u64> {
    for (suffix, unit) in [
        ("GiB", 1 << 30),
        ("MiB", 1 << 20),
        ("KiB", 1 << 10),
        ("", 1),
    ] {
        if let Some(number) = text.strip_suffix(suffix) {
            return number.parse::<u64>().ok()?.checked_mul(unit);
        }
    }
    None
}

/// The shortest text that [`bytes`] reads back as the same number.
fn size(bytes: u64) -> String {
    for (suffix, unit) in [("GiB", 1_u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] {
        if bytes > 0 && bytes.is_multiple_of(unit) {
            return format!("{}{suffix}", bytes / unit);
        }
    }
    bytes.to_string()
}

impl fmt::Display for Change {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Free { buf, at } => match at {
                FreeAt::LastUse => write!(out, "free:{buf}=after:last-use"),
                FreeAt::After(name) => write!(out, "free:{buf}=after:{name}"),
                FreeAt::BeforeUnlock => write!(out, "free:{buf}=before:unlock"),
            },
            Self::OneWorker => out.write_str("workers=1"),
            Self::Vram(bytes) => write!(out, "vram={}", size(*bytes)),
            Self::Baseline(bytes) => write!(out, "baseline={}", size(*bytes)),
            Self::Driver(profile) => write!(out, "driver={profile}"),
            Self::Margin(bytes) => write!(out, "margin={}", size(*bytes)),
            Self::Sync => out.write_str("sync=every-partition"),
            Self::SyncOften => out.write_str("sync=every-allocation"),
            Self::Trim => out.write_str("trim=every-partition"),
            Self::TrimOften => out.write_str("trim=every-allocation"),
        }
    }
}
