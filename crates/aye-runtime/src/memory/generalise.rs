//! From one changed argument to a rule: what someone did to a value, as a
//! template that does the same to the next one.

use serde_json::{Map, Value};

use super::fingerprint::fingerprint;
use super::usage::shape;

/// What a fix is made of: templates, and the values they are only for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rule {
    /// By name, as [`super::Change::args`].
    pub args: Map<String, Value>,
    /// What the old arguments have to be, or look like: a value that says nothing
    /// about others is only right in place of the one it was put in.
    pub only_for: Map<String, Value>,
}

/// The rule behind these changes.
pub fn generalise(old: &Map<String, Value>, changed: &Map<String, Value>) -> Rule {
    let mut rule = Rule::default();
    for (name, new) in changed {
        let before = old.get(name);
        if before == Some(new) {
            continue;
        }
        if let (Some(Value::String(old)), Value::String(new)) = (before, new) {
            if let Some(template) = expression(name, old, new) {
                rule.args.insert(name.clone(), template.into());
                continue;
            }
            if let Some((template, like)) = around_what_varies(name, old, new) {
                rule.args.insert(name.clone(), template.into());
                rule.only_for.insert(name.clone(), like.into());
                continue;
            }
        }
        if let Some(before) = before {
            rule.only_for.insert(name.clone(), before.clone());
        }
        rule.args.insert(name.clone(), literal(new));
    }
    rule
}

/// How the new text follows from the old one, where that is plain.
fn expression(name: &str, old: &str, new: &str) -> Option<String> {
    const SALIENT: usize = 3;
    let args = format!("args[{}]", Value::from(name));
    for (filter, done) in
        [("lower", old.to_lowercase()), ("upper", old.to_uppercase()), ("trim", old.trim().into())]
    {
        if done == new {
            return Some(format!("{{{{ {args} | {filter} }}}}"));
        }
    }
    // A short text is at the end of many.
    if old.chars().count() < SALIENT {
        return None;
    }
    // What is put in front is put there once. What is put behind says less:
    // `stage` to `stage-eu` is not a rule for `prod`.
    let front = new.strip_suffix(old).filter(|front| !front.is_empty())?;
    if front.contains(['{', '}', '"', '\\']) {
        return None;
    }
    let quoted = Value::from(front);
    Some(format!("{{{{ {args} if {args}.startswith({quoted}) else {quoted} ~ {args} }}}}"))
}

/// What was changed around the part that varies, a number or a hash, and what
/// texts look like that the same can be done to. Nothing where the part itself
/// was changed: what was put in its place says nothing about the next one.
fn around_what_varies(name: &str, old: &str, new: &str) -> Option<(String, String)> {
    let like = fingerprint(old);
    let (front, rest) = like.split_once('<')?;
    let (stands, back) = rest.split_once('>')?;
    // One part, and the text as it is around it.
    let part = old.strip_prefix(front)?.strip_suffix(back)?;
    let (new_front, new_back) = new.split_once(part)?;
    let plain = |text: &str| !text.contains(['{', '}', '"', '\\', '<', '\n']);
    let same = format!("{new_front}<{stands}>{new_back}") == fingerprint(new);
    if part.is_empty() || !same || ![front, back, new_front, new_back].into_iter().all(plain) {
        return None;
    }
    let cut = |text: &str| text.chars().count();
    let end = if back.is_empty() { String::new() } else { format!("-{}", cut(back)) };
    let args = format!("args[{}][{}:{end}]", Value::from(name), cut(front));
    let (before, behind) = (Value::from(new_front), Value::from(new_back));
    Some((format!("{{{{ {before} ~ {args} ~ {behind} }}}}"), shape(old)))
}

/// A value that stays what it is when it is rendered.
fn literal(value: &Value) -> Value {
    match value {
        Value::String(text) if text.contains('{') => {
            Value::String(format!("{{{{ {} }}}}", Value::from(text.as_str())))
        }
        Value::Array(items) => items.iter().map(literal).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(name, value)| (name.clone(), literal(value))).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rule(old: Value, new: Value) -> (Value, bool) {
        let map = |value: Value| Map::from_iter([("tag".to_owned(), value)]);
        let rule = generalise(&map(old), &map(new));
        (rule.args["tag"].clone(), !rule.only_for.is_empty())
    }

    #[test]
    fn what_was_done_is_done_again() {
        for (old, new, wanted) in [
            ("V1.2", "v1.2", "{{ args[\"tag\"] | lower }}"),
            ("abc", "ABC", "{{ args[\"tag\"] | upper }}"),
            (" abc\n", "abc", "{{ args[\"tag\"] | trim }}"),
            (
                "1.2.3",
                "v1.2.3",
                "{{ args[\"tag\"] if args[\"tag\"].startswith(\"v\") else \"v\" ~ args[\"tag\"] }}",
            ),
        ] {
            assert_eq!(rule(json!(old), json!(new)), (json!(wanted), false), "{old} {new}");
        }
    }

    #[test]
    fn what_says_nothing_about_others_is_only_for_its_own() {
        for (old, new) in
            [("abc", "abcdef0123"), ("main", "release"), ("a", "xa"), ("web", "web-prod")]
        {
            assert_eq!(rule(json!(old), json!(new)), (json!(new), true), "{old} {new}");
        }
        assert_eq!(rule(json!(1), json!(2)), (json!(2), true));
        let braces = json!("{{ \"{{ inputs.token }}\" }}");
        assert_eq!(rule(json!("a"), json!("{{ inputs.token }}")), (braces, true));
    }

    #[test]
    fn what_varies_is_carried_over_and_masked() {
        let map = |value: &str| Map::from_iter([("tag".to_owned(), json!(value))]);
        for (old, new, template, like) in [
            (
                "release-1403",
                "build-1403.rpm",
                "{{ \"build-\" ~ args[\"tag\"][8:] ~ \".rpm\" }}",
                "release-<n>",
            ),
            ("abc1234:old", "abc1234", "{{ \"\" ~ args[\"tag\"][0:-4] ~ \"\" }}", "<hash>:old"),
            ("abc1234", "abc1234.tar", "{{ \"\" ~ args[\"tag\"][0:] ~ \".tar\" }}", "<hash of 7>"),
        ] {
            let rule = generalise(&map(old), &map(new));
            assert_eq!(rule.args["tag"], template, "{old} {new}");
            assert_eq!(rule.only_for["tag"], like, "{old} {new}");
        }
        // The short name of a commit is the beginning of its long one: the rest of it
        // is not the rest of another.
        for (old, new) in [("abc123", "abc123aaaaaaaaaaaaaa"), ("v1403", "v1404"), ("7", "8")] {
            let rule = generalise(&map(old), &map(new));
            assert_eq!(rule.only_for["tag"], old, "{old} {new}");
            assert_eq!(rule.args["tag"], new, "{old} {new}");
        }
    }

    #[test]
    fn what_was_not_given_before_is_given_always() {
        let new = Map::from_iter([("force".to_owned(), json!(true))]);
        let rule = generalise(&Map::new(), &new);
        assert_eq!((rule.args, rule.only_for), (new, Map::new()));
    }
}
