//! Rendering a script so that its own text and the values in it stay apart.
//!
//! The engine's output goes to a writer that is told when a value is being
//! written. What arrives in between is a value, all else is the author's
//! text: there is no marker in the text that a value could imitate, and text
//! that is captured (`{% set %}`, macros) only counts where it is emitted.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use minijinja::value::{Object, ObjectRepr};
use minijinja::{Error, ErrorKind, Output, State, Value, escape_formatter};

use serde::{Deserialize, Serialize};

use crate::text::engine::engine;
use crate::text::isolated::{TemplateKind, evaluate_isolated};
use crate::text::render::{self, TextError};
use crate::text::scope::Scope;

use super::word::quote;

/// A part of a rendered script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::text) enum Piece {
    /// Written by the author.
    Text(String),
    /// Data.
    Value(String),
    /// Words of data that the author wants quoted.
    Quoted(Vec<String>),
    /// Text the author takes in as code.
    Verbatim(String),
}

/// Renders a script to its pieces.
pub(super) fn pieces(template: &str, scope: &Scope) -> Result<Vec<Piece>, TextError> {
    match evaluate_isolated(TemplateKind::Script, template, scope)? {
        Some(pieces) => Ok(pieces),
        None => pieces_here(template, scope),
    }
}

/// Renders a script to its pieces, on the spot.
pub(in crate::text) fn pieces_here(template: &str, scope: &Scope) -> Result<Vec<Piece>, TextError> {
    let pen = Arc::new(Mutex::new(Pen::default()));
    let mut engine = engine(scope.lenient).clone();
    let shared = Arc::clone(&pen);
    engine.set_formatter(move |out, state, value| emit(&shared, out, state, value));
    engine.add_filter("safe", |value: Value| {
        defined(&value).map(|()| Value::from_object(AsCode(value.to_string())))
    });
    engine.add_filter("quote", |value: Value| words(&value).map(|w| Value::from_object(Quoted(w))));
    render::render_with(&engine, template, scope, Writer(Arc::clone(&pen)))?;
    let mut pen = lock(&pen);
    Ok(std::mem::take(&mut pen.pieces))
}

/// The filter `quote` of all other templates: text for a shell to read.
pub(in crate::text) fn quote_filter(value: &Value) -> Result<String, Error> {
    Ok(quote_all(&words(value)?))
}

pub(super) fn quote_all(words: &[String]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

/// A list is as many words, anything else is one.
fn words(value: &Value) -> Result<Vec<String>, Error> {
    defined(value)?;
    if matches!(value.kind(), minijinja::value::ValueKind::Seq) {
        return Ok(value.try_iter()?.map(|item| item.to_string()).collect());
    }
    Ok(vec![value.to_string()])
}

fn defined(value: &Value) -> Result<(), Error> {
    if value.is_undefined() { Err(ErrorKind::UndefinedError.into()) } else { Ok(()) }
}

fn emit(
    pen: &Mutex<Pen>,
    out: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
) -> Result<(), Error> {
    let how = if value.downcast_object_ref::<AsCode>().is_some() {
        How::Verbatim
    } else if let Some(Quoted(words)) = value.downcast_object_ref::<Quoted>() {
        How::Quoted(words.clone())
    } else {
        How::Value
    };
    lock(pen).open = Some(Open { how, text: None });
    // An empty value is one too: the writer has to see it.
    let written = out.write_str("").map_err(Error::from);
    let written = written.and_then(|()| escape_formatter(out, state, value));
    lock(pen).close();
    written
}

fn lock(pen: &Mutex<Pen>) -> MutexGuard<'_, Pen> {
    pen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Collects what arrives.
#[derive(Default)]
struct Pen {
    pieces: Vec<Piece>,
    open: Option<Open>,
}

/// A value on its way.
struct Open {
    how: How,
    /// `None` until something arrives: a captured value never does.
    text: Option<String>,
}

enum How {
    Value,
    Quoted(Vec<String>),
    Verbatim,
}

impl Pen {
    fn write(&mut self, text: &str) {
        if let Some(open) = &mut self.open {
            open.text.get_or_insert_default().push_str(text);
        } else if let Some(Piece::Text(last)) = self.pieces.last_mut() {
            last.push_str(text);
        } else {
            self.pieces.push(Piece::Text(text.to_owned()));
        }
    }

    fn close(&mut self) {
        if let Some(Open { how, text: Some(text) }) = self.open.take() {
            self.pieces.push(match how {
                How::Value => Piece::Value(text),
                How::Quoted(words) => Piece::Quoted(words),
                How::Verbatim => Piece::Verbatim(text),
            });
        }
    }
}

/// The engine's way to the pen.
struct Writer(Arc<Mutex<Pen>>);

impl io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    // Also called for nothing at all, which the default would not pass on.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        lock(&self.0).write(text);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// `{{ x | safe }}`. Not the engine's own mark, which other filters
/// (`tojson`) set as well and which a filter may carry on to something else.
struct AsCode(String);

impl fmt::Debug for AsCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("code")
    }
}

impl Object for AsCode {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `{{ x | quote }}`: what it becomes depends on where it stands.
struct Quoted(Vec<String>);

impl fmt::Debug for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("quoted")
    }
}

impl Object for Quoted {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quote_all(&self.0))
    }
}
