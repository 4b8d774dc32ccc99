//! The file with people, links and devices.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::fmt::escape_control_line;
use crate::private_file;

use super::person::{NewPerson, Owner, People, Person};
use super::secret::{kept, new_secret};

/// How long a link can be redeemed.
const LINK: SignedDuration = SignedDuration::from_hours(24);
/// How many devices a person may have; with one more the oldest is signed out.
const DEVICES: usize = 20;
/// The longest name.
const LONGEST: usize = 64;

/// People of one `AYE_HOME`.
#[derive(Debug, Clone)]
pub struct PeopleFile {
    path: PathBuf,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    #[serde(default)]
    people: BTreeMap<String, Person>,
    #[serde(default)]
    links: Vec<KeptLink>,
    #[serde(default)]
    devices: Vec<KeptDevice>,
}

#[derive(Debug, Serialize, Deserialize)]
struct KeptLink {
    link: String,
    owner: Owner,
    expires: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeptDevice {
    pub(super) id: String,
    pub(super) owner: Owner,
    pub(super) cookie: String,
    pub(super) secret: String,
    label: String,
    since: Timestamp,
}

/// What a new person is told, once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The secret of a link that signs in one device.
    pub link: String,
    /// The token for programs.
    pub token: String,
}

/// What a device keeps once it has redeemed a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedIn {
    /// Whose it is.
    pub owner: Owner,
    /// The device.
    pub device: String,
    /// What both halves of the session are.
    pub session: Session,
}

/// The two halves of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// For the cookie.
    pub cookie: String,
    /// For the storage of the origin: sent in a header.
    pub secret: String,
}

/// A device: a browser that is signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// To sign it out with.
    pub id: String,
    /// Whose it is.
    pub owner: Owner,
    /// What it called itself.
    pub label: String,
    /// Since when.
    pub since: Timestamp,
}

/// Why people could not be changed.
#[derive(Debug, thiserror::Error)]
pub enum PeopleError {
    /// A name that would be mistaken for something else.
    #[error("`{0}` cannot be a person's name")]
    BadName(String),
    /// Someone is called that.
    #[error("there is a person `{0}` already")]
    Exists(String),
    /// Nobody is called that.
    #[error("there is no person `{0}`")]
    NotFound(String),
    /// The account is someone else's.
    #[error("account `{account}` is `{person}`")]
    AccountTaken {
        /// The account.
        account: String,
        /// Whose it is.
        person: String,
    },
    /// There is no such device.
    #[error("there is no device `{0}`")]
    NoDevice(String),
    /// The link was redeemed, has expired, or never was one.
    #[error("the link was used before or has expired")]
    DeadLink,
    /// The file cannot be used.
    #[error("cannot use `{}`: {message}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        message: String,
    },
}

impl PeopleError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::BadName(_) => {
                "letters, digits, `-` and `_`, beginning with a letter; at most 64 of them"
            }
            Self::Exists(_) => "`aye people list` shows everyone; `aye people remove` removes one",
            Self::NotFound(_) => "`aye people list` shows everyone",
            Self::AccountTaken { .. } => "an account belongs to one person",
            Self::NoDevice(_) => "`aye people list` shows the devices",
            Self::DeadLink => "ask for a new one: `aye people link NAME`, or `aye serve open`",
            Self::File { .. } => "correct the file, or move it away to start over",
        }
    }
}

impl From<PeopleError> for Error {
    fn from(error: PeopleError) -> Self {
        let hint = Some(error.hint().to_owned());
        let message = error.to_string();
        match error {
            PeopleError::BadName(_) => Self::Usage { message, hint },
            PeopleError::NotFound(_) | PeopleError::NoDevice(_) => Self::NotFound { message, hint },
            PeopleError::Exists(_)
            | PeopleError::AccountTaken { .. }
            | PeopleError::DeadLink
            | PeopleError::File { .. } => Self::Refused { message, hint },
        }
    }
}

impl PeopleFile {
    /// The people of this home.
    pub fn new(home: &Path) -> Self {
        Self { path: home.join("people.json") }
    }

    /// Where they are kept.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All people, as they are now.
    pub fn read(&self) -> Result<People, PeopleError> {
        let Kept { people, devices, .. } = self.load()?;
        Ok(People { people, devices })
    }

    /// Every device that is signed in.
    pub fn devices(&self) -> Result<Vec<Device>, PeopleError> {
        let device = |kept: KeptDevice| Device {
            id: kept.id,
            owner: kept.owner,
            label: kept.label,
            since: kept.since,
        };
        Ok(self.load()?.devices.into_iter().map(device).collect())
    }

    /// Whether this can be the name of a person.
    ///
    /// # Errors
    /// When it cannot.
    pub fn check_name(name: &str) -> Result<(), PeopleError> {
        match is_name(name) {
            true => Ok(()),
            false => Err(PeopleError::BadName(escape_control_line(name))),
        }
    }

