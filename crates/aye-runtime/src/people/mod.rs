//! People with names: who may answer, start and read through the server.
//!
//! A person has a token for programs and any number of devices, browsers that
//! redeemed a one-time link. [`PeopleFile`] keeps them below `AYE_HOME`; of every
//! secret it keeps a digest only. An account of the operating system may be one
//! of these people.
//!
//! Touches one file below `AYE_HOME`. `aye serve` asks it who a client is.

mod file;
mod person;
mod secret;

pub use file::{Credentials, Device, PeopleError, PeopleFile, Session, SignedIn};
pub use person::{NewPerson, Owner, People, Person, Right};
