//! Runs over the simulated logs with known truth, in the folder that `CUZK_INPUTS` names.

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::{Path, PathBuf};

    use serde_json::Value;
    use tracefmt::finding::Confidence;
    use tracefmt::grammar;
    use tracefmt::run::{self, JobOutcome, MarkKind, Outcome, Part, Run, Source};

    /// The folder of inputs, or none with a word about it.
    fn inputs() -> Option<PathBuf> {
        let folder = std::env::var_os("CUZK_INPUTS").map(PathBuf::from);
        if folder.is_none() {
            println!("skipped: CUZK_INPUTS is not set");
        }
        folder
    }

    fn read(path: &Path) -> Part {
        let source = Source::Path(path.to_owned());
        run::read_input(0, &source).unwrap().part
    }

    /// The runs of a log with the truth of each.
    fn logs() -> Vec<(String, Part, Vec<Value>)> {
        let Some(folder) = inputs() else {
            return Vec::new();
        };
        let mut paths: Vec<_> = fs::read_dir(folder.join("runs"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|ext| ext == "log"))
            .collect();
        paths.sort();
        paths
            .iter()
            .map(|path| {
                let truth = fs::read(path.with_extension("truth.json")).unwrap();
                let truth: Value = serde_json::from_slice(&truth).unwrap();
                let runs = truth["runs"].as_array().cloned();
                let name = path.file_stem().unwrap().to_string_lossy().into_owned();
                (name, read(path), runs.unwrap_or_else(|| vec![truth]))
            })
            .collect()
    }

    fn key(job: &str, partition: Option<u64>) -> String {
        format!("{job}/{partition:?}")
    }

    fn task_key(run: &Run, task: u32) -> String {
        let task = &run.tasks[task as usize];
        let job = &run.jobs[task.job as usize];
        key(&job.id, task.partition.map(u64::from))
    }

    #[test]
    fn runs_jobs_and_partitions_are_found() {
        for (name, part, truths) in logs() {
            assert_eq!(part.runs.len(), truths.len(), "{name}");
            for (run, truth) in part.runs.iter().zip(&truths) {
                check_frame(&name, run, truth);
                check_tasks(&name, run, truth);
                check_jobs(&name, run, truth);
            }
        }
    }

    fn check_frame(name: &str, run: &Run, truth: &Value) {
        println!(
            "{name}: {} {:?} {}",
            run.dialect.name, run.dialect.confidence, run.dialect.why
        );
        let dialect = match truth["dialect"].as_str().unwrap() {
            "phase9v1" => "phase9-v1",
            "phase9fine" => "phase9-fine",
            other => other,
        };
        assert_eq!(run.dialect.name, dialect, "{name}");
        if let Some(line) = truth["first_line"].as_u64() {
            assert_eq!(u64::from(run.first.line), line, "{name}");
            assert_eq!(truth["last_line"], run.last.line, "{name}");
        }
        let epoch = truth["epoch"].as_str().unwrap();
        let stamp = format!("{epoch} INFO cuzk: x");
        let stamp = grammar::parse_log(stamp.as_bytes()).and_then(|log| log.stamp);
        let expected = stamp.map(|stamp| stamp.unix_us / 1000);
        // A log without log lines has no wall clock.
        let found = run.epoch_unix_us.map(|us| us / 1000);
        assert!(
            found == expected || found.is_none() && name.contains("grepn"),
            "{name}: {found:?} {expected:?}"
        );
    }

    fn check_tasks(name: &str, run: &Run, truth: &Value) {
        let mut found = BTreeMap::new();
        for index in 0..run.tasks.len() {
            let index = u32::try_from(index).unwrap();
            found.insert(task_key(run, index), index);
        }
        let regions = truth["regions"].as_array().unwrap();
        for region in regions {
            let key = key(
                region["job"].as_str().unwrap(),
                region["partition"].as_u64(),
            );
            let task = &run.tasks[found[&key] as usize];
            let at = |name: &str| region["lines"]["timeline"][name].as_u64();
            let line = |at: Option<run::At>| at.map(|at| u64::from(at.line.line));
            assert_eq!(line(task.synth_start), at("SYNTH_START"), "{name} {key}");
            assert_eq!(line(task.synth_end), at("SYNTH_END"), "{name} {key}");
            assert_eq!(
                line(task.queued),
                at("CHAN_SEND").or(at("GPU_QUEUE")),
                "{name} {key}"
            );
            assert_eq!(line(task.pickup), at("GPU_PICKUP"), "{name} {key}");
            assert_eq!(line(task.gpu_start), at("GPU_START"), "{name} {key}");
            assert_eq!(line(task.gpu_end), at("GPU_END"), "{name} {key}");
            assert_eq!(
                task.worker.map(u64::from),
                region["worker"].as_u64(),
                "{name} {key}"
            );
            assert_eq!(
                task.gpu.map(u64::from),
                region["gpu"].as_u64(),
                "{name} {key}"
            );
            assert_eq!(task.repeats, 0, "{name} {key}");
        }
        let count = |outcome| run.tasks.iter().filter(|t| t.outcome == outcome).count();
        let len = |name: &str| truth[name].as_array().unwrap().len();
        assert_eq!(count(Outcome::Completed), len("completed"), "{name}");
        let failed = count(Outcome::Failed) + count(Outcome::Skipped) + count(Outcome::Discarded);
        assert_eq!(
            failed,
            len("failed") + len("skipped_before_synthesis"),
            "{name}"
        );
    }

    fn check_jobs(name: &str, run: &Run, truth: &Value) {
        for job in truth["jobs"].as_array().unwrap() {
            let id = job["job"].as_str().unwrap();
            let Some(found) = run.jobs.iter().find(|job| job.id == id) else {
                panic!("{name}: no {id}");
            };
            let outcome = match job["status"].as_str() {
                Some("COMPLETED") => JobOutcome::Completed,
                Some("FAILED") => JobOutcome::Failed,
                _ => JobOutcome::Open,
            };
            assert_eq!(found.outcome, outcome, "{name} {id} {}", job["status"]);
            if let Some(at) = found.submitted {
                let submit = job["submit_us"].as_i64().unwrap();
                assert!(
                    (at.us - submit).abs() < 20_000,
                    "{name} {id} {} {submit}",
                    at.us
                );
            }
        }
    }

    /// Lines of one kind in one log, by how their attribution came out.
    #[derive(Clone, Copy, Debug, Default)]
    struct Score {
        lines: u32,
        /// Given to the right call.
        right: u32,
        certain: u32,
        inferred: u32,
        ambiguous: u32,
        wrong: u32,
    }

    impl Score {
        fn add(&mut self, other: Self) {
            self.lines += other.lines;
            self.right += other.right;
            self.certain += other.certain;
            self.inferred += other.inferred;
            self.ambiguous += other.ambiguous;
            self.wrong += other.wrong;
        }

        fn row(&self, name: &str, kind: &str) -> String {
            let share = 100.0 * f64::from(self.right) / f64::from(self.lines);
            let Self {
                lines,
                certain,
                inferred,
                ambiguous,
                wrong,
                ..
            } = self;
            format!(
                "{name:26} {kind:14} {lines:5} {share:6.1} {certain:7} {inferred:8} \
                 {ambiguous:9} {wrong:5}"
            )
        }
    }

    #[test]
    fn timing_lines_are_given_to_their_calls() {
        let mut table = vec![format!(
            "{:26} {:14} {:>5} {:>6} {:>7} {:>8} {:>9} {:>5}",
            "log", "line", "lines", "right%", "certain", "inferred", "ambiguous", "wrong"
        )];
        let mut bad = Vec::new();
        let mut all = Score::default();
        let mut doubtful = 0;
        for (name, part, truths) in logs() {
            let mut scores: BTreeMap<String, Score> = BTreeMap::new();
            for (run, truth) in part.runs.iter().zip(&truths) {
                doubtful += score(run, truth, &mut scores, &mut bad);
            }
            for (kind, score) in scores {
                table.push(score.row(&name, &kind));
                all.add(score);
            }
        }
        table.push(all.row("all", ""));
        println!("{}", table.join("\n"));
        assert!(bad.is_empty(), "{bad:#?}");
        // Two workers whose phases have nearly the same length print in either order: the second
        // line follows from the first, but nothing tells whose the first is.
        println!("order leaves one call once another line is decided that cannot be: {doubtful}");
        assert!(doubtful * 500 <= all.lines, "{doubtful} of {}", all.lines);
        assert!(all.right * 1000 >= all.lines * 998, "{all:?}");
    }

    /// Scores a run; how many lines are ambiguous although order leaves them one call, given the
    /// true owners of all lines before.
    fn score(
        run: &Run,
        truth: &Value,
        scores: &mut BTreeMap<String, Score>,
        bad: &mut Vec<String>,
    ) -> u32 {
        let mut doubtful = 0;
        let by_line = marks_by_line(run);
        for region in truth["regions"].as_array().unwrap() {
            let job = region["job"].as_str().unwrap();
            let region_key = key(job, region["partition"].as_u64());
            for (kind, line) in region["lines"]["timing"].as_object().into_iter().flatten() {
                let line = line.as_u64().unwrap();
                let cut = &truth["cut"];
                if cut["truncated"] == true && cut["last_line"] == line {
                    continue;
                }
                let Some(index) = by_line.get(&(line, kind.as_str())) else {
                    bad.push(format!("no mark for {kind} on line {line}"));
                    continue;
                };
                let mark = run.marks.get(*index).unwrap();
                let owner = |call: u32| task_key(run, run.calls[call as usize].task);
                let right = mark.call().is_some_and(|call| owner(call) == region_key);
                let candidates = run.marks.candidates(&mark);
                let named = candidates.iter().any(|call| owner(*call) == region_key);
                let only = region["order_candidates"][kind].as_u64() == Some(1);
                let score = scores.entry(kind.clone()).or_default();
                score.lines += 1;
                score.right += u32::from(right);
                let sure = mark.confidence();
                match sure {
                    Confidence::Certain if right => score.certain += 1,
                    Confidence::Inferred if right && !only => score.inferred += 1,
                    Confidence::Ambiguous if named => {
                        score.ambiguous += 1;
                        doubtful += u32::from(only);
                    }
                    _ => {
                        score.wrong += 1;
                        let given = mark.call().map(owner);
                        bad.push(format!(
                            "line {line}: {kind} of {region_key}, {sure:?} of {given:?}"
                        ));
                    }
                }
            }
        }
        doubtful
    }

    fn marks_by_line(run: &Run) -> BTreeMap<(u64, &str), usize> {
        let kind = |kind| match kind {
            MarkKind::PrestageSkip | MarkKind::PrestageOk | MarkKind::PrestageFallback => {
                "prestage"
            }
            kind => kind.as_str(),
        };
        let marks = run.marks.iter().enumerate();
        let line = |mark: &run::Mark| u64::from(mark.line().line);
        marks
            .map(|(index, mark)| ((line(&mark), kind(mark.kind())), index))
            .collect()
    }

    /// The lock order is the truth's, call by call.
    #[test]
    fn calls_hold_the_gpu_in_the_true_order() {
        for (name, part, truths) in logs() {
            for (run, truth) in part.runs.iter().zip(&truths) {
                let mut found = BTreeMap::new();
                for call in &run.calls {
                    found.insert(task_key(run, call.task), call.lock_seq);
                }
                let mut order: Vec<(u64, u64, Option<u32>)> = Vec::new();
                for region in truth["regions"].as_array().unwrap() {
                    let key = key(
                        region["job"].as_str().unwrap(),
                        region["partition"].as_u64(),
                    );
                    let place = region["gpu"].as_u64().zip(region["lock_seq"].as_u64());
                    if let Some((gpu, seq)) = place {
                        order.push((gpu, seq, found.get(&key).copied().flatten()));
                    }
                }
                order.sort_unstable();
                let known: Vec<_> = order.iter().filter(|(.., seq)| seq.is_some()).collect();
                for pair in known.windows(2) {
                    let [(gpu, _, first), (next_gpu, _, second)] = pair else {
                        unreachable!()
                    };
                    assert!(gpu != next_gpu || first < second, "{name}: {pair:?}");
                }
                assert!(
                    known.len() + 2 >= order.len(),
                    "{name}: {} {}",
                    known.len(),
                    order.len()
                );
            }
        }
    }

    #[test]
    fn every_excerpt_is_put_together() {
        let Some(folder) = inputs() else { return };
        let mut count = 0;
        for folder in ["logs", "runs"] {
            let folder = inputs().map(|inputs| inputs.join(folder)).unwrap();
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let (trace, scans) = run::read(&[Source::Path(path.clone())]).unwrap();
                assert_eq!(trace.inputs.len(), 1);
                assert_eq!(scans[0].ledger.bytes(), fs::metadata(&path).unwrap().len());
                for run in &trace.runs {
                    assert_eq!(run.mark_starts.len(), run.calls.len() + 1, "{path:?}");
                    assert!(run.first <= run.last, "{path:?}");
                }
                count += 1;
            }
        }
        assert!(count > 40, "{count} files under {}", folder.display());
    }

    #[test]
    fn the_published_pair_gives_the_epoch() {
        let Some(folder) = inputs() else { return };
        let path = folder.join("logs/C02-cuzk-tail3-ansi-stripped.log");
        let part = read(&path);
        // 2026-02-19T04:20:17.307Z
        assert_eq!(
            part.runs[0].epoch_unix_us.map(|us| us / 1000),
            Some(1_771_474_817_307)
        );
        // Host-local stamps give no epoch.
        let path = folder.join("logs/F14-lotus6429-3090-mixed-go-rust.log");
        assert!(
            read(&path)
                .runs
                .iter()
                .all(|run| run.epoch_unix_us.is_none())
        );
    }

    #[test]
    fn a_benchmark_in_a_file_of_its_own_finds_its_run() {
        let Some(folder) = inputs() else { return };
        let sources = ["log", "bench.txt"]
            .map(|end| folder.join(format!("runs/d12-phase9-killed-restart.{end}")))
            .map(Source::Path);
        let (trace, _) = run::read(&sources).unwrap();
        assert_eq!(trace.runs.len(), 2);
        assert!(trace.runs[0].bench.is_none());
        let bench = trace.runs[1].bench.as_ref().unwrap();
        assert_eq!(
            (bench.completed, bench.proofs.len(), bench.line.input()),
            (Some(3), 3, 1)
        );
    }

    #[test]
    fn panics_are_given_to_their_partitions() {
        for (name, part, truths) in logs() {
            for (run, truth) in part.runs.iter().zip(&truths) {
                for panic in truth["panics"].as_array().unwrap() {
                    let line = panic["line"].as_u64().unwrap();
                    let found = run.troubles.iter().find(|t| u64::from(t.line.line) == line);
                    let found = found.unwrap_or_else(|| panic!("{name}: no trouble on {line}"));
                    let expected = key(panic["job"].as_str().unwrap(), panic["partition"].as_u64());
                    assert_eq!(
                        found.task.map(|task| task_key(run, task)),
                        Some(expected),
                        "{name}"
                    );
                    let us = panic["t_us"].as_i64().unwrap();
                    assert!(
                        found.us.is_some_and(|at| (at - us).abs() < 1_500_000),
                        "{name} {line}"
                    );
                }
            }
        }
    }

    /// A phase ends when its line is printed, inside the window that the stamps around give.
    #[test]
    fn lines_were_printed_inside_their_windows() {
        for (name, part, truths) in logs() {
            let (mut lines, mut outside) = (0_u32, 0_u32);
            for (run, truth) in part.runs.iter().zip(&truths) {
                let by_line = marks_by_line(run);
                for region in truth["regions"].as_array().unwrap() {
                    let lines_of = &region["lines"]["timing"];
                    for (kind, line) in lines_of.as_object().into_iter().flatten() {
                        let end = region["phases_us"][kind][1].as_i64();
                        let index = by_line.get(&(line.as_u64().unwrap(), kind.as_str()));
                        let Some((end, index)) = end.zip(index) else {
                            continue;
                        };
                        let mark = run.marks.get(*index).unwrap();
                        let slack = 1_000;
                        let after = mark.after_us() <= end + slack;
                        let before = end <= mark.before_us().saturating_add(slack);
                        lines += 1;
                        outside += u32::from(!(after && before));
                    }
                }
            }
            println!("{name}: {outside} of {lines} outside");
            assert!(outside * 100 <= lines, "{name}: {outside} of {lines}");
        }
    }
}
