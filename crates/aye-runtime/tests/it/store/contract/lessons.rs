//! Lessons that wait for memory.

use aye_runtime::store::StoreError;

use super::{Kept, Place, begun, ensure};

pub(super) fn wait_for_memory(place: &dyn Place) -> Kept {
    let (mut driver, mut other) = (place.open(), place.open());
    let (mut tale, lease) = begun(&mut *driver, "abcdefgh12")?;
    let (one, told) = (tale.learned(Some("one")), tale.learned(None));
    let (step, two) = (tale.step("b"), tale.learned(Some("two")));
    driver.append(&lease, &[one.clone(), told.clone(), step, two.clone()], &[])?;
    ensure!(other.pending_lessons()? == [one.clone(), two.clone()], "not both, in order");
    let pending = |seq: u64| driver.is_pending_lesson(&one.run, seq);
    ensure!(pending(one.seq)? && !pending(told.seq)? && pending(two.seq)?, "the wrong ones");
    other.lesson_taken_in(&one.run, one.seq)?;
    ensure!(driver.pending_lessons()? == [two.clone()], "the first still waits");
    ensure!(!driver.is_pending_lesson(&one.run, one.seq)?, "it was taken in");
    // Twice does no harm.
    other.lesson_taken_in(&one.run, one.seq)?;
    ensure!(driver.is_pending_lesson(&two.run, two.seq)?, "the second is gone");
    Ok(())
}

pub(super) fn with_the_event(place: &dyn Place) -> Kept {
    let mut store = place.open();
    let (mut tale, lease) = begun(&mut *store, "abcdefgh12")?;
    let one = tale.learned(Some("one"));
    tale.seq += 5;
    let late = tale.step("b");
    let refused = store.append(&lease, &[one.clone(), late], &[]);
    ensure!(matches!(refused, Err(StoreError::Conflict { .. })), "not refused: {refused:?}");
    ensure!(store.pending_lessons()?.is_empty(), "a lesson without its event");
    store.append(&lease, std::slice::from_ref(&one), &[])?;
    ensure!(store.pending_lessons()? == [one], "no lesson with its event");
    Ok(())
}
