//! Whether a display answers. A variable says where one should be; a server that hangs
//! takes a connection all the same, and a window that waits for it is seen by nobody. So
//! it is greeted, and what it answers is of no interest: only that it does.

use std::collections::BTreeMap;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};

/// How long a display may take to answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);

/// `CreateRegistry` and `Sync` of Wayland's first object, in the order of this machine's bytes.
const WAYLAND: [u32; 6] = [1, 12 << 16 | 1, 2, 1, 12 << 16, 3];
/// The beginning of a conversation with X: byte order, version 11.0, no authorisation. One that
/// wants to be authorised says so, which is an answer.
const X11: [u8; 12] = [b'l', 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// A display that was greeted.
#[derive(Debug)]
pub(super) struct Probe {
    socket: OwnedFd,
    name: String,
    until: Instant,
    /// Those to try if this one does not answer.
    others: Vec<Display>,
}

/// Where a display should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Display {
    /// The socket of a compositor.
    Wayland(PathBuf),
    /// The number of an X server of this machine.
    X11(u32),
}

/// What the environment says, the one that programs try first in front.
pub(super) fn displays(env: &BTreeMap<String, String>) -> Result<Vec<Display>, String> {
    let set = |name: &str| env.get(name).filter(|value| !value.is_empty());
    let mut found = Vec::new();
    if let Some(name) = set("WAYLAND_DISPLAY") {
        let directory = set("XDG_RUNTIME_DIR").map(Path::new);
        match directory {
            Some(directory) => found.push(Display::Wayland(directory.join(name))),
            None if name.starts_with('/') => found.push(Display::Wayland(name.into())),
            None => {}
        }
    }
    let Some(name) = set("DISPLAY") else {
        return match found.is_empty() {
            true => Err("there is no display".to_owned()),
            false => Ok(found),
        };
    };
    let (host, rest) = name.rsplit_once(':').unwrap_or((name, ""));
    let number = rest.split('.').next().and_then(|number| number.parse().ok());
    match number {
        Some(number) if matches!(host, "" | "unix") => found.push(Display::X11(number)),
        Some(_) if found.is_empty() => {
            return Err(format!("the display `{name}` belongs to another machine"));
        }
        None if found.is_empty() => return Err(format!("`{name}` does not name a display")),
        Some(_) | None => {}
    }
    Ok(found)
}

impl Probe {
    /// Greets the first display that takes a connection.
    pub(super) fn start(mut displays: Vec<Display>, now: Instant) -> Result<Self, String> {
        let mut last = "there is no display".to_owned();
        while !displays.is_empty() {
            let display = displays.remove(0);
            match greet(&display) {
                Ok(socket) => {
                    let (name, until) = (display.name(), now + PATIENCE);
                    return Ok(Self { socket, name, until, others: displays });
                }
                Err(errno) => {
                    last = format!("the display `{}` does not answer ({errno})", display.name());
                }
            }
        }
        Err(last)
    }

    /// Whether it has answered; nothing as long as it may.
    pub(super) fn check(&mut self, now: Instant) -> Option<Result<(), String>> {
        let mut bytes = [0; 8];
        let said = match rustix::io::read(&self.socket, &mut bytes) {
            Ok(0) => "it hangs up".to_owned(),
            Ok(_) => return Some(Ok(())),
            Err(Errno::AGAIN | Errno::INTR) if now < self.until => return None,
            Err(Errno::AGAIN | Errno::INTR) => "nothing comes back".to_owned(),
            Err(errno) => errno.to_string(),
        };
        match Self::start(std::mem::take(&mut self.others), now) {
            Ok(next) => {
                *self = next;
                None
            }
            Err(_) => Some(Err(format!("the display `{}` does not answer ({said})", self.name))),
        }
    }

