//! The steps of a partition on its way, and when each was.

use super::{At, LineRef, Task};

/// A step that the log gives a partition's moment of, in the order of the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Synthesis begins.
    SynthStart,
    /// Synthesis ends.
    SynthEnd,
    /// Handed over to the workers.
    Queued,
    /// A worker takes it.
    Pickup,
    /// Its prove call begins.
    GpuStart,
    /// Its prove call ends.
    GpuEnd,
}

impl Step {
    /// Name in tables: that of the event, and one for `CHAN_SEND` and `GPU_QUEUE`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SynthStart => "SYNTH_START",
            Self::SynthEnd => "SYNTH_END",
            Self::Queued => "QUEUED",
            Self::Pickup => "GPU_PICKUP",
            Self::GpuStart => "GPU_START",
            Self::GpuEnd => "GPU_END",
        }
    }

    /// Whether it is a worker's.
    pub const fn is_workers(self) -> bool {
        matches!(self, Self::Pickup | Self::GpuStart | Self::GpuEnd)
    }
}

impl Task {
    /// The moments that are known, in the order of the way, which need not be that of time.
    #[inline]
    pub fn moments(&self) -> impl DoubleEndedIterator<Item = (Step, At)> + use<> {
        let all = [
            (Step::SynthStart, self.synth_start),
            (Step::SynthEnd, self.synth_end),
            (Step::Queued, self.queued),
            (Step::Pickup, self.pickup),
            (Step::GpuStart, self.gpu_start),
            (Step::GpuEnd, self.gpu_end),
        ];
        all.into_iter()
            .filter_map(|(step, at)| at.map(|at| (step, at)))
    }

    /// The last line that speaks of one of its steps.
    pub fn last_line(&self) -> Option<LineRef> {
        self.moments().map(|(_, at)| at.line).max()
    }
}

#[cfg(test)]
mod tests {
    use super::{At, LineRef, Step, Task};

    #[test]
    fn moments_are_those_that_are_known_in_order_of_the_way() {
        let at = |us, line| {
            Some(At {
                us,
                line: LineRef::new(0, line),
            })
        };
        let task = Task {
            gpu_start: at(7, 1),
            synth_start: at(9, 3),
            queued: at(8, 2),
            ..Task::default()
        };
        let steps: Vec<Step> = task.moments().map(|(step, _)| step).collect();
        assert_eq!(steps, [Step::SynthStart, Step::Queued, Step::GpuStart]);
        assert_eq!(task.last_line(), Some(LineRef::new(0, 3)));
        assert_eq!(Task::default().last_line(), None);
    }
}
