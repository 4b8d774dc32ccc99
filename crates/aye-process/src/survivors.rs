//! placeholder
/// The variable that carries the run.
pub const RUN_VARIABLE: &str = "AYE_RUN";
