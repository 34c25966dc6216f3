//! Opening what a path names: a file, standard input, plain or compressed.
//!
//! Compression is told by the first bytes, not by the name, so that `-` and renamed files are read
//! too. A compressed file that was cut off gives what is in it: the damage is kept for a report
//! instead of ending the read. Nothing here looks at lines.

use std::fmt;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How an input is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// gzip, also of several members.
    Gzip,
    /// Zstandard, also of several frames.
    Zstd,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "nothing",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        })
    }
}

impl Compression {
    /// What the first four bytes of a file tell.
    pub fn of(first: &[u8]) -> Self {
        match first {
            [0x1f, 0x8b, 8, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            _ => Self::None,
        }
    }

    /// Whether this build has a decoder for it.
    const fn is_readable(self) -> bool {
        match self {
            Self::None => true,
            Self::Gzip => cfg!(feature = "gzip"),
            Self::Zstd => cfg!(feature = "compressed"),
        }
    }
}

/// What is wrong with a compressed input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It breaks off: what was read is right, as far as it goes.
    Cut,
    /// Its data or their checksum are not what was packed: bytes that were read may be wrong.
    Corrupt,
    /// Something else stands behind its end: what was read is right.
    Behind,
}

/// The damage of a compressed input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// How it is compressed.
    pub compression: Compression,
    /// What is wrong.
    pub fault: Fault,
    /// How many bytes were unpacked before it showed.
    pub at: u64,
    /// What the decoder says.
    pub reason: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.fault {
            Fault::Cut => "breaks off",
            Fault::Corrupt => "is damaged",
            Fault::Behind => "is followed by something else",
        };
        let (format, at, reason) = (self.compression, self.at, &self.reason);
        write!(
            f,
            "the {format} archive {what} at byte {at} of what is in it ({reason})"
        )
    }
}

/// An opened input; reads give the decompressed bytes.
pub struct Opened<'a> {
    reader: Reader<'a>,
    compression: Compression,
    /// What the system says of a file's size; 0 if it says nothing.
    size: u64,
    taken: Arc<AtomicU64>,
    given: u64,
    damage: Option<Damage>,
}

impl fmt::Debug for Opened<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened")
            .field("compression", &self.compression)
            .field("given", &self.given)
            .field("damage", &self.damage)
            .finish_non_exhaustive()
    }
}

impl Opened<'static> {
    /// Opens a path; `-` is standard input.
    ///
    /// # Errors
    /// What the system says; or the input is compressed and the build has no decoder.
    pub fn open(path: &Path) -> io::Result<Self> {
        if path.as_os_str() == "-" {
            return Self::new(io::stdin());
        }
        let file = File::open(path)?;
        let size = file.metadata().map_or(0, |meta| meta.len());
        Ok(Self {
            size,
            ..Self::new(file)?
        })
    }
}

impl<'a> Opened<'a> {
    /// Reads from any reader.
    ///
    /// # Errors
    /// As [`Opened::open`].
    pub fn new<R: Read + Send + 'a>(mut source: R) -> io::Result<Self> {
        let mut first = Vec::new();
        source.by_ref().take(4).read_to_end(&mut first)?;
        let compression = Compression::of(&first);
        if !compression.is_readable() {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                format!(
                    "it is compressed with {compression}, which this build does not read: \
                     decompress it, or build with the feature `compressed`"
                ),
            ));
        }
        let taken = Arc::new(AtomicU64::new(0));
        let source = Count {
            source: Cursor::new(first).chain(source),
            taken: Arc::clone(&taken),
        };
        let reader = decoder(compression, source)?;
        Ok(Self {
            reader,
            compression,
            size: 0,
            taken,
            given: 0,
            damage: None,
        })
    }

    /// Says how large the source is on disk, where a wrapper hides the file.
    #[must_use]
    pub const fn with_size(mut self, bytes: u64) -> Self {
        self.size = bytes;
        self
    }

    /// How the input is compressed.
    pub const fn compression(&self) -> Compression {
        self.compression
    }

    /// Size on disk: of a file what the system says, else the bytes read from the source so far.
    pub fn file_bytes(&self) -> u64 {
        self.size.max(self.taken.load(Ordering::Relaxed))
    }

    /// What is wrong with a compressed input, once it was read to its end.
    pub const fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }
}

impl Read for Opened<'_> {
    fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
        if self.damage.is_some() {
            return Ok(0);
        }
        match self.reader.read(block) {
            Ok(n) => {
                self.given += n as u64;
                Ok(n)
            }
            Err(error) if self.survives(&error) => {
                self.damage = Some(self.damage_of(&error));
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }
}

impl Opened<'_> {
    fn damage_of(&self, error: &io::Error) -> Damage {
        let reason = error.to_string();
        // Neither decoder says by a kind that a further part does not begin like one.
        let behind = ["invalid gzip header", "Unknown frame descriptor"];
        let fault = if error.kind() == io::ErrorKind::UnexpectedEof {
            Fault::Cut
        } else if behind.contains(&reason.as_str()) {
            Fault::Behind
        } else {
            Fault::Corrupt
        };
        Damage {
            compression: self.compression,
            fault,
            at: self.given,
            reason,
        }
    }

    /// Whether an error is damage of the compressed data behind data that could be read.
    fn survives(&self, error: &io::Error) -> bool {
        use io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
        self.compression != Compression::None
            && self.given > 0
            && error.raw_os_error().is_none()
            && matches!(
                error.kind(),
                InvalidData | InvalidInput | Other | UnexpectedEof
            )
    }
}

