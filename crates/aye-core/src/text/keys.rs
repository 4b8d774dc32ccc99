//! Where people look for what a step left behind, and where it is.

/// The keys of `steps.NAME`.
const OF_STEP: [&str; 8] =
    ["status", "exit_code", "stdout", "stderr", "attempt", "visits", "message", "duration_ms"];

/// What other programs call what a step wrote.
const WROTE: [&str; 4] = ["output", "outputs", "result", "results"];

/// What to write for `steps.STEP.KEY`, if a step has no such key.
pub(crate) fn of_step(step: &str, key: &str) -> Option<String> {
    match key {
        key if OF_STEP.contains(&key) => None,
        key if WROTE.contains(&key) => Some(format!(
            "write `{{{{ {step} }}}}` for its result, or `{{{{ steps.{step}.stdout }}}}`"
        )),
        _ => Some(format!("a step has {}", OF_STEP.join(", "))),
    }
}

/// What to write for `RESULT.KEY`, where the result is what the step wrote.
pub(crate) fn of_text(result: &str, step: &str, key: &str) -> Option<String> {
    match key {
        key if key == "stdout" || WROTE.contains(&key) => Some(format!(
            "`{result}` is the text itself: write `{{{{ {result} }}}}` or `{{{{ steps.{step}.stdout }}}}`"
        )),
        key if OF_STEP.contains(&key) => Some(format!("write `{{{{ steps.{step}.{key} }}}}`")),
        // A text has methods.
        _ => None,
    }
}

/// Whether only `steps.NAME` has this key: what a step wrote is its result, too.
pub(crate) fn is_only_of_step(key: &str) -> bool {
    key != "stdout" && OF_STEP.contains(&key)
}

/// Whether people look for what a step left behind under this key.
pub(crate) fn is_of_step(key: &str) -> bool {
    OF_STEP.contains(&key) || WROTE.contains(&key)
}
