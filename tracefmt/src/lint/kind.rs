//! Every anomaly that a log can have: one list with severity and advice.

use crate::finding::Severity;

macro_rules! anomalies {
    ($($variant:ident => $name:literal, $severity:ident, $meaning:literal, $advice:literal;)+) => {
        /// What can be wrong with the lines of a log.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Anomaly {
            $(#[doc = $meaning] $variant,)+
        }

        impl Anomaly {
            /// Every anomaly, in order of report.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Name in all outputs.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// How bad it is for what is read from the log.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)+ }
            }

            /// What it is, in a sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)+ }
            }

            /// What to do about it.
            pub const fn advice(self) -> &'static str {
                match self { $(Self::$variant => $advice,)+ }
            }
        }
    };
}

anomalies! {
    DamagedArchive => "damaged_archive", Error,
        "The archive that the log was unpacked from is damaged.",
        "lines are missing or wrong: take it again from where it was made";
    LostFragment => "lost_fragment", Error,
        "A piece of a torn line that nothing completes.",
        "its event is missing: give each writer its own file, or write one line per write";
    CutLine => "cut_line", Error,
        "The input begins or ends in the middle of a line.",
        "the process was killed, or the copy broke off: compare with the original's size";
    BadEvent => "bad_event", Error,
        "A TIMELINE line whose fields cannot be read.",
        "expected TIMELINE,<ms>,<EVENT>,<job>,<detail>; it is left out of every figure";
    TimeUnbelievable => "time_unbelievable", Error,
        "A time or a duration that no clock gives.",
        "it is cut to some 18 thousand years: every figure that it enters means nothing";
    MissingEvents => "missing_events", Error,
        "The end of a trace counts other numbers of events than stand between its start and it.",
        "lines were filtered out, lost or doubled: what is read from the rest is incomplete";
    NoTraceStart => "no_trace_start", Warning,
        "A trace of ours that does not begin with `TRACE_START`.",
        "its beginning is missing: take the whole log";
    NoTraceEnd => "no_trace_end", Warning,
        "A trace of ours that does not end with `TRACE_END`.",
        "its writer died, still ran, or the copy ends here: what came after is not known";
    UnknownVersion => "unknown_version", Warning,
        "The trace was written in a version of the format that this build does not know.",
        "read it with the build that wrote it, or a newer one; cuzk --version";
    Overlong => "overlong_line", Warning,
        "A line too long to be kept; its bytes are counted.",
        "is this really a log, or a binary file?";
    DuplicatePartition => "duplicate_partition", Error,
        "The same event of the same partition more than once.",
        "the engine dispatched the partition twice, or a job id was used for two jobs";
    DoubledLines => "doubled_lines", Error,
        "Events of partitions that are in the log again with the same time.",
        "two inputs or two shippers wrote the same lines: read the log of one of them";
    OpenSpan => "open_span", Warning,
        "A partition that was begun and whose end is not in the log.",
        "cuzk diagnose says what became of it";
    UnbalancedLock => "unbalanced_lock", Warning,
        "A lock is given back that nobody took in this log.",
        "the log begins after the lock was taken, or two processes write to it";
    UnownedTiming => "unowned_timing", Warning,
        "A timing line that no prove call can own.",
        "lines are missing before it, or GPU_START lines were filtered out";
    AmbiguousTiming => "ambiguous_timing", Info,
        "A timing line that several prove calls can own.",
        "its figures count for the total, not for a partition";
    UnknownEvent => "unknown_event", Warning,
        "An event that this version does not know.",
        "a newer writer? cuzk --version, and docs/trace-format.md has the list";
    UnknownTiming => "unknown_timing", Warning,
        "A timing line of a shape that this version does not know.",
        "a newer writer? its phases are missing from the tables";
    NegativeTime => "negative_duration", Warning,
        "A duration below zero.",
        "the wall clock was stepped while the engine ran";
    Torn => "torn_line", Info,
        "A line that another writer tore; it was put together again.",
        "nothing to do; one write(2) per line would avoid it";
    TimeStepsBack => "time_steps_back", Info,
        "An event with an earlier time than the line before it.",
        "usual within some milliseconds: the time is taken before the line is written";
    NulBytes => "nul_bytes", Info,
        "NUL bytes inside a line.",
        "the file system was not synced before a crash; what stands around them is read";
    InvalidUtf8 => "invalid_utf8", Info,
        "A line that is not UTF-8.",
        "shown with replacement characters";
    Wrapped => "wrapped", Info,
        "Lines with a prefix of grep, journald or a container log.",
        "stripped; line numbers are those of the file as it is";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_name_of_its_own_and_says_what_to_do() {
        let mut names: Vec<_> = Anomaly::ALL.iter().map(|kind| kind.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Anomaly::ALL.len());
        for kind in Anomaly::ALL {
            assert!(kind.meaning().ends_with('.'), "{}", kind.as_str());
            assert!(!kind.advice().is_empty());
        }
    }
}
