//! Keeps the quick way to start programs in reach of a static binary.
//!
//! The standard library uses `posix_spawn`, and with it `vfork`, only if it
//! finds two of glibc's functions, and looks for them with weak references. A
//! static linker takes in nothing that is only referred to weakly, so without
//! the strong references below every step would cost a `fork`: copied page
//! tables and a page fault for every page written afterwards.

#[cfg(all(target_os = "linux", target_env = "gnu", target_feature = "crt-static"))]
mod keep {
    use std::ffi::{c_char, c_int};

    unsafe extern "C" {
        fn gnu_get_libc_version() -> *const c_char;
        fn posix_spawn_file_actions_addchdir_np(
            actions: *mut libc::posix_spawn_file_actions_t,
            path: *const c_char,
        ) -> c_int;
    }

    #[used]
    static VERSION: unsafe extern "C" fn() -> *const c_char = gnu_get_libc_version;

    #[used]
    static CHANGE_DIRECTORY: unsafe extern "C" fn(
        *mut libc::posix_spawn_file_actions_t,
        *const c_char,
    ) -> c_int = posix_spawn_file_actions_addchdir_np;
}
