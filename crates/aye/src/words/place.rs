//! Words for where a run inside another is.

use aye_core::journal::State;
use aye_core::nested::{Item, Parent};
use aye_core::secrets::is_secret;
use serde_json::Value;

use crate::paint::escape_control_line;
use crate::term;

/// As much of an item as a place shows.
const SHORT: usize = 32;

/// An item in one line.
fn item_words(value: &Value, columns: usize) -> String {
    let words = match value {
        value if is_secret(value) => "***".to_owned(),
        Value::String(text) => escape_control_line(text),
        other => escape_control_line(&other.to_string()),
    };
    term::cut(&words, columns)
}

/// What a run inside another is about: its item, or its skill. Nothing where
/// the item is what the run is called already.
pub fn about_inside(state: &State) -> String {
    let item = state.started.parent.as_ref().and_then(|parent| parent.item.as_ref());
    match item {
        Some(Item { label: Some(_), value, .. }) if !value.is_object() && !value.is_array() => {
            String::new()
        }
        Some(item) => item_words(&item.value, 60),
        None => term::cut(&escape_control_line(&format!("skill {}", state.started.skill)), 60),
    }
}

/// One level with its item: `deploy[web-3]`, `deploy[2] web-3` where an older
/// Aye gave it no name, or `deploy` for a sub-skill.
fn level_words(parent: &Parent) -> String {
    let label = escape_control_line(&parent.label());
    match &parent.item {
        Some(item) if item.label.is_none() => format!("{label} {}", item_words(&item.value, SHORT)),
        Some(_) | None => label,
    }
}

/// Where a step is, from the outside in: the runs around it, then the step
/// itself. What only repeats the name of the level before is left out.
pub fn place_words(around: &[Parent], step: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut looped: Option<&str> = None;
    for parent in around {
        match &parent.item {
            None if looped == Some(&parent.step) => looped = None,
            item => {
                words.push(level_words(parent));
                looped = item.as_ref().map(|_| parent.step.as_str());
            }
        }
    }
    if looped != Some(step) {
        words.push(escape_control_line(step));
    }
    words
}

#[cfg(test)]
mod tests {
    use aye_core::id::RunId;
    use serde_json::json;

    use super::*;

    fn level(step: &str, item: Option<(u32, Value)>) -> Parent {
        let item = item.map(|(index, value)| Item { index, value, label: None });
        let run = RunId::new("abcdefgh12").expect("an id");
        let step = step.to_owned();
        Parent {
            run,
            step,
            execution: 1,
            turn: None,
            item,
            form: None,
            depth: 1,
            bound: false,
            finally: false,
            repair: false,
            declined: None,
        }
    }

    #[test]
    fn a_place_names_every_item_and_nothing_twice() {
        let words = |around: &[Parent], step: &str| place_words(around, step).join(" > ");
        let web = level("roll", Some((1, json!("web-2"))));
        assert_eq!(words(&[], "ship"), "ship");
        assert_eq!(words(std::slice::from_ref(&web), "roll"), "roll[1] web-2");
        assert_eq!(words(&[web.clone(), level("roll", None)], "ask"), "roll[1] web-2 > ask");
        assert_eq!(words(&[level("call", None), web], "ask"), "call > roll[1] web-2 > ask");
        let named = Item { index: 4, value: json!({ "a": 1 }), label: Some("web-5".to_owned()) };
        let named = Parent { item: Some(named), ..level("roll", None) };
        assert_eq!(words(&[named], "ask"), "roll[web-5] > ask");
        let secret = level("roll", Some((0, json!({ "$secret": true }))));
        assert_eq!(words(&[secret], "ask"), "roll[0] *** > ask");
    }
}
