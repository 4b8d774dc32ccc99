//! The environment of a child: ours with changes.

use std::ffi::{CString, OsStr, OsString, c_char};
use std::io;
use std::os::unix::ffi::OsStrExt;

use super::carriers::CARRIERS;

/// Entries as `execve` wants them. They refer to our own environment, which
/// nobody changes: the functions for that are `unsafe`.
pub(crate) struct Environment {
    /// What the pointers refer to that is not there anyway.
    _own: Vec<CString>,
    entries: Vec<*const c_char>,
}

impl Environment {
    /// Our own without the [`CARRIERS`] and with these changes; `None` removes, the last change of
    /// a name counts.
    pub(crate) fn changed(changes: &[(&OsStr, Option<&OsStr>)]) -> io::Result<Self> {
        let kept = |name: &[u8]| {
            !CARRIERS.iter().any(|carrier| carrier.as_bytes() == name)
                && !changes.iter().any(|(changed, _)| changed.as_bytes() == name)
        };
        let mut own = Vec::new();
        let mut entries = Vec::new();
        inherit(&kept, &mut own, &mut entries);
        for (at, (name, value)) in changes.iter().enumerate() {
            let is_last = !changes[at + 1..].iter().any(|(later, _)| later == name);
            let Some(value) = value.filter(|_| is_last) else {
                continue;
            };
            own.push(entry(name, value)?);
        }
        entries.extend(own.iter().map(|entry| entry.as_ptr()));
        entries.push(std::ptr::null());
        Ok(Self { _own: own, entries })
    }

    /// For `execve`; ends with a null pointer.
    pub(crate) fn as_ptr(&self) -> *const *const c_char {
        self.entries.as_ptr()
    }
}

fn entry(name: &OsStr, value: &OsStr) -> io::Result<CString> {
    if name.is_empty() || name.as_bytes().contains(&b'=') {
        let what = format!("`{}` cannot be the name of a variable", name.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let mut entry = OsString::with_capacity(name.len() + value.len() + 2);
    entry.push(name);
    entry.push("=");
    entry.push(value);
    Ok(CString::new(entry.into_encoded_bytes())?)
}

/// Refers to the entries that are kept where they are.
#[cfg(target_os = "linux")]
fn inherit(kept: &dyn Fn(&[u8]) -> bool, _: &mut Vec<CString>, entries: &mut Vec<*const c_char>) {
    unsafe extern "C" {
        static environ: *const *const c_char;
    }
    // SAFETY: a list of texts that ends with a null pointer, or no list at all;
    // nobody changes it, see `Environment`.
    unsafe {
        let mut next = environ;
        while !next.is_null() && !(*next).is_null() {
            let text = std::ffi::CStr::from_ptr(*next).to_bytes();
            let name = text.split(|&byte| byte == b'=').next().unwrap_or(text);
            if kept(name) {
                entries.push(*next);
            }
            next = next.add(1);
        }
    }
}

/// Copies them, where libraries cannot see the list.
#[cfg(not(target_os = "linux"))]
fn inherit(kept: &dyn Fn(&[u8]) -> bool, own: &mut Vec<CString>, _: &mut Vec<*const c_char>) {
    for (name, value) in std::env::vars_os().filter(|(name, _)| kept(name.as_bytes())) {
        own.extend(entry(&name, &value));
    }
}
