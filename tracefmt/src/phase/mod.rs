//! The phases that lines of the trace language time, by name; and which durations a line gives.
//!
//! One list for the analyzer's tables, the gate and the plots. Nothing is added up here: phases
//! nest, and who owns a duration is `run`'s to say.

mod durations;

pub use durations::{Spent, each_of, each_signed, on_device, residual_ms, synthesis};

/// A phase of the trace language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KnownPhase(u8);

macro_rules! known_phases {
    ($($constant:ident => $name:literal,)+) => {
        /// Sorted, so that order of number is order of name.
        const NAMES: &[&str] = &[$($name,)+];

        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "only to count")]
        enum Number { $($constant,)+ }

        impl KnownPhase {
            $(
                #[doc = concat!("`", $name, "`")]
                pub const $constant: Self = Self(Number::$constant as u8);
            )+
        }
    };
}

known_phases! {
    ASYNC_DEALLOC => "async_dealloc",
    B_G2_MSM => "b_g2_msm",
    BARRIER_WAIT => "barrier_wait",
    BATCH_ADD => "batch_add",
    COSET_INTT_SYNC => "coset_intt_sync",
    D_B_ALLOC => "d_b_alloc",
    EPILOGUE => "epilogue",
    GPU_MS => "gpu_ms",
    GPU_TOTAL => "gpu_total",
    MSM_DTOR => "msm_dtor",
    MSM_INIT => "msm_init",
    MSM_INVOKE => "msm_invoke",
    MUTEX_HELD => "mutex_held",
    MUTEX_WAIT => "mutex_wait",
    NTT_H_TOTAL => "ntt_h_total",
    NTT_KERNELS => "ntt_kernels",
    NTT_MSM_H => "ntt_msm_h",
    PRE_DESTRUCTOR => "pre_destructor",
    PRE_LOCK_CPU => "pre_lock_cpu",
    PREP_MSM => "prep_msm",
    PRESTAGE => "prestage",
    PRESTAGE_ALLOC => "prestage_alloc",
    PRESTAGE_SYNC => "prestage_sync",
    PRESTAGE_TRIM => "prestage_trim",
    PRESTAGE_UPLOAD => "prestage_upload",
    SETUP_TO_SPLIT => "setup_to_split",
    SPLIT_VECTORS => "split_vectors",
    SYNTH => "synth",
    TAIL_MSM => "tail_msm",
    TOTAL_START_FN => "total_start_fn",
}

impl KnownPhase {
    /// How many there are.
    pub const COUNT: usize = NAMES.len();

    /// All, in order of name.
    #[expect(clippy::cast_possible_truncation, reason = "there are fewer than 256")]
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        (0..NAMES.len()).map(|number| Self(number as u8))
    }

    /// Name in all outputs.
    pub fn name(self) -> &'static str {
        NAMES.get(self.index()).copied().unwrap_or_default()
    }

    /// Number, from 0, in order of name.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The phase of a name.
    pub fn find(name: &str) -> Option<Self> {
        let number = NAMES.binary_search(&name).ok()?;
        u8::try_from(number).ok().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_are_sorted_and_found() {
        assert!(NAMES.is_sorted());
        for phase in KnownPhase::all() {
            assert_eq!(KnownPhase::find(phase.name()), Some(phase));
        }
        assert_eq!(KnownPhase::TAIL_MSM.name(), "tail_msm");
        assert_eq!(KnownPhase::find("merkle"), None);
    }
}
