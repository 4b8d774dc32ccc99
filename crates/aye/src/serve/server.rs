//! What every connection shares.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use aye_core::digest::digest;
use aye_core::digest::is_same;
use aye_runtime::announced_server;
use aye_runtime::error::Error;
use aye_runtime::people::{People, PeopleFile, Right};
use aye_runtime::runtime::Runtime;
use aye_runtime::usecases::{JournalReader, QuestionRow, RunRow};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::clients::Clients;
use super::hub::Hub;
use super::identity::{Access, Identity};
use super::limits::Limits;
use super::metrics::Metrics;
use super::problem::{Code, Problem};
use super::rate::Rates;
use super::start_queue::StartQueue;

/// How many logs are followed at once.
const FOLLOWERS: usize = 128;

/// The server's world.
pub(super) struct Server {
    pub(super) runtime: Arc<Runtime>,
    pub(super) hub: Hub,
    pub(super) clients: Clients,
    pub(super) metrics: Metrics,
    pub(super) rates: Rates,
    pub(super) starts: StartQueue,
    pub(super) limits: Limits,
    /// Where it is, as clients write it.
    pub(super) place: Place,
    followers: Arc<Semaphore>,
    token: String,
    user: String,
    people: PeopleFile,
    read: Mutex<Option<(Option<Stamp>, Arc<People>)>>,
}

/// Where the server is.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// `http` or `https`.
    pub(super) scheme: &'static str,
    /// What `Host` may say, with the port.
    pub(super) hosts: Vec<String>,
    /// Its address, as it is printed.
    pub(super) url: String,
}

/// Tells one state of a file from another.
type Stamp = (SystemTime, u64, u64);

impl Server {
    pub(super) fn new(runtime: Arc<Runtime>, place: Place, token: String) -> Result<Self, Error> {
        let people = PeopleFile::new(&runtime.home);
        Ok(Self {
            hub: Hub::start(Arc::clone(&runtime))?,
            limits: Limits::of(&runtime.env),
            user: runtime.driver().user,
            people,
            runtime,
            clients: Clients::default(),
            metrics: Metrics::default(),
            rates: Rates::default(),
            starts: StartQueue::default(),
            place,
            followers: Arc::new(Semaphore::new(FOLLOWERS)),
            token,
            read: Mutex::default(),
        })
    }

