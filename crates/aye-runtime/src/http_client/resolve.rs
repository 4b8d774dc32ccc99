//! Names of hosts to addresses, on any host.
//!
//! Aye is one static binary, and the C library in it cannot load the host's
//! name service modules safely: they belong to another version of that library.
//! So the host's own `getent` is asked, which knows everything that the host is
//! configured for. A host without `getent` has no such modules; there the
//! library's own reader of `/etc/hosts` and of the DNS does.

use std::io;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::time::{Duration, Instant};

use aye_process::{Outcome, Spec};

/// How long a lookup may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// What `getent` ends with when a name is not known.
const UNKNOWN: i32 = 2;

/// The addresses of a host, none of them twice.
pub(crate) fn resolve(host: &str) -> io::Result<Vec<IpAddr>> {
    if let Ok(address) = host.parse() {
        return Ok(vec![address]);
    }
    // Whatever names are looked up in, this machine is this machine.
    if host.eq_ignore_ascii_case("localhost") {
        return Ok(vec![[127, 0, 0, 1].into(), IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1u16])]);
    }
    if !is_name(host) {
        return Err(io::Error::other("that is not the name of a host"));
    }
    match ask_host(host) {
        Some(found) => found,
        None => ask_library(host),
    }
}

/// What cannot be an option, nor anything else than a name.
fn is_name(host: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    !host.is_empty() && host.len() < 254 && !host.starts_with('-') && host.chars().all(plain)
}

/// What the host's own `getent` says; nothing if there is none.
fn ask_host(host: &str) -> Option<io::Result<Vec<IpAddr>>> {
    let mut spec = Spec::new("getent").args(["ahosts", host]);
    spec.timeout = Some(PATIENCE);
    spec.aside = true;
    aye_process::resolve(&spec).ok()?;
    let mut child = aye_process::spawn(spec).ok()?;
    let exit = aye_process::wait_to_end(&mut child, Instant::now() + 2 * PATIENCE).ok()??;
    match exit.outcome {
        Outcome::Exited(0) => {
            let text = exit.stdout.text();
            let words = text.lines().filter_map(|line| line.split_whitespace().next());
            Some(known(words.filter_map(|word| word.parse().ok())))
        }
        Outcome::Exited(UNKNOWN) => Some(known(std::iter::empty())),
        Outcome::TimedOut => Some(Err(io::ErrorKind::TimedOut.into())),
        // One that does not know `ahosts`, or is broken.
        Outcome::Exited(_) | Outcome::Signaled(_) | Outcome::Cancelled | Outcome::Interrupted => {
            None
        }
    }
}

fn ask_library(host: &str) -> io::Result<Vec<IpAddr>> {
    known((host, 0).to_socket_addrs()?.map(|address| address.ip()))
}

fn known(addresses: impl Iterator<Item = IpAddr>) -> io::Result<Vec<IpAddr>> {
    let mut all: Vec<IpAddr> = Vec::new();
    for address in addresses {
        if !all.contains(&address) {
            all.push(address);
        }
    }
    if all.is_empty() { Err(io::Error::other("the name is not known")) } else { Ok(all) }
}
