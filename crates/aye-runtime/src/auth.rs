//! One-time codes: proof that the person who answers holds a second factor.
//!
//! The secret lives in a file of the user's own below the home directory. It
//! keeps out someone who only holds this terminal or an assistant that only
//! relays; it does not keep out a program that may read the user's files.

use std::fs;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use aye_core::input::{Input, Request};
use aye_core::machine::Machine;
use aye_core::text::World;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use totp_rs::{Builder, Secret, Totp};

use crate::error::Error;
use crate::people::PeopleFile;
use crate::private_file;

/// How long a code holds.
const PERIOD: u64 = 30;
/// After so many wrong codes in a row…
const TRIES: u32 = 5;
/// …none is looked at for so many seconds.
const REST: i64 = 60;

/// A user's second factor.
#[derive(Debug, Clone)]
pub struct Authenticator {
    path: PathBuf,
    user: String,
}

/// The file.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    /// Base32, as authenticator apps want it.
    secret: String,
    /// Whether a first code was right.
    confirmed: bool,
    /// The last period whose code was used: no code counts twice.
    used: u64,
    /// Wrong codes in a row, and when the last one came: guessing is slow.
    #[serde(default)]
    wrong: u32,
    #[serde(default)]
    wrong_at: Timestamp,
    since: Timestamp,
}

/// Why a code does not count.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// There is no second factor yet.
    #[error("no second factor is set up for `{0}`")]
    NotSetUp(String),
    /// A first code was right before.
    #[error("a second factor is set up for `{0}` already")]
    SetUp(String),
    /// Wrong, too old, or used before.
    #[error("the code is wrong, too old, or was used before")]
    Wrong,
    /// Too many wrong codes in a row.
    #[error("too many wrong codes in a row")]
    TooMany,
    /// The file cannot be used.
    #[error("cannot use `{}`: {message}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        message: String,
    },
}

impl AuthError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotSetUp(_) => {
                "`aye auth setup` shows a code for your authenticator app; `--person NAME` makes one \
                 for a person of the server"
            }
            Self::SetUp(_) => "`aye auth setup --replace CODE` replaces it",
            Self::TooMany => "wait a minute and try again",
            Self::Wrong => "wait for the next code; check that this machine's clock is right",
            Self::File { .. } => "remove the file and set it up again",
        }
    }
}

impl From<AuthError> for Error {
    fn from(error: AuthError) -> Self {
        Self::Refused { message: error.to_string(), hint: Some(error.hint().to_owned()) }
    }
}

/// An input as the core may have it: the one-time code of an answer is checked
/// and used up here, in the process that applies the answer, and goes no
/// further. One that would be refused anyway keeps its code.
pub fn spend_code(input: Input, machine: &Machine, home: &Path, world: &World) -> Input {
    let Input::Request(mut request) = input else { return input };
    let account = machine.code_wanted(&request, world);
    if let Request::Answer { answer, code, .. } = &mut request
        && let (Some(account), Some(code)) = (account, code.take())
    {
        match Authenticator::of(home, &account).check(&code, world.now) {
            Ok(()) => answer.reauth = true,
            Err(error) => answer.code_error = Some(format!("{error}; {}", error.hint())),
        }
    }
    Input::Request(request)
}

impl Authenticator {
    /// The second factor of `user`.
    pub fn new(home: &Path, user: &str) -> Self {
        // A user's name is not a path, whatever the system calls them.
        let safe: String =
            user.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        Self { path: home.join("auth").join(format!("{safe}.json")), user: user.to_owned() }
    }

    /// The second factor of the person who answers under this name. A person of the server
    /// without one of their own has that of the account that is theirs.
    pub fn of(home: &Path, name: &str) -> Self {
        let own = Self::new(home, name);
        if own.is_set_up() {
            return own;
        }
        // A file that cannot be read gives nobody another's factor.
        let people = PeopleFile::new(home).read().unwrap_or_default();
        let account = people.named(name).and_then(|person| person.account.as_deref());
        let account = account.map(|account| Self::new(home, account));
        account.filter(Self::is_set_up).unwrap_or(own)
    }

