//! What stays on a device from one partition to the next: by which plan, in whose use, and what has
//! to go for others.
//!
//! Partitions of several sizes share a device. Those whose buffers fit beside one another have them
//! there at once; else they take turns, and what stays of sizes that nobody uses is given up, the
//! least recently used first. Decides only: it knows no device, no thread and no time, and `L`
//! stands for an allocation.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::plan::{HEADROOM_BYTES, Plan, PlanError, Room, Sizes};

/// The plans of a device, and what stays on it.
#[derive(Debug)]
pub(super) struct Ground<L> {
    /// What was free when the engine started: plans are made for this, not for what happens to be
    /// free, so that partitions of one size have one plan.
    room: Room,
    /// Bytes that all buffers together may take: the room, or what was truly there when an
    /// allocation failed last.
    usable: u64,
    plans: BTreeMap<Sizes, Arc<Plan>>,
    stays: BTreeMap<Sizes, Stay<L>>,
    /// Counts partitions that began, to tell what was used least recently.
    begun: u64,
}

/// What stays for the partitions of a size.
#[derive(Debug)]
struct Stay<L> {
    plan: Arc<Plan>,
    live: Vec<L>,
    /// Partitions that are on the device, or about to be.
    users: u32,
    /// When the last of them began.
    used: u64,
}

/// A partition may begin.
#[derive(Debug)]
pub(super) struct Begin<L> {
    /// By this plan.
    pub(super) plan: Arc<Plan>,
    /// After these were freed.
    pub(super) gone: Vec<L>,
    /// With what is there; without, it is brought first.
    pub(super) there: Option<Vec<L>>,
}

impl<L: Clone> Ground<L> {
    pub(super) fn new(room: Room) -> Self {
        Self {
            usable: room.bytes.saturating_sub(HEADROOM_BYTES),
            room,
            plans: BTreeMap::new(),
            stays: BTreeMap::new(),
            begun: 0,
        }
    }

    /// The plan for partitions of a size: beside what is in use, if there is one, else in turn with
    /// it. What is not in use can go.
    pub(super) fn plan(&mut self, sizes: &Sizes) -> Result<Arc<Plan>, PlanError> {
        if let Some(plan) = self.plans.get(sizes) {
            return Ok(Arc::clone(plan));
        }
        let beside = Room {
            bytes: self.room.bytes.saturating_sub(self.in_use(sizes)),
            ..self.room
        };
        let plan = Plan::new(sizes, beside).or_else(|_| Plan::new(sizes, self.room))?;
        let plan = Arc::new(plan);
        self.plans.insert(*sizes, Arc::clone(&plan));
        Ok(plan)
    }

    /// A partition wants to begin; none while it has to wait until another has left. What is to be
    /// freed and to be brought is the caller's to do, before the next asks.
    pub(super) fn begin(&mut self, sizes: &Sizes) -> Result<Option<Begin<L>>, PlanError> {
        let plan = self.plan(sizes)?;
        let (mut kept, mut passing) = (plan.resident_bytes(), plan.passing_bytes());
        let mut idle: Vec<(u64, Sizes, u64)> = Vec::new();
        let mut in_use = false;
        for (of, stay) in &self.stays {
            let bytes = stay.plan.resident_bytes();
            let own = of == sizes;
            let stale = own && stay.plan != plan;
            match stay.users {
                0 if stale => idle.push((0, *of, 0)),
                0 if own => {}
                0 => idle.push((stay.used, *of, bytes)),
                _ if stale => return Ok(None),
                _ if own => {}
                _ => {
                    kept += bytes;
                    passing = passing.max(stay.plan.passing_bytes());
                    in_use = true;
                }
            }
        }
        if in_use && kept.saturating_add(passing) > self.usable {
            return Ok(None);
        }
        idle.sort_unstable();
        let mut all = kept + idle.iter().map(|(_, _, bytes)| bytes).sum::<u64>();
        let mut gone = Vec::new();
        for (_, of, bytes) in idle {
            if of == *sizes || all.saturating_add(passing) > self.usable {
                all -= bytes;
                gone.extend(self.stays.remove(&of).map(|stay| stay.live));
            }
        }
        self.begun += 1;
        let there = self.stays.get_mut(sizes).map(|stay| {
            stay.users += 1;
            stay.used = self.begun;
            stay.live.clone()
        });
        Ok(Some(Begin {
            plan,
            gone: gone.into_iter().flatten().collect(),
            there,
        }))
    }

    /// What stays was brought, by a partition that is on the device with it.
    pub(super) fn brought(&mut self, plan: &Arc<Plan>, live: Vec<L>) {
        let stay = Stay {
            plan: Arc::clone(plan),
            live,
            users: 1,
            used: self.begun,
        };
        self.stays.insert(*plan.sizes(), stay);
    }

    /// A partition has left the device.
    pub(super) fn leave(&mut self, sizes: &Sizes) {
        if let Some(stay) = self.stays.get_mut(sizes) {
            stay.users = stay.users.saturating_sub(1);
        }
    }

