//! Device memory in use over time, one panel a card, with the card's capacity as a line and
//! failed allocations as marks. The values come from replay, or from the events of a trace of
//! our own; this only draws them.

use super::axis::TimeAxis;
use super::bytes::{size, ticks};
use super::palette::Role;
use super::scene::{Anchor, Ink, Scene};
use super::waterfall::{empty, steps};
use super::{font, legend, strip};
use crate::lanes::ms;
use tracefmt::event::What;
use tracefmt::run::Run;

const PANEL: f64 = 150.0;

/// Memory of one card over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// Name of the panel, such as `GPU 0`.
    pub name: String,
    /// From when on how many bytes were in use: milliseconds, bytes; in order of time.
    pub levels: Vec<(f64, u64)>,
    /// Bytes that the card has.
    pub capacity: Option<u64>,
    /// When an allocation failed, milliseconds.
    pub failures: Vec<f64>,
}

impl Memory {
    /// What the events of a run say of a card: bytes asked for and not yet given back. `None`
    /// when the run records no allocation there.
    pub fn recorded(run: &Run, gpu: u32) -> Option<Self> {
        let mut out = Self {
            name: format!("GPU {gpu}"),
            capacity: run.config.vram_bytes,
            ..Self::default()
        };
        let mut live: u64 = 0;
        let own = run.device_events.iter();
        for event in own.filter(|event| event.place.gpu.unwrap_or(0) == gpu) {
            let at = ms(event.at.us);
            match &event.what {
                What::VramAlloc(alloc) if alloc.rc != 0 => {
                    out.failures.push(at);
                    continue;
                }
                What::VramAlloc(alloc) => live = live.saturating_add(alloc.bytes),
                What::VramFree { bytes, rc: 0, .. } => live = live.saturating_sub(*bytes),
                _ => continue,
            }
            out.levels.push((at, live));
        }
        (!out.levels.is_empty() || !out.failures.is_empty()).then_some(out)
    }

    fn peak(&self) -> u64 {
        self.levels
            .iter()
            .map(|(_, bytes)| *bytes)
            .max()
            .unwrap_or(0)
    }
}

/// Draws the cards over the stretch of time `span`, in milliseconds.
pub(super) fn draw(scene: &mut Scene, cards: &[Memory], span: (f64, f64)) {
    if cards.is_empty() {
        empty(scene, "No allocation of device memory is known.");
        return;
    }
    let parts = cards
        .iter()
        .map(|card| format!("{} at most {}", card.name, size(card.peak())));
    let parts: Vec<String> = parts.collect();
    scene.summary = format!("Device memory in use: {}.", parts.join(", "));
    let mut entries = vec![(Role::Hold, "device memory in use")];
    if cards.iter().any(|card| card.capacity.is_some()) {
        entries.push((Role::Ink, "capacity"));
    }
    if cards.iter().any(|card| !card.failures.is_empty()) {
        entries.push((Role::Bad, "allocation failed"));
    }
    legend::draw(scene, &entries);
    let axis = TimeAxis::new(span, 72.0, scene.width - 14.0);
    for card in cards {
        panel(scene, &axis, card);
    }
    axis.labels(scene);
}

fn panel(scene: &mut Scene, axis: &TimeAxis, card: &Memory) {
    let ink = Ink::name();
    let middle = scene.height + 9.0;
    let room = axis.width() / 2.0;
    let name = font::fit(&card.name, ink.size, false, room);
    scene.text((axis.left, middle), Anchor::Start, &name, ink);
    let most = match card.capacity {
        Some(capacity) => format!("at most {} of {}", size(card.peak()), size(capacity)),
        None => format!("at most {}", size(card.peak())),
    };
    let most = font::fit(&most, Ink::note().size, false, room - 12.0);
    scene.text((axis.right, middle), Anchor::End, &most, Ink::note());
    let (top, bottom) = (scene.height + 22.0, scene.height + PANEL - 12.0);
    scene.rect([axis.left, top, axis.right, bottom], Role::Track, 1.0);
    axis.grid(scene, top, bottom);
    let most = card.peak().max(card.capacity.unwrap_or(0)) as f64;
    let ticks = ticks(most, 4.0);
    let high = ticks.last().map_or(1.0, |(high, _)| *high);
    let y = |bytes: f64| bottom - bytes / high * (bottom - top);
    let columns = columns(axis, &card.levels);
    scene.area(steps(axis, &columns, y, bottom), Role::Hold, 1.0);
    if let Some(capacity) = card.capacity {
        let y = y(capacity as f64);
        scene.line(vec![(axis.left, y), (axis.right, y)], Role::Ink, 1);
    }
    for ms in &card.failures {
        let x = axis.x(*ms);
        scene.rect([x - 0.75, top, x + 0.75, bottom], Role::Bad, 1.0);
    }
    for (tick, label) in ticks {
        scene.text((axis.left - 6.0, y(tick)), Anchor::End, &label, Ink::note());
    }
    scene.height = bottom + 14.0;
}

/// The most in use in each column.
fn columns(axis: &TimeAxis, levels: &[(f64, u64)]) -> Vec<f64> {
    let mut out = vec![0.0_f64; strip::columns(axis)];
    let ends = levels
        .iter()
        .skip(1)
        .map(|(ms, _)| *ms)
        .chain([f64::INFINITY]);
    for ((from, bytes), to) in levels.iter().zip(ends) {
        strip::raise_between(axis, &mut out, (*from, to), *bytes as f64);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracefmt::event::{Alloc, Place};
    use tracefmt::run::{At, DeviceEvent, LineRef};

    fn alloc(us: i64, bytes: u64, rc: i32) -> DeviceEvent {
        DeviceEvent {
            at: At {
                us,
                line: LineRef::default(),
            },
            job: None,
            place: Place {
                gpu: Some(0),
                ..Place::default()
            },
            what: What::VramAlloc(Alloc {
                id: 1,
                buf: "d_a".into(),
                bytes,
                api: "cudaMalloc".into(),
                stream: None,
                rc,
            }),
        }
    }

    #[test]
    fn recorded_events_sum_up_and_failures_take_no_memory() {
        let run = Run {
            device_events: vec![alloc(1000, 5, 0), alloc(2000, 7, 2), alloc(3000, 9, 0)],
            ..Run::default()
        };
        let card = Memory::recorded(&run, 0).unwrap();
        assert_eq!(card.levels, [(1.0, 5), (3.0, 14)]);
        assert_eq!(card.failures, [2.0]);
        assert_eq!(Memory::recorded(&run, 1), None);
    }

    #[test]
    fn a_column_shows_its_highest_level() {
        let axis = TimeAxis::new((0.0, 10.0), 0.0, 10.0);
        let levels = [(2.0, 3), (2.2, 9), (2.4, 1), (5.0, 0)];
        let columns = columns(&axis, &levels);
        assert_eq!(columns[..6], [0.0, 0.0, 9.0, 1.0, 1.0, 1.0]);
    }
}
