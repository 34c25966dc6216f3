//! Exit codes, the same for all verbs; docs/reference/exit-codes.md is made from this list.

use std::process::ExitCode;

/// How a verb ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Exit {
    /// Nothing wrong.
    Clean = 0,
    /// Findings of severity error, a regression, an invalid proof.
    Findings = 1,
    /// Wrong usage or unreadable input.
    Usage = 2,
    /// The evidence does not decide.
    Inconclusive = 3,
    /// Not comparable, or no baseline.
    NotComparable = 4,
    /// A bug of this program.
    Internal = 70,
}

impl Exit {
    /// Every exit code.
    pub const ALL: [Self; 6] = [
        Self::Clean,
        Self::Findings,
        Self::Usage,
        Self::Inconclusive,
        Self::NotComparable,
        Self::Internal,
    ];

    /// The number that the shell sees.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The exit of a library's code; what it does not know is a bug.
    pub fn of(code: u8) -> Self {
        Self::ALL
            .into_iter()
            .find(|exit| exit.code() == code)
            .unwrap_or(Self::Internal)
    }

    /// What it means, in a sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Clean => "Nothing wrong was found.",
            Self::Findings => {
                "Findings of severity error, a regression beyond its limit, or an invalid proof."
            }
            Self::Usage => "Wrong usage, or an input that cannot be read.",
            Self::Inconclusive => "The evidence does not decide; more runs or a longer log would.",
            Self::NotComparable => "The two sides are not comparable, or there is no baseline.",
            Self::Internal => "A bug of this program; please report it with the message.",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
