//! `cuzk golden plot`: a history as pictures, or a candidate beside its golden.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Goldens;
use super::past::{Columns, USUAL};

/// Draw a history: every phase over commits or dates, with its levels and changes.
///
/// Pictures are one page of all phases, one of the times before and after the last changes, and
/// one a phase. Levels and changes are those of `golden history`. A candidate (`*.golden.new`) is
/// drawn beside its golden instead, run by run, with the verdict; `golden check --svg` does so for
/// runs that nobody records.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cuzk golden plot --html history.html
  cuzk golden plot --svg pictures/ --by commits --phase ntt_msm_h
  cuzk golden plot golden/snapshots/cpu/mimc-1.golden.new --svg pictures/
  cuzk golden plot theirs.csv --column commit=snapshot --column time=date --column phase=workload \\
      --column key=total_cycles --column value=proof_ns:ns --png pictures/

Exits with 4 when the history is empty, or when a candidate has no golden. Needs a build with the
feature plots.")]
pub struct Plot {
    /// The file of the history, or a candidate
    #[arg(value_name = "HISTORY", default_value = USUAL)]
    history: String,
    #[command(flatten)]
    goldens: Goldens,
    #[command(flatten)]
    columns: Columns,
    /// What stands along the axis
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    by: Along,
    /// Draw this phase; may be repeated; all without it
    #[arg(long, value_name = "PHASE")]
    phase: Vec<String>,
    /// Write the pictures as SVG files into this folder
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
    /// Write the pictures as PNG files into this folder
    #[arg(long, value_name = "DIR")]
    png: Option<PathBuf>,
    /// Write one self-contained HTML page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// What stands along the axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Along {
    /// Dates, as far apart as they are
    #[default]
    Dates,
    /// Commits, one beside the other
    Commits,
}

/// Says that this binary cannot.
///
/// # Errors
///
/// Always.
#[cfg(not(feature = "plots"))]
pub(super) fn run(_: &Plot) -> Result<crate::exit::Exit, crate::error::CliError> {
    let how = "this cuzk was built without plots; build with --features gate,plots to draw";
    Err(crate::error::CliError::Usage(how.to_owned()))
}

#[cfg(feature = "plots")]
pub(super) use drawn::run;

#[cfg(feature = "plots")]
mod drawn {
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use analyze::error::AnalyzeError;
    use analyze::plot::trend::{By, History, before_and_after, panels, single};
    use analyze::plot::{Scene, Style, png_of, svg_of};
    use golden::gate::Options;
    use golden::history::{Trend, trends};
    use golden::stats::ChangeOptions;
    use golden::verbs;

    use super::super::drawn::{Pictures, Sides};
    use super::super::told;
    use super::{Along, Plot};
    use crate::error::CliError;
    use crate::exit::Exit;
    use crate::output;

    /// Pixels of a PNG for each pixel of the layout.
    const PNG_SCALE: u32 = 2;

    /// Reads the history, draws it and says what was written.
    ///
    /// # Errors
    ///
    /// A history that cannot be read, a phase that is not in it, a picture that cannot be drawn
    /// or written.
    pub(in super::super) fn run(verb: &Plot) -> Result<Exit, CliError> {
        if verb.svg.is_none() && verb.png.is_none() && verb.html.is_none() {
            let how = "nothing to write: name --html FILE, --svg DIR or --png DIR";
            return Err(CliError::Usage(how.to_owned()));
        }
        let page = [("the page", verb.html.as_deref())];
        let read = std::iter::once(PathBuf::from(&verb.history)).chain(verb.goldens.files());
        output::apart(read, &page)?;
        if verb.history.ends_with(".golden.new") {
            return candidate(verb);
        }
        let points = verb.columns.read(&verb.history)?;
        let mut trends = trends(&points, &ChangeOptions::default());
        chosen(&mut trends, &verb.phase)?;
        if trends.is_empty() {
            output::note(&format!("{}: the history is empty", verb.history));
            return Ok(Exit::NotComparable);
        }
        let history = History {
            points: &points,
            trends: &trends,
            by: match verb.by {
                Along::Dates => By::Dates,
                Along::Commits => By::Commits,
            },
        };
        pictures(verb, &history)?;
        if let Some(path) = &verb.html {
            let page = analyze::report::history_html(&history, &verb.history)
                .map_err(|error| failed(&error))?;
            output::file(path, page.as_bytes())?;
            output::note(&format!("wrote {}", path.display()));
        }
        Ok(Exit::Clean)
    }

