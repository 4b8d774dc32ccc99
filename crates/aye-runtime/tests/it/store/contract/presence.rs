//! Where questions are shown.

use std::time::Duration;

use aye_core::id::{QuestionId, RunId};
use aye_runtime::store::{LIFETIME, PresenceKind, Showing, ShowingProcess, Shown};
use jiff::{SignedDuration, Timestamp};

use super::{Kept, Place, ensure};
use crate::store::sample::moment;

fn process(name: &str) -> ShowingProcess {
    ShowingProcess { name: name.to_owned(), pid: 7 }
}

fn showing(question: &str, kind: PresenceKind, client: &str) -> Showing {
    Showing { question: QuestionId::from_text(question), kind, client: client.to_owned() }
}

fn brief(shown: &[Shown]) -> Vec<(&str, &str, Timestamp)> {
    shown.iter().map(|one| (one.kind.word(), one.client.as_str(), one.since)).collect()
}

pub(super) fn is_known(place: &dyn Place) -> Kept {
    let (mut server, mut driver, reader) = (place.open(), place.open(), place.open());
    let question = QuestionId::from_text("abcdefgh12-1");
    let page = showing("abcdefgh12-1", PresenceKind::Page, "ann");
    let other = showing("abcdefgh12-2", PresenceKind::Editor, "ann");
    server.shows(&process("server"), &[page.clone(), other.clone()], moment(1_000))?;
    let terminal = showing("abcdefgh12-1", PresenceKind::Terminal, "bob");
    driver.shows(&process("driver"), &[terminal], moment(2_000))?;
    // Said again, it is still shown since the first time.
    server.shows(&process("server"), &[other, page], moment(3_000))?;
    let shown = reader.shown(&question, moment(4_000))?;
    let expected = [("page", "ann", moment(1_000)), ("terminal", "bob", moment(2_000))];
    ensure!(brief(&shown) == expected, "not what is shown: {shown:?}");
    ensure!(shown[0].until == moment(3_000) + LIFETIME && shown[0].pid == 7, "{shown:?}");
    Ok(())
}

pub(super) fn ends(place: &dyn Place) -> Kept {
    let (mut server, reader) = (place.open(), place.open());
    let question = QuestionId::from_text("abcdefgh12-1");
    let page = showing("abcdefgh12-1", PresenceKind::Page, "ann");
    let again = moment(1_000) + LIFETIME + SignedDuration::from_millis(1);
    server.shows(&process("server"), std::slice::from_ref(&page), moment(1_000))?;
    ensure!(reader.shown(&question, again)?.is_empty(), "a silent process still shows it");
    // After a break it is shown since then.
    server.shows(&process("server"), std::slice::from_ref(&page), again)?;
    let shown = reader.shown(&question, again)?;
    ensure!(brief(&shown) == [("page", "ann", again)], "{shown:?}");
    server.shows(&process("other"), &[], again)?;
    ensure!(reader.shown(&question, again)?.len() == 1, "another process took it away");
    server.shows(&process("server"), &[], again)?;
    ensure!(reader.shown(&question, again)?.is_empty(), "it was taken away");
    Ok(())
}

pub(super) fn wakes(place: &dyn Place) -> Kept {
    let (mut server, driver) = (place.open(), place.open());
    let page = showing("abcdefgh12-1", PresenceKind::Page, "ann");
    let mut listener = driver.listen_for_requests(&RunId::new("abcdefgh12")?)?;
    server.shows(&process("server"), std::slice::from_ref(&page), moment(1_000))?;
    ensure!(listener.wait(Duration::from_secs(10))?, "a driver did not hear of it");
    server.shows(&process("server"), &[page], moment(2_000))?;
    ensure!(!listener.wait(Duration::from_millis(50))?, "a driver heard of what it knew");
    Ok(())
}
