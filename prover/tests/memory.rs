//! What a proof leaves of memory to others, as the system sees it. One test, in a process of its
//! own: whoever else allocates would be counted too.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(clippy::expect_used, reason = "a test ends where something is missing")]

use blstrs::Scalar;
use prover::circuits::by_name;
use prover::groth16::{Shape, prove};
use prover::srs::Ceremony;

const LOG2: u32 = 16;
/// Proofs after the first.
const MANY: usize = 12;

/// A line of the process's status, in bytes.
fn status(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    1024 * kib.and_then(|kib| kib.parse::<u64>().ok()).expect("a size")
}

/// Runs `work` and says how much was resident at most.
fn peak(work: impl FnOnce()) -> u64 {
    std::fs::write("/proc/self/clear_refs", "5").expect("the peak can be reset");
    work();
    status("VmHWM:")
}

#[test]
#[ignore = "minutes without optimisation; .ci/run runs it"]
fn a_proof_takes_five_vectors_and_many_take_no_more() {
    let threads = rayon::ThreadPoolBuilder::new().num_threads(2);
    threads.build_global().expect("threads");
    let family = by_name("mimc", LOG2).expect("known");
    let (shape, _) = Shape::record(family.example().circuit).expect("a shape");
    let srs = Ceremony::insecure(7).parameters(&shape, &mut |_| ());
    let srs = srs.expect("parameters");
    let proof = || {
        let values = shape.witness(family.example().circuit).expect("a witness");
        let blinding = (Scalar::from(3), Scalar::from(5));
        prove(&srs.key(), &shape, &values, blinding, &mut ()).expect("a proof");
    };
    let vector = 32 << LOG2;
    let before = status("VmRSS:");
    let first = peak(proof);
    // bellperson holds five vectors of the domain; a MiB is for stacks and code that is touched.
    let most = before + 5 * vector + (1 << 20);
    assert!(first <= most, "{before} bytes before, {first} at most");
    // The threads of the pool take turns: what each of them keeps is there after a few proofs. A
    // vector that stayed would be there as often.
    let few = peak(|| (0..MANY).for_each(|_| proof()));
    let many = peak(|| (0..MANY).for_each(|_| proof()));
    println!(
        "{before} bytes before, {first} at most, {few} in {MANY} more, {many} in as many more"
    );
    assert!(
        few <= first + 2 * vector,
        "{first} bytes at most, then {few}"
    );
    assert!(many <= few + vector / 2, "{few} bytes at most, then {many}");
}
