//! Key input, down to what it makes of a dialog.

use aye::prompt::Escape;
use aye::prompt::dialog::{Dialog, Reply};
use aye::prompt::key::Decoder;
use aye::prompt::line::Line;
use aye_core::id::QuestionId;
use aye_core::question::{Offer, Question};
use aye_core::skill::{AskKind, ChoiceAction};

use super::Target;

pub(super) struct Keys;

impl Target for Keys {
    fn run(&mut self, case: &[u8]) -> Result<(), String> {
        let cut = case.len() / 3;
        let mut decoder = Decoder::default();
        let mut keys = decoder.push(&case[..cut]);
        keys.extend(decoder.push(&case[cut..]));
        keys.extend(decoder.flush());
        let mut whole = Decoder::default();
        let mut same = whole.push(case);
        same.extend(whole.flush());
        if keys != same {
            return Err("the keys depend on how the bytes are cut".to_owned());
        }
        // A terminal hands over 4 KiB at once.
        keys.truncate(4096);
        let mut line = Line::new("é日 text");
        for key in &keys {
            line.key(key);
        }
        let _ = line.window(20, Some('•'));
        let kinds = [AskKind::Confirm, AskKind::Choose, AskKind::Input, AskKind::Recover];
        for kind in kinds {
            let question = question(kind);
            let mut dialog = Dialog::new(&question, Escape::Declines);
            for key in &keys {
                match dialog.key(&question, key) {
                    Reply::Stay | Reply::Typing => {}
                    _ => break,
                }
            }
        }
        Ok(())
    }

    fn words(&self) -> &'static [&'static str] {
        &[
            "\x1b",
            "\x1b[A",
            "\x1b[B",
            "\x1b[200~",
            "\x1b[201~",
            "\x1b[1;5C",
            "\x1b]11;",
            "\x1b\\",
            "\x1bP",
            "\x1bO",
            "\r",
            "\n",
            "\t",
            "\x7f",
            "\x03",
            "\x15",
            "\x17",
            "y",
            "n",
            "proceed",
            "\u{301}",
            "🦀",
            "\x1b[<0;1;1M",
            "\x1b[99999999999~",
            "\x1b[?",
            ";",
            "\u{9b}",
        ]
    }
}

fn question(kind: AskKind) -> Question {
    let offer = |value: &str, action: ChoiceAction| Offer::new(value, value, action);
    let options = match kind {
        AskKind::Input => Vec::new(),
        _ => vec![offer("proceed", ChoiceAction::Proceed), offer("cancel", ChoiceAction::Cancel)],
    };
    Question {
        step: "release".into(),
        title: "Production release".into(),
        options,
        overridable: true,
        digest: "0".into(),
        ..Question::new(QuestionId::from_text("abcdefgh12-1"), kind, "Go?")
    }
}