    /// Whether codes are asked for and can be checked.
    pub fn is_set_up(&self) -> bool {
        self.load().is_ok_and(|kept| kept.confirmed)
    }

    /// Makes a new secret; returns the address that authenticator apps read.
    pub fn set_up(&self, now: Timestamp) -> Result<String, AuthError> {
        let mut bytes = [0u8; 20];
        rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
            .map_err(|error| self.unusable(&error.to_string()))?;
        let secret = Secret::from(bytes).to_base32();
        let address = format!(
            "otpauth://totp/Aye:{user}?secret={secret}&issuer=Aye",
            user = self.user.replace(|c: char| !c.is_ascii_alphanumeric(), "_")
        );
        self.save(&Kept {
            secret,
            confirmed: false,
            used: 0,
            wrong: 0,
            wrong_at: now,
            since: now,
        })?;
        Ok(address)
    }

    /// A first right code proves that the app has the secret.
    pub fn confirm(&self, code: &str, now: Timestamp) -> Result<(), AuthError> {
        let _turn = self.take_turn()?;
        let mut kept = self.load()?;
        if kept.confirmed {
            return Err(AuthError::SetUp(self.user.clone()));
        }
        self.spend(&mut kept, code, now)?;
        kept.confirmed = true;
        self.save(&kept)
    }

    /// Checks a code; a right one is used up.
    pub fn check(&self, code: &str, now: Timestamp) -> Result<(), AuthError> {
        let _turn = self.take_turn()?;
        let mut kept = self.load()?;
        if !kept.confirmed {
            return Err(AuthError::NotSetUp(self.user.clone()));
        }
        self.spend(&mut kept, code, now)?;
        self.save(&kept)
    }