    /// An allocation of a plan failed, though its partition is alone on the device and holds
    /// nothing any more but pinned host memory; `free` bytes are left with what that takes. The
    /// plan that its size has from now on, and the bytes that it could have; none when no smaller
    /// one fits.
    pub(super) fn fall_back(&mut self, plan: &Arc<Plan>, free: u64) -> Option<(Arc<Plan>, u64)> {
        let stays = self.stays.values();
        let stays: u64 = stays.map(|stay| stay.plan.resident_bytes()).sum();
        let whole = free.saturating_add(stays).min(self.room.bytes);
        self.usable = whole.saturating_sub(HEADROOM_BYTES);
        let sizes = plan.sizes();
        let room = Room {
            bytes: whole.saturating_sub(self.in_use(sizes)),
            ..self.room
        };
        let known = self.plans.get(sizes);
        let known = known.filter(|known| known.peak_bytes() < plan.peak_bytes());
        let smaller = match known {
            // Another partition of this size was here before.
            Some(known) => Arc::clone(known),
            None => Arc::new(plan.smaller(room)?),
        };
        self.plans.insert(*sizes, Arc::clone(&smaller));
        Some((smaller, room.bytes))
    }

    /// Forgets the plan of a size: the next partition begins with the first one again.
    pub(super) fn forget(&mut self, sizes: &Sizes) {
        self.plans.remove(sizes);
    }

    /// Gives up all that stays.
    pub(super) fn clear(&mut self) -> Vec<L> {
        let stays = std::mem::take(&mut self.stays);
        stays.into_values().flat_map(|stay| stay.live).collect()
    }

    /// Bytes that stay for other sizes and are in use.
    fn in_use(&self, sizes: &Sizes) -> u64 {
        let others = self.stays.iter();
        let others = others.filter(|(of, stay)| *of != sizes && stay.users > 0);
        others.map(|(_, stay)| stay.plan.resident_bytes()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn sizes(log2: u32) -> Sizes {
        Sizes::like_a_sector(1 << log2)
    }

    fn ground(mib: u64) -> Ground<u32> {
        Ground::new(Room::of(mib * MIB))
    }

    /// Begins, and brings what is not there; the allocations that had to go.
    fn begin(ground: &mut Ground<u32>, log2: u32) -> Option<Vec<u32>> {
        let begin = ground.begin(&sizes(log2)).expect("fits")?;
        if begin.there.is_none() {
            ground.brought(&begin.plan, vec![log2]);
        }
        Some(begin.gone)
    }

    #[test]
    fn what_nobody_uses_goes_for_who_needs_the_room() {
        let mut ground = ground(28);
        assert_eq!(begin(&mut ground, 10), Some(vec![]));
        // In use, it stays, and who has no room beside it waits.
        assert_eq!(begin(&mut ground, 14), None);
        ground.leave(&sizes(10));
        assert_eq!(begin(&mut ground, 14), Some(vec![10]));
        assert_eq!(begin(&mut ground, 14), Some(vec![]));
        ground.leave(&sizes(14));
        assert_eq!(begin(&mut ground, 10), None, "one is still there");
        ground.leave(&sizes(14));
        assert_eq!(begin(&mut ground, 10), Some(vec![]), "both can stay");
        ground.leave(&sizes(10));
        assert_eq!(begin(&mut ground, 14), Some(vec![10]));
        assert_eq!(ground.clear(), [14]);
    }

    #[test]
    fn the_least_recently_used_goes_first() {
        let mut ground = ground(64);
        for log2 in [10, 11, 12, 10] {
            assert_eq!(begin(&mut ground, log2), Some(vec![]), "{log2}");
            ground.leave(&sizes(log2));
        }
        let large = begin(&mut ground, 15).expect("begins");
        assert_eq!(large.first(), Some(&11), "{large:?}");
    }

    #[test]
    fn a_smaller_plan_replaces_the_first_when_its_partitions_have_left() {
        let mut ground = ground(64);
        let first = ground.plan(&sizes(14)).expect("fits");
        assert_eq!(begin(&mut ground, 14), Some(vec![]));
        assert_eq!(begin(&mut ground, 14), Some(vec![]));
        let free = 32 * MIB - first.resident_bytes();
        let (smaller, _) = ground.fall_back(&first, free).expect("a smaller one");
        assert!(smaller.peak_bytes() < first.peak_bytes());
        ground.leave(&sizes(14));
        assert_eq!(begin(&mut ground, 14), None, "another has the first plan");
        // It falls back to the same one.
        let (same, _) = ground.fall_back(&first, free).expect("a smaller one");
        assert!(Arc::ptr_eq(&same, &smaller));
        ground.leave(&sizes(14));
        assert_eq!(begin(&mut ground, 14), Some(vec![14]));
        ground.forget(&sizes(14));
        assert_eq!(ground.plan(&sizes(14)), Ok(first));
    }

    #[test]
    fn without_room_there_is_no_smaller_plan() {
        let mut ground = ground(28);
        let first = ground.plan(&sizes(14)).expect("fits");
        assert_eq!(ground.fall_back(&first, 4 * MIB), None);
        assert_eq!(ground.plan(&sizes(14)), Ok(first));
    }
}
