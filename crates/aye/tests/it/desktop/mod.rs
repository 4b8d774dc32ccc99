//! The desktop: real windows of zenity and KDialog on a display of their own, with a window
//! manager, and hands that type.

mod chain;
mod doctor;
mod kdialog;
mod notification;
pub(crate) mod screen;
mod zenity;
