//! The programs that run for steps, and the steps that wait for a slot or for the terminal.

use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use aye_process::{Happening, Running, SpawnError, Spec, Stop, Stream, slots};

use super::lane::LaneId;

/// Programs, whose they are, and who waits for one to end.
#[derive(Default)]
pub(super) struct Processes {
    children: Vec<Running>,
    /// For each child its lane.
    owners: Vec<LaneId>,
    /// For each child whether it takes a slot.
    counted: Vec<bool>,
    /// For each child whether it has the terminal.
    interactive: Vec<bool>,
    queue: VecDeque<LaneId>,
    /// Those that wait for the terminal, which only one can have.
    for_terminal: VecDeque<LaneId>,
}

impl Processes {
    /// How many more may run now, beside so much else that takes a slot.
    pub(super) fn free(&self, others: usize) -> usize {
        let taken = self.counted.iter().filter(|counted| **counted).count();
        slots::limit().saturating_sub(taken + others)
    }

    pub(super) fn start(&mut self, lane: LaneId, spec: Spec) -> Result<(), SpawnError> {
        let (counts, interactive) = (!spec.aside, spec.interactive);
        let child = aye_process::spawn(spec)?;
        self.counted.push(counts);
        self.interactive.push(interactive);
        self.children.push(child);
        self.owners.push(lane);
        Ok(())
    }

    /// A program has ended: says whose it was.
    pub(super) fn ended(&mut self, index: usize) -> LaneId {
        self.children.remove(index);
        self.counted.remove(index);
        self.interactive.remove(index);
        self.owners.remove(index)
    }

    /// Whether a program has the terminal: a step, or an editor.
    pub(super) fn have_terminal(&self) -> bool {
        self.interactive.contains(&true)
    }

    /// This lane waits for a slot: behind the others, or where it stood.
    pub(super) fn enqueue(&mut self, lane: LaneId, waited: bool) {
        match waited {
            true => self.queue.push_front(lane),
            false => self.queue.push_back(lane),
        }
    }

    /// This lane waits for the terminal, behind the others.
    pub(super) fn enqueue_for_terminal(&mut self, lane: LaneId) {
        self.for_terminal.push_back(lane);
    }

    /// The lane that waited longest for the terminal, if that is free.
    pub(super) fn dequeue_for_terminal(&mut self) -> Option<LaneId> {
        if self.have_terminal() { None } else { self.for_terminal.pop_front() }
    }

    /// The lanes that waited longest, at most so many.
    pub(super) fn dequeue(&mut self, most: usize) -> Vec<LaneId> {
        let count = most.min(self.queue.len());
        self.queue.drain(..count).collect()
    }

    /// This lane waits no more.
    pub(super) fn leave_queue(&mut self, lane: LaneId) {
        self.queue.retain(|waiting| *waiting != lane);
        self.for_terminal.retain(|waiting| *waiting != lane);
    }

    /// How many lanes wait for a slot or for the terminal.
    pub(super) fn waiting(&self) -> usize {
        self.queue.len() + self.for_terminal.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.children.is_empty()
    }

    /// What runs: whose it is, for how long, and how long it may.
    pub(super) fn running(&self) -> impl Iterator<Item = (LaneId, Duration, Option<Duration>)> {
        let running = self.owners.iter().zip(&self.children);
        running.map(|(owner, child)| (*owner, child.elapsed(), child.remaining()))
    }

    /// Ends the programs of a lane, at once if told to hurry.
    pub(super) fn stop(&mut self, lane: LaneId, hurry: bool) {
        let own = self.owners.iter().zip(&mut self.children).filter(|(owner, _)| **owner == lane);
        for (_, child) in own {
            if hurry {
                child.kill(Stop::Cancel);
            } else if child.stopping().is_none() {
                child.stop(Stop::Cancel);
            }
        }
    }

    /// Passes these on to all of them; a second one reaches them as a kill.
    pub(super) fn stop_all(&mut self, stops: &[Stop]) {
        for stop in stops {
            self.children.iter_mut().for_each(|child| {
                child.stop(*stop);
            });
        }
    }

