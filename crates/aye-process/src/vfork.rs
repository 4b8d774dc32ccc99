//! Keeps the quick way to start programs in reach of a static binary.
//!
//! The standard library uses `posix_spawn`, and with it `vfork`, only if it
//! finds two of glibc's functions, and looks for them with weak references. A
//! static linker takes in nothing that is only referred to weakly, so without
//! the strong references below every step would cost a `fork`: copied page
//! tables and a page fault for every page written afterwards.

/// Refers to both, in a way that no optimiser may drop.
#[cfg(all(target_os = "linux", target_env = "gnu", target_feature = "crt-static"))]
pub(crate) fn keep() {
    use std::ffi::{c_char, c_int};

    unsafe extern "C" {
        fn gnu_get_libc_version() -> *const c_char;
        fn posix_spawn_file_actions_addchdir_np(
            actions: *mut libc::posix_spawn_file_actions_t,
            path: *const c_char,
        ) -> c_int;
    }

    std::hint::black_box(gnu_get_libc_version as *const ());
    std::hint::black_box(posix_spawn_file_actions_addchdir_np as *const ());
}

/// A dynamic binary finds them by itself.
#[cfg(not(all(target_os = "linux", target_env = "gnu", target_feature = "crt-static")))]
pub(crate) fn keep() {}
