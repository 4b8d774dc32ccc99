//! Whose project it is: what this user said is theirs to run.
//!
//! A directory is trusted as a whole (`aye trust`): without that nothing of it
//! is started where nobody typed `aye run`. What widens power besides (servers,
//! heal rules, the advisor, a looser policy, skill directories elsewhere) is
//! a [`Power`], agreed to by its content. [`TrustFile`] keeps both below
//! `AYE_HOME`; [`Granted`] is what follows for a run.

mod book;
mod granted;
mod power;

pub use book::{Agreement, Agreements, TrustError, TrustFile, Trusted};
pub use granted::{Granted, StartedBy};
pub use power::Power;
