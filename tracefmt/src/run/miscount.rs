//! Whether a trace of our own writer holds the events that its last line counts: all that stand in
//! its run, so that a missing beginning is missed too. What that means is judged elsewhere.

use super::LineRef;
use crate::event::EventKind;

/// A `TRACE_END` whose numbers are not those of the events before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miscount {
    /// The `TRACE_END`.
    pub line: LineRef,
    /// Kind, how many were written, how many are here; in order of the kinds.
    pub kinds: Vec<(EventKind, u64, u64)>,
}

impl Miscount {
    /// Kinds of which `TRACE_END` counts other numbers than `here` gives, in order of the kinds,
    /// those of unknown names last: kind, how many were written, how many are here.
    pub(crate) fn differences(
        counts: &[(EventKind, u64)],
        here: impl Fn(EventKind) -> u64,
    ) -> Vec<(EventKind, u64, u64)> {
        let kinds = EventKind::ALL.iter().copied();
        kinds
            .filter(|kind| *kind != EventKind::TraceEnd)
            .chain([EventKind::Other])
            .filter_map(|kind| {
                let said = Self::total(counts.iter().filter(|(of, _)| *of == kind));
                let here = here(kind);
                (said != here).then_some((kind, said, here))
            })
            .collect()
    }

    /// The sum of counts that a line says: it may say anything.
    fn total<'a, I: IntoIterator<Item = &'a (EventKind, u64)>>(counts: I) -> u64 {
        let counts = counts.into_iter().map(|(_, count)| *count);
        counts.fold(0, u64::saturating_add)
    }

    /// Whether every kind is here as many times over, twice or more: the same lines again.
    pub(crate) fn is_multiple(
        counts: &[(EventKind, u64)],
        here: impl Fn(EventKind) -> u64,
    ) -> bool {
        let all = Self::total(counts);
        let kinds = EventKind::ALL
            .iter()
            .filter(|kind| **kind != EventKind::TraceEnd);
        let times = kinds.map(|kind| here(*kind)).sum::<u64>().checked_div(all);
        let scaled = |times: u64| {
            let counts: Vec<_> = counts
                .iter()
                .map(|(kind, count)| (*kind, count.saturating_mul(times)))
                .collect();
            Self::differences(&counts, here).is_empty()
        };
        times.is_some_and(|times| times > 1 && scaled(times))
    }

    /// Whether the counts of a `TRACE_END` speak of these events at all: its `TRACE_START` is here,
    /// or they say that there was one.
    pub(crate) fn applies(counts: &[(EventKind, u64)], starts_here: u64) -> bool {
        let start = |(kind, count): &(EventKind, u64)| *kind == EventKind::TraceStart && *count > 0;
        starts_here > 0 || counts.iter().any(start)
    }

    /// Whether fewer events of one of these kinds are here than were written, or more.
    pub fn touches(&self, kinds: &[EventKind]) -> bool {
        self.kinds.iter().any(|(kind, ..)| kinds.contains(kind))
    }
}

#[cfg(test)]
mod tests {
    use crate::event::EventKind;
    use crate::run::{Source, read};

    #[test]
    fn a_line_that_was_taken_out_is_missed() {
        let head = "TIMELINE,0,TRACE_START,,t_us=0,version=1,run=1,build=b,device=d,epoch_unix_us=1,\
                    vram_total=1,vram_free=1\n";
        let submit = "TIMELINE,0,JOB_SUBMIT,j,t_us=1,kind=mimc,partitions=1\n";
        let end = "TIMELINE,1,TRACE_END,,t_us=2,TRACE_START=1,JOB_SUBMIT=1\n";
        let miscount = |text: String| {
            let source = Source::Bytes("a.log".to_owned(), text.into_bytes());
            let trace = read(&[source]).unwrap().0;
            trace.runs.into_iter().next().unwrap().miscount
        };
        assert_eq!(miscount(format!("{head}{submit}{end}")), None);
        let found = miscount(format!("{head}{end}")).unwrap();
        assert_eq!(found.line.line, 2);
        assert_eq!(found.kinds, [(EventKind::JobSubmit, 1, 0)]);
        assert!(found.touches(&[EventKind::JobEnd, EventKind::JobSubmit]));
        assert!(!found.touches(&[EventKind::JobEnd]));
        // The beginning is missing: what is left is not all that the end counts.
        let tail = miscount(format!("{submit}{end}")).unwrap();
        assert_eq!(tail.kinds, [(EventKind::TraceStart, 1, 0)]);
        let none = "TIMELINE,1,TRACE_END,,t_us=2\n";
        assert_eq!(
            miscount(format!("{submit}{none}")),
            None,
            "it counts nothing"
        );
    }

    #[test]
    fn counts_beyond_what_a_number_holds_are_those_of_another_trace() {
        let head = "TIMELINE,0,TRACE_START,,t_us=0,version=1,run=1,build=b,device=d,epoch_unix_us=1,\
                    vram_total=1,vram_free=1\n";
        let submit = "TIMELINE,0,JOB_SUBMIT,j,t_us=1,kind=mimc,partitions=1\n";
        let end = format!(
            "TIMELINE,1,TRACE_END,,t_us=2,TRACE_START=1,JOB_SUBMIT=1,JOB_END={0},JOB_END={0}\n",
            u64::MAX
        );
        // Doubled lines: whether all of them are doubled is asked.
        let source = Source::Bytes(
            "a.log".to_owned(),
            format!("{head}{head}{submit}{submit}{end}").into_bytes(),
        );
        let trace = read(&[source]).unwrap().0;
        let found = trace.runs.into_iter().next().unwrap().miscount.unwrap();
        assert!(found.kinds.contains(&(EventKind::JobEnd, u64::MAX, 0)));
    }
}
