//! The core's integration tests, in one binary because linking is what costs.

mod build;
mod flow;
mod gates;
mod inputs;
mod oracle;
mod properties;
mod random;
mod recorded;
mod recovery;
mod routing;
mod secrets;
mod skill;
mod stopping;
mod templates;
