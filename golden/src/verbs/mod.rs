//! One function a verb of `cuzk golden`: each takes samples, paths and options, and returns a
//! value. Nothing is printed and no clock is read here.

mod check;
mod decide;
mod record;
mod self_test;

pub use check::{Checked, check};
pub use decide::{Decision, ReviewItem, accept, reject, review, review_one};
pub use record::{Recorded, Recording, record};
pub use self_test::{Power, SelfTest, SelfTestOptions, self_test};

/// Where the tool runs; goldens are changed by people on workstations only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A person's machine: files may be written.
    Workstation,
    /// A CI job: goldens and candidates are never written.
    Ci,
}

impl Place {
    /// Refuses to write under CI.
    pub(crate) fn may_write(self) -> Result<(), crate::GoldenError> {
        match self {
            Self::Workstation => Ok(()),
            Self::Ci => Err(crate::GoldenError::NotUnderCi),
        }
    }
}

#[cfg(test)]
mod tests;
