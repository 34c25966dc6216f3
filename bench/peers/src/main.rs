//! The prover beside bellperson 0.27 and ark-groth16 0.6 on the same circuit, parameters, r and s.
//!
//! `peers time CIRCUIT LOG2 ROUNDS` runs the three in turn and prints medians, the phases of each
//! and the ratios; the three proofs must have the same bytes and verify, or it stops.
//! `peers memory CIRCUIT LOG2 SIDE` makes one proof and prints the memory that it took beyond what
//! was there before, the parameters included: on the heap, counted request by request, and
//! resident, as the system has it. CIRCUIT is `mimc`, `sha256`, `mixed` or
//! `porep-shaped`; of `sha256`, LOG2 is that of the blocks. Parameters are kept in
//! target/parameters; bellperson makes them, or our ceremony if they are large.

mod arkworks;
mod belly;
#[path = "../../../prover/tests/groth16/circuits.rs"]
#[allow(dead_code)]
mod circuits;
mod heap;
mod measure;
mod ours;
mod table;

use bellpepper_core::Circuit;
use blstrs::Scalar;
use ff::Field as _;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;

#[global_allocator]
static HEAP: heap::Counted = heap::Counted;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let usage = "peers time CIRCUIT LOG2 ROUNDS | peers memory CIRCUIT LOG2 ours|bellperson|ark";
    let [verb, circuit, log2, rest] = arguments[..] else {
        eprintln!("usage: {usage}");
        std::process::exit(2);
    };
    if verb == "memory" {
        heap::count();
    }
    let log2: u32 = log2.parse().expect("LOG2 is a number");
    let name = format!("{circuit}-{log2}");
    match circuit {
        "mimc" => run(verb, &name, &circuits::Mimc::rows(log2, 3), rest),
        "sha256" => run(verb, &name, &circuits::Sha::blocks(1 << log2, 3), rest),
        "mixed" => {
            let blocks = (1 << (log2 - 2)) - 1;
            run(verb, &name, &circuits::Mixed { blocks, seed: 3 }, rest);
        }
        "porep-shaped" => {
            let family = prover::circuits::by_name(circuit, log2).expect("a size of this circuit");
            run(verb, &name, &family.example().circuit, rest);
        }
        _ => panic!("{usage}"),
    }
}

fn run<C: Circuit<Scalar> + Clone + Send>(verb: &str, name: &str, circuit: &C, rest: &str) {
    let parameters = belly::parameters(name, circuit);
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let blinding = (Scalar::random(&mut rng), Scalar::random(&mut rng));
    match verb {
        "time" => table::time(
            name,
            circuit,
            &parameters,
            blinding,
            rest.parse().expect("ROUNDS"),
        ),
        "memory" => table::memory(name, circuit, &parameters, blinding, rest),
        _ => panic!("time or memory, not {verb}"),
    }
}
