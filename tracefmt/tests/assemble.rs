//! Small logs, written by hand: one for each thing that is easy to get wrong.

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tracefmt::finding::Confidence;
    use tracefmt::run::{self, JobOutcome, MarkKind, Outcome, Run, RunEnd, Source, TroubleClass};

    fn read(text: &str) -> Vec<Run> {
        let source = Source::Bytes("log".into(), text.into());
        run::read(&[source]).unwrap().0.runs
    }

    fn only(text: &str) -> Run {
        let mut runs = read(text);
        assert_eq!(runs.len(), 1);
        runs.remove(0)
    }

    fn outcomes(run: &Run) -> Vec<Outcome> {
        run.tasks.iter().map(|task| task.outcome).collect()
    }

    #[test]
    fn two_workers_share_a_gpu() {
        let run = only(include_str!("../testdata/assemble/phase8-two-workers.log"));
        assert_eq!(
            (run.dialect.name, run.dialect.confidence),
            ("phase8", Confidence::Certain)
        );
        assert_eq!(run.jobs[0].outcome, JobOutcome::Completed);
        assert_eq!(run.end, RunEnd::Complete);
        let owners: Vec<(u32, MarkKind, Option<u32>)> = run
            .marks
            .iter()
            .map(|m| (m.line().line, m.kind(), m.call()))
            .collect();
        // The second preparation ends while the first GPU run is on; the first line of a call's
        // lock tenure is the other's call's successor.
        let expected = [
            (7, MarkKind::SplitVectors, 0),
            (12, MarkKind::SplitVectors, 1),
            (13, MarkKind::PrepMsm, 0),
            (14, MarkKind::BG2Msm, 0),
            (15, MarkKind::PrepMsm, 1),
            (16, MarkKind::NttMsmH, 0),
            (17, MarkKind::BG2Msm, 1),
            (18, MarkKind::BatchAdd, 0),
            (19, MarkKind::TailMsm, 0),
            (20, MarkKind::Epilogue, 0),
            (22, MarkKind::NttMsmH, 1),
            (23, MarkKind::BatchAdd, 1),
            (24, MarkKind::TailMsm, 1),
            (25, MarkKind::Epilogue, 1),
        ];
        assert_eq!(
            owners,
            expected.map(|(line, kind, call)| (line, kind, Some(call)))
        );
        assert_eq!(run.marks_of(1).count(), 7);
        assert_eq!(
            run.calls.iter().map(|c| c.lock_seq).collect::<Vec<_>>(),
            [Some(0), Some(1)]
        );
    }

    #[test]
    fn a_restart_begins_a_run_on_the_line_it_is_glued_to() {
        let runs = read(include_str!("../testdata/assemble/restart.log"));
        let lines: Vec<_> = runs
            .iter()
            .map(|run| (run.first.line, run.last.line))
            .collect();
        assert_eq!(lines, [(1, 4), (4, 6)]);
        let ends: Vec<_> = runs.iter().map(|run| run.end).collect();
        assert_eq!(ends, [RunEnd::Restarted, RunEnd::Open]);
        assert!(
            runs.iter()
                .all(|run| run.jobs.len() == 1 && run.tasks.len() == 1)
        );
    }

    #[test]
    fn a_fallen_offset_is_a_restart_if_the_log_is_in_order() {
        let runs = read(include_str!(
            "../testdata/assemble/restart-without-log-lines.log"
        ));
        assert_eq!(
            runs.iter().map(|run| run.tasks.len()).collect::<Vec<_>>(),
            [2, 1]
        );
        let run = only(include_str!(
            "../testdata/assemble/grouped-by-partition.log"
        ));
        assert_eq!((run.jobs.len(), run.tasks.len()), (2, 3));
    }

    #[test]
    fn each_partition_ends_in_its_own_way() {
        let run = only(include_str!("../testdata/assemble/failures.log"));
        let expected = [
            Outcome::Failed,
            Outcome::Skipped,
            Outcome::Queued,
            Outcome::Synthesized,
            Outcome::Synthesizing,
            // The same job again, after it failed.
            Outcome::Synthesizing,
        ];
        assert_eq!(outcomes(&run), expected);
        assert_eq!((run.jobs.len(), run.tasks[5].job), (2, 1));
        assert_eq!(run.tasks[4].repeats, 1);
        assert_eq!(run.jobs[0].outcome, JobOutcome::Failed);
        assert!(
            run.jobs[0]
                .error
                .as_ref()
                .is_some_and(|e| e.contains("out of memory"))
        );
        let kinds: Vec<_> = run.troubles.iter().map(|t| (t.kind, t.task)).collect();
        let panic = kinds.iter().find(|(kind, _)| *kind == TroubleClass::Panic);
        assert_eq!(panic, Some(&(TroubleClass::Panic, Some(0))), "{kinds:?}");
        assert!(kinds.contains(&(TroubleClass::Failure, Some(0))));
        assert!(kinds.contains(&(TroubleClass::Consequence, Some(1))));
    }

    #[test]
    fn our_own_lines_need_no_guessing() {
        let run = only(include_str!("../testdata/assemble/own.log"));
        assert_eq!(
            (run.dialect.name, run.dialect.confidence),
            ("own", Confidence::Certain)
        );
        assert_eq!(run.epoch_unix_us, Some(1_771_474_817_307_000));
        assert_eq!(run.jobs[0].submitted.map(|at| at.us), Some(5123));
        assert_eq!(
            run.jobs[0].verified.map(|(good, line)| (good, line.line)),
            Some((true, 8))
        );
        let mark = run.marks.get(0).unwrap();
        assert_eq!(
            (mark.us(), mark.call(), mark.after_us()),
            (2345, Some(0), 12400)
        );
        assert_eq!(run.marks.name(&mark), "ntt");
        assert_eq!(run.config.vram_bytes, Some(1 << 34));
    }

    #[test]
    fn a_log_of_ours_without_its_last_line_is_cut() {
        let start = "TIMELINE,0,TRACE_START,,t_us=0,version=1,run=r,epoch_unix_us=0,build=b,\
                     device=d,vram_total=1,vram_free=1\n";
        let job = "TIMELINE,1,JOB_SUBMIT,j,t_us=1000,kind=porep-c2,partitions=0\n\
                   TIMELINE,2,JOB_END,j,t_us=2000,status=ok\n";
        let end = "TIMELINE,3,TRACE_END,,t_us=3000,TRACE_START=1,JOB_SUBMIT=1,JOB_END=1\n";
        let ends = |text: String| read(&text).iter().map(|run| run.end).collect::<Vec<_>>();
        let whole = format!("{start}{job}{end}");
        assert_eq!(ends(whole.clone()), [RunEnd::Complete]);
        assert_eq!(ends(format!("{start}{job}")), [RunEnd::Cut]);
        let restarted = [RunEnd::Restarted, RunEnd::Complete];
        let other = whole.replace("run=r", "run=s");
        assert_eq!(ends(format!("{start}{job}{other}")), restarted);
    }

    /// Sixty-four calls begin at once and print thousands of lines that any of them could own: what
    /// is followed side by side stays bounded, and nothing is said to be sure.
    #[test]
    fn a_crowd_of_equal_calls_is_ambiguous_and_bounded() {
        let mut lines: Vec<String> = (0..64)
            .map(|w| format!("TIMELINE,30000,GPU_START,j,worker={w},partition={w}"))
            .collect();
        let split = "CUZK_TIMING: split_vectors_ms=1 setup_to_split_ms=1";
        lines.extend((0..64).map(|_| split.to_owned()));
        lines.extend((0..500).map(|n| format!("CUZK_TIMING: prep_msm_ms={}", 10 + n % 3)));
        let run = only(&(lines.join("\n") + "\n"));
        let owned = run.marks.iter().filter(|mark| mark.call().is_some());
        assert_eq!(owned.count(), 128);
        let first = run.marks.get(0).unwrap();
        assert_eq!(first.confidence(), Confidence::Ambiguous);
        assert!(run.marks.candidates(&first).len() > 1);
    }

    /// Lines of every kind, with small numbers so that they meet.
    fn line() -> impl Strategy<Value = String> {
        let place = (0..3_u32, 0..4_u32, 0..100_000_u64);
        (0..14_usize, place, 0..3_000_i64).prop_map(|(shape, (worker, partition, at), ms)| {
            let job = ["a", "b,c", "wdpost-1-[1 2]"][partition as usize % 3];
            match shape {
                0 => format!("TIMELINE,{at},SYNTH_START,{job},partition={partition}"),
                1 => format!("TIMELINE,{at},SYNTH_END,{job},partition={partition},synth_ms={ms}"),
                2 => {
                    format!("TIMELINE,{at},GPU_PICKUP,{job},worker={worker},partition={partition}")
                }
                3 => format!("TIMELINE,{at},GPU_START,{job},worker={worker},partition={partition}"),
                4 => format!(
                    "TIMELINE,{at},GPU_END,{job},worker={worker},partition={partition},gpu_ms={ms}"
                ),
                5 => format!("CUZK_TIMING: split_vectors_ms={ms} setup_to_split_ms={ms}"),
                6 => format!("CUZK_TIMING: prep_msm_ms={ms}"),
                7 => format!("CUZK_TIMING: b_g2_msm_ms={ms} num_circuits=1"),
                8 => format!("CUZK_TIMING: gpu_tid={worker} ntt_msm_h_ms={ms}"),
                9 => format!("CUZK_TIMING: gpu_tid={worker} batch_add_ms={ms}"),
                10 => format!("CUZK_TIMING: gpu_tid={worker} tail_msm_ms={ms} gpu_total_ms={at}"),
                11 => format!("CUZK_TIMING: async_dealloc_ms=-{ms}"),
                12 => format!("CUZK_TIMING: mutex_held_ms={ms} total_start_fn_ms={at}"),
                _ => format!("thread 'x' panicked at src/lib.rs:{ms}:9:"),
            }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Whatever the order of lines: nothing breaks, and every index leads somewhere.
        #[test]
        fn any_lines_make_a_sound_run(lines in prop::collection::vec(line(), 0..120)) {
            for run in read(&(lines.join("\n") + "\n")) {
                prop_assert_eq!(run.mark_starts.len(), run.calls.len() + 1);
                let owned = run.marks.iter().filter(|mark| mark.call().is_some()).count();
                let counted: usize = (0..run.calls.len()).map(|c| run.marks_of(c).count()).sum();
                prop_assert_eq!(owned, counted);
                for mark in &run.marks {
                    let calls = run.marks.candidates(&mark);
                    prop_assert!(calls.iter().all(|call| (*call as usize) < run.calls.len()));
                    prop_assert!(calls.is_sorted() && calls.len() != 1);
                    prop_assert!(mark.after_us() <= mark.before_us());
                }
                for call in &run.calls {
                    prop_assert!((call.task as usize) < run.tasks.len());
                }
            }
        }

        /// Events of one millisecond come in any order; the tasks are the same.
        #[test]
        fn neighbours_of_one_time_swap(swaps in prop::collection::vec(0..10_usize, 0..20)) {
            let mut lines: Vec<String> = (0..10)
                .map(|n| format!("TIMELINE,5000,SYNTH_START,job-{},partition={}", n % 3, n))
                .collect();
            let tasks = |lines: &[String]| {
                let run = only(&(lines.join("\n") + "\n"));
                let mut tasks: Vec<_> = run
                    .tasks
                    .iter()
                    .map(|t| {
                        let id = run.jobs[t.job as usize].id.clone();
                        (id, t.partition, t.outcome, t.repeats)
                    })
                    .collect();
                tasks.sort();
                tasks
            };
            let before = tasks(&lines);
            for swap in swaps {
                lines.swap(swap, (swap + 1) % 10);
            }
            prop_assert_eq!(tasks(&lines), before);
        }
    }

    #[test]
    fn events_without_a_key_that_they_need_are_kept_by_line() {
        let run = only(
            "TIMELINE,0,JOB_SUBMIT,a,kind=porep-c2,partitions=1,t_us=10\n\
             TIMELINE,0,VRAM_ALLOC,a,gpu=0,worker=0,partition=0,t_us=20,id=1,rc=0\n\
             TIMELINE,x,GPU_START,a,worker=0\n\
             TIMELINE,5,GPU_END,a,worker=0,partition=0\n",
        );
        let lines: Vec<_> = run.unread.lines.iter().map(|at| at.line).collect();
        assert_eq!((run.unread.count, lines), (2, vec![2, 4]));
        assert_eq!(run.torn.lost.len(), 1);
    }

    #[test]
    fn a_failure_in_unknown_words_is_told_by_what_follows() {
        let begin = "TIMELINE,5,SYNTH_START,a,partition=0\nTIMELINE,5,SYNTH_START,a,partition=1\n";
        let head = "2026-02-19T04:20:17.000000Z";
        for (level, words, fields) in [
            ("ERROR", "giving up on partition", "job_id=a partition=0"),
            (" WARN", "gave up", "job_id=a partition=0 error=no luck"),
            (" WARN", "gave up", "job_id=a partition=0 err=no luck"),
        ] {
            let line = format!("{head} {level} cuzk_core::engine: {words} {fields}\n");
            let run = only(&format!("{begin}{line}"));
            assert_eq!(
                outcomes(&run),
                [Outcome::Failed, Outcome::Synthesizing],
                "{line}"
            );
            assert_eq!(run.jobs[0].outcome, JobOutcome::Failed, "{line}");
            assert_eq!(run.troubles[0].kind, TroubleClass::Failure);
            let after = "TIMELINE,9,SYNTH_END,a,partition=0,synth_ms=4\n";
            let run = only(&format!("{begin}{line}{after}"));
            assert_eq!(run.jobs[0].outcome, JobOutcome::Open, "{line}");
        }
        let line = format!("{head}  WARN cuzk_core::engine: slow job_id=a partition=0\n");
        assert_eq!(
            only(&format!("{begin}{line}")).jobs[0].outcome,
            JobOutcome::Open
        );
    }
}
