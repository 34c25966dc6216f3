//! Why the crate could not do what it was asked. A proof that does not verify is an error here: it
//! is never handed out.

use std::path::{Path, PathBuf};

use crate::srs::Counts;

/// What can go wrong while a proof is made or checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProverError {
    /// A proof was asked for, or checked, with another number of public inputs than the key has.
    #[error("expected {expected} public inputs for this verifying key, found {found}")]
    PublicInputs {
        /// Public inputs of the key, the constant one not counted.
        expected: usize,
        /// Public inputs that were given.
        found: usize,
    },
    /// 192 bytes that are no proof.
    #[error("expected a proof of 192 bytes (A, B, C compressed), found {found}")]
    ProofBytes {
        /// What was there instead.
        found: String,
    },
    /// A domain was asked for that the field has no root of unity for.
    #[error("expected a domain of at most 2^32 points, found 2^{log2}: split the circuit")]
    DomainTooLarge {
        /// Binary logarithm of the size that was asked for.
        log2: u32,
    },
    /// A transform was given another number of values than its domain has points.
    #[error("expected {expected} values for a transform over this domain, found {found}")]
    DomainLength {
        /// Points of the domain.
        expected: usize,
        /// Values that were given.
        found: usize,
    },
    /// The circuit's own code failed.
    #[error("the circuit could not be synthesised")]
    Synthesis(#[from] bellpepper_core::SynthesisError),
    /// A witness or a key that belongs to another circuit.
    #[error("expected {what} with {expected} {of} for this circuit, found {found}")]
    OtherCircuit {
        /// What does not fit.
        what: &'static str,
        /// What was counted.
        of: &'static str,
        /// How many the circuit has.
        expected: usize,
        /// How many were found.
        found: usize,
    },
    /// A constraint names a variable that was never allocated.
    #[error("a constraint names {kind} variable {index}, but the circuit allocated {count}")]
    UnknownVariable {
        /// Input or auxiliary.
        kind: &'static str,
        /// The variable.
        index: usize,
        /// How many of its kind there are.
        count: usize,
    },
    /// More variables, constraints or terms than the matrices can hold.
    #[error(
        "{constraints} constraints over {variables} variables; at most {most} of each are held"
    )]
    TooLarge {
        /// Variables of the kind that has more.
        variables: usize,
        /// Rows of the matrices.
        constraints: usize,
        /// Most of each.
        most: usize,
    },
    /// The witness breaks a constraint: no proof of it would verify.
    #[error("the witness does not satisfy constraint {row} of {rows}, counted from 0")]
    Unsatisfied {
        /// The first such constraint.
        row: usize,
        /// How many there are.
        rows: usize,
    },
    /// A key whose δ is the point at infinity, so that proofs would show the witness.
    #[error("δ of the key is the point at infinity: its proofs would hide nothing")]
    WeakKey,
    /// A parameter file that ends before, or after, its sections do.
    #[error(
        "expected a .params file of {expected} bytes or more (section {section}, whose count is at \
         byte {at}), found {found} bytes: truncated, or not a Groth16 parameter file"
    )]
    ParamsLength {
        /// Where the reading stood.
        section: &'static str,
        /// Byte of the section's count.
        at: usize,
        /// Bytes that the file should have at least.
        expected: usize,
        /// Bytes that it has.
        found: usize,
    },
    /// A parameter file with something behind its last section.
    #[error(
        "expected a .params file of {expected} bytes by the counts of its sections, found {found}: \
         something follows the last section"
    )]
    ParamsTrailing {
        /// Bytes that the sections take.
        expected: usize,
        /// Bytes of the file.
        found: usize,
    },
    /// Section counts that no circuit can have: a foreign file, or swapped sections.
    #[error("expected that {rule}, found {counts}: sections swapped, or a foreign file")]
    ParamsCounts {
        /// What holds for every parameter file.
        rule: &'static str,
        /// What was found.
        counts: Counts,
    },
    /// A point of a parameter file that is none.
    #[error(
        "expected a point of {group} as number {index} of {section} (byte {at}), found {found}"
    )]
    ParamsPoint {
        /// Name of the section.
        section: &'static str,
        /// Which point, from 0.
        index: usize,
        /// Byte of the file.
        at: usize,
        /// `G1` or `G2`.
        group: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// Points of the curve that are no members of the group: proofs made with them are worthless.
    #[error(
        "expected every point of {section} in the subgroup of prime order, found one that is not"
    )]
    ParamsSubgroup {
        /// Name of the section.
        section: &'static str,
    },
    /// Two parts of a parameter file that do not belong to each other.
    #[error("expected {expected}, found that they do not agree: swapped or damaged parameters")]
    ParamsDisagree {
        /// What should hold.
        expected: &'static str,
    },
    /// A parameter file that is not the one its manifest was written for.
    #[error(
        "expected the file that the manifest beside it was written for (BLAKE3 {expected}), found \
         another ({found}): put the two that belong together side by side, or remove the manifest \
         and name circuit and size"
    )]
    ParamsManifest {
        /// Hash in the manifest.
        expected: String,
        /// Hash of the file.
        found: String,
    },
    /// Good parameters of another circuit.
    #[error(
        "expected the parameters of this circuit ({expected}), found those of another ({found})"
    )]
    ParamsCircuit {
        /// Counts of the circuit.
        expected: Counts,
        /// Counts of the file.
        found: Counts,
    },
    /// Secrets that no parameters can be made of; of random ones, one in 2^230.
    #[error(
        "expected gamma and delta that are not zero and tau outside the domain: use another seed"
    )]
    WeakCeremony,
    /// A variable that any value satisfies: parameters for such a circuit would not bind it.
    #[error("expected every auxiliary variable in a constraint, found number {index} in none")]
    Unconstrained {
        /// Which, from 0.
        index: usize,
    },
    /// What should be public inputs and is not.
    #[error("expected public inputs (cuzk.inputs/1, as prove writes them), found {found}")]
    InputsFile {
        /// What was there instead.
        found: String,
    },
    /// A circuit that exists and is not in this build.
    #[error("{circuit} needs the feature `{feature}`, and this binary was built without it")]
    CircuitLeftOut {
        /// Its name.
        circuit: &'static str,
        /// The feature that brings it.
        feature: &'static str,
    },
    /// A job that did not end with verified proofs.
    #[error("expected {partitions} verified proofs, found that {found}")]
    Job {
        /// Partitions of the job.
        partitions: usize,
        /// How it ended.
        found: String,
    },
    /// What Filecoin's crates could not do, in their words.
    #[error("expected Filecoin's crates to seal, prove or check, found: {found}")]
    Filecoin {
        /// Their words.
        found: String,
    },
    /// A circuit that this build does not have.
    #[error("expected a circuit out of {}, found {found:?}", known.join(", "))]
    UnknownCircuit {
        /// The name that was asked for.
        found: String,
        /// The names that there are.
        known: Vec<&'static str>,
    },
    /// A size that a circuit does not come in.
    #[error("expected a domain of 2^{least} to 2^{most} rows for {circuit}, found 2^{found}")]
    CircuitSize {
        /// Name of the circuit.
        circuit: &'static str,
        /// Smallest binary logarithm.
        least: u32,
        /// Largest binary logarithm.
        most: u32,
        /// The one that was asked for.
        found: u32,
    },
    /// A file that cannot be opened, read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// `read` or `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A problem inside a file, with its name.
    #[error("{}: {source}", path.display())]
    Inside {
        /// The file.
        path: PathBuf,
        /// The problem.
        source: Box<Self>,
    },
    /// No device can be used, and why.
    #[error("no CUDA device can be used: {why}")]
    NoDevice {
        /// What is missing or failed.
        why: String,
    },
    /// A call of the CUDA driver failed.
    #[error("{call} failed on the device: {code} ({rc})")]
    DeviceCall {
        /// The call, with its sizes.
        call: String,
        /// The driver's name for the error.
        code: String,
        /// The driver's number for it: 2 is out of memory.
        rc: i32,
    },
    /// Device memory was to be freed that is still looked at.
    #[error("expected no view of {bytes} bytes of device memory to be left, found {views}")]
    DeviceViews {
        /// Size of the allocation.
        bytes: usize,
        /// Views that are left.
        views: usize,
    },
    /// The kernels could not be compiled for this device.
    #[error("the kernels of {what} do not compile for this device: {log}")]
    KernelBuild {
        /// The source file.
        what: &'static str,
        /// What the compiler says.
        log: String,
    },
    /// A domain that the device's transforms do not do.
    #[error(
        "expected a domain of 2^{least} to 2^{most} points on the device, found 2^{log2}: take the \
         CPU's quotient for it"
    )]
    DeviceDomain {
        /// Smallest binary logarithm.
        least: u32,
        /// Largest binary logarithm.
        most: u32,
        /// The one that was asked for.
        log2: u32,
    },
    /// More or fewer elements than a device buffer or a kernel holds.
    #[error("expected {expected} elements for {what} on the device, found {found}")]
    DeviceLength {
        /// The buffer or the argument.
        what: &'static str,
        /// How many it takes.
        expected: usize,
        /// How many were given.
        found: usize,
    },
}

impl ProverError {
    /// Names the file around a problem in it.
    pub(crate) fn inside(path: &Path, source: Self) -> Self {
        Self::Inside {
            path: path.to_owned(),
            source: Box::new(source),
        }
    }
}
