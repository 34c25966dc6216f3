//! Lines that are there twice, as two shippers of one log leave them: the same event of the same
//! partition with the same time. A partition that was really dispatched again has other times.
//!
//! A copy of an event changes nothing. Timing lines and device events carry no such proof each by
//! itself; where every event is there twice and so is, next to it, every line of such a list, the
//! second of each pair is taken out. Copies in another order are told and left.

use super::life::Life;
use crate::run::copies::halve;
use crate::run::{At, Copies, Task};

/// What an event says of a moment that may be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    /// It was not known.
    First,
    /// It is the same moment.
    Copy,
    /// It is another one.
    Other,
}

/// Sets a moment once; says whether it was there already.
pub(super) fn set(slot: &mut Option<At>, at: At) -> Again {
    match slot {
        None => {
            *slot = Some(at);
            Again::First
        }
        Some(known) if known.us == at.us => Again::Copy,
        Some(_) => Again::Other,
    }
}

impl Life {
    /// Judges the copies of the run, and takes out what they doubled.
    pub(super) fn settle_copies(&mut self) {
        if self.copied == 0 || self.run.tasks.iter().any(|task| task.repeats > 0) {
            return;
        }
        let moments = self.run.tasks.iter().flat_map(Task::moments);
        let all = moments.count() as u64 == self.copied;
        self.run.copies = Copies {
            events: self.copied,
            all,
        };
        if all {
            self.run.marks.halve();
            halve(&mut self.run.device_events, |a, b| {
                (a.at.us, a.job, a.place, &a.what) == (b.at.us, b.job, b.place, &b.what)
            });
        }
    }

    /// As [`Life::settle_copies`], of what is only settled at the end.
    pub(super) fn settle_copied_troubles(&mut self) {
        if self.run.copies.all {
            halve(&mut self.run.troubles, |a, b| {
                (a.kind, a.us, a.code, &a.text) == (b.kind, b.us, b.code, &b.text)
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::run::{Copies, Run, Source, read};

    const LOG: &str = "TIMELINE,1,SYNTH_START,j,partition=0\n\
        TIMELINE,9,SYNTH_END,j,partition=0,synth_ms=8\n\
        TIMELINE,10,GPU_PICKUP,j,worker=0,partition=0\n\
        TIMELINE,10,GPU_START,j,worker=0,partition=0\n\
        CUZK_TIMING: gpu_tid=0 ntt_msm_h_ms=5\n\
        CUZK_TIMING: gpu_tid=0 batch_add_ms=3\n\
        CUZK_TIMING: gpu_tid=0 tail_msm_ms=2 gpu_total_ms=10\n\
        TIMELINE,30,GPU_END,j,worker=0,partition=0,gpu_ms=20\n";

    fn runs(log: &str) -> Vec<Run> {
        let source = Source::Bytes("log".to_owned(), log.as_bytes().to_vec());
        read(&[source]).unwrap().0.runs
    }

    fn doubled(log: &str) -> String {
        let twice = log.lines().flat_map(|line| [line, "\n", line, "\n"]);
        twice.collect()
    }

    #[test]
    fn doubled_lines_are_one() {
        let starts = "2026-02-19T04:20:17.000000Z  INFO cuzk_daemon: cuzk-daemon starting x=1\n";
        let log = [starts, LOG].concat();
        let once = &runs(&log)[0];
        let [twice] = &runs(&doubled(&log))[..] else {
            panic!("one run")
        };
        assert_eq!(once.copies, Copies::default());
        assert_eq!(
            twice.copies,
            Copies {
                events: 5,
                all: true
            }
        );
        assert_eq!((twice.calls.len(), twice.tasks[0].repeats), (1, 0));
        let values =
            |run: &Run| -> Vec<_> { run.marks.iter().map(|m| (m.ms(), m.call())).collect() };
        assert_eq!(values(twice), values(once));
    }

    #[test]
    fn some_lines_twice_are_told_and_another_time_is_no_copy() {
        let some = LOG.replacen(
            "TIMELINE,9",
            "TIMELINE,1,SYNTH_START,j,partition=0\nTIMELINE,9",
            1,
        );
        assert_eq!(
            runs(&some)[0].copies,
            Copies {
                events: 1,
                all: false
            }
        );
        assert_eq!(runs(&some)[0].marks.len(), 3);
        let again = LOG.replacen(
            "TIMELINE,9",
            "TIMELINE,2,SYNTH_START,j,partition=0\nTIMELINE,9",
            1,
        );
        assert_eq!(runs(&again)[0].copies, Copies::default());
        assert_eq!(runs(&again)[0].tasks[0].repeats, 1);
    }

    #[test]
    fn a_doubled_trace_of_ours_is_one_run_that_lacks_nothing() {
        let part = "gpu=0,worker=0,partition=0";
        let log = [
            "TIMELINE,0,TRACE_START,,t_us=0,version=1,run=r,build=b,device=d,epoch_unix_us=1,\
             vram_total=1,vram_free=1\n",
            "TIMELINE,0,JOB_SUBMIT,j,t_us=1,kind=mimc,partitions=1\n",
            &format!("TIMELINE,0,GPU_START,j,{part},t_us=5\n"),
            &format!("TIMELINE,0,LOCK_ACQ,j,{part},t_us=6,lock=gpu0\n"),
            &format!("TIMELINE,0,LOCK_REL,j,{part},t_us=7,lock=gpu0\n"),
            &format!("TIMELINE,0,GPU_END,j,{part},t_us=9,gpu_ms=0\n"),
            "TIMELINE,0,PROOF_BAD,j,partition=0,t_us=10\n",
            "TIMELINE,0,JOB_END,j,t_us=11,status=failed\n",
            "TIMELINE,0,TRACE_END,,t_us=12,TRACE_START=1,JOB_SUBMIT=1,GPU_START=1,LOCK_ACQ=1,\
             LOCK_REL=1,GPU_END=1,PROOF_BAD=1,JOB_END=1\n",
        ]
        .concat();
        let found = runs(&doubled(&log));
        let [run] = &found[..] else {
            panic!("one run: {found:?}")
        };
        assert_eq!((run.jobs.len(), run.calls.len()), (1, 1));
        assert_eq!((run.device_events.len(), run.bad_proofs.len()), (2, 1));
        assert_eq!(run.miscount, None);
        assert!(run.copies.all);
        // The same trace again behind its end is another reading of it, and stays one of its own.
        assert_eq!(runs(&[&*log, &*log].concat()).len(), 2);
    }
}
