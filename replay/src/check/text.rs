//! Sizes and lists in words, for titles and explanations.

use super::Scene;
use crate::life::Buffer;

/// Bytes as people read them: MiB from 1 MiB on.
pub(super) fn mib(bytes: u64) -> String {
    const MIB: u64 = 1 << 20;
    if bytes < MIB {
        format!("{bytes} B")
    } else {
        format!("{} MiB", bytes.div_ceil(MIB))
    }
}

/// The sum of sizes as a record says them; the largest number where no number holds it.
pub(super) fn total(bytes: impl IntoIterator<Item = u64>) -> u64 {
    bytes.into_iter().fold(0, u64::saturating_add)
}

/// The largest buffers of a set, largest first: `d_bc of worker 0 (8192 MiB), ...`.
pub(super) fn buffers(scene: &Scene<'_>, set: &[Buffer]) -> String {
    const NAMED_MAX: usize = 5;
    let mut sorted = set.to_vec();
    sorted.sort_by_key(|buffer| (std::cmp::Reverse(buffer.bytes), buffer.made));
    let mut names: Vec<String> = sorted
        .iter()
        .take(NAMED_MAX)
        .map(|buffer| {
            let name = scene.name(buffer);
            format!("{name} of worker {} ({})", buffer.worker, mib(buffer.bytes))
        })
        .collect();
    if sorted.len() > NAMED_MAX {
        let rest = sorted.iter().skip(NAMED_MAX);
        let bytes = total(rest.map(|buffer| buffer.bytes));
        let more = sorted.len() - NAMED_MAX;
        names.push(format!("{more} more ({})", mib(bytes)));
    }
    if names.is_empty() {
        "nothing".to_owned()
    } else {
        names.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up_to_whole_mib() {
        for (bytes, text) in [(0, "0 B"), (1023, "1023 B"), (1 << 20, "1 MiB")] {
            assert_eq!(mib(bytes), text);
        }
        assert_eq!(mib((8 << 30) + 1), "8193 MiB");
    }
}