    /// How long they have until they are killed.
    pub(super) fn patience(&self, stops: &[Stop]) -> Duration {
        let each = self.children.iter().flat_map(|child| stops.iter().map(|s| child.patience(*s)));
        each.max().unwrap_or_default()
    }

    /// Holds their output back while its reader does not keep up; once a step
    /// is to end, nobody waits for the reader.
    pub(super) fn hold(&mut self, full: bool) {
        for child in &mut self.children {
            child.hold(full);
            if full && child.stopping().is_some() {
                child.set_live(false);
            }
        }
    }

    pub(super) fn resize(&mut self, columns: u16, rows: u16) {
        for child in &mut self.children {
            // A child without a pseudo-terminal has no window to resize.
            let _ = child.resize(columns, rows);
        }
    }

    /// Ctrl-Z: stops them and this process, until someone continues it.
    pub(super) fn suspend(&mut self) {
        aye_process::suspend(&mut self.children);
    }

    /// Waits for one of them, for one of `wake`, or until then.
    pub(super) fn wait(
        &mut self,
        wake: &[BorrowedFd<'_>],
        until: Instant,
        output: &mut dyn FnMut(LaneId, Stream, &[u8]),
    ) -> io::Result<Happening> {
        let Self { children, owners, .. } = self;
        aye_process::wait(children, wake, Some(until), &mut |index, stream, bytes| {
            output(owners[index], stream, bytes);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(processes: &mut Processes) -> (LaneId, String) {
        let mut wrote = String::new();
        loop {
            let until = Instant::now() + Duration::from_secs(60);
            let happening = processes.wait(&[], until, &mut |_, _, bytes| {
                wrote.push_str(&String::from_utf8_lossy(bytes));
            });
            match happening.expect("a poll") {
                Happening::Exited(index, _) => return (processes.ended(index), wrote),
                Happening::Deadline => panic!("nothing ended"),
                _ => {}
            }
        }
    }

    #[test]
    fn a_program_is_known_by_its_lane_and_frees_its_slot() {
        let mut processes = Processes::default();
        let before = processes.free(0);
        let mut spec = Spec::new("echo").args(["hello"]);
        spec.live = true;
        processes.start(3, spec).expect("echo");
        assert_eq!(processes.free(0), before - 1);
        assert_eq!(processes.free(2), before - 3, "what computes takes slots, too");
        assert_eq!(processes.running().map(|(lane, ..)| lane).collect::<Vec<_>>(), [3]);
        assert_eq!(wait(&mut processes), (3, "hello\n".to_owned()));
        assert!(processes.is_empty());
        assert_eq!(processes.free(0), before);
    }

    #[test]
    fn what_stands_aside_takes_no_slot() {
        let mut processes = Processes::default();
        let before = processes.free(0);
        let mut spec = Spec::new("true");
        spec.aside = true;
        processes.start(3, spec).expect("true");
        assert_eq!(processes.free(0), before);
        assert_eq!(wait(&mut processes).0, 3);
    }

    #[test]
    fn the_queue_is_served_in_order_and_can_be_left() {
        let mut processes = Processes::default();
        [4, 5, 6, 7].into_iter().for_each(|lane| processes.enqueue(lane, false));
        assert_eq!(processes.waiting(), 4);
        assert_eq!(processes.dequeue(1), [4]);
        // Someone else was quicker: it is still the first.
        processes.enqueue(4, true);
        processes.leave_queue(5);
        assert_eq!(processes.dequeue(2), [4, 6]);
        assert_eq!(processes.dequeue(9), [7]);
        assert_eq!(processes.waiting(), 0);
    }

    #[test]
    fn stopping_a_lane_stops_its_programs_alone() {
        let mut processes = Processes::default();
        for lane in [1, 2] {
            processes.start(lane, Spec::new("sleep").args(["60"])).expect("sleep");
        }
        processes.stop(2, false);
        assert_eq!(wait(&mut processes).0, 2);
        assert_eq!(processes.running().count(), 1);
        processes.stop_all(&[Stop::Interrupt]);
        assert_eq!(wait(&mut processes).0, 1);
    }
}
