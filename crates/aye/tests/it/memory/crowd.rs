//! Many at once, and the end of one in the middle.

use std::collections::BTreeSet;

use super::Outcome;
use super::child::Learner;
use super::sample::{day, fix, memory, plain};

#[test]
fn a_hundred_processes_learning_at_once_lose_nothing() -> Outcome {
    const MANY: usize = 100;
    let place = tempfile::tempdir()?;
    let mut learners = (0..MANY)
        .map(|number| Learner::start("learn", place.path(), number))
        .collect::<Result<Vec<_>, _>>()?;
    for learner in &mut learners {
        assert_eq!(learner.hear()?.as_deref(), Some("ready"));
    }
    for learner in &mut learners {
        learner.go()?;
    }
    for learner in &mut learners {
        assert_eq!(learner.hear()?.as_deref(), Some("learned"));
    }
    let memory = memory(place.path());
    let usage = memory.usage();
    assert_eq!(usage.len(), 1);
    assert_eq!(usage[0].value.sightings, 100);
    assert_eq!(usage[0].value.confidence(day(0)), 0.95);
    assert_eq!(memory.failures().len(), MANY);
    let errors: BTreeSet<_> =
        memory.failures().into_iter().map(|failure| failure.value.error).collect();
    assert_eq!(errors.len(), MANY);
    let tools: BTreeSet<_> =
        memory.fixes().into_iter().filter_map(|fix| fix.value.matches.tool).collect();
    assert_eq!(tools.len(), MANY);
    assert_eq!(memory.fixes().len(), MANY, "none is there twice");
    assert_eq!(memory.preferences().len(), MANY);
    assert!(memory.problems().is_empty());
    Ok(())
}

#[test]
fn of_a_hundred_processes_every_third_is_killed_and_nothing_is_lost_or_doubled() -> Outcome {
    const MANY: usize = 100;
    let place = tempfile::tempdir()?;
    let mut learners = (0..MANY)
        .map(|number| Learner::start("learn", place.path(), number))
        .collect::<Result<Vec<_>, _>>()?;
    for learner in &mut learners {
        assert_eq!(learner.hear()?.as_deref(), Some("ready"));
    }
    for learner in &mut learners {
        learner.go()?;
    }
    // Each third dies while the others wait for the lock or hold it.
    let mut acknowledged = Vec::new();
    for (number, learner) in learners.iter_mut().enumerate() {
        if number % 3 == 0 {
            learner.kill()?;
        }
        if learner.hear()?.as_deref() == Some("learned") {
            acknowledged.push(format!("tool{number}"));
        }
    }
    assert!(acknowledged.len() >= MANY - MANY.div_ceil(3), "{}", acknowledged.len());
    let memory = memory(place.path());
    let kept: Vec<String> =
        memory.fixes().into_iter().filter_map(|fix| fix.value.matches.tool).collect();
    let different: BTreeSet<&String> = kept.iter().collect();
    assert_eq!(different.len(), kept.len(), "none is there twice");
    let lost: Vec<_> = acknowledged.iter().filter(|tool| !different.contains(tool)).collect();
    assert!(lost.is_empty(), "{lost:?}");
    let preferences = memory.preferences().len();
    assert!((acknowledged.len()..=kept.len()).contains(&preferences), "{preferences}");
    let failures = memory.failures();
    let errors: BTreeSet<_> = failures.iter().map(|one| one.value.error.clone()).collect();
    assert_eq!(errors.len(), failures.len(), "none is there twice");
    let sightings = usize::try_from(memory.usage()[0].value.sightings)?;
    assert!((acknowledged.len()..=failures.len()).contains(&sightings), "{sightings}");
    assert!(memory.problems().is_empty());
    Ok(())
}

#[test]
fn kill_9_loses_nothing_that_was_acknowledged_and_leaves_no_lock() -> Outcome {
    const ROUNDS: usize = 12;
    let place = tempfile::tempdir()?;
    let mut acknowledged = BTreeSet::new();
    for round in 0..ROUNDS {
        let mut learners = (0..3)
            .map(|number| Learner::start("continue", place.path(), round * 10 + number))
            .collect::<Result<Vec<_>, _>>()?;
        // Killed at once after some word of theirs: in the middle of the next.
        for (number, learner) in learners.iter_mut().enumerate() {
            for _ in 0..=(round + number) % 4 {
                acknowledged.insert(learner.hear()?.ok_or("it ended")?);
            }
            // A reader never sees half a file.
            let seen = memory(place.path());
            seen.fixes();
            assert!(seen.problems().is_empty(), "{:?}", seen.problems());
            learner.kill()?;
            while let Some(tool) = learner.hear()? {
                acknowledged.insert(tool);
            }
        }
    }
    assert!(acknowledged.len() >= ROUNDS * 3);
    let after = memory(place.path());
    let kept: BTreeSet<String> =
        after.fixes().into_iter().filter_map(|fix| fix.value.matches.tool).collect();
    assert!(after.problems().is_empty(), "{:?}", after.problems());
    let lost: Vec<_> = acknowledged.difference(&kept).collect();
    assert!(lost.is_empty(), "{lost:?}");
    // At most the one that each was at when it ended.
    assert!(kept.len() <= acknowledged.len() + ROUNDS * 3);
    // And the next writer waits for nobody.
    after.remember_fix(fix("last", "manifest unknown"), &plain)?;
    Ok(())
}

#[test]
fn half_a_draft_is_never_taken_for_the_file() -> Outcome {
    let place = tempfile::tempdir()?;
    let memory = memory(place.path());
    memory.remember_fix(fix("one", "manifest unknown"), &plain)?;
    let draft = place.path().join("user/learned/fixes.yaml.new");
    std::fs::write(&draft, "fixes:\n  - id: fix-half\n    mat")?;
    assert_eq!(memory.fixes().len(), 1);
    memory.remember_fix(fix("two", "manifest unknown"), &plain)?;
    assert_eq!(memory.fixes().len(), 2);
    assert!(!draft.exists());
    Ok(())
}
