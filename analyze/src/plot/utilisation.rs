//! Utilisation of each GPU over time, three ways: prove calls, lock tenures, kernels. Each
//! column is the mean over a window that is named in the picture.

use super::axis::{TimeAxis, duration};
use super::palette::Role;
use super::scene::{Anchor, Ink, Scene};
use super::waterfall::{empty, steps};
use super::{font, legend, strip};
use crate::lanes::{calls, extent};
use crate::model::{Analysis, GpuTime};
use tracefmt::run::Run;

const PANEL: f64 = 110.0;
/// More panels than this would make the picture taller than a screen.
const PANELS_MAX: usize = 8;

/// Draws one panel a GPU.
pub(super) fn draw(scene: &mut Scene, run: &Run, analysis: &Analysis) {
    let gpus: Vec<&GpuTime> = analysis
        .gpus
        .iter()
        .filter(|g| g.run == run.index)
        .collect();
    let Some(span) = extent(run, analysis).filter(|_| !gpus.is_empty()) else {
        empty(scene, "The log names no GPU that worked.");
        return;
    };
    scene.summary = summary(&gpus);
    let entries = [
        (Role::Call, "prove call open (interval)"),
        (Role::Hold, "lock held (hold)"),
        (Role::Kernel, "kernels (kernel)"),
    ];
    legend::draw(scene, &entries);
    let axis = TimeAxis::new(span, 58.0, scene.width - 14.0);
    scene.height += 2.0;
    for gpu in gpus.iter().take(PANELS_MAX) {
        panel(scene, &axis, run, analysis, gpu);
    }
    axis.labels(scene);
    let ink = Ink::note();
    let window = duration(window_ms(&axis));
    let words = if gpus.len() > PANELS_MAX {
        let all = gpus.len();
        format!("Mean over windows of {window}. The first {PANELS_MAX} of {all} GPUs.")
    } else {
        format!("Mean over windows of {window}.")
    };
    let words = font::fit(&words, ink.size, false, scene.width - 24.0);
    scene.text((12.0, scene.height + 6.0), Anchor::Start, &words, ink);
    scene.height += 18.0;
}

fn summary(gpus: &[&GpuTime]) -> String {
    let parts = gpus.iter().take(PANELS_MAX).map(|gpu| {
        format!(
            "GPU {}: kernels {:.1} %, lock held {:.1} %, prove calls {:.1} % of the span",
            gpu.gpu,
            gpu.utilisation_kernel * 100.0,
            gpu.utilisation_hold * 100.0,
            gpu.utilisation_interval * 100.0
        )
    });
    let parts: Vec<String> = parts.collect();
    format!("{}.", parts.join("; "))
}

/// Columns averaged together: about 140 windows over the picture.
fn window(axis: &TimeAxis) -> usize {
    (strip::columns(axis) / 140).max(3)
}

fn window_ms(axis: &TimeAxis) -> f64 {
    let pixels = window(axis) as f64;
    axis.ms(axis.left + pixels) - axis.ms(axis.left)
}

fn panel(scene: &mut Scene, axis: &TimeAxis, run: &Run, analysis: &Analysis, gpu: &GpuTime) {
    let ink = Ink::name();
    let name = format!("GPU {}", gpu.gpu);
    scene.text((axis.left, scene.height + 9.0), Anchor::Start, &name, ink);
    let room = axis.width() - 18.0 - font::width(&name, ink.size, false);
    let figures = figures(gpu, room);
    let right = (axis.right, scene.height + 9.0);
    scene.text(right, Anchor::End, &figures, Ink::note());
    let top = scene.height + 22.0;
    let bottom = top + PANEL - 34.0;
    scene.rect([axis.left, top, axis.right, bottom], Role::Track, 1.0);
    axis.grid(scene, top, bottom);
    let y = |share: f64| bottom - share.min(1.0) * (bottom - top);
    for (role, spans) in [
        (Role::Call, intervals(run, gpu.gpu, axis.end_ms)),
        (Role::Hold, regions(analysis, gpu, false)),
        (Role::Kernel, regions(analysis, gpu, true)),
    ] {
        let cover = strip::cover(axis, &strip::union(spans));
        let mean = smooth(&cover, window(axis));
        scene.area(steps(axis, &mean, y, bottom), role, 1.0);
    }
    for (share, label) in [(0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %")] {
        let at = (axis.left - 6.0, y(share));
        scene.text(at, Anchor::End, label, Ink::note());
    }
    scene.height = bottom + 14.0;
}

/// The three utilisations, or the kernels' alone where there is no room for three.
fn figures(gpu: &GpuTime, room: f64) -> String {
    let kernel = format!("kernel {:.1} %", gpu.utilisation_kernel * 100.0);
    let all = format!(
        "interval {:.1} % · hold {:.1} % · {kernel}",
        gpu.utilisation_interval * 100.0,
        gpu.utilisation_hold * 100.0,
    );
    let size = Ink::note().size;
    let text = if font::width(&all, size, false) <= room {
        all
    } else {
        kernel
    };
    font::fit(&text, size, false, room)
}

fn intervals(run: &Run, gpu: u32, end_ms: f64) -> Vec<[f64; 2]> {
    let alone = run.config.gpus.len() <= 1;
    let of_worker = |worker: Option<u32>| match gpu_of_worker(run, worker) {
        Some(owner) => owner == gpu,
        None => alone,
    };
    let own = calls(run, end_ms).into_iter();
    let own = own.filter(|(worker, _)| of_worker(*worker));
    let spans = own.flat_map(|(_, spans)| spans);
    spans.map(|span| [span.start_ms, span.end_ms]).collect()
}

/// The GPU of a worker: as configured, or that of its partitions.
fn gpu_of_worker(run: &Run, worker: Option<u32>) -> Option<u32> {
    let known = worker.and_then(|worker| run.config.gpu_of_worker.get(worker as usize));
    let seen = || {
        run.tasks
            .iter()
            .find(|task| task.worker == worker && task.gpu.is_some())
    };
    known.copied().flatten().or_else(|| seen()?.gpu)
}

fn regions(analysis: &Analysis, gpu: &GpuTime, kernels: bool) -> Vec<[f64; 2]> {
    let own = analysis.regions.iter();
    let own = own.filter(|r| r.run == gpu.run && r.gpu == Some(gpu.gpu));
    if kernels {
        return own.flat_map(|r| r.kernels.iter().copied()).collect();
    }
    own.map(|r| [r.start_ms, r.end_ms]).collect()
}

/// Means over blocks of `size` columns.
fn smooth(values: &[f64], size: usize) -> Vec<f64> {
    let mean = |block: &[f64]| block.iter().sum::<f64>() / block.len().max(1) as f64;
    let blocks = values.chunks(size.max(1));
    blocks
        .flat_map(|block| vec![mean(block); block.len()])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smoothing_keeps_the_sum_and_the_length() {
        let values = [1.0, 0.0, 1.0, 1.0, 0.5];
        let smoothed = smooth(&values, 2);
        assert_eq!(smoothed, [0.5, 0.5, 1.0, 1.0, 0.5]);
    }
}
