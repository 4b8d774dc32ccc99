//! Where this process comes from: what an answer that it gives is worth.

use std::sync::OnceLock;

use aye_core::id::RunId;
use aye_core::question::{Namespaces, Origin};
use aye_process::{Ancestry, OwnNamespaces, is_visible, own_namespaces};

use crate::error::Error;
use crate::store::{Held, StoreError};

/// The namespaces of this process; nothing where there are none, or `/proc`
/// is not to be relied on.
pub fn namespaces() -> Option<Namespaces> {
    own().map(|own| Namespaces { user: own.user, pid: own.pid })
}

/// Aye stays in the namespaces that it was started in, and a start asks several times.
fn own() -> Option<&'static OwnNamespaces> {
    static OWN: OnceLock<Option<OwnNamespaces>> = OnceLock::new();
    OWN.get_or_init(own_namespaces).as_ref()
}

/// Refuses to take this process for a person: what a run started cannot agree
/// for the person who started the run.
pub fn require_person(
    held: impl Fn() -> Result<Vec<Held>, StoreError>,
    to_do: &str,
) -> Result<(), Error> {
    let who = match origin(&held).started_by {
        Some(who) => Some(who),
        // An answer is compared with its own run instead, by the namespaces of both.
        None => unseen(&held)?
            .map(|run| format!("a program in another process namespace than run `{run}`")),
    };
    match who {
        None => Ok(()),
        Some(who) => Err(Error::Refused {
            message: format!("{who} cannot {to_do}: a person has to"),
            hint: Some("type it in a terminal of your own".to_owned()),
        }),
    }
}

/// The name of this machine.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// A run of this machine whose driver this process cannot see. It could be the
/// run's own: its ancestors cannot be seen either.
fn unseen(held: impl Fn() -> Result<Vec<Held>, StoreError>) -> Result<Option<RunId>, Error> {
    let host = host_name();
    let hidden = |held: &Held| {
        let holder = held.holder.as_ref().filter(|holder| holder.host == host);
        let pid = holder.and_then(|holder| i32::try_from(holder.pid).ok());
        pid.and_then(is_visible) == Some(false)
    };
    let mut before = held()?;
    before.retain(hidden);
    if before.is_empty() {
        return Ok(None);
    }
    // One that has just ended is not driven any more.
    let mut still = held()?.into_iter().filter(hidden).map(|held| held.run);
    Ok(still.find(|run| before.iter().any(|held| held.run == *run)))
}

/// Where an answer of this process comes from; on systems that do not tell it
/// says nothing. The leases that are held say which run started it.
pub fn origin(held: impl FnOnce() -> Result<Vec<Held>, StoreError>) -> Box<Origin> {
    let started_by = match Ancestry::own() {
        Ancestry::Free => None,
        Ancestry::Started(chain) => {
            let drives = |held: &Held| {
                let pid = held.holder.as_ref().and_then(|holder| i32::try_from(holder.pid).ok());
                pid.is_some_and(|pid| chain.contains(&pid))
            };
            Some(match held().unwrap_or_default().into_iter().find(drives) {
                Some(held) => format!("a program that run `{}` started", held.run),
                None => "a program that Aye started".to_owned(),
            })
        }
        Ancestry::Unknown => Some("a program whose parent processes are not visible".to_owned()),
    };
    Box::new(Origin { namespaces: namespaces(), started_by, claimed: None })
}

/// The user's number outside of a user namespace that shows it as another.
/// Anyone can map one number for themselves; only an administrator of the
/// machine can make longer mappings, and those hold inside.
pub fn real_user() -> u32 {
    let here = rustix::process::getuid().as_raw();
    own().and_then(|own| outside(here, &own.user_map)).unwrap_or(here)
}

fn outside(here: u32, map: &str) -> Option<u32> {
    map.lines().find_map(|line| {
        let mut numbers = line.split_ascii_whitespace().map(|word| word.parse::<u32>().ok());
        let (inside, outside, count) = (numbers.next()??, numbers.next()??, numbers.next()??);
        (inside == here && count == 1).then_some(outside)
    })
}

#[cfg(test)]
mod tests {
    use super::outside;

    #[test]
    fn only_a_mapping_that_anybody_can_make_is_looked_through() {
        assert_eq!(outside(1001, "      1001       1000          1\n"), Some(1000));
        assert_eq!(outside(0, "0 1000 1\n1 100000 65536\n"), Some(1000), "a rootless container");
        assert_eq!(outside(7, "0 1000 1\n1 100000 65536\n"), None);
        assert_eq!(outside(0, "         0          0 4294967295\n"), None);
        assert_eq!(outside(0, ""), None);
    }
}
