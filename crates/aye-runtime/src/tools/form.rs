//! From what a server wants to know to a form, or to a no that says why.

use aye_core::form::{Field, FieldKind, Form};
use rmcp::model::{
    ElicitRequestParams, ElicitationSchema, EnumSchema, PrimitiveSchemaDefinition,
    SingleSelectEnumSchema, StringFormat, StringSchema,
};

use crate::fmt::{escape_control_line, escape_control_lines};

/// More fields than this are an interview; those beyond are left out if they
/// can be.
const MOST_FIELDS: usize = 8;
/// The most that can be chosen from.
const MOST_OPTIONS: usize = 30;
/// How much of a server's words is shown, in characters.
const MESSAGE: usize = 2000;
const WORDS: usize = 300;
const LABEL: usize = 80;

/// Words for what must not be typed into a form.
const SECRETS: [&str; 15] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "passwort",
    "secret",
    "token",
    "api key",
    "api_key",
    "apikey",
    "api-key",
    "credential",
    "private key",
    "private_key",
    "one-time code",
];

/// The form, or why it is declined.
pub(super) fn form(server: &str, params: &ElicitRequestParams) -> Result<Form, String> {
    let (message, schema) = match params {
        ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
            (message, requested_schema)
        }
        ElicitRequestParams::UrlElicitationParams { .. } => {
            return Err("it wants an address to be opened".to_owned());
        }
        _ => return Err("it asks in a way that Aye does not know".to_owned()),
    };
    let fields = fields(schema)?;
    let typed =
        |field: &Field| matches!(field.kind, FieldKind::Text { .. } | FieldKind::Number { .. });
    // The words of a form are about all of its fields.
    let mut words: Vec<&str> = Vec::new();
    for field in fields.iter().filter(|field| typed(field)) {
        words.extend([message.as_str(), &field.name]);
        words.extend(field.words.iter().map(String::as_str));
    }
    if words.into_iter().any(is_about_a_secret) {
        return Err("it asks for a secret, which no form may do".to_owned());
    }
    let message = match message.trim() {
        "" => "(it does not say what for)".to_owned(),
        message => cut(&escape_control_lines(message), MESSAGE),
    };
    Ok(Form { server: server.to_owned(), index: 0, message, note: None, fields })
}

/// Whether these words ask for what must not be written down.
fn is_about_a_secret(words: &str) -> bool {
    let words = words.to_lowercase();
    SECRETS.iter().any(|secret| words.contains(secret))
}

fn fields(schema: &ElicitationSchema) -> Result<Vec<Field>, String> {
    let sorted = || schema.properties.keys().cloned().collect();
    let order: Vec<String> = schema.property_order.clone().unwrap_or_else(sorted);
    let required = |name: &String| schema.required.as_ref().is_some_and(|all| all.contains(name));
    let mut fields = Vec::new();
    for must in [true, false] {
        for name in order.iter().filter(|name| required(name) == must) {
            let Some(kind) = schema.properties.get(name) else { continue };
            match field(name, must, kind) {
                Some(_) if must && fields.len() >= MOST_FIELDS => {
                    return Err(format!("it wants to know more than {MOST_FIELDS} things"));
                }
                Some(field) if fields.len() < MOST_FIELDS => fields.push(field),
                None if must => {
                    let name = cut(&escape_control_line(name), LABEL);
                    return Err(format!("`{name}` has a type that no question can ask for"));
                }
                Some(_) | None => {}
            }
        }
    }
    Ok(fields)
}

fn field(name: &str, required: bool, schema: &PrimitiveSchemaDefinition) -> Option<Field> {
    let plain = |values: &[String]| values.iter().map(|v| (v.clone(), v.clone())).collect();
    let (title, description, kind) = match schema {
        PrimitiveSchemaDefinition::Boolean(s) => (&s.title, &s.description, FieldKind::Boolean),
        PrimitiveSchemaDefinition::Integer(s) => {
            // A bound that a float does not hold exactly is none that a person would type.
            #[expect(clippy::cast_precision_loss, reason = "bounds are shown and compared only")]
            let float = |bound: i64| bound as f64;
            let (least, most) = (s.minimum.map(float), s.maximum.map(float));
            (&s.title, &s.description, FieldKind::Number { whole: true, least, most })
        }
        PrimitiveSchemaDefinition::Number(s) => {
            let (least, most) = (s.minimum, s.maximum);
            (&s.title, &s.description, FieldKind::Number { whole: false, least, most })
        }
        PrimitiveSchemaDefinition::String(s) => (&s.title, &s.description, text(s)?),
        PrimitiveSchemaDefinition::Enum(EnumSchema::Single(single)) => match single {
            SingleSelectEnumSchema::Untitled(s) => {
                (&s.title, &s.description, choice(plain(&s.enum_))?)
            }
            SingleSelectEnumSchema::Titled(s) => {
                let pair = |o: &rmcp::model::ConstTitle| (o.const_.clone(), o.title.clone());
                (&s.title, &s.description, choice(s.one_of.iter().map(pair).collect())?)
            }
            _ => return None,
        },
        PrimitiveSchemaDefinition::Enum(EnumSchema::Legacy(s)) => {
            let mut options: Vec<(String, String)> = plain(&s.enum_);
            for (option, name) in options.iter_mut().zip(s.enum_names.iter().flatten()) {
                option.1.clone_from(name);
            }
            (&s.title, &s.description, choice(options)?)
        }
        _ => return None,
    };
    let words = [title, description].into_iter().flatten();
    let words = words
        .map(|words| cut(&escape_control_lines(words), WORDS))
        .filter(|words| !words.is_empty());
    // A name is sent back as it is: one that cannot be shown is not asked for.
    let fits =
        !name.is_empty() && escape_control_line(name) == name && name.chars().count() <= LABEL;
    fits.then(|| Field { name: name.to_owned(), words: words.collect(), required, kind })
}

