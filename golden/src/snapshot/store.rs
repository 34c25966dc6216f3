//! Where goldens and candidates are: `<root>/<gpu>/<circuit>-<8 hex>.toml`, and the same with
//! `.golden.new` for a candidate. Files are replaced as a whole, never half written.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::Snapshot;
use crate::{GoldenError, Key};

/// Ending of a golden.
const GOLDEN: &str = "toml";

/// Ending of a candidate.
const CANDIDATE: &str = "golden.new";

/// A folder of goldens.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    /// The store under `root`, which need not exist yet.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// Where the golden of a key is.
    #[must_use]
    pub fn golden_path(&self, key: &Key) -> PathBuf {
        let (folder, stem) = key.location();
        self.root.join(folder).join(format!("{stem}.{GOLDEN}"))
    }

    /// Where the candidate of a key is.
    #[must_use]
    pub fn candidate_path(&self, key: &Key) -> PathBuf {
        self.golden_path(key).with_extension(CANDIDATE)
    }

    /// The golden of a key, if there is one.
    ///
    /// # Errors
    /// A file that cannot be read or is no golden.
    pub fn golden(&self, key: &Key) -> Result<Option<Snapshot>, GoldenError> {
        read_if_there(&self.golden_path(key))
    }

    /// All goldens, sorted by path.
    ///
    /// # Errors
    /// A folder or file that cannot be read.
    pub fn goldens(&self) -> Result<Vec<(PathBuf, Snapshot)>, GoldenError> {
        self.all(&format!(".{GOLDEN}"))
    }

    /// All candidates, sorted by path.
    ///
    /// # Errors
    /// A folder or file that cannot be read.
    pub fn candidates(&self) -> Result<Vec<(PathBuf, Snapshot)>, GoldenError> {
        self.all(&format!(".{CANDIDATE}"))
    }

    fn all(&self, ending: &str) -> Result<Vec<(PathBuf, Snapshot)>, GoldenError> {
        let mut found = Vec::new();
        for folder in entries(&self.root)? {
            for path in entries(&folder)? {
                if path.to_string_lossy().ends_with(ending) {
                    found.extend(read_if_there(&path)?.map(|snapshot| (path, snapshot)));
                }
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(found)
    }

    /// The golden that is nearest to a key, to say in what they differ: same GPU folder, most
    /// fields in common.
    ///
    /// # Errors
    /// A folder or file that cannot be read.
    pub fn nearest(&self, key: &Key) -> Result<Option<Snapshot>, GoldenError> {
        let all = self.goldens()?;
        let nearest = all.into_iter().min_by_key(|(_, golden)| {
            let differs = golden.key.differences(key);
            (differs.iter().filter(|d| d.shape).count(), differs.len())
        });
        Ok(nearest.map(|(_, golden)| golden))
    }
}

/// Reads a golden or candidate; `None` if there is no such file.
///
/// # Errors
/// A file that cannot be read or is no golden.
pub fn read_if_there(path: &Path) -> Result<Option<Snapshot>, GoldenError> {
    match fs::read_to_string(path) {
        Ok(text) => Snapshot::from_toml(&text, path).map(Some),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(GoldenError::Io {
            doing: "read",
            path: path.to_owned(),
            source,
        }),
    }
}

/// Writes a golden or candidate beside its place and moves it there.
///
/// # Errors
/// A folder or file that cannot be made.
pub fn write(path: &Path, snapshot: &Snapshot) -> Result<(), GoldenError> {
    let fail = |doing| {
        move |source| GoldenError::Io {
            doing,
            path: path.to_owned(),
            source,
        }
    };
    let text = snapshot.to_toml()?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(fail("make the folder of"))?;
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    let mut file = fs::File::create(&beside).map_err(fail("write"))?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(fail("write"))?;
    fs::rename(&beside, path).map_err(fail("write"))
}

/// Removes a file.
///
/// # Errors
/// What the system says.
pub fn remove(path: &Path) -> Result<(), GoldenError> {
    fs::remove_file(path).map_err(|source| GoldenError::Io {
        doing: "remove",
        path: path.to_owned(),
        source,
    })
}

/// The entries of a folder; none for a file or where there is nothing.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, GoldenError> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let fail = |source| GoldenError::Io {
        doing: "list",
        path: folder.to_owned(),
        source,
    };
    fs::read_dir(folder)
        .map_err(fail)?
        .map(|entry| entry.map(|entry| entry.path()).map_err(fail))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_go_where_the_key_says() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        let key = Key {
            gpu: Some("H200".to_owned()),
            ..Key::default()
        };
        assert_eq!(store.golden(&key).unwrap(), None);
        assert!(store.goldens().unwrap().is_empty() && store.candidates().unwrap().is_empty());
        let golden = Snapshot {
            schema: 1,
            key: key.clone(),
            ..Snapshot::default()
        };
        write(&store.golden_path(&key), &golden).unwrap();
        write(&store.candidate_path(&key), &golden).unwrap();
        assert_eq!(store.golden(&key).unwrap(), Some(golden.clone()));
        assert_eq!(store.goldens().unwrap().len(), 1);
        assert_eq!(store.candidates().unwrap().len(), 1);
        let name = store.candidate_path(&key);
        assert!(
            name.ends_with(format!("h200/unnamed-{}.golden.new", key.digest())),
            "{name:?}"
        );
        let other = Key {
            gpu: Some("A100".to_owned()),
            ..Key::default()
        };
        assert_eq!(store.nearest(&other).unwrap(), Some(golden));
        remove(&name).unwrap();
        assert!(remove(&name).is_err());
    }
}