/// Counts what is read from the source.
struct Count<R> {
    source: R,
    taken: Arc<AtomicU64>,
}

impl<R: Read> Read for Count<R> {
    fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read(block)?;
        self.taken.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

type Reader<'a> = Box<dyn Read + Send + 'a>;

/// The caller has turned away what this build cannot read.
#[cfg_attr(
    not(feature = "compressed"),
    expect(clippy::unnecessary_wraps, reason = "the other builds can fail")
)]
fn decoder<'a, R: Read + Send + 'a>(format: Compression, source: R) -> io::Result<Reader<'a>> {
    Ok(match format {
        #[cfg(feature = "gzip")]
        Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(buffered(source))),
        #[cfg(feature = "compressed")]
        Compression::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(buffered(source))?),
        _ => Box::new(source),
    })
}

/// The decoders read small pieces: asks more of the source at once.
#[cfg(feature = "gzip")]
fn buffered<R: Read>(source: R) -> io::BufReader<R> {
    const BLOCK: usize = 64 << 10;
    io::BufReader::with_capacity(BLOCK, source)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &[u8] = b"TIMELINE,7,CHAN_SEND,job-1,partition=0\nCUZK_TIMING: prep_msm_ms=5\n";

    fn read(bytes: Vec<u8>) -> (Vec<u8>, Opened<'static>) {
        let mut input = Opened::new(Cursor::new(bytes)).expect("it opens");
        let mut out = Vec::new();
        input.read_to_end(&mut out).expect("it reads");
        (out, input)
    }

    #[test]
    fn plain_bytes_pass() {
        for bytes in [LOG, b"", b"a", &[0x1f, 0x8b], &[0x1f, 0x8b, 9, 9]] {
            let (out, input) = read(bytes.to_vec());
            assert_eq!(
                (out.as_slice(), input.compression()),
                (bytes, Compression::None)
            );
            assert_eq!(
                (input.file_bytes(), input.damage()),
                (bytes.len() as u64, None)
            );
        }
    }

    #[test]
    fn a_missing_file_is_an_error() {
        let error = Opened::open(Path::new("/no/such/log")).expect_err("an error");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[cfg(not(feature = "compressed"))]
    #[test]
    fn a_build_without_decoders_says_so() {
        let bytes = Cursor::new(vec![0x28, 0xb5, 0x2f, 0xfd]);
        let error = Opened::new(bytes).expect_err("an error");
        assert!(error.to_string().contains("zstd") && error.to_string().contains("feature"));
    }

    #[cfg(feature = "compressed")]
    mod compressed {
        use std::io::Write;

        use super::*;

        fn gzip(bytes: &[u8]) -> Vec<u8> {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            out.write_all(bytes).expect("memory takes it");
            out.finish().expect("memory takes it")
        }

        fn zstd(bytes: &[u8]) -> Vec<u8> {
            zstd::encode_all(bytes, 1).expect("memory takes it")
        }

        #[test]
        fn both_formats_and_several_parts_are_read() {
            for (format, pack) in [
                (Compression::Gzip, gzip as fn(&[u8]) -> Vec<u8>),
                (Compression::Zstd, zstd),
            ] {
                let packed = [pack(LOG), pack(LOG)].concat();
                let size = packed.len() as u64;
                let (out, input) = read(packed);
                assert_eq!(out, [LOG, LOG].concat());
                assert_eq!((input.compression(), input.damage()), (format, None));
                assert_eq!(input.file_bytes(), size);
            }
        }

        #[test]
        fn a_cut_file_gives_what_it_holds() {
            let long = LOG.repeat(20_000);
            for packed in [gzip(&long), zstd(&long)] {
                let (out, input) = read(packed[..packed.len() * 2 / 3].to_vec());
                assert!(!out.is_empty() && long.starts_with(&out));
                let damage = input.damage().expect("it is cut");
                assert_eq!((damage.fault, damage.at), (Fault::Cut, out.len() as u64));
            }
        }

        #[test]
        fn what_is_wrong_with_an_archive_is_told() {
            let long = LOG.repeat(20_000);
            for packed in [gzip(&long), zstd(&long)] {
                let behind = [&packed[..], b"and more text"].concat();
                let (out, input) = read(behind);
                let damage = input.damage().expect("garbage behind it");
                assert_eq!((out.len(), damage.fault), (long.len(), Fault::Behind));
                assert!(damage.to_string().contains(&format!("byte {}", long.len())));
            }
            let packed = gzip(&long);
            let (out, input) = read(packed[..packed.len() - 8].to_vec());
            let fault = input.damage().map(|damage| damage.fault);
            assert_eq!((out.len(), fault), (long.len(), Some(Fault::Cut)));
            let mut flipped = packed.clone();
            let checksum = flipped.len() - 6;
            flipped[checksum] ^= 1;
            let (out, input) = read(flipped);
            let fault = input.damage().map(|damage| damage.fault);
            assert_eq!((out.len(), fault), (long.len(), Some(Fault::Corrupt)));
        }

        #[test]
        fn a_file_that_is_damaged_from_its_beginning_is_an_error() {
            let mut packed = gzip(LOG);
            packed.truncate(12);
            let mut input = Opened::new(Cursor::new(packed)).expect("it opens");
            assert!(input.read_to_end(&mut Vec::new()).is_err());
        }

        #[test]
        fn an_empty_archive_is_empty() {
            assert_eq!(read(gzip(b"")).0, b"");
            assert_eq!(read(zstd(b"")).0, b"");
        }
    }
}
