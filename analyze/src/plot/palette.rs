//! Colours by role. The hues are those of Okabe and Ito, which people with the common forms of
//! colour blindness can tell apart, with lightness adjusted to each background.

use crate::lanes::Stage;
use crate::model::IdleCause;

/// Which background to draw for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Theme {
    /// Dark ink on white.
    Light,
    /// Light ink on near-black.
    Dark,
    /// As the viewer prefers; only SVG can do that, PNG draws it light.
    #[default]
    Auto,
}

macro_rules! roles {
    ($($(#[doc = $doc:literal])+ $role:ident, $css:literal, $light:literal, $dark:literal;)+) => {
        /// What a shape stands for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Role {
            $($(#[doc = $doc])+ $role,)+
        }

        impl Role {
            /// Every role.
            pub const ALL: &'static [Self] = &[$(Self::$role,)+];

            /// Name of its CSS variable, without the dashes.
            pub const fn css(self) -> &'static str {
                match self {
                    $(Self::$role => $css,)+
                }
            }

            /// `0xRRGGBB` on a light background, unique to the role.
            pub const fn light(self) -> u32 {
                match self {
                    $(Self::$role => $light,)+
                }
            }

            /// `0xRRGGBB` on a dark background.
            pub const fn dark(self) -> u32 {
                match self {
                    $(Self::$role => $dark,)+
                }
            }
        }
    };
}

roles! {
    /// The background.
    Paper, "paper", 0xFF_FF_FF, 0x14_17_1A;
    /// Text.
    Ink, "ink", 0x1F_24_28, 0xE6_E8_EA;
    /// Text of less weight: ticks, notes.
    Soft, "soft", 0x57_60_6A, 0xA3_AC_B5;
    /// Grid lines and rules.
    Grid, "grid", 0xE3_E6_E9, 0x2C_31_36;
    /// The background of a lane.
    Track, "track", 0xF4_F5_F6, 0x1C_20_24;
    /// Synthesis.
    Synthesis, "synthesis", 0x56_B4_E9, 0x56_B3_E8;
    /// Synthesis of every second job, so that neighbours can be told apart.
    SynthesisAlt, "synthesis-alt", 0x8F_CD_F1, 0x2F_86_BA;
    /// Waiting in the queue.
    Queue, "queue", 0xB5_A4_D6, 0x8F_7D_B8;
    /// A prove call.
    Call, "call", 0xC9_DC_EA, 0x2B_44_57;
    /// The GPU lock is held.
    Hold, "hold", 0x7F_B0_D4, 0x3E_76_9E;
    /// Kernels run.
    Kernel, "kernel", 0x00_72_B2, 0x2E_9B_DB;
    /// Text on a kernel's colour.
    OnKernel, "on-kernel", 0xFE_FE_FE, 0x0B_0D_0F;
    /// Text on the colour of synthesis.
    OnSynthesis, "on-synthesis", 0x0E_22_30, 0x0A_14_1B;
    /// Idle before the first kernel.
    Fill, "fill", 0xCF_D4_D9, 0x4A_51_58;
    /// Idle after the last kernel.
    Drain, "drain", 0xA9_B1_B9, 0x6A_73_7C;
    /// Idle: nothing was synthesized.
    Starved, "starved", 0xE6_9F_00, 0xE6_A1_17;
    /// Idle: queued and not picked up.
    NotPicked, "not-picked", 0xCC_79_A7, 0xD1_83_AF;
    /// Idle: waiting for the lock.
    MutexWait, "mutex-wait", 0xD5_5E_00, 0xE8_71_12;
    /// Idle: CPU work before the lock.
    PreLock, "pre-lock", 0xD9_C9_1A, 0xF0_E4_42;
    /// Idle: waiting for the CPU's MSM preparation.
    Barrier, "barrier", 0x00_9E_73, 0x17_B8_8A;
    /// Idle without a cause that can be shown.
    Unattributed, "unattributed", 0x6B_74_7D, 0x9A_A3_AC;
    /// A failure.
    Bad, "bad", 0xB3_26_1E, 0xFF_6B_61;
}

impl Role {
    /// The colour in a theme as red, green, blue.
    pub const fn rgb(self, theme: Theme) -> (u8, u8, u8) {
        let packed = match theme {
            Theme::Dark => self.dark(),
            Theme::Light | Theme::Auto => self.light(),
        };
        let [_, red, green, blue] = packed.to_be_bytes();
        (red, green, blue)
    }

    /// The role of an idle cause.
    pub const fn of_cause(cause: IdleCause) -> Self {
        match cause {
            IdleCause::Fill => Self::Fill,
            IdleCause::Drain => Self::Drain,
            IdleCause::SynthesisStarved => Self::Starved,
            IdleCause::QueuedNotPicked => Self::NotPicked,
            IdleCause::MutexWait => Self::MutexWait,
            IdleCause::PreLockCpu => Self::PreLock,
            IdleCause::BarrierWait => Self::Barrier,
            IdleCause::FailedHolder => Self::Bad,
            IdleCause::Unattributed => Self::Unattributed,
        }
    }

    /// The role of a stage.
    pub const fn of_stage(stage: Stage) -> Self {
        match stage {
            Stage::Synthesis => Self::Synthesis,
            Stage::Queue => Self::Queue,
            Stage::Call => Self::Call,
            Stage::Hold => Self::Hold,
            Stage::Kernel => Self::Kernel,
            Stage::Idle(cause) => Self::of_cause(cause),
        }
    }
}

/// CSS declarations of all roles for one background.
pub fn css(theme: Theme) -> String {
    let declare = |role: &Role| {
        let (red, green, blue) = role.rgb(theme);
        format!("--{}:#{red:02x}{green:02x}{blue:02x};", role.css())
    };
    Role::ALL.iter().map(declare).collect()
}

/// Plain words for an idle cause, as legends and tables say it.
pub const fn cause_words(cause: IdleCause) -> &'static str {
    match cause {
        IdleCause::Fill => "before the first kernel",
        IdleCause::Drain => "after the last kernel",
        IdleCause::SynthesisStarved => "nothing synthesized yet",
        IdleCause::QueuedNotPicked => "queued, not picked up",
        IdleCause::MutexWait => "waiting for the GPU lock",
        IdleCause::PreLockCpu => "CPU work before the lock",
        IdleCause::BarrierWait => "waiting for MSM preparation",
        IdleCause::FailedHolder => "held by a call that failed",
        IdleCause::Unattributed => "cause not shown by the log",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance of the sRGB colour, by the definition of WCAG 2.
    fn luminance((red, green, blue): (u8, u8, u8)) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.03928 {
                part / 12.92
            } else {
                ((part + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    fn contrast(a: Role, b: Role, theme: Theme) -> f64 {
        let (a, b) = (luminance(a.rgb(theme)), luminance(b.rgb(theme)));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn light_colours_are_unique_since_the_svg_maps_them_back_to_roles() {
        let mut seen: Vec<u32> = Role::ALL.iter().map(|role| role.light()).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), Role::ALL.len());
    }

    #[test]
    fn text_can_be_read_in_both_themes() {
        for theme in [Theme::Light, Theme::Dark] {
            for (text, ground) in [
                (Role::Ink, Role::Paper),
                (Role::Ink, Role::Track),
                (Role::Soft, Role::Paper),
                (Role::Bad, Role::Paper),
                (Role::OnKernel, Role::Kernel),
                (Role::OnSynthesis, Role::Synthesis),
                (Role::OnSynthesis, Role::SynthesisAlt),
            ] {
                let found = contrast(text, ground, theme);
                assert!(
                    found >= 4.5,
                    "{text:?} on {ground:?}, {theme:?}: {found:.2}"
                );
            }
        }
    }

    #[test]
    fn the_stages_stand_out_from_the_background() {
        for theme in [Theme::Light, Theme::Dark] {
            for stage in [
                Role::Kernel,
                Role::MutexWait,
                Role::Barrier,
                Role::Unattributed,
            ] {
                let found = contrast(stage, Role::Paper, theme);
                assert!(found >= 3.0, "{stage:?} in {theme:?}: {found:.2}");
            }
        }
    }
}
