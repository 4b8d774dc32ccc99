//! Who is at the other end of a local socket.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

/// The account of the process at the other end of a connected Unix socket, as
/// the system noted it when the connection was made.
///
/// # Errors
/// When the descriptor is not such a socket.
#[cfg(target_os = "linux")]
pub fn peer_uid(socket: BorrowedFd<'_>) -> io::Result<u32> {
    let mut peer = libc::ucred { pid: 0, uid: libc::uid_t::MAX, gid: libc::gid_t::MAX };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: both pointers are to live locals, and the length is that of the first.
    let got = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut length,
        )
    };
    match got {
        0 => Ok(peer.uid),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The account of the process at the other end of a connected Unix socket, as
/// the system noted it when the connection was made.
///
/// # Errors
/// When the descriptor is not such a socket.
#[cfg(not(target_os = "linux"))]
pub fn peer_uid(socket: BorrowedFd<'_>) -> io::Result<u32> {
    let (mut uid, mut gid) = (libc::uid_t::MAX, libc::gid_t::MAX);
    // SAFETY: both pointers are to live locals.
    match unsafe { libc::getpeereid(socket.as_raw_fd(), &raw mut uid, &raw mut gid) } {
        0 => Ok(uid),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn the_system_says_who_is_there() {
        let (one, _other) = UnixStream::pair().expect("a pair of sockets");
        let own = rustix::process::geteuid().as_raw();
        assert_eq!(peer_uid(one.as_fd()).expect("a socket"), own);
        let (pipe, _writer) = io::pipe().expect("a pipe");
        assert!(peer_uid(pipe.as_fd()).is_err(), "a pipe has no peer");
    }
}
