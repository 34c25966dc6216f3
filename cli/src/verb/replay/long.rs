//! Long schedules: judged while they are read, and kept only where that does not do.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use replay::check::Source;
use replay::lifecycle::Given;
use replay::quiet::{Quiet, Said};
use replay::report::Report;
use replay::vram::Profile;
use tracefmt::ops::{Entry, OpsError, Reader, Schedule, Truth};

use super::Replay;
use super::source::{Of, put};
use crate::error::CliError;

/// Bytes of a file from which on it is worth reading twice rather than keeping at once.
const LONG_BYTES: u64 = 8 << 20;

/// A long schedule of which nothing but the verdict is asked, judged while it was read: that it is
/// healthy, or by the part that shows its first failure; none if it has to be read as a whole.
pub(super) fn judged(verb: &Replay, path: &Path, given: &Given) -> Result<Option<Of>, CliError> {
    let bytes = path.metadata().map_or(0, |file| file.len());
    if bytes < LONG_BYTES || needs_all(verb) {
        return Ok(None);
    }
    let name = verb.name();
    let unreadable =
        |error: &dyn ToString| CliError::input(name, error, "a log or a schedule, cuzk.ops/1");
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    let reader = Reader::open(BufReader::new(file)).map_err(|error| unreadable(&error))?;
    let mut header = reader.header().clone();
    let Ok(recorded) = Profile::named(&header.driver) else {
        return Ok(None);
    };
    let driver = verb.driver.as_deref().map_or(Ok(recorded), Profile::named);
    let driver = driver.map_err(|error| CliError::Usage(error.to_string()))?;
    if Source::of(&header).0 == Source::Profile {
        return Ok(None);
    }
    let forgets = put(&mut header, given) || driver != recorded;
    let mut quiet = Quiet::new(header.clone(), driver);
    let mut failed = false;
    for entry in reader {
        let Entry { step, .. } = entry.map_err(|error| unreadable(&error))?;
        let Ok(mut step) = step else { return Ok(None) };
        if forgets {
            step.set_truth(Truth::default());
        }
        match quiet.step(&step) {
            Said::Clear => {}
            Said::Failed => failed = true,
            Said::Unsure => return Ok(None),
        }
        if failed {
            break;
        }
    }
    let report = if failed {
        let file = File::open(path).map_err(|error| unreadable(&error))?;
        let again = Reader::open(BufReader::new(file)).map_err(|error| unreadable(&error))?;
        first_failure(quiet, again, forgets, name).map_err(|error| unreadable(&error))?
    } else {
        quiet.finish()
    };
    Ok(report.map(|report| Of {
        said: Some(report),
        ..Of::given(Schedule::new(header, Vec::new()))
    }))
}

/// Reads a schedule once more for the part that shows its first failure, and judges that.
fn first_failure(
    quiet: Quiet,
    reader: Reader<BufReader<File>>,
    forgets: bool,
    name: &str,
) -> Result<Option<Report>, OpsError> {
    let Some(mut short) = quiet.short() else {
        return Ok(None);
    };
    let mut steps = 0;
    for entry in reader {
        let Entry { line, step } = entry?;
        let Ok(mut step) = step else { return Ok(None) };
        if forgets {
            step.set_truth(Truth::default());
        }
        short.offer(steps, line, step);
        steps += 1;
    }
    Ok(quiet.judge(short, steps as u64, name))
}

/// Whether something is asked that takes the whole schedule.
fn needs_all(verb: &Replay) -> bool {
    verb.explore
        || verb.min_vram
        || verb.shrink.is_some()
        || verb.output.is_some()
        || verb.svg.is_some()
        || !verb.what_if.is_empty()
}
