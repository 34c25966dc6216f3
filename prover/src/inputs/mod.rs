//! The public inputs of the proofs of a job, as a file beside them: who checks a proof must know
//! what it is a proof of. JSON, `cuzk.inputs/1`; numbers as hexadecimal text, highest digit first.

use std::path::Path;

use blstrs::Scalar;
use ff::PrimeField as _;
use serde::{Deserialize, Serialize};

use crate::ProverError;

/// The name that such a file gives itself.
const SCHEMA: &str = "cuzk.inputs/1";

/// The public inputs of every partition, the constant one not among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicInputs {
    /// One list a partition, in their order.
    pub partitions: Vec<Vec<Scalar>>,
}

/// The file, word for word.
#[derive(Serialize, Deserialize)]
struct Form {
    schema: String,
    partitions: Vec<Vec<String>>,
}

impl PublicInputs {
    /// The text of the file.
    pub fn to_json(&self) -> String {
        let form = Form {
            schema: SCHEMA.to_owned(),
            partitions: self
                .partitions
                .iter()
                .map(|inputs| inputs.iter().map(to_hex).collect())
                .collect(),
        };
        // Lists of texts can always be written.
        serde_json::to_string_pretty(&form).unwrap_or_default() + "\n"
    }

    /// Public inputs from the text of a file.
    ///
    /// # Errors
    /// [`ProverError::InputsFile`] with what was found instead.
    pub fn from_json(text: &str) -> Result<Self, ProverError> {
        let bad = |found: String| ProverError::InputsFile { found };
        let form: Form = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
        if form.schema != SCHEMA {
            return Err(bad(format!("the schema {:?}", form.schema)));
        }
        let numbers = |inputs: &Vec<String>| inputs.iter().map(|hex| from_hex(hex)).collect();
        let partitions = form.partitions.iter().map(numbers);
        Ok(Self {
            partitions: partitions.collect::<Result<_, _>>()?,
        })
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`ProverError::File`], or [`ProverError::Inside`] around what is wrong in it.
    pub fn open(path: &Path) -> Result<Self, ProverError> {
        let text = std::fs::read_to_string(path).map_err(|source| ProverError::File {
            action: "read",
            path: path.to_owned(),
            source,
        })?;
        Self::from_json(&text).map_err(|source| ProverError::inside(path, source))
    }
}

fn to_hex(scalar: &Scalar) -> String {
    let bytes = scalar.to_bytes_be();
    let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
    digits.fold("0x".to_owned(), |text, digits| text + &digits)
}

fn from_hex(hex: &str) -> Result<Scalar, ProverError> {
    let bad = || ProverError::InputsFile {
        found: format!("{hex:?}, which is no number of the field in hexadecimal"),
    };
    let digits = hex.strip_prefix("0x").ok_or_else(bad)?;
    let mut bytes = [0; 32];
    if digits.len() != 2 * bytes.len() {
        return Err(bad());
    }
    for (byte, pair) in bytes.iter_mut().rev().zip(digits.as_bytes().chunks(2)) {
        *byte = std::str::from_utf8(pair)
            .ok()
            .filter(|pair| pair.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|pair| u8::from_str_radix(pair, 16).ok())
            .ok_or_else(bad)?;
    }
    Option::from(Scalar::from_repr(bytes)).ok_or_else(bad)
}

#[cfg(test)]
mod tests {
    use ff::Field as _;

    use super::*;

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let inputs = PublicInputs {
            partitions: vec![
                vec![Scalar::from(0xabcd), -Scalar::ONE],
                vec![],
                vec![Scalar::ZERO],
            ],
        };
        let text = inputs.to_json();
        assert!(text.contains("abcd\""), "{text}");
        assert_eq!(PublicInputs::from_json(&text).expect("its own"), inputs);
    }

    #[test]
    fn what_is_no_such_file_is_refused_with_what_was_found() {
        let modulus = format!("0x{}", "f".repeat(64));
        let of =
            |number: &str| format!(r#"{{"schema":"cuzk.inputs/1","partitions":[["{number}"]]}}"#);
        let cases = [
            ("{}".to_owned(), "missing field"),
            (r#"{"schema":"x","partitions":[]}"#.to_owned(), "\"x\""),
            (of("12"), "\"12\""),
            (of("0x12"), "0x12"),
            (of(&format!("0x{}", "+1".repeat(32))), "+1"),
            (of(&modulus), "ffff"),
        ];
        for (text, found) in cases {
            let error = PublicInputs::from_json(&text).expect_err("no such file");
            assert!(error.to_string().contains(found), "{text}: {error}");
        }
    }
}
