//! Everyone who may use the server, for the account it runs as.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use aye_runtime::people::{Device, Owner, Person};
use schemars::JsonSchema;
use serde::Serialize;

use crate::serve::guard::must_be_local;
use crate::serve::identity::Identity;
use crate::serve::server::Server;

use super::reply::{Reply, reply};
use super::session::DeviceView;

/// A person.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PersonView {
    /// The name that answers carry.
    name: String,
    /// What they may do.
    rights: Vec<String>,
    /// The projects they see; none means all.
    projects: Vec<String>,
    /// The account of the operating system that is theirs.
    account: Option<String>,
    /// Since when.
    added: jiff::Timestamp,
    /// Their devices.
    devices: Vec<DeviceView>,
}

/// People, by name.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PeopleView {
    people: Vec<PersonView>,
}

impl PersonView {
    fn of(person: &Person, devices: &[Device]) -> Self {
        let owner = Owner::Person(person.name.clone());
        Self {
            name: person.name.clone(),
            rights: person.rights.iter().map(|right| right.word().to_owned()).collect(),
            projects: person.projects.iter().map(|root| root.display().to_string()).collect(),
            account: person.account.clone(),
            added: person.added,
            devices: devices.iter().filter(|one| one.owner == owner).map(DeviceView::of).collect(),
        }
    }
}

/// `GET /api/v1/people`
pub(super) async fn list(
    State(server): State<Arc<Server>>,
    Extension(identity): Extension<Identity>,
) -> Reply<PeopleView> {
    must_be_local(&identity)?;
    reply(&server, |server| {
        let (people, devices) = (server.people()?, server.people_file().devices()?);
        let people = people.all().map(|person| PersonView::of(person, &devices)).collect();
        Ok(PeopleView { people })
    })
    .await
}
