//! What changed between two texts, or two sets of arguments.

use serde_json::{Map, Value};

/// What changed, a line each: `tag: abc -> abcdef`; longer texts by their lines.
pub fn changes(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    show: impl Fn(&Value) -> String,
) -> Vec<String> {
    let is_long = |value: &Value| value.as_str().is_some_and(|text| text.trim_end().contains('\n'));
    let mut lines = Vec::new();
    for (name, old) in before {
        match after.get(name) {
            Some(new) if new == old => {}
            Some(new) if is_long(old) || is_long(new) => {
                lines.push(format!("{name}:"));
                lines.extend(diff(&show(old), &show(new)));
            }
            Some(new) => lines.push(format!("{name}: {} -> {}", show(old), show(new))),
            None => lines.push(format!("{name}: {} -> (left out)", show(old))),
        }
    }
    for (name, new) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
        lines.push(format!("{name}: (not given) -> {}", show(new)));
    }
    lines
}

/// The lines that differ, between those that do not.
pub fn diff(old: &str, new: &str) -> Vec<String> {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(one, other)| one == other).count()
    };
    let before = same(&mut old.iter().zip(&new));
    let room = old.len().min(new.len()) - before;
    let after = same(&mut old.iter().rev().zip(new.iter().rev())).min(room);
    let gone = old[before..old.len() - after].iter().map(|line| format!("- {line}"));
    let come = new[before..new.len() - after].iter().map(|line| format!("+ {line}"));
    gone.chain(come).collect()
}
