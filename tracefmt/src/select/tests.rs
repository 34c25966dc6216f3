//! Filters over small logs, and context as grep shows it.

use super::*;
use crate::scan::{Sink, scan_slice};

const LOG: &[u8] = b"TIMELINE,10,SYNTH_START,job-a,partition=0\n\
    noise one\n\
    TIMELINE,20,GPU_START,job-a,worker=1,partition=3\n\
    CUZK_TIMING: gpu_tid=0 batch_add_ms=640\n\
    noise two\n\
    noise three\n\
    TIMELINE,900,GPU_END,job-b,worker=0,partition=3,gpu_ms=880\n";

struct Collect<'f> {
    filter: Filter<'f>,
    context: Context<Vec<u8>>,
}

impl Sink for Collect<'_> {
    fn line(&mut self, line: &Line<'_>) {
        let chosen = self.filter.accepts(line);
        self.context.line(line, chosen).unwrap();
    }
}

fn select(filter: Filter<'_>, before: usize, after: usize) -> String {
    let mut sink = Collect {
        filter,
        context: Context::new(Vec::new(), before, after, true),
    };
    scan_slice(LOG, &mut sink);
    String::from_utf8(sink.context.into_inner()).unwrap()
}

fn numbers(filter: Filter<'_>) -> Vec<u64> {
    let text = select(filter, 0, 0);
    text.lines()
        .map(|line| line.split(':').next().unwrap().parse().unwrap())
        .collect()
}

#[test]
fn an_empty_filter_takes_everything() {
    assert_eq!(numbers(Filter::default()).len(), 7);
}

#[test]
fn each_condition_narrows() {
    let kinds = |kinds: &[&str]| Filter {
        kinds: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
        ..Filter::default()
    };
    assert_eq!(numbers(kinds(&["timeline"])), [1, 3, 7]);
    assert_eq!(numbers(kinds(&["GPU_END", "batch_add"])), [4, 7]);
    assert_eq!(numbers(kinds(&["gpu_end"])), [7]);
    let jobs = Filter {
        jobs: vec!["job-a".to_owned()],
        ..Filter::default()
    };
    assert_eq!(numbers(jobs), [1, 3]);
    assert_eq!(
        numbers(Filter {
            partitions: vec![3],
            ..Filter::default()
        }),
        [3, 7]
    );
    assert_eq!(
        numbers(Filter {
            workers: vec![0],
            ..Filter::default()
        }),
        [7]
    );
    assert_eq!(
        numbers(Filter {
            from_ms: Some(20),
            ..Filter::default()
        }),
        [3, 7]
    );
    assert_eq!(
        numbers(Filter {
            to_ms: Some(20),
            ..Filter::default()
        }),
        [1, 3]
    );
    let both = Filter {
        partitions: vec![3],
        workers: vec![1],
        ..Filter::default()
    };
    assert_eq!(numbers(both), [3]);
}

#[test]
fn a_predicate_and_line_numbers_combine() {
    let matches = |needle: &'static str| -> Predicate<'static> {
        Box::new(move |text| text.windows(needle.len()).any(|at| at == needle.as_bytes()))
    };
    let noise = Filter {
        matches: Some(matches("noise")),
        ..Filter::default()
    };
    assert_eq!(numbers(noise), [2, 5, 6]);
    let only = Some([2, 4].into_iter().collect());
    let filter = Filter {
        matches: Some(matches("noise")),
        only,
        ..Filter::default()
    };
    assert_eq!(numbers(filter), [2]);
}

#[test]
fn an_owned_line_passes_for_its_owner_and_not_for_its_kind() {
    let owned = || [4].into_iter().collect();
    let filter = Filter {
        workers: vec![1],
        owned: owned(),
        ..Filter::default()
    };
    assert_eq!(numbers(filter), [3, 4]);
    let kinds = vec!["timeline".to_owned()];
    let filter = Filter {
        workers: vec![1],
        owned: owned(),
        kinds,
        ..Filter::default()
    };
    assert_eq!(numbers(filter), [3]);
}

#[test]
fn a_described_line_says_what_stands_in_it() {
    struct All(Vec<Described>);
    impl Sink for All {
        fn line(&mut self, line: &Line<'_>) {
            self.0.push(Described::of(line));
        }
    }
    let mut all = All(Vec::new());
    scan_slice(LOG, &mut all);
    let end = serde_json::to_value(&all.0[6]).unwrap();
    assert_eq!(end["kind"], "GPU_END");
    assert_eq!((&end["ms"], &end["job"]), (&900.into(), &"job-b".into()));
    assert!(end.get("repaired").is_none());
    let noise = serde_json::to_value(&all.0[1]).unwrap();
    assert_eq!(
        (&noise["class"], &noise["text"]),
        (&"foreign".into(), &"noise one".into())
    );
}

#[test]
fn context_joins_what_touches_and_parts_what_does_not() {
    let filter = || Filter {
        jobs: vec!["job".to_owned()],
        ..Filter::default()
    };
    let text = select(filter(), 1, 0);
    let heads: Vec<&str> = text.lines().map(|line| line.get(..2).unwrap()).collect();
    assert_eq!(heads, ["1:", "2-", "3:", "--", "6-", "7:"]);
    let text = select(filter(), 0, 1);
    let heads: Vec<&str> = text.lines().map(|line| line.get(..2).unwrap()).collect();
    assert_eq!(heads, ["1:", "2-", "3:", "4-", "--", "7:"]);
    let all = select(filter(), usize::MAX, usize::MAX);
    assert_eq!(all.lines().count(), 7, "as much context as there is");
}
