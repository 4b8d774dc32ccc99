//! Filters that Jinja2 has and the engine lacks.

#![expect(clippy::needless_pass_by_value, reason = "the engine hands arguments over by value")]

use minijinja::value::{Kwargs, Rest, ValueKind, ValueOrKwargs, from_args};
use minijinja::{Environment, Error, ErrorKind, State, Value};
use minijinja_contrib::filters::{filesizeformat, striptags};

/// The widest text that is centred or wrapped.
const WIDEST: usize = 10_000;

/// Adds them all.
pub(super) fn add(engine: &mut Environment<'_>) {
    engine.add_filter("truncate", truncate);
    engine.add_filter("wordwrap", word_wrap);
    engine.add_filter("wordcount", |text: String| {
        text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '\''))
            .filter(|w| !w.is_empty())
            .count()
    });
    engine.add_filter("filesizeformat", |value: f64, binary: Option<bool>, kwargs: Kwargs| {
        let binary = named(binary, "binary", &kwargs)?;
        kwargs.assert_all_used()?;
        Ok::<_, Error>(filesizeformat(value, binary))
    });
    engine.add_filter("center", center);
    engine.add_filter("striptags", striptags);
    engine.add_filter("urlize", |text: String| urlize(&text));
    engine.add_filter("random", random);
    engine.add_filter("forceescape", |value: Value| Value::from_safe_string(escape(&value)));
    engine.add_filter("xmlattr", xml_attributes);
}

/// An argument by its place or by its name.
fn named<'a, T>(given: Option<T>, name: &'a str, kwargs: &'a Kwargs) -> Result<Option<T>, Error>
where
    T: minijinja::value::ArgType<'a, Output = T>,
{
    match given {
        Some(value) => Ok(Some(value)),
        None => kwargs.get::<Option<T>>(name),
    }
}

/// `truncate(255, killwords=false, end='...', leeway=5)`
fn truncate(text: String, args: Rest<ValueOrKwargs>) -> Result<String, Error> {
    let given: Vec<Value> = args.iter().map(|arg| Value::clone(arg)).collect();
    type Given = (Option<usize>, Option<bool>, Option<String>, Option<usize>, Kwargs);
    let (length, killwords, end, leeway, kwargs): Given = from_args(&given)?;
    let length = named(length, "length", &kwargs)?.unwrap_or(255);
    let killwords = named(killwords, "killwords", &kwargs)?.unwrap_or(false);
    let end = named(end, "end", &kwargs)?.unwrap_or_else(|| "...".to_owned());
    let leeway = named(leeway, "leeway", &kwargs)?.unwrap_or(5);
    kwargs.assert_all_used()?;
    let Some(kept) = length.checked_sub(end.chars().count()) else {
        return Err(wrong("`truncate` needs room for its `end`"));
    };
    if text.chars().count() <= length.saturating_add(leeway) {
        return Ok(text);
    }
    let cut: String = text.chars().take(kept).collect();
    let cut = match cut.rfind(' ') {
        Some(space) if !killwords => &cut[..space],
        _ => &cut,
    };
    Ok(format!("{cut}{end}"))
}

/// `wordwrap(79, break_long_words=true, wrapstring='\n')`
fn word_wrap(
    text: String,
    width: Option<usize>,
    break_long_words: Option<bool>,
    wrapstring: Option<String>,
    kwargs: Kwargs,
) -> Result<String, Error> {
    let width = named(width, "width", &kwargs)?.unwrap_or(79);
    let break_long = named(break_long_words, "break_long_words", &kwargs)?.unwrap_or(true);
    let joint = named(wrapstring, "wrapstring", &kwargs)?.unwrap_or_else(|| "\n".to_owned());
    kwargs.assert_all_used()?;
    if width == 0 || width > WIDEST || joint.len() > 16 {
        return Err(wrong("`wordwrap` needs a width from 1 to 10000"));
    }
    let lines = text.lines().map(|line| wrapped(line, width, break_long).join(&joint));
    Ok(lines.collect::<Vec<_>>().join(&joint))
}

