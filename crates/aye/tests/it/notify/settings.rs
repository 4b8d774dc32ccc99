//! What can be written wrongly, and whose channels count.

use super::receiver::Receiver;
use super::{messages, place_with};
use crate::cli::harness::Place;

#[track_caller]
fn refused(config: &str, words: &[&str]) {
    let place = place_with(config);
    let ran = place.aye(&["run", "gate", "--no-input"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    for word in words {
        assert!(ran.stderr.contains(word), "{word}: {}", ran.all());
    }
}

#[test]
fn what_is_written_wrongly_is_refused_with_what_to_write() {
    refused("[notify.a]\non = [\"question\"]\n", &["needs a `kind`", "`webhook`"]);
    refused("[notify.a]\nkind = \"sms\"\n", &["not a kind of channel", "`ntfy`"]);
    refused("[notify.a]\nkind = \"webhook\"\n", &["needs `url`"]);
    refused("[notify.a]\nkind = \"webhook\"\nurl = \"http://example.com\"\n", &["not encrypted"]);
    refused(
        "[notify.a]\nkind = \"webhook\"\nurl = \"https://u:p@x.com\"\n",
        &["a user or password"],
    );
    refused(
        "[notify.a]\nkind = \"command\"\ncommand = [\"x\"]\non = [\"sometimes\"]\n",
        &["`sometimes` is not an event", "`expiring`"],
    );
    refused(
        "[notify.a]\nkind = \"command\"\ncommand = [\"x\"]\nquiet = \"at night\"\n",
        &["hours of a day", "22:00-07:00"],
    );
    refused(
        "[notify.a]\nkind = \"command\"\ncommand = [\"x\"]\ntopic = \"x\"\n",
        &["`topic` is not for `kind = \"command\"`"],
    );
    refused(
        "[notify.a]\nkind = \"command\"\ncommand = [\"x\"]\nescalate = { after = \"5m\", to = \"b\" }\n",
        &["no channel `b`"],
    );
    refused("[notify.a]\nkind = \"ntfy\"\ntopic = \"a/b\"\n", &["not a topic of ntfy"]);
    refused(
        "[notify.a]\nkind = \"webhook\"\nurl = \"https://x.com\"\nsecret = { envv = \"A\" }\n",
        &["`secret` is a text, or says where it is read", "{ env = \"NAME\" }"],
    );
    refused(
        "[notify.a]\nkind = \"webhook\"\nurl = \"https://x.com\"\nbody = \"{{ a \"\n",
        &["is not a template"],
    );
    refused(
        "[notify.a]\nkind = \"email\"\nserver = \"mail.example.com\"\nfrom = \"aye\"\nto = [\"a@b.c\"]\n",
        &["`aye` is not a mail address"],
    );
    refused(
        "[notify.a]\nkind = \"email\"\nserver = \"mail.example.com\"\ntls = \"none\"\nfrom = \"a@b.c\"\n\
         to = [\"a@b.c\"]\n",
        &["without encryption goes to this machine only"],
    );
}

#[test]
fn a_secret_in_the_file_of_a_project_is_refused() {
    let place = Place::new();
    place.write("skills/gate.yaml", super::GATE);
    place.write(
        "aye.toml",
        "[notify.a]\nkind = \"webhook\"\nurl = \"https://x.com\"\nsecret = \"plain\"\n",
    );
    let ran = place.aye(&["run", "gate", "--no-input"]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    assert!(ran.stderr.contains("holds a secret"), "{}", ran.all());
    assert!(!ran.stderr.contains("plain"), "{}", ran.all());
}

#[test]
fn a_channel_of_an_untrusted_project_tells_nobody() {
    let receiver = Receiver::new();
    let place = Place::new();
    place.write("skills/gate.yaml", super::GATE);
    let hook = format!("[notify.theirs]\nkind = \"webhook\"\nurl = \"{}\"\n", receiver.url());
    place.write("aye.toml", &hook);
    let ran = place.aye(&["run", "gate", "--no-input"]);
    assert_eq!(ran.code, 6, "{}", ran.all());
    assert!(ran.stderr.contains("channel `theirs`"), "{}", ran.all());
    assert!(messages(&place).is_empty());
    assert!(place.aye(&["doctor"]).stdout.contains("`theirs`"));
    place.aye(&["trust", "--yes"]).ok();
    assert_eq!(place.aye(&["run", "gate", "--no-input"]).code, 6);
    assert_eq!(receiver.until(1)[0].json()["event"], "question");
    // What was trusted since and has changed does not count for an assistant or a
    // server; whoever types it has the directory.
    place.write("aye.toml", &format!("{hook}show = \"pointer\"\n"));
    assert!(place.aye(&["trust", "--yes"]).ok().stdout.contains("notify theirs"));
}

#[test]
fn a_project_cannot_take_the_place_of_a_channel_of_mine() {
    let (mine, theirs) = (Receiver::new(), Receiver::new());
    let hook = |receiver: &Receiver| {
        format!("[notify.chat]\nkind = \"webhook\"\nurl = \"{}\"\n", receiver.url())
    };
    let place = place_with(&hook(&mine));
    place.write("aye.toml", &hook(&theirs));
    place.aye(&["trust", "--yes"]).ok();
    assert_eq!(place.aye(&["run", "gate", "--no-input"]).code, 6);
    mine.until(1);
    assert!(theirs.sent().is_empty());
}

#[test]
fn skills_environments_and_people_decide_who_is_told() {
    let receiver = Receiver::new();
    let channel = |name: &str, more: &str| {
        format!(
            "[notify.{name}]\nkind = \"webhook\"\nurl = \"{}/{name}\"\n{more}\n",
            receiver.url()
        )
    };
    let config = channel("all", "on = [\"question\", \"completed\"]")
        + &channel("other", "skills = [\"rel*\"]")
        + &channel("this", "skills = [\"ga*\"]")
        + &channel("prod", "environments = [\"production\"]")
        + &channel("ann", "person = \"ann\"")
        + &channel("bob", "person = \"bob\"");
    let place = place_with(&config);
    place.write(
        "skills/gate.yaml",
        "name: gate\nsteps:\n  - { name: sure, confirm: { message: 'Go?', by: [ann] } }\n",
    );
    assert_eq!(place.aye(&["run", "gate", "--no-input"]).code, 6);
    let mut told: Vec<String> = receiver.until(3).into_iter().map(|one| one.path).collect();
    told.sort();
    assert_eq!(told, ["/all", "/ann", "/this"]);
    assert_eq!(messages(&place).len(), 3);
}
