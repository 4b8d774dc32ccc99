//! Work that nobody waits for.

/// The calling thread runs only while nothing else wants the processor. A thread that is merely
/// nice takes every short pause of a pipeline, and keeps its turn when the pipeline continues.
#[cfg(target_os = "linux")]
pub fn only_when_idle() {
    // SAFETY: the call reads `none` and changes how this thread is scheduled.
    unsafe {
        let none = libc::sched_param { sched_priority: 0 };
        // It is allowed to everyone. Refused, the thread competes with the others.
        let _ = libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const none);
    }
}

/// Other systems have nothing like it.
#[cfg(not(target_os = "linux"))]
pub fn only_when_idle() {}