fn wrapped(line: &str, width: usize, break_long: bool) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in line.split(' ') {
        let mut word: Vec<char> = word.chars().collect();
        let space = usize::from(used > 0);
        if used + space + word.len() > width && used > 0 {
            lines.push(String::new());
            used = 0;
        }
        while break_long && word.len() > width {
            let rest = word.split_off(width);
            lines.last_mut().into_iter().for_each(|line| line.extend(&word));
            lines.push(String::new());
            word = rest;
        }
        if let Some(line) = lines.last_mut() {
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            line.extend(&word);
            used += word.len();
        }
    }
    lines
}

/// `center(80)`
fn center(text: String, width: Option<usize>, kwargs: Kwargs) -> Result<String, Error> {
    let width = named(width, "width", &kwargs)?.unwrap_or(80);
    kwargs.assert_all_used()?;
    if width > WIDEST {
        return Err(wrong("`center` needs a width of at most 10000"));
    }
    Ok(format!("{text:^width$}"))
}

/// Addresses as links.
fn urlize(text: &str) -> Value {
    let link = |word: &str| {
        let address = word.trim_end_matches(['.', ',', ':', ';', '!', '?', ')']);
        let (shown, rest) = (escape(&Value::from(address)), &word[address.len()..]);
        let scheme = match address {
            _ if ["http://", "https://"].iter().any(|scheme| address.starts_with(scheme)) => "",
            _ if address.starts_with("www.") && address.len() > 4 => "https://",
            _ => return escape(&Value::from(word)),
        };
        let rest = escape(&Value::from(rest));
        format!("<a href=\"{scheme}{shown}\" rel=\"noopener\">{shown}</a>{rest}")
    };
    let words = text.split_inclusive(char::is_whitespace).map(|piece| {
        let word = piece.trim_end();
        format!("{}{}", link(word), &piece[word.len()..])
    });
    Value::from_safe_string(words.collect())
}

/// One item, the same for as long as a step is visited: chosen by the run and
/// by the time of the visit.
fn random(state: &State<'_, '_>, list: Value) -> Result<Value, Error> {
    let items: Vec<Value> = list.try_iter()?.collect();
    if items.is_empty() {
        return Err(wrong("`random` needs a list with an item"));
    }
    let run = state.lookup("run").and_then(|run| run.get_attr("id").ok()).unwrap_or_default();
    let now = state.lookup("now").unwrap_or_default();
    let mut seed: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in format!("{run} {now} {}", items.len()).bytes() {
        seed = (seed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let count = u64::try_from(items.len()).unwrap_or(u64::MAX);
    // The low bits of such a product are the least mixed.
    let at = usize::try_from((seed >> 32) % count).unwrap_or_default();
    Ok(items[at].clone())
}

fn escape(value: &Value) -> String {
    let mut text = String::new();
    for c in value.to_string().chars() {
        match c {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&#34;"),
            '\'' => text.push_str("&#39;"),
            c => text.push(c),
        }
    }
    text
}

/// ` a="1" b="2"`; what has no value is left out.
fn xml_attributes(map: Value, autospace: Option<bool>) -> Result<Value, Error> {
    if map.kind() != ValueKind::Map {
        return Err(wrong("`xmlattr` needs a mapping"));
    }
    let mut pairs = Vec::new();
    for key in map.try_iter()? {
        let item = map.get_item(&key)?;
        if item.is_none() || item.is_undefined() {
            continue;
        }
        if key.to_string().contains(|c: char| c.is_whitespace() || "/>='\"".contains(c)) {
            return Err(wrong("`xmlattr` needs names without spaces, `/`, `>` and `=`"));
        }
        pairs.push(format!("{}=\"{}\"", escape(&key), escape(&item)));
    }
    let text = pairs.join(" ");
    let space = if autospace.unwrap_or(true) && !text.is_empty() { " " } else { "" };
    Ok(Value::from_safe_string(format!("{space}{text}")))
}

fn wrong(message: &str) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.to_owned())
}