    /// Readable when it has answered.
    pub(super) fn wake(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// When it is waited for no longer.
    pub(super) fn until(&self) -> Instant {
        self.until
    }
}

impl Display {
    fn name(&self) -> String {
        match self {
            Self::Wayland(path) => path.display().to_string(),
            Self::X11(number) => format!(":{number}"),
        }
    }
}

/// Connects without waiting and says hello.
fn greet(display: &Display) -> Result<OwnedFd, Errno> {
    match display {
        Display::Wayland(path) => {
            let hello: Vec<u8> = WAYLAND.iter().flat_map(|word| word.to_ne_bytes()).collect();
            say(&SocketAddrUnix::new(path)?, &hello)
        }
        Display::X11(number) => {
            let path = format!("/tmp/.X11-unix/X{number}");
            let connected = say(&SocketAddrUnix::new(&path)?, &X11);
            #[cfg(target_os = "linux")]
            let connected = connected
                .or_else(|_| say(&SocketAddrUnix::new_abstract_name(path.as_bytes())?, &X11));
            connected
        }
    }
}

fn say(address: &SocketAddrUnix, hello: &[u8]) -> Result<OwnedFd, Errno> {
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    rustix::net::connect(&socket, address)?;
    rustix::io::write(&socket, hello)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    fn env(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn where_a_display_should_be() {
        let x = |number| Ok(vec![Display::X11(number)]);
        assert_eq!(displays(&env(&[("DISPLAY", ":0")])), x(0));
        assert_eq!(displays(&env(&[("DISPLAY", "unix:12.1")])), x(12));
        let wayland = [("WAYLAND_DISPLAY", "wayland-0"), ("XDG_RUNTIME_DIR", "/run/user/7")];
        let path = Display::Wayland("/run/user/7/wayland-0".into());
        assert_eq!(displays(&env(&wayland)), Ok(vec![path.clone()]));
        let both = [wayland[0], wayland[1], ("DISPLAY", ":1")];
        assert_eq!(displays(&env(&both)), Ok(vec![path, Display::X11(1)]));
        for (bad, why) in [
            (&[][..], "there is no display"),
            (&[("DISPLAY", "")], "there is no display"),
            (
                &[("DISPLAY", "localhost:10.0")],
                "the display `localhost:10.0` belongs to another machine",
            ),
            (&[("DISPLAY", "nonsense")], "`nonsense` does not name a display"),
            (&[("DISPLAY", ":x")], "`:x` does not name a display"),
        ] {
            assert_eq!(displays(&env(bad)), Err(why.to_owned()));
        }
    }

    fn check(probe: &mut Probe) -> Result<(), String> {
        loop {
            if let Some(answer) = probe.check(Instant::now()) {
                return answer;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn one_that_takes_the_call_and_says_nothing_does_not_answer() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("wayland-0");
        let listener = UnixListener::bind(&path).expect("a socket");
        let displays = vec![Display::Wayland(path.clone())];
        let long_ago = Instant::now().checked_sub(PATIENCE).expect("a while ago");
        let mut probe = Probe::start(displays.clone(), long_ago).expect("it takes the call");
        let why = check(&mut probe).expect_err("nobody answers");
        assert!(why.ends_with("does not answer (nothing comes back)"), "{why}");
        // One that hangs up does not answer either, one that says anything does.
        let mut probe = Probe::start(displays.clone(), Instant::now()).expect("it takes the call");
        drop((listener.accept().expect("the first"), listener.accept().expect("the second")));
        assert!(check(&mut probe).expect_err("hung up").contains("does not answer"));
        let mut probe = Probe::start(displays.clone(), Instant::now()).expect("it takes the call");
        let (mut other, _) = listener.accept().expect("a call");
        std::io::Write::write_all(&mut other, b"hello").expect("it is heard");
        assert_eq!(check(&mut probe), Ok(()));
        drop(listener);
        std::fs::remove_file(&path).expect("it is there");
        assert!(
            Probe::start(displays, Instant::now())
                .expect_err("it is gone")
                .contains("does not answer")
        );
    }

    #[test]
    fn the_next_one_is_tried() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("x");
        let listener = UnixListener::bind(&path).expect("a socket");
        let gone = Display::Wayland(directory.path().join("gone"));
        let mut probe =
            Probe::start(vec![gone, Display::Wayland(path)], Instant::now()).expect("the second");
        let (mut other, _) = listener.accept().expect("a call");
        std::io::Write::write_all(&mut other, b"x").expect("it is heard");
        assert_eq!(check(&mut probe), Ok(()));
    }
}