    /// A candidate that waits for a decision, beside its golden.
    fn candidate(verb: &Plot) -> Result<Exit, CliError> {
        let path = Path::new(&verb.history);
        let store = verb.goldens.store();
        let item = verbs::review_one(&store, path, &Options::default()).map_err(told)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.trim_end_matches(".golden.new");
        let file = |dir: &PathBuf, ending: &str| dir.join(format!("{name}.{ending}"));
        make_folders(verb)?;
        let pictures = Pictures::at(
            verb.svg.as_ref().map(|dir| file(dir, "svg")),
            verb.png.as_ref().map(|dir| file(dir, "png")),
            verb.html.clone(),
        );
        let sides = Sides {
            golden: item.golden.as_ref(),
            candidate: &item.candidate,
            verdict: &item.verdict,
        };
        pictures.draw(sides, &verb.history)?;
        Ok(if item.golden.is_some() {
            Exit::Clean
        } else {
            output::note("there is no golden of this configuration yet");
            Exit::NotComparable
        })
    }

    fn make_folders(verb: &Plot) -> Result<(), CliError> {
        for dir in [&verb.svg, &verb.png].into_iter().flatten() {
            std::fs::create_dir_all(dir).map_err(|source| CliError::Output {
                path: dir.clone(),
                source,
            })?;
        }
        Ok(())
    }

    fn chosen(trends: &mut Vec<Trend>, wanted: &[String]) -> Result<(), CliError> {
        if wanted.is_empty() {
            return Ok(());
        }
        for phase in wanted {
            if trends.iter().all(|trend| trend.phase != *phase) {
                let known: Vec<&str> = trends.iter().map(|trend| trend.phase.as_str()).collect();
                return Err(CliError::Usage(format!(
                    "no phase {phase} in the history; it has {}",
                    known.join(", ")
                )));
            }
        }
        trends.retain(|trend| wanted.contains(&trend.phase));
        Ok(())
    }

    fn pictures(verb: &Plot, history: &History<'_>) -> Result<(), CliError> {
        make_folders(verb)?;
        let style = Style::default();
        let write = |name: &str, scene: &Scene| -> Result<(), CliError> {
            if let Some(dir) = &verb.svg {
                let text = svg_of(scene, style.theme).map_err(|error| failed(&error))?;
                put(dir, name, "svg", text.as_bytes())?;
            }
            if let Some(dir) = &verb.png {
                let bytes =
                    png_of(scene, style.theme, PNG_SCALE).map_err(|error| failed(&error))?;
                put(dir, name, "png", &bytes)?;
            }
            Ok(())
        };
        if verb.svg.is_none() && verb.png.is_none() {
            return Ok(());
        }
        write("phases", &panels(history, style))?;
        write("before-and-after", &before_and_after(history, style))?;
        let mut names = BTreeSet::new();
        for trend in history.trends {
            let name = unused(&mut names, &format!("phase-{}", slug(&trend.phase)));
            write(&name, &single(history, trend, style))?;
        }
        Ok(())
    }

    fn put(dir: &Path, name: &str, ending: &str, bytes: &[u8]) -> Result<(), CliError> {
        output::file(&dir.join(format!("{name}.{ending}")), bytes)
    }

    fn failed(error: &AnalyzeError) -> CliError {
        CliError::Internal(error.to_string())
    }

    /// A name that no other picture has: two phases may look alike in a file's name.
    fn unused(names: &mut BTreeSet<String>, name: &str) -> String {
        let mut found = name.to_owned();
        let mut more = 2;
        while !names.insert(found.to_lowercase()) {
            found = format!("{name}-{more}");
            more += 1;
        }
        found
    }

    /// A phase's name as part of a file's.
    fn slug(phase: &str) -> String {
        let safe = |c: char| {
            if c.is_ascii_alphanumeric() || c == '_' {
                c
            } else {
                '-'
            }
        };
        phase.chars().map(safe).take(60).collect()
    }
}
