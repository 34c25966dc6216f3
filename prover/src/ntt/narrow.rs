//! In place of the wide instructions on processors that cannot have them: never made, never used.

use super::roots::Roots;
use blstrs::Scalar;

/// Cannot be made.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wide {}

impl Wide {
    pub(super) const SCALE: u64 = 1;

    pub(super) fn new() -> Option<Self> {
        None
    }

    pub(super) fn forward_quarters(self, _: [&mut [Scalar]; 4], _: [&Scalar; 3]) {
        match self {}
    }

    pub(super) fn backward_quarters(self, _: [&mut [Scalar]; 4], _: [&Scalar; 3]) {
        match self {}
    }

    pub(super) fn forward_halves(self, _: &mut [Scalar], _: &mut [Scalar], _: &Scalar) {
        match self {}
    }

    pub(super) fn backward_halves(self, _: &mut [Scalar], _: &mut [Scalar], _: &Scalar) {
        match self {}
    }

    pub(super) fn forward_blocks(self, _: &mut [Scalar; 64], _: usize, _: &Roots) {
        match self {}
    }

    pub(super) fn backward_blocks(self, _: &mut [Scalar; 64], _: usize, _: &Roots) {
        match self {}
    }

    pub(super) fn scale(self, _: &mut [Scalar], _: &[Scalar; 8], _: &Scalar) {
        match self {}
    }

    pub(super) fn multiply(self, _: &mut [Scalar], _: &[Scalar]) {
        match self {}
    }
}