    /// Does something that waits, away from the connections.
    pub(super) async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let server = Arc::clone(self);
        match tokio::task::spawn_blocking(move || work(&server)).await {
            Ok(done) => done,
            Err(_) => Err(Problem::new(Code::Internal, "the request could not be carried out")),
        }
    }

    /// A place among those who follow logs: each takes a thread.
    pub(super) fn follower(&self) -> Result<OwnedSemaphorePermit, Problem> {
        Arc::clone(&self.followers)
            .try_acquire_owned()
            .map_err(|_| Problem::new(Code::Unavailable, "too many clients follow logs"))
    }

    /// All people, as they are now. The file is read again when it has changed.
    pub(super) fn people(&self) -> Result<Arc<People>, Problem> {
        let stamp = stamp(self.people.path());
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        match &*read {
            Some((known, people)) if *known == stamp => Ok(Arc::clone(people)),
            _ => {
                let people = Arc::new(self.people.read()?);
                *read = Some((stamp, Arc::clone(&people)));
                Ok(people)
            }
        }
    }

    /// Proves to a client that this is the server of `serve.json`.
    pub(super) fn proof(&self, challenge: &str) -> Option<String> {
        announced_server::proof(&self.token, &self.place.url, challenge)
    }

    /// Where people are kept.
    pub(super) fn people_file(&self) -> &PeopleFile {
        &self.people
    }

    /// Whose token this is.
    pub(super) fn of_token(&self, token: &str) -> Result<Option<Identity>, Problem> {
        let people = self.people()?;
        if is_same(token.as_bytes(), self.token.as_bytes()) {
            return Ok(Some(self.local(&people, Access::ServerToken)));
        }
        let access = Access::Token(digest(&[token.as_bytes()]));
        Ok(people.of_token(token).map(|person| Identity::of(person, access)))
    }

    /// Whose session this is.
    pub(super) fn of_session(
        &self,
        cookie: &str,
        secret: &str,
    ) -> Result<Option<Identity>, Problem> {
        let people = self.people()?;
        let Some((owner, device)) = people.of_session(cookie, secret) else { return Ok(None) };
        Ok(self.of_owner(&people, owner, device))
    }

    pub(super) fn of_owner(
        &self,
        people: &People,
        owner: &aye_runtime::people::Owner,
        device: &str,
    ) -> Option<Identity> {
        let access = Access::Session { device: device.to_owned() };
        match owner {
            aye_runtime::people::Owner::Local => Some(self.local(people, access)),
            aye_runtime::people::Owner::Person(name) => {
                people.named(name).map(|person| Identity::of(person, access))
            }
        }
    }

    /// Whose account of the operating system this is.
    pub(super) fn of_account(&self, account: &str) -> Result<Option<Identity>, Problem> {
        let people = self.people()?;
        if account == self.user {
            return Ok(Some(self.local(&people, Access::Account)));
        }
        Ok(people.of_account(account).map(|person| Identity::of(person, Access::Account)))
    }

    fn local(&self, people: &People, access: Access) -> Identity {
        Identity::local(&self.user, people.of_account(&self.user), access)
    }

    /// The same identity as it is now; `None` once it was revoked.
    pub(super) fn renewed(&self, identity: &Identity) -> Option<Identity> {
        let people = self.people().ok()?;
        match &identity.access {
            Access::ServerToken => Some(self.local(&people, Access::ServerToken)),
            Access::Session { device } if people.has_device(device) => {
                self.of_owner(&people, &identity.owner(), device)
            }
            Access::Session { .. } => None,
            Access::Token(_) => {
                // A new token takes the place of the old one; who has the old one has to go.
                people
                    .named(&identity.name)
                    .filter(|person| identity.is_version_of(person))
                    .map(|person| Identity::of(person, identity.access.clone()))
            }
            Access::Account if identity.is_local() => Some(self.local(&people, Access::Account)),
            Access::Account => people
                .named(&identity.name)
                .filter(|person| identity.has_account_of(person))
                .map(|person| Identity::of(person, identity.access.clone())),
        }
    }

    /// The journal, to read.
    pub(super) fn journal(&self) -> Result<JournalReader, Problem> {
        Ok(self.runtime.journal()?)
    }

    /// A run that this person may see.
    pub(super) fn run(
        &self,
        journal: &JournalReader,
        name: &str,
        identity: &Identity,
    ) -> Result<RunRow, Problem> {
        // Anyone who does not see every project does not hear which other runs there are.
        let row = match journal.find_run(name) {
            Err(_) if !identity.projects().is_empty() => {
                return Err(Problem::not_found("run", name));
            }
            found => found?,
        };
        match identity.sees(Path::new(&row.workspace)) {
            true => Ok(row),
            false => Err(Problem::not_found("run", name)),
        }
    }

    /// A question that this person may see.
    pub(super) fn question(
        &self,
        journal: &JournalReader,
        name: &str,
        identity: &Identity,
    ) -> Result<QuestionRow, Problem> {
        let row = match journal.find_question(name) {
            Err(_) if !identity.projects().is_empty() => {
                return Err(Problem::not_found("question", name));
            }
            found => found?,
        };
        let run = journal.run(&row.run)?;
        match run.is_some_and(|run| identity.sees(Path::new(&run.workspace))) {
            true => Ok(row),
            false => Err(Problem::not_found("question", name)),
        }
    }

    /// The projects that this person sees, with whether each is trusted: the one
    /// the server was started in, then the trusted ones.
    pub(super) fn projects(&self, identity: &Identity) -> Result<Vec<(PathBuf, bool)>, Problem> {
        let file = self.runtime.trust_file();
        let trusted = file.all().map_err(Error::from)?;
        let here = file.root().to_owned();
        let is_trusted = |root: &Path| root.to_str().is_some_and(|root| trusted.contains_key(root));
        let mut projects = vec![(here.clone(), is_trusted(&here))];
        let others = trusted.keys().map(PathBuf::from).filter(|root| *root != here);
        projects.extend(others.map(|root| (root, true)));
        projects.retain(|(root, _)| identity.sees(root));
        Ok(projects)
    }

    /// A runtime in the project that is meant: the one that was named, or the
    /// only one that has the skill.
    pub(super) fn project_of(
        &self,
        skill: &str,
        project: Option<&str>,
        identity: &Identity,
    ) -> Result<Runtime, Problem> {
        let projects = self.projects(identity)?;
        if let Some(wanted) = project {
            let wanted_path = Path::new(wanted);
            let found = projects.iter().find(|(root, _)| root == wanted_path);
            let (root, _) = found.ok_or_else(|| Problem::not_found("project", wanted))?;
            return Ok(self.runtime.served_at(root)?);
        }
        let mut error = None;
        for (root, _) in &projects {
            let runtime = self.runtime.served_at(root)?;
            let found = runtime.library().find(skill).map(|_| ());
            match found {
                Ok(()) => return Ok(runtime),
                Err(failed) => error = error.or(Some(failed)),
            }
        }
        Err(error.map_or_else(|| Problem::not_found("skill", skill), Into::into))
    }

    /// Whether someone may change something now: they have the right and did not send too
    /// much. Whether a project is trusted is asked by what runs something of it.
    pub(super) fn must_act(&self, identity: &Identity, right: Right) -> Result<(), Problem> {
        identity.must(right)?;
        match self.rates.lets_change(&identity.name, std::time::Instant::now()) {
            true => Ok(()),
            false => Err(Problem::new(Code::RateLimited, "too many requests; wait a second")),
        }
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    use std::os::unix::fs::MetadataExt as _;
    let about = std::fs::metadata(path).ok()?;
    Some((about.modified().ok()?, about.ino(), about.len()))
}
