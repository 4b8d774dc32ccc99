//! placeholder
use std::os::fd::BorrowedFd;
pub(crate) fn pid() -> i32 {
    0
}
pub(crate) fn watch() -> Option<BorrowedFd<'static>> {
    None
}
pub(crate) fn note_loss() -> bool {
    false
}