    /// Adds a person, with a link and a token. `user` is the account that the
    /// server runs as: its name and codes are its own.
    pub fn add(
        &self,
        new: NewPerson,
        user: &str,
        now: Timestamp,
    ) -> Result<Credentials, PeopleError> {
        Self::check_name(&new.name)?;
        let credentials = Credentials { link: self.secret()?, token: self.secret()? };
        self.change(|contents| {
            let alike = |name: &str| file_name(name) == file_name(&new.name);
            if let Some(name) = contents.people.keys().find(|name| alike(name)) {
                return Err(PeopleError::Exists(name.clone()));
            }
            // Codes are kept by name: those of the account are nobody else's.
            if alike(user) && new.account.as_deref() != Some(user) {
                return Err(PeopleError::Exists(user.to_owned()));
            }
            let taken =
                |person: &&Person| person.account.is_some() && person.account == new.account;
            if let Some(person) = contents.people.values().find(taken) {
                let account = new.account.clone().unwrap_or_default();
                return Err(PeopleError::AccountTaken { account, person: person.name.clone() });
            }
            let NewPerson { name, mut rights, projects, account } = new;
            rights.sort_unstable();
            rights.dedup();
            let tokens = vec![kept(&credentials.token)];
            let person =
                Person { name: name.clone(), rights, projects, account, added: now, tokens };
            contents.people.insert(name.clone(), person);
            contents.link(&credentials.link, Owner::Person(name), now);
            Ok(())
        })?;
        Ok(credentials)
    }

    /// Removes a person; their token, links and devices stop working.
    pub fn remove(&self, name: &str) -> Result<(), PeopleError> {
        self.change(|contents| {
            if contents.people.remove(name).is_none() {
                return Err(PeopleError::NotFound(escape_control_line(name)));
            }
            contents.forget(&Owner::Person(name.to_owned()));
            Ok(())
        })
    }

    /// Takes every token, link and device of a person away and gives them a new
    /// token and a new link.
    pub fn revoke(&self, name: &str, now: Timestamp) -> Result<Credentials, PeopleError> {
        let credentials = Credentials { link: self.secret()?, token: self.secret()? };
        self.change(|contents| {
            let owner = Owner::Person(name.to_owned());
            let Some(person) = contents.people.get_mut(name) else {
                return Err(PeopleError::NotFound(escape_control_line(name)));
            };
            person.tokens = vec![kept(&credentials.token)];
            contents.forget(&owner);
            contents.link(&credentials.link, owner, now);
            Ok(())
        })?;
        Ok(credentials)
    }

    /// Signs one device out.
    pub fn sign_out(&self, device: &str) -> Result<(), PeopleError> {
        self.change(|contents| {
            let before = contents.devices.len();
            contents.devices.retain(|kept| kept.id != device);
            match contents.devices.len() == before {
                true => Err(PeopleError::NoDevice(escape_control_line(device))),
                false => Ok(()),
            }
        })
    }

    /// A new link that signs in one device.
    pub fn new_link(&self, owner: Owner, now: Timestamp) -> Result<String, PeopleError> {
        let link = self.secret()?;
        self.change(|contents| {
            if let Owner::Person(name) = &owner
                && !contents.people.contains_key(name)
            {
                return Err(PeopleError::NotFound(escape_control_line(name)));
            }
            contents.link(&link, owner, now);
            Ok(())
        })?;
        Ok(link)
    }

    /// Signs in a device with a link, which works once.
    pub fn redeem(&self, link: &str, label: &str, now: Timestamp) -> Result<SignedIn, PeopleError> {
        let session = Session { cookie: self.secret()?, secret: self.secret()? };
        let device: String = self.secret()?.chars().take(12).collect();
        let mut owner = None;
        self.change(|contents| {
            contents.links.retain(|link| link.expires > now);
            let wanted = kept(link);
            let found = contents.links.iter().position(|link| link.link == wanted);
            let redeemed = contents.links.remove(found.ok_or(PeopleError::DeadLink)?);
            contents.devices.push(KeptDevice {
                id: device.clone(),
                owner: redeemed.owner.clone(),
                cookie: kept(&session.cookie),
                secret: kept(&session.secret),
                label: label.chars().take(200).collect(),
                since: now,
            });
            contents.limit_devices(&redeemed.owner);
            owner = Some(redeemed.owner);
            Ok(())
        })?;
        let owner = owner.ok_or(PeopleError::DeadLink)?;
        Ok(SignedIn { owner, device, session })
    }

    fn secret(&self) -> Result<String, PeopleError> {
        new_secret().map_err(|error| self.unusable(&error))
    }

    fn load(&self) -> Result<Kept, PeopleError> {
        let read = private_file::read(&self.path).map_err(|error| self.unusable(&error))?;
        let Some(text) = read else { return Ok(Kept::default()) };
        let mut contents: Kept =
            serde_json::from_str(&text).map_err(|error| self.unusable(&error))?;
        for (name, person) in &mut contents.people {
            person.name.clone_from(name);
        }
        Ok(contents)
    }

