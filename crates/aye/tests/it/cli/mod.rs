//! Every command of the program, as a user would call it.

#[expect(clippy::unwrap_used, reason = "what fails here fails the test")]
pub(crate) mod harness;

mod accepted;
mod again;
mod answers;
mod audit;
pub(crate) mod auth;
mod checking;
mod comparing;
mod completing;
#[expect(clippy::unwrap_used, reason = "what fails here fails the test")]
mod concurrency;
#[expect(clippy::unwrap_used, reason = "what fails here fails the test")]
mod covers;
#[expect(clippy::unwrap_used, reason = "what fails here fails the test")]
mod covers_called;
pub(crate) mod detach;
mod doctor;
mod dry_run;
mod endings;
mod event_page;
mod events;
mod exhaustion;
mod failing;
mod finally;
mod fixing;
mod guides;
mod hardening;
mod help;
#[expect(clippy::unwrap_used, reason = "what fails here fails the test")]
mod home;
mod inputs;
mod json;
mod kept_output;
#[expect(clippy::unwrap_used, reason = "what fails here fails the test")]
mod leaving;
mod log_files;
mod looks;
mod names;
mod nested;
mod one_shape;
mod pages;
pub(crate) mod printing;
mod record;
#[expect(clippy::unwrap_used, reason = "what fails here fails the test")]
mod remembered;
mod remembered_outside;
pub(crate) mod resting;
mod results;
mod resuming;
mod running;
mod runs;
mod schedules;
mod settings_page;
mod skills;
mod slots;
mod stats;
mod stopping;
mod surroundings;
mod tampered_rows;
#[expect(clippy::unwrap_used, reason = "what fails here fails the test")]
mod tampering;
mod trusting;
mod tutorials;
mod who_answers;
mod whole;