/// Each value is shown beside its label: what is chosen is what is sent.
fn choice(options: Vec<(String, String)>) -> Option<FieldKind> {
    let mut known = std::collections::HashSet::new();
    let sound = !options.is_empty()
        && options.len() <= MOST_OPTIONS
        && options.iter().all(|(value, _)| {
            let shown = !value.trim().is_empty() && escape_control_line(value) == *value;
            shown && value.chars().count() <= LABEL && known.insert(value.clone())
        });
    let shown = |(value, label): (String, String)| {
        let label = cut(&escape_control_line(&label), LABEL);
        let label = match label.trim() {
            "" => value.clone(),
            label if label == value => value.clone(),
            label => format!("{label} ({value})"),
        };
        (value, label)
    };
    sound.then(|| FieldKind::Choice { options: options.into_iter().map(shown).collect() })
}

fn text(schema: &StringSchema) -> Option<FieldKind> {
    let of_format = schema.format.as_ref().and_then(|format| match format {
        StringFormat::Email => Some((r"^[^@\s]+@[^@\s]+$", "an e-mail address")),
        StringFormat::Uri => Some((r"^[A-Za-z][A-Za-z0-9+.-]*:\S+$", "an address (URI)")),
        StringFormat::Date => Some((r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$", "a date (2026-11-16)")),
        StringFormat::DateTime => Some((
            r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9:.]+([Zz]|[+-][0-9]{2}:?[0-9]{2})$",
            "a date and time (2026-11-16T08:00:00Z)",
        )),
        _ => None,
    });
    let (least, most) = (schema.min_length.unwrap_or(0), schema.max_length);
    let longest = 10_000;
    let (pattern, rule) = match (of_format, least, most) {
        (Some((pattern, rule)), _, _) => (pattern.to_owned(), Some(rule.to_owned())),
        // A pattern with such numbers would not be compiled.
        (None, least, _) if least > longest => return None,
        (None, 0, None) => (r"^\s*\S".to_owned(), None),
        (None, least, Some(most)) if most <= longest => {
            if most < least {
                return None;
            }
            let rule = format!("text of {least} to {most} characters");
            (format!("^(?s:.{{{least},{most}}})$"), Some(rule))
        }
        (None, least, _) => {
            let rule = format!("text of at least {least} characters");
            (format!("^(?s:.{{{least},}})$"), Some(rule))
        }
    };
    Some(FieldKind::Text { pattern: Some(pattern), rule })
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(message: &str, properties: &Value, required: &[&str]) -> Result<Form, String> {
        let params = json!({
            "mode": "form",
            "message": message,
            "requestedSchema": { "type": "object", "properties": properties, "required": required },
        });
        let params = serde_json::from_value(params).expect("it is a request");
        form("it", &params)
    }

    #[test]
    fn secrets_are_not_asked_for() {
        let text = json!({ "type": "string" });
        for (message, name) in
            [("Hi", "password"), ("Hi", "API_KEY"), ("Give me your token", "value")]
        {
            let no = read(message, &json!({ name: text }), &[]).expect_err("declined");
            assert_eq!(no, "it asks for a secret, which no form may do", "{message} {name}");
        }
        let described = json!({ "type": "string", "description": "Your Passphrase" });
        assert!(read("Hi", &json!({ "x": described }), &[]).is_err());
        // Nobody types a secret by choosing.
        let yes = read("Delete the token?", &json!({ "ok": { "type": "boolean" } }), &[]);
        assert_eq!(yes.expect("asked").fields.len(), 1);
    }

    #[test]
    fn what_cannot_be_asked_is_left_out_or_declined() {
        let many = json!({ "type": "array", "items": { "type": "string", "enum": ["a", "b"] } });
        let properties =
            json!({ "z": { "type": "string" }, "many": many, "a": { "type": "boolean" } });
        let form = read("Hi", &properties, &["a"]).expect("asked");
        let names: Vec<&str> = form.fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["a", "z"], "required ones first");
        let no = read("Hi", &properties, &["many"]).expect_err("declined");
        assert_eq!(no, "`many` has a type that no question can ask for");
        let url = json!({ "mode": "url", "message": "Go", "url": "https://x.example", "elicitationId": "1" });
        let url = serde_json::from_value(url).expect("it is a request");
        assert_eq!(form_error(&url), "it wants an address to be opened");
    }

    fn form_error(params: &ElicitRequestParams) -> String {
        form("it", params).expect_err("declined")
    }

    #[test]
    fn words_of_a_server_are_inert() {
        let properties = json!({ "e": {
            "type": "string",
            "oneOf": [{ "const": "rm", "title": "Keep everything\u{1b}[2K" }],
        } });
        let form = read("Hi\u{1b}[31m {{ inputs }}\r\nthere", &properties, &[]).expect("asked");
        assert!(!form.message.contains('\u{1b}') && !form.message.contains('\r'), "{form:?}");
        assert!(form.message.contains("{{ inputs }}"));
        let FieldKind::Choice { options } = &form.fields[0].kind else { panic!("{form:?}") };
        assert!(options[0].1.ends_with("(rm)"), "what is sent is shown: {options:?}");
        assert!(!options[0].1.contains('\u{1b}'));
    }
}
