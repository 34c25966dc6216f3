//! Who decides, when, at which commit, and whether it is a person at all.

use std::ffi::OsString;
use std::process::Command;
use std::time::SystemTime;

use clap::Args;
use golden::snapshot::Acceptance;
use golden::verbs::Place;

/// Who accepts, and why.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct Who {
    /// Why; needed where a phase became slower
    #[arg(long, value_name = "TEXT", default_value_t)]
    pub(super) reason: String,
    /// Who accepts; the name that git knows, or the user's
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// At which commit; the one that is checked out
    #[arg(long, value_name = "COMMIT")]
    commit: Option<String>,
}

impl Who {
    /// With what was not said filled in.
    pub(super) fn acceptance(&self) -> Acceptance {
        let user = || variable("USER").or_else(|| variable("LOGNAME"));
        let by = self
            .by
            .clone()
            .or_else(|| git(&["config", "user.name"]))
            .or_else(user);
        Acceptance {
            by: by.unwrap_or_else(|| "unknown".to_owned()),
            at: now(),
            commit: self.commit.clone().or_else(commit).unwrap_or_default(),
            reason: self.reason.clone(),
        }
    }
}

/// Where the program runs: under CI if the variable `CI` says so, as every CI service sets it.
pub(super) fn place() -> Place {
    place_of(std::env::var_os("CI"))
}

fn place_of(ci: Option<OsString>) -> Place {
    match ci {
        Some(value) if !value.is_empty() && value != "false" && value != "0" => Place::Ci,
        _ => Place::Workstation,
    }
}

/// The commit that is measured: as the CI service says, or as git says; none outside of both.
pub(super) fn commit() -> Option<String> {
    variable("GITHUB_SHA")
        .or_else(|| variable("CI_COMMIT_SHA"))
        .or_else(|| git(&["rev-parse", "HEAD"]))
        .map(|commit| commit.chars().take(COMMIT_DIGITS).collect())
}

/// Whether a commit is in the repository of this folder; none where there is no repository.
pub(super) fn known(commit: &str) -> Option<bool> {
    git(&["rev-parse", "--git-dir"])?;
    let object = format!("{commit}^{{commit}}");
    Some(git(&["rev-parse", "--verify", "--quiet", &object]).is_some())
}

/// Digits of a commit that are kept.
const COMMIT_DIGITS: usize = 12;

/// The wall clock, RFC 3339 in UTC with seconds.
#[expect(
    clippy::disallowed_methods,
    reason = "the command line is where time comes from"
)]
pub(super) fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The first line that git prints; none where there is no git or it refuses.
fn git(args: &[&str]) -> Option<String> {
    let said = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(said.stdout).ok()?;
    let line = text.lines().next().unwrap_or_default().trim();
    (said.status.success() && !line.is_empty()).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ci_is_told_by_its_variable() {
        for (value, place) in [
            (None, Place::Workstation),
            (Some(""), Place::Workstation),
            (Some("false"), Place::Workstation),
            (Some("0"), Place::Workstation),
            (Some("true"), Place::Ci),
            (Some("1"), Place::Ci),
            (Some("woodpecker"), Place::Ci),
        ] {
            assert_eq!(place_of(value.map(OsString::from)), place, "{value:?}");
        }
    }

    #[test]
    fn what_is_said_counts_before_what_git_knows() {
        let who = Who {
            reason: "safer".to_owned(),
            by: Some("a".to_owned()),
            commit: Some("1f2e3d".to_owned()),
        };
        let found = who.acceptance();
        assert_eq!((found.by.as_str(), found.commit.as_str()), ("a", "1f2e3d"));
        assert_eq!(found.at.len(), "2026-11-29T12:00:00Z".len());
        assert!(!Who::default().acceptance().by.is_empty());
    }
}
