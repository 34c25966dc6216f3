//! Progress on standard error for inputs that take over a second; only on a terminal.

use std::io::{self, IsTerminal, Read};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar over the bytes of all inputs of one command.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar for `bytes` in all; hidden where standard error is no terminal, and for the first
    /// second in any case.
    pub fn new(bytes: u64, verb: &'static str) -> Self {
        let bar = if io::stderr().is_terminal() && bytes > QUIET_BYTES {
            ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr_with_hz(10))
        } else {
            ProgressBar::hidden()
        };
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style);
        }
        bar.set_message(verb);
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Self { bar }
    }

    /// Wraps a reader so that what is read from it moves the bar.
    pub fn wrap<R: Read>(&self, reader: R) -> impl Read + use<R> {
        self.bar.wrap_read(reader)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Inputs below this size are read in well under a second.
const QUIET_BYTES: u64 = 256 << 20;
const TEMPLATE: &str = "{msg} {bytes}/{total_bytes} {bar:30} {bytes_per_sec} {eta}";
