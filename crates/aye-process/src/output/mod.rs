//! What a child writes: from its pipe to a log file or to memory, and to the caller's view.
//!
//! `capture` reads the pipe of one [`Stream`](stream::Stream), `mask` hides secrets, also where an
//! `escape` sequence cuts them, `log` (with `reserve`) or `ring` keeps the bytes, and `digest`
//! seals the log. When the child has ended, `captured` is what its `Exit` holds. Later `compress`
//! shrinks the log and `log_reader` reads it back in order; `text` and
//! `lines` make bytes safe to show. It knows nothing of processes. Touches log files and
//! pipes; what it captured goes to the `Exit`, and as it comes to the caller of `wait`.

pub(crate) mod capture;
pub(crate) mod captured;
mod compress;
pub(crate) mod digest;
mod escape;
pub mod lines;
pub mod log;
pub(crate) mod log_reader;
mod mask;
mod reserve;
mod ring;
pub(crate) mod stream;
pub mod text;