    /// Reads, changes and writes under a lock: two processes lose nothing.
    fn change(
        &self,
        change: impl FnOnce(&mut Kept) -> Result<(), PeopleError>,
    ) -> Result<(), PeopleError> {
        let failed = |error: std::io::Error| self.unusable(&error);
        let _lock = private_file::lock(&self.path).map_err(failed)?;
        let mut contents = self.load()?;
        change(&mut contents)?;
        let text = serde_json::to_string_pretty(&contents).unwrap_or_default();
        private_file::write(&self.path, text.as_bytes()).map_err(failed)
    }

    fn unusable(&self, error: &dyn std::fmt::Display) -> PeopleError {
        PeopleError::File { path: self.path.clone(), message: error.to_string() }
    }
}

impl Kept {
    fn link(&mut self, link: &str, owner: Owner, now: Timestamp) {
        self.links.retain(|link| link.expires > now);
        let expires = now.checked_add(LINK).unwrap_or(now);
        self.links.push(KeptLink { link: kept(link), owner, expires });
    }

    fn forget(&mut self, owner: &Owner) {
        self.links.retain(|link| link.owner != *owner);
        self.devices.retain(|device| device.owner != *owner);
    }

    fn limit_devices(&mut self, owner: &Owner) {
        let own = self.devices.iter().filter(|device| device.owner == *owner).count();
        let mut surplus = own.saturating_sub(DEVICES);
        self.devices.retain(|device| {
            let goes = surplus > 0 && device.owner == *owner;
            surplus -= usize::from(goes);
            !goes
        });
    }
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    name.len() <= LONGEST
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(plain)
}

/// One-time codes are kept in a file that is named after the person.
fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::people::Right;

    fn moment(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a moment")
    }

    fn person(name: &str) -> NewPerson {
        let (rights, projects) = (vec![Right::Answer], Vec::new());
        NewPerson { name: name.to_owned(), rights, projects, account: None }
    }

    #[test]
    fn a_link_signs_one_browser_in_once() {
        let home = tempfile::tempdir().expect("a directory");
        let file = PeopleFile::new(home.path());
        let now = moment(1_800_000_000);
        let told = file.add(person("ann"), "root", now).expect("added");
        let signed = file.redeem(&told.link, "Firefox", now).expect("it is new");
        assert!(matches!(file.redeem(&told.link, "x", now), Err(PeopleError::DeadLink)));
        let people = file.read().expect("readable");
        let Session { cookie, secret } = &signed.session;
        let owner = Owner::Person("ann".to_owned());
        assert_eq!(people.of_session(cookie, secret), Some((&owner, signed.device.as_str())));
        assert_eq!(people.of_session(cookie, cookie), None, "the cookie alone is not enough");
        assert_eq!(people.of_session(secret, secret), None);
        let late = file.new_link(owner, now).expect("a link");
        assert!(matches!(
            file.redeem(&late, "x", moment(1_800_100_000)),
            Err(PeopleError::DeadLink)
        ));
        file.sign_out(&signed.device).expect("signed out");
        assert_eq!(file.read().expect("readable").of_session(cookie, secret), None);
    }

    #[test]
    fn what_is_revoked_counts_no_more() {
        let home = tempfile::tempdir().expect("a directory");
        let file = PeopleFile::new(home.path());
        let now = moment(1_800_000_000);
        let first = file.add(person("ann"), "root", now).expect("added");
        let second = file.revoke("ann", now).expect("revoked");
        let people = file.read().expect("readable");
        assert!(people.of_token(&first.token).is_none());
        assert_eq!(people.of_token(&second.token).map(|one| one.name.as_str()), Some("ann"));
        assert!(matches!(file.redeem(&first.link, "x", now), Err(PeopleError::DeadLink)));
        file.remove("ann").expect("removed");
        assert!(file.read().expect("readable").of_token(&second.token).is_none());
        assert!(matches!(file.redeem(&second.link, "x", now), Err(PeopleError::DeadLink)));
    }

    #[test]
    fn names_are_plain_and_nobody_has_the_codes_of_another() {
        let home = tempfile::tempdir().expect("a directory");
        let file = PeopleFile::new(home.path());
        let now = moment(1_800_000_000);
        for bad in ["", "../x", "a b", "1a", "a\u{202e}", &"a".repeat(65)] {
            assert!(matches!(file.add(person(bad), "root", now), Err(PeopleError::BadName(_))));
        }
        file.add(person("a-b"), "root", now).expect("added");
        for taken in ["a-b", "a_b", "root"] {
            let added = file.add(person(taken), "root", now);
            assert!(matches!(added, Err(PeopleError::Exists(_))), "{taken}");
        }
    }

    #[test]
    fn nothing_secret_is_in_the_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().expect("a directory");
        let file = PeopleFile::new(home.path());
        let now = moment(1_800_000_000);
        let told = file.add(person("ann"), "root", now).expect("added");
        let signed = file.redeem(&told.link, "x", now).expect("it is new");
        let text = std::fs::read_to_string(file.path()).expect("text");
        let Session { cookie, secret } = signed.session;
        for hidden in [told.link, told.token, cookie, secret] {
            assert!(!text.contains(&hidden), "{text}");
        }
        let mode = std::fs::metadata(file.path()).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
