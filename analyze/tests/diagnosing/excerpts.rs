//! Real excerpts: which root each has, and that each says something sensible.

use analyze::diagnose::Verdict;
use tracefmt::finding::Code;

use super::{diagnosis, inputs, root};

/// File, root and the line that it is first seen on. All others have no root.
const ROOTS: [(&str, Code, u64); 12] = [
    ("F01", Code::VramOom, 1),
    ("F04", Code::VramOom, 8),
    ("F05", Code::VramOom, 9),
    ("F11", Code::VramOom, 1),
    ("F12", Code::VramOom, 7),
    ("F17", Code::VramOom, 14),
    ("O02", Code::CudaStickyError, 2),
    ("O04", Code::RunAborted, 2),
    ("O05", Code::VramOom, 1),
    ("O09", Code::HostUnregisterUnknown, 1),
    ("O14", Code::HostOomKilled, 1),
    ("R02", Code::CudaStickyError, 2),
];

#[test]
fn every_excerpt_has_its_root_or_none() {
    let Some(folder) = inputs() else { return };
    let mut files: Vec<_> = std::fs::read_dir(folder.join("logs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() > 30);
    let mut seen = 0;
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let (said, text) = diagnosis(std::slice::from_ref(&file), None);
        let found = root(&said).map(|root| (root.code, root.evidence[0].line));
        let wanted = ROOTS.iter().find(|(start, ..)| name.starts_with(start));
        // A proof that fails its own check now and then; told by the panic alone.
        if name.starts_with("R04") {
            assert_eq!(found, Some((Code::ProofInvalid, 1)), "{name}\n{text}");
            continue;
        }
        assert_eq!(
            found,
            wanted.map(|(_, code, line)| (*code, *line)),
            "{name}\n{text}"
        );
        seen += usize::from(wanted.is_some());
        let verdict = match wanted {
            Some(_) => (Verdict::Failed, 1),
            None if name.starts_with("X01") => (Verdict::CompleteUnverified, 0),
            None => (Verdict::Silent, 3),
        };
        assert_eq!((said.verdict, said.exit_code()), verdict, "{name}\n{text}");
        assert!(text.lines().count() < 40, "{name}\n{text}");
    }
    assert_eq!(seen, ROOTS.len());
}
