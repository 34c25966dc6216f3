//! `cuzk golden check`: the gate.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use golden::render;
use golden::verbs;
use golden::verdict::{Inconclusive, Verdict};

use super::drawn::{Pictures, Sides};
use super::limits::Limits;
use super::measured::Measured;
use super::{Goldens, told};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;

/// Hold new runs against the golden of their configuration: the merge gate.
///
/// Says pass (every phase is proven not slower than the limit), regression (a phase is proven
/// slower), inconclusive (neither, with the slow-down that could hide and the runs that would
/// decide), or not comparable (other work, another machine, no golden). A run is one start of the
/// process and one piece of evidence: give two or more. Nothing is written but what --write names.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk golden check run1.log run2.log
  cuzk golden check runs.jsonl --write junit=golden.xml --write markdown=comment.md
  cuzk golden check bench.csv --column time=elapsed:ms --allow-unverified --key circuit=demo
  cuzk golden check run*.log --format annotations --inconclusive warn
  cuzk golden check run*.log --svg golden.svg

Exits with 0 pass, 1 regression, 3 inconclusive, 4 not comparable or no golden. Input that
measured nothing, or that something is wrong with, is never a pass.")]
pub struct Check {
    #[command(flatten)]
    measured: Measured,
    #[command(flatten)]
    goldens: Goldens,
    #[command(flatten)]
    limits: Limits,
    /// What an inconclusive verdict ends with: warn is 0 where nothing but runs is lacking
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    inconclusive: How,
    /// Write the verdict into a file too, as json, markdown, junit, annotations or text; may be
    /// repeated
    #[arg(long, value_name = "FORM=FILE")]
    write: Vec<Target>,
    #[command(flatten)]
    pictures: Pictures,
    /// Form of the answer
    #[arg(long, value_enum, default_value_t)]
    format: Form,
}

/// What an inconclusive verdict ends with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum How {
    /// 3
    #[default]
    Fail,
    /// 0, unless something is wrong with the runs themselves
    Warn,
}

/// Forms of a verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For people
    #[default]
    Text,
    /// cuzk.verdict/1
    Json,
    /// For a comment on a pull request
    Markdown,
    /// For the test view of a CI service
    Junit,
    /// Workflow commands of GitHub Actions
    Annotations,
}

impl Form {
    fn render(self, verdict: &Verdict) -> Result<String, CliError> {
        Ok(match self {
            Self::Text => render::text(verdict),
            Self::Json => render::json(verdict)
                .map_err(|error| CliError::Internal(format!("the verdict as JSON: {error}")))?,
            Self::Markdown => render::markdown(verdict),
            Self::Junit => render::junit(verdict),
            Self::Annotations => render::annotations(verdict),
        })
    }
}

/// A form and where to write it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    form: Form,
    path: PathBuf,
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (form, path) = super::measured::pair(text)?;
        Ok(Self {
            form: Form::from_str(&form, false)?,
            path: path.into(),
        })
    }
}

/// Reads the runs, judges them and prints the verdict.
///
/// # Errors
///
/// An input or golden that cannot be read, or an output that cannot be written.
pub(super) fn run(verb: &Check) -> Result<Exit, CliError> {
    verb.pictures.possible()?;
    let verdicts = verb.write.iter().map(|target| target.path.as_path());
    let verdicts = verdicts.map(|path| ("the verdict", Some(path)));
    let written: Vec<_> = verdicts.chain(verb.pictures.written()).collect();
    let inputs = verb.measured.inputs.iter().map(PathBuf::from);
    output::apart(inputs.chain(verb.goldens.files()), &written)?;
    let samples = verb.measured.read()?;
    let options = verb.limits.options(verb.measured.rules());
    let checked = verbs::check(&verb.goldens.store(), &samples, &options).map_err(told)?;
    let verdict = checked.verdict;
    output::text(&verb.format.render(&verdict)?)?;
    for target in &verb.write {
        output::file(&target.path, target.form.render(&verdict)?.as_bytes())?;
    }
    let sides = Sides {
        golden: checked.golden.as_ref(),
        candidate: &checked.candidate,
        verdict: &verdict,
    };
    verb.pictures
        .draw(sides, &verb.measured.inputs.join(", "))?;
    let how = match verb.inconclusive {
        How::Fail => Inconclusive::Fail,
        How::Warn => Inconclusive::Warn,
    };
    Ok(Exit::of(verdict.exit_code(how)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets() {
        let target: Target = "junit=out/golden.xml".parse().unwrap();
        assert_eq!(
            (target.form, target.path),
            (Form::Junit, "out/golden.xml".into())
        );
        for wrong in ["junit", "junit=", "xml=a"] {
            assert!(wrong.parse::<Target>().is_err(), "{wrong}");
        }
    }
}
