//! From a description to a process.
//!
//! A [`Spec`](spec::Spec) is checked by `policy`, its program found by `resolve`. `spawn` takes a
//! slot, makes the pipes or the pseudo-terminal and the `environment`; `launch` forks and becomes
//! the program, without the descriptors that Aye `inherited` and without the `carriers` of
//! secrets. `service` is the same for what serves several steps.
//!
//! Touches everything below; nothing reaches in here. A `Running` goes to `running`, which
//! waits for its end, and an `error` that names what went wrong to the caller.

pub(crate) mod carriers;
mod environment;
pub(crate) mod error;
mod inherited;
mod launch;
pub mod policy;
pub(crate) mod resolve;
pub(crate) mod service;
pub(crate) mod spawn;
pub(crate) mod spec;
