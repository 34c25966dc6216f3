//! The checks over a machine that is told what to show.

use std::cell::RefCell;
use std::net::TcpListener;
use std::path::Path;

use super::linux::{daemon_of, parse_memory};
use super::*;

#[derive(Default)]
struct Told {
    daemons: RefCell<Vec<Process>>,
    port_taken: RefCell<bool>,
    used_mib: RefCell<Vec<u64>>,
    smi_dead: RefCell<bool>,
    source_ms: RefCell<u64>,
}

impl Machine for Told {
    fn daemons(&self) -> Result<Vec<Process>, String> {
        Ok(self.daemons.borrow().clone())
    }

    fn port_is_free(&self, _port: u16) -> Result<bool, String> {
        Ok(!*self.port_taken.borrow())
    }

    fn gpu_memory(&self) -> Result<Vec<GpuMemory>, String> {
        if *self.smi_dead.borrow() {
            return Err("no answer".to_owned());
        }
        let used = self.used_mib.borrow();
        Ok((0..)
            .zip(used.iter())
            .map(|(gpu, &used_mib)| GpuMemory {
                gpu,
                used_mib,
                total_mib: 16384,
            })
            .collect())
    }

    fn built(&self, _binary: &Path, _sources: &Path) -> Result<Built, String> {
        Ok(Built {
            binary_ms: 1000,
            newest_source: Some(("src/main.rs".into(), *self.source_ms.borrow())),
        })
    }
}

fn state(report: &Report, check: Check) -> State {
    let line = report.lines.iter().find(|line| line.check == check);
    line.expect("a line a check").state
}

#[test]
fn a_quiet_machine_is_ready_only_after_it_was_quiet_long_enough() {
    let machine = Told::default();
    machine.used_mib.replace(vec![1609]);
    let mut checks = Preflight::new(Settings::default());
    assert!(!checks.poll(0, &machine).is_ready());
    assert!(!checks.poll(1999, &machine).is_ready());
    assert!(checks.poll(2000, &machine).is_ready());
}

#[test]
fn a_daemon_that_flickers_starts_the_wait_again() {
    let machine = Told::default();
    let mut checks = Preflight::new(Settings::default());
    checks.poll(0, &machine);
    machine.daemons.replace(vec![Process {
        pid: 7,
        command: "cuzk serve".to_owned(),
    }]);
    let report = checks.poll(1500, &machine);
    let line = report.open().next().expect("the daemon is open");
    assert_eq!((line.check, line.state), (Check::Daemon, State::Waiting));
    assert!(line.says.contains("cuzk serve runs as 7"), "{}", line.says);
    machine.daemons.replace(Vec::new());
    assert_eq!(
        state(&checks.poll(1600, &machine), Check::Daemon),
        State::Waiting
    );
    assert_eq!(
        state(&checks.poll(3599, &machine), Check::Daemon),
        State::Waiting
    );
    assert_eq!(
        state(&checks.poll(3600, &machine), Check::Daemon),
        State::Ready
    );
}

#[test]
fn memory_above_its_baseline_is_never_ready_however_still_it_is() {
    let machine = Told::default();
    machine.used_mib.replace(vec![9801]);
    let mut checks = Preflight::new(Settings {
        gpu_baseline_mib: Some(1609),
        ..Settings::default()
    });
    for now in (0..20_000).step_by(500) {
        let report = checks.poll(now, &machine);
        assert_eq!(state(&report, Check::GpuMemory), State::Waiting, "{now}");
    }
    let report = checks.poll(20_000, &machine);
    let says = &report.open().next().expect("memory is open").says;
    assert!(says.contains("8192 above its baseline of 1609"), "{says}");
}

#[test]
fn a_baseline_without_a_device_is_never_ready() {
    let settings = Settings {
        gpu_baseline_mib: Some(1609),
        ..Settings::default()
    };
    let report = Preflight::new(settings).poll(0, &Told::default());
    assert_eq!(state(&report, Check::GpuMemory), State::Failed);
}

#[test]
fn memory_that_creeps_within_the_slack_of_each_poll_is_not_still() {
    let machine = Told::default();
    let mut checks = Preflight::new(Settings::default());
    let mut ready = 0;
    for step in 0..40_u64 {
        machine.used_mib.replace(vec![10_000 - 5 * step]);
        let report = checks.poll(step * 400, &machine);
        ready += usize::from(state(&report, Check::GpuMemory) == State::Ready);
    }
    assert_eq!(
        ready, 0,
        "5 MiB a poll moves out of a slack of 8 before 2 s have passed"
    );
}

#[test]
fn a_port_that_is_taken_and_a_driver_that_does_not_answer_are_told_apart() {
    let machine = Told::default();
    machine.port_taken.replace(true);
    let report = Preflight::new(Settings::default()).poll(0, &machine);
    assert_eq!(state(&report, Check::Port), State::Waiting);
    assert!(!report.is_hopeless());
    machine.smi_dead.replace(true);
    let report = Preflight::new(Settings::default()).poll(0, &machine);
    assert_eq!(state(&report, Check::GpuMemory), State::Failed);
    assert!(report.is_hopeless());
}

#[test]
fn an_old_binary_fails_at_once_and_says_which_source_is_newer() {
    let machine = Told::default();
    let settings = Settings {
        build: Some(("cuzk".into(), ".".into())),
        ..Settings::default()
    };
    machine.source_ms.replace(4500);
    let report = Preflight::new(settings.clone()).poll(0, &machine);
    assert_eq!(state(&report, Check::Binary), State::Failed);
    let says = &report.open().last().expect("the binary is open").says;
    assert!(says.contains("src/main.rs is 3.5 s newer"), "{says}");
    machine.source_ms.replace(999);
    let report = Preflight::new(settings).poll(0, &machine);
    assert_eq!(state(&report, Check::Binary), State::Ready);
}

#[test]
fn daemons_are_known_by_name_and_verb() {
    let daemon = |line: &[u8]| daemon_of(1, line).map(|process| process.command);
    assert_eq!(
        daemon(b"/opt/cuzk\0serve\0--port\09820\0").as_deref(),
        Some("/opt/cuzk serve --port 9820")
    );
    assert_eq!(daemon(b"./cuzk-daemon\0").as_deref(), Some("./cuzk-daemon"));
    for other in [&b"cuzk\0bench\0"[..], b"vim\0serve\0", b"", b"\0\0"] {
        assert_eq!(daemon(other), None, "{}", String::from_utf8_lossy(other));
    }
}

#[test]
fn the_memory_table_is_read_or_refused_with_the_line() {
    let parsed = parse_memory("0, 1609, 16303\n1, 4, 143771\n").expect("two devices");
    assert_eq!(parsed.len(), 2);
    assert_eq!(
        (parsed[1].gpu, parsed[1].used_mib, parsed[1].total_mib),
        (1, 4, 143_771)
    );
    for torn in ["0, [N/A], 16303", "0, 1", "x"] {
        let error = parse_memory(torn).expect_err("not a row");
        assert!(error.contains(torn), "{error}");
    }
}

#[test]
fn linux_sees_a_listener_and_its_own_sources() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    assert_eq!(Linux.port_is_free(port), Ok(false));
    drop(listener);
    assert_eq!(Linux.port_is_free(port), Ok(true));
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let built = Linux
        .built(&here.join("Cargo.toml"), here)
        .expect("readable");
    assert!(built.newest_source.is_some());
    assert!(Linux.built(&here.join("none"), here).is_err());
}
