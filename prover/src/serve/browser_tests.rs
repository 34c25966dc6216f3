//! The live page in a real browser: it shows the jobs that are open, and nothing is wider than the
//! page. Skipped, with a note, where there is no chromium; `CUZK_CHROMIUM` names another one.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use axum::response::Html;
use axum::routing::get;

use super::listen::{self, Limits, Listener};
use super::testing::{Deed, daemon};
use crate::engine::{JobSpec, Priority};

/// The page in frames of several widths, and after some polls what is in them.
const BENCH: &str = r##"<!doctype html><body><script>
const widths = [1200, 700, 390, 320];
const frames = widths.map(width => {
  const frame = document.createElement("iframe");
  Object.assign(frame, { src: "/", width, height: 900 });
  document.body.append(frame);
  return frame;
});
setTimeout(() => {
  const found = frames.map((frame, n) => {
    const page = frame.contentDocument, root = page.documentElement;
    return widths[n] + ": " + (root.scrollWidth > root.clientWidth ? "WIDER " : "fits ")
      + page.querySelectorAll("#jobs tr").length + " jobs, "
      + page.querySelectorAll(".parts span").length + " partitions, "
      + page.querySelectorAll(".parts .gpu").length + " on a device, "
      + page.querySelectorAll("#workers tr").length + " workers";
  });
  const result = document.createElement("pre");
  result.textContent = "[" + found.join("\n") + "]";
  document.body.append(result);
}, 3000);
</script>"##;

fn chromium() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CUZK_CHROMIUM") {
        return Some(PathBuf::from(named));
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .map(|folder| folder.join("chromium"))
        .find(|path| path.is_file())
}

fn browse(browser: &Path, url: &str, more: &[String]) -> String {
    let profile = tempfile::tempdir().expect("a folder");
    let output = Command::new("timeout")
        .args(["60".as_ref(), browser.as_os_str()])
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
        ])
        .args([
            "--disable-background-networking",
            "--virtual-time-budget=6000",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(more)
        .arg(url)
        .output()
        .expect("chromium runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_shows_what_is_open_and_fits_every_width() {
    let Some(browser) = chromium() else {
        println!("skipped: no chromium on the PATH and CUZK_CHROMIUM is not set");
        return;
    };
    let (daemon, engine) = daemon(1000, Duration::from_secs(1));
    for (number, partitions) in [(1, 10), (2, 16), (3, 40)] {
        let spec = JobSpec {
            id: format!("6b0c65c9-{number}-with-a-long-name-of-a-client-that-does-not-break"),
            kind: "porep-c2".to_owned(),
            priority: Priority::default(),
            circuits: vec![Deed::Sleep(9_000); partitions],
        };
        engine.submit(spec).expect("taken");
    }
    let bench = || async { Html(BENCH) };
    let app = daemon
        .router()
        .expect("described")
        .route("/bench", get(bench));
    let any = (Ipv4Addr::LOCALHOST, 0).into();
    let listener = Listener::tcp(any).await.expect("a free port");
    let address = listener.address();
    let limits = Limits {
        drain: Duration::from_millis(100),
        ..Limits::default()
    };
    let served = tokio::spawn(listen::serve(
        listener,
        app,
        None,
        limits,
        std::future::pending(),
    ));

    let url = format!("http://{address}/bench");
    let folder = std::env::var_os("CUZK_SHOTS").map(PathBuf::from);
    let shot = browser.clone();
    let dom =
        tokio::task::spawn_blocking(move || browse(&browser, &url, &["--dump-dom".to_owned()]));
    let dom = dom.await.expect("joined");
    let (_, rest) = dom.split_once("<pre>[").expect("a result");
    let (found, _) = rest.split_once("]</pre>").expect("a whole result");
    for (line, width) in found.lines().zip([1200, 700, 390, 320]) {
        let expected = format!("{width}: fits 3 jobs, 66 partitions, 2 on a device, 2 workers");
        assert_eq!(line, expected);
    }
    assert_eq!(found.lines().count(), 4);

    // For people who want to look at it: CUZK_SHOTS names a folder.
    if let Some(folder) = folder {
        for width in [1200, 390] {
            let file = folder.join(format!("page-{width}.png"));
            let more = vec![
                format!("--screenshot={}", file.display()),
                format!("--window-size={width},900"),
            ];
            let (browser, url) = (shot.clone(), format!("http://{address}/"));
            let taken = tokio::task::spawn_blocking(move || browse(&browser, &url, &more));
            taken.await.expect("joined");
        }
    }
    served.abort();
}
