//! Output of the benchmark client.

use nom::branch::alt;
use nom::bytes::complete::{tag, take_until, take_while1};
use nom::character::complete::{digit1, space0, space1};
use nom::combinator::{map_opt, recognize};
use nom::sequence::{delimited, preceded, terminated};
use nom::{IResult, Parser};

use super::number;
use crate::record::BenchLine;

/// Reads a line that the benchmark client is known to have written.
pub fn parse_bench(text: &[u8]) -> BenchLine {
    let line = text.trim_ascii();
    if line.starts_with(b"=== ") && line.ends_with(b" ===") {
        return BenchLine::Header;
    }
    let found = alt((
        proof,
        labelled("count:", count).map(BenchLine::Count),
        labelled("concurrency:", count).map(BenchLine::Concurrency),
        labelled("completed:", count).map(BenchLine::Completed),
        labelled("failed:", count).map(BenchLine::Failed),
        labelled("total time:", terminated(real, tag("s"))).map(BenchLine::TotalTime),
        labelled("throughput:", terminated(real, tag(" proofs/min"))).map(BenchLine::Throughput),
    ))
    .parse(line);
    found.map_or(BenchLine::Other, |(_, line)| line)
}

/// `[i/N] STATUS - S.Ss (prove=<n> ms, queue=<n> ms)`, whatever dash the terminal made of it
fn proof(line: &[u8]) -> IResult<&[u8], BenchLine> {
    let place = (
        preceded(tag("["), count),
        delimited(tag("/"), count, tag("]")),
    );
    let status = take_while1(|byte: u8| byte.is_ascii_uppercase());
    let dash = delimited(space1, take_until(" "), space1);
    let times = delimited(
        tag(" (prove="),
        (count, preceded(tag(" ms, queue="), count)),
        tag(" ms)"),
    );
    let line = (
        place,
        preceded(space1, status),
        preceded(dash, terminated(real, tag("s"))),
        times,
    )
        .parse(line)?;
    let (rest, ((index, of), status, wall_s, (prove_ms, queue_ms))) = line;
    let status = String::from_utf8_lossy(status).into_owned();
    Ok((
        rest,
        BenchLine::Proof {
            index,
            of,
            completed: status == "COMPLETED",
            status,
            wall_s,
            prove_ms,
            queue_ms,
        },
    ))
}

fn labelled<'a, T>(
    label: &'static str,
    value: impl Parser<&'a [u8], Output = T, Error = nom::error::Error<&'a [u8]>>,
) -> impl Parser<&'a [u8], Output = T, Error = nom::error::Error<&'a [u8]>> {
    preceded((tag(label), space0), value)
}

fn count(text: &[u8]) -> IResult<&[u8], u64> {
    map_opt(digit1, number::whole).parse(text)
}

fn real(text: &[u8]) -> IResult<&[u8], f64> {
    let digits = recognize((digit1, tag("."), digit1));
    map_opt(alt((digits, digit1)), |digits: &[u8]| {
        std::str::from_utf8(digits).ok()?.parse().ok()
    })
    .parse(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_batch() {
        let table = [
            ("=== Batch Benchmark ===", BenchLine::Header),
            ("proof type:  porep", BenchLine::Other),
            ("count:       8", BenchLine::Count(8)),
            ("concurrency: 3", BenchLine::Concurrency(3)),
            ("total time:  83.0s", BenchLine::TotalTime(83.0)),
            ("completed:   8", BenchLine::Completed(8)),
            ("failed:      0", BenchLine::Failed(0)),
            (
                "wall time:   avg=29.0s min=2.3s max=53.8s",
                BenchLine::Other,
            ),
            (
                "throughput:  5.786 proofs/min (10.4s/proof)",
                BenchLine::Throughput(5.786),
            ),
            ("", BenchLine::Other),
            ("count: many", BenchLine::Other),
        ];
        for (line, expected) in table {
            assert_eq!(parse_bench(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn the_line_of_a_proof_with_any_dash() {
        for dash in ["\u{2014}", "-", "--", "?"] {
            for (status, completed) in [("COMPLETED", true), ("FAILED", false)] {
                let line = format!("  [3/20] {status} {dash} 53.8s (prove=25510 ms, queue=236 ms)");
                let expected = BenchLine::Proof {
                    index: 3,
                    of: 20,
                    completed,
                    status: status.to_owned(),
                    wall_s: 53.8,
                    prove_ms: 25510,
                    queue_ms: 236,
                };
                assert_eq!(parse_bench(line.as_bytes()), expected, "{line}");
            }
        }
        let cut = "  [3/20] COMPLETED - 53.8s (prove=25510 ms";
        assert_eq!(parse_bench(cut.as_bytes()), BenchLine::Other);
    }
}
