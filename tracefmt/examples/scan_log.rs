//! Counts the lines of a log by class: `scan_log PATH [CLASS]`; with a class, prints its lines.

use std::fs::File;
use std::io::{self, Write};

use tracefmt::scan::{Class, Classes, Line, Sink, scan_reader};

struct Print {
    wants: Classes,
    out: io::BufWriter<io::Stdout>,
    result: io::Result<()>,
}

impl Sink for Print {
    fn wants(&self) -> Classes {
        self.wants
    }

    fn line(&mut self, line: &Line<'_>) {
        if self.result.is_ok() {
            let mark = if line.repaired {
                "repaired"
            } else {
                line.class.as_str()
            };
            self.result = write!(self.out, "{}\t{mark}\t", line.number)
                .and_then(|()| self.out.write_all(line.text))
                .and_then(|()| self.out.write_all(b"\n"));
        }
    }
}

fn main() -> io::Result<()> {
    let mut args = std::env::args().skip(1);
    let path = args
        .next()
        .ok_or_else(|| io::Error::other("expected: scan_log PATH [CLASS]"))?;
    let class = args.next();
    let wants = Class::ALL
        .into_iter()
        .filter(|c| {
            class
                .as_deref()
                .is_some_and(|name| name == "all" || name == c.as_str())
        })
        .fold(Classes::NONE, Classes::with);
    let mut sink = Print {
        wants,
        out: io::BufWriter::new(io::stdout()),
        result: Ok(()),
    };
    let scan = scan_reader(File::open(path)?, &mut sink)?;
    sink.result?;
    for (class, tally) in scan.ledger.classes() {
        writeln!(sink.out, "{class}\t{}\t{}", tally.lines, tally.bytes)?;
    }
    let (repaired, lost) = (&scan.repaired, &scan.lost);
    writeln!(
        sink.out,
        "repaired {} lost {} {:?}",
        repaired.count(),
        lost.count(),
        lost.lines().iter().take(20).collect::<Vec<_>>()
    )?;
    writeln!(
        sink.out,
        "wrappings {:?} cut_end {}",
        scan.wrappings, scan.cut_end
    )?;
    sink.out.flush()
}
