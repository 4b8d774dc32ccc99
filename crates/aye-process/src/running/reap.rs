//! The end of a program that nobody waits for.

use std::process::Child;

/// Waits beside everything else for a program to end. Who stays around has to hear of the end of
/// what they started, or its entry in the table of processes stays as well.
pub fn reap(mut child: Child) {
    let waiting = std::thread::Builder::new().name("reap".to_owned());
    // Without a thread the entry stays until this process ends: no harm done.
    let _ = waiting.spawn(move || child.wait());
}
