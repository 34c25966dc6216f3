//! Runs over the simulated logs with known truth, in the folder that `CUZK_INPUTS` names.

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::{Path, PathBuf};

    use serde_json::Value;
    use tracefmt::grammar;
    use tracefmt::run::{self, JobOutcome, Outcome, Part, Run, Source};

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
}