    /// One check after the other: of two processes with the same code only
    /// one may use it up, and guesses made side by side all count.
    fn take_turn(&self) -> Result<fs::File, AuthError> {
        let path = self.path.with_extension("lock");
        let open =
            fs::OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
        match open.and_then(|file| file.lock().map(|()| file)) {
            Ok(file) => Ok(file),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(AuthError::NotSetUp(self.user.clone()))
            }
            Err(error) => Err(self.unusable(&error.to_string())),
        }
    }

    /// Forgets the secret.
    pub fn remove(&self) -> Result<(), AuthError> {
        fs::remove_file(&self.path).map_err(|error| self.unusable(&error.to_string()))
    }

    fn spend(&self, kept: &mut Kept, code: &str, now: Timestamp) -> Result<(), AuthError> {
        let totp = self.totp(&kept.secret)?;
        let seconds = u64::try_from(now.as_second()).unwrap_or(0);
        let code: String = code.chars().filter(|c| !c.is_whitespace()).collect();
        let waited = now.as_second() - kept.wrong_at.as_second();
        if kept.wrong >= TRIES && waited < REST {
            return Err(AuthError::TooMany);
        }
        match totp.check(&code, seconds).filter(|period| *period > kept.used) {
            Some(period) => {
                kept.used = period;
                kept.wrong = 0;
            }
            None => {
                kept.wrong = if waited < REST { kept.wrong + 1 } else { 1 };
                kept.wrong_at = now;
                self.save(kept)?;
                return Err(AuthError::Wrong);
            }
        }
        Ok(())
    }

    fn totp(&self, secret: &str) -> Result<Totp, AuthError> {
        let secret =
            Secret::try_from_base32(secret).map_err(|error| self.unusable(&error.to_string()))?;
        // One period to either side, for clocks that differ and slow fingers.
        Builder::new()
            .with_secret(secret)
            .with_skew(1)
            .with_step_duration(PERIOD)
            .build()
            .map_err(|error| self.unusable(&error.to_string()))
    }

    fn load(&self) -> Result<Kept, AuthError> {
        let read = private_file::read(&self.path);
        let read = read.map_err(|error| self.unusable(&error.to_string()))?;
        let text = read.ok_or_else(|| AuthError::NotSetUp(self.user.clone()))?;
        serde_json::from_str(&text).map_err(|error| self.unusable(&error.to_string()))
    }

    fn save(&self, kept: &Kept) -> Result<(), AuthError> {
        let text = serde_json::to_string(kept).unwrap_or_default();
        private_file::write(&self.path, text.as_bytes())
            .map_err(|error| self.unusable(&error.to_string()))
    }

    fn unusable(&self, message: &str) -> AuthError {
        AuthError::File { path: self.path.clone(), message: message.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a moment")
    }

    /// The code an app would show.
    fn code_at(authenticator: &Authenticator, now: Timestamp) -> String {
        let kept = authenticator.load().expect("it is set up");
        let totp = authenticator.totp(&kept.secret).expect("the secret is sound");
        totp.generate(u64::try_from(now.as_second()).expect("after 1970")).to_string()
    }

    #[test]
    fn a_code_counts_once_and_only_in_its_time() {
        let home = tempfile::tempdir().expect("a directory");
        let authenticator = Authenticator::new(home.path(), "ann");
        let now = moment(1_800_000_000);
        assert!(matches!(authenticator.check("123456", now), Err(AuthError::NotSetUp(_))));
        let address = authenticator.set_up(now).expect("it can be set up");
        assert!(address.starts_with("otpauth://totp/Aye:ann?secret="), "{address}");
        assert!(!authenticator.is_set_up(), "a first code is needed");
        let first = code_at(&authenticator, now);
        authenticator.confirm(&first, now).expect("the first code is right");
        assert!(authenticator.is_set_up());
        assert!(matches!(authenticator.check(&first, now), Err(AuthError::Wrong)), "used up");

        let later = moment(1_800_000_060);
        let second = code_at(&authenticator, later);
        assert!(matches!(authenticator.check("000000", later), Err(AuthError::Wrong)));
        authenticator.check(&second, later).expect("the next code is right");
        assert!(matches!(authenticator.check(&second, later), Err(AuthError::Wrong)), "used up");
        let old = code_at(&authenticator, moment(1_800_000_120));
        let too_late = moment(1_800_000_400);
        assert!(matches!(authenticator.check(&old, too_late), Err(AuthError::Wrong)));
    }

    #[test]
    fn checks_side_by_side_take_turns() {
        let home = tempfile::tempdir().expect("a directory");
        let authenticator = Authenticator::new(home.path(), "ann");
        let now = moment(1_800_000_000);
        authenticator.set_up(now).expect("it can be set up");
        authenticator.confirm(&code_at(&authenticator, now), now).expect("the code is right");
        let later = moment(1_800_000_060);
        let right = code_at(&authenticator, later);
        let try_all = |code: &str| -> Vec<Result<(), AuthError>> {
            std::thread::scope(|scope| {
                let tries: Vec<_> =
                    (0..16).map(|_| scope.spawn(|| authenticator.check(code, later))).collect();
                tries.into_iter().map(|one| one.join().expect("no panic")).collect()
            })
        };
        let used = try_all(&right).iter().filter(|result| result.is_ok()).count();
        assert_eq!(used, 1, "a code counts once");
        let much_later = moment(1_800_001_000);
        authenticator.check(&code_at(&authenticator, much_later), much_later).expect("right");
        let guesses = try_all("000000");
        let looked_at = guesses.iter().filter(|r| matches!(r, Err(AuthError::Wrong))).count();
        assert!(looked_at <= 5, "{looked_at} guesses were looked at");
    }

    #[test]
    fn the_file_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().expect("a directory");
        let authenticator = Authenticator::new(home.path(), "../../etc/passwd");
        authenticator.set_up(moment(1_800_000_000)).expect("it can be set up");
        let path = home.path().join("auth/______etc_passwd.json");
        let mode = fs::metadata(&path).expect("the file is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
