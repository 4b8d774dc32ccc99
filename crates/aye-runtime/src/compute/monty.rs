//! The engine: monty, an interpreter that does nothing by itself and asks for
//! every name, function and file.

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use monty::{MontyRun, RunProgress};
use monty_types::{
    BASELINE_MEMORY, CompileOptions, DictPairs, ExcType, ExtFunctionResult, LIVE_MEMORY,
    MontyClassInstance, MontyClassType, MontyDate, MontyDateTime, MontyException, MontyFileHandle,
    MontyObject, MontyTimeZone, MontyUuid, NameLookupResult, OsFunctionCall, PrintWriter,
    PrintWriterCallback, ResourceLimits, ResourceTracker, dir_stat, file_stat,
};
use serde_json::{Map, Value};

use super::block::Limits;
use super::engine::{Answer, Answers, Engine, Fault, Frame, Raised};
use super::files::{FileAnswer, FileCall};
use super::source::FILE;
use super::value::{to_data, to_engine};

/// The interpreter.
pub(super) struct Monty;

impl Engine for Monty {
    fn run(
        &self,
        program: &str,
        limits: &Limits,
        answers: &mut dyn Answers,
    ) -> Result<Value, Fault> {
        let compiled = compile(program)?;
        let resources = ResourceLimits {
            max_duration: Some(limits.time),
            max_memory: Some(LIVE_MEMORY.load(Ordering::Relaxed).saturating_add(limits.memory)),
            max_recursion_depth: limits.recursion,
            max_suspensions: limits.requests,
            gc_interval: None,
        };
        let mut session = Session { answers, limits, printed: 0, objects: Vec::new() };
        let result = session.run(compiled, ResourceTracker::new(resources));
        let object = result.map_err(|error| fault(&error))?;
        to_data(&object, limits.output).map_err(|message| Fault::new("Result", message))
    }

    fn check(&self, program: &str) -> Result<(), Fault> {
        compile(program).map(drop)
    }

    fn memory_used(&self, bytes: usize) {
        BASELINE_MEMORY.store(0, Ordering::Relaxed);
        LIVE_MEMORY.store(bytes, Ordering::Relaxed);
    }
}

fn compile(program: &str) -> Result<MontyRun, Fault> {
    MontyRun::new(program.to_owned(), FILE, Vec::new(), CompileOptions::default())
        .map_err(|error| fault(&error))
}

/// One run of a program.
struct Session<'a> {
    answers: &'a mut dyn Answers,
    limits: &'a Limits,
    printed: usize,
    /// Objects of the host that the program has, by number.
    objects: Vec<String>,
}

impl Session<'_> {
    fn run(
        &mut self,
        compiled: MontyRun,
        tracker: ResourceTracker,
    ) -> Result<MontyObject, MontyException> {
        let mut progress = compiled.start(Vec::new(), tracker, PrintWriter::Callback(self))?;
        for _ in 0..self.limits.requests {
            progress = match progress {
                RunProgress::Complete(object) => return Ok(object),
                RunProgress::NameLookup(lookup) if lookup.object_id().is_some() => {
                    lookup.resume(NameLookupResult::Undefined, PrintWriter::Callback(self))?
                }
                RunProgress::NameLookup(lookup) => {
                    let found = self.name(&lookup.name);
                    lookup.resume(found, PrintWriter::Callback(self))?
                }
                RunProgress::FunctionCall(mut call) => {
                    let args = std::mem::take(&mut call.args);
                    let named = std::mem::take(&mut call.kwargs);
                    let object = call.object_id.and_then(|id| self.object(id));
                    let result = self.call(object.as_deref(), &call.function_name, &args, &named);
                    call.resume(answer(result), PrintWriter::Callback(self))?
                }
                RunProgress::OsCall(call) => {
                    let result = self.os(&call.function_call);
                    call.resume(answer(result), PrintWriter::Callback(self))?
                }
                RunProgress::ResolveFutures(_) => {
                    return Err(raise("RuntimeError", "`async` is not supported"));
                }
            };
        }
        let message = format!("the block asked for more than {} things", self.limits.requests);
        Err(raise("Limit", &message))
    }

    fn name(&mut self, name: &str) -> NameLookupResult {
        let Some(found) = self.answers.name(name) else {
            return NameLookupResult::Undefined;
        };
        NameLookupResult::Value(match found {
            Answer::Value(value) => to_engine(&value),
            Answer::Function => MontyObject::Function { name: name.to_owned(), docstring: None },
            Answer::Object => {
                self.objects.push(name.to_owned());
                let id = MontyUuid::from_u128(self.objects.len() as u128);
                MontyObject::ClassInstance(Box::new(MontyClassInstance {
                    class_type: MontyClassType {
                        name: name.to_owned(),
                        id: MontyUuid::from_u128((1 << 64) + self.objects.len() as u128),
                        host_defined: true,
                        is_dataclass: false,
                        attrs: DictPairs::default(),
                    },
                    instance_id: id,
                    attrs: DictPairs::default(),
                }))
            }
        })
    }

    fn object(&self, id: MontyUuid) -> Option<String> {
        let number = u128::from_be_bytes(*id.as_bytes());
        usize::try_from(number).ok().and_then(|n| self.objects.get(n.checked_sub(1)?)).cloned()
    }

    fn call(
        &mut self,
        object: Option<&str>,
        function: &str,
        args: &[MontyObject],
        named: &[(MontyObject, MontyObject)],
    ) -> Result<MontyObject, Raised> {
        if object.is_none() && !self.answers.has(function) {
            return Err(Raised::new("NameError", format!("name '{function}' is not defined")));
        }
        let data = |object: &MontyObject| {
            to_data(object, self.limits.output).map_err(|message| {
                Raised::new("TypeError", message.replace("`result", &format!("`{function}(…)")))
            })
        };
        let args = args.iter().map(data).collect::<Result<Vec<Value>, Raised>>()?;
        let mut map = Map::new();
        for (key, value) in named {
            if let MontyObject::String(key) = key {
                map.insert(key.clone(), data(value)?);
            }
        }
        self.answers.call(object, function, args, map).map(|value| to_engine(&value))
    }

    fn os(&mut self, call: &OsFunctionCall) -> Result<MontyObject, Raised> {
        let path = || call.fs_primary_path().unwrap_or_default().to_owned();
        let wanted = match call {
            OsFunctionCall::Exists(_) => FileCall::Exists(path()),
            OsFunctionCall::IsFile(_) => FileCall::IsFile(path()),
            OsFunctionCall::IsDir(_) => FileCall::IsDir(path()),
            OsFunctionCall::IsSymlink(_) => FileCall::IsLink(path()),
            OsFunctionCall::ReadText(_) => FileCall::ReadText(path()),
            OsFunctionCall::ReadBytes(_) => FileCall::ReadBytes(path()),
            OsFunctionCall::Stat(_) => FileCall::Stat(path()),
            OsFunctionCall::Iterdir(_) => FileCall::List(path()),
            OsFunctionCall::Resolve(_) | OsFunctionCall::Absolute(_) => FileCall::Resolve(path()),
            OsFunctionCall::Open(open) if !open.mode.writable() => FileCall::Open(path()),
            OsFunctionCall::Open(_) => FileCall::Write("open".into()),
            OsFunctionCall::WriteText(_)
            | OsFunctionCall::AppendText(_)
            | OsFunctionCall::WriteBytes(_)
            | OsFunctionCall::AppendBytes(_)
            | OsFunctionCall::Mkdir(_)
            | OsFunctionCall::Unlink(_)
            | OsFunctionCall::Rmdir(_)
            | OsFunctionCall::Rename(_) => FileCall::Write(call.name().into()),
            OsFunctionCall::Getenv(args) => {
                let value = self.answers.env(&args.key);
                return Ok(value.map_or_else(|| args.default.clone(), MontyObject::String));
            }
            OsFunctionCall::GetEnviron => {
                return Err(Raised::new(
                    "PermissionError",
                    "the environment is not listed: write `env[\"NAME\"]` or `os.getenv(\"NAME\")`",
                ));
            }
            OsFunctionCall::DateToday => return Ok(today(self.answers.now())),
            OsFunctionCall::DateTimeNow(zone) => return Ok(now(self.answers.now(), zone.as_ref())),
        };
        let answer = self.answers.file(wanted)?;
        Ok(match (answer, call) {
            (FileAnswer::Opened, OsFunctionCall::Open(open)) => {
                MontyObject::FileHandle(MontyFileHandle {
                    path: path(),
                    mode: open.mode,
                    position: 0,
                })
            }
            (answer, _) => file_object(answer),
        })
    }
}

/// Printing.
impl PrintWriterCallback for Session<'_> {
    fn stdout_write(&mut self, output: Cow<'_, str>) -> Result<(), MontyException> {
        self.printed = self.printed.saturating_add(output.len());
        if self.printed > self.limits.printed {
            let message = format!("the block prints more than {} KiB", self.limits.printed >> 10);
            return Err(raise("MemoryError", &message));
        }
        self.answers.print(&output);
        Ok(())
    }

    fn stdout_push(&mut self, end: char) -> Result<(), MontyException> {
        self.stdout_write(Cow::Owned(end.to_string()))
    }
}

fn raise(kind: &str, message: &str) -> MontyException {
    let kind = kind.parse().unwrap_or(ExcType::RuntimeError);
    MontyException::new(kind, Some(message.to_owned()))
}

fn answer(result: Result<MontyObject, Raised>) -> ExtFunctionResult {
    match result {
        Ok(object) => ExtFunctionResult::Return(object),
        Err(raised) => ExtFunctionResult::Error(raise(&raised.kind, &raised.message)),
    }
}

fn file_object(answer: FileAnswer) -> MontyObject {
    match answer {
        FileAnswer::Bool(value) => MontyObject::Bool(value),
        FileAnswer::Text(text) => MontyObject::String(text),
        FileAnswer::Bytes(bytes) => MontyObject::Bytes(bytes),
        FileAnswer::Path(path) => MontyObject::Path(path),
        FileAnswer::Paths(paths) => {
            MontyObject::List(paths.into_iter().map(MontyObject::Path).collect())
        }
        FileAnswer::Stat { directory: true, mode, modified, .. } => {
            dir_stat(i64::from(mode), modified)
        }
        FileAnswer::Stat { mode, size, modified, .. } => {
            file_stat(i64::from(mode), i64::try_from(size).unwrap_or(i64::MAX), modified)
        }
        FileAnswer::Opened => MontyObject::None,
    }
}

/// The date in UTC.
fn today(micros: i64) -> MontyObject {
    let date = civil(micros, 0).date();
    MontyObject::Date(MontyDate {
        year: i32::from(date.year()),
        month: date.month().unsigned_abs(),
        day: date.day().unsigned_abs(),
    })
}

/// The time, in UTC unless another zone is asked for.
fn now(micros: i64, zone: Option<&MontyTimeZone>) -> MontyObject {
    let offset = zone.map(|zone| zone.offset_seconds);
    let civil = civil(micros, offset.unwrap_or_default());
    MontyObject::DateTime(MontyDateTime {
        year: i32::from(civil.year()),
        month: civil.month().unsigned_abs(),
        day: civil.day().unsigned_abs(),
        hour: civil.hour().unsigned_abs(),
        minute: civil.minute().unsigned_abs(),
        second: civil.second().unsigned_abs(),
        microsecond: civil.subsec_nanosecond().unsigned_abs() / 1000,
        offset_seconds: offset,
        timezone_name: zone.and_then(|zone| zone.name.clone()),
    })
}

fn civil(micros: i64, offset: i32) -> jiff::civil::DateTime {
    let moment = jiff::Timestamp::from_microsecond(micros).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let offset = jiff::tz::Offset::from_seconds(offset).unwrap_or(jiff::tz::Offset::UTC);
    offset.to_datetime(moment)
}

fn fault(error: &MontyException) -> Fault {
    let message = error.message().unwrap_or_default();
    let limit = ["time limit exceeded", "memory limit exceeded", "the block asked for more"];
    let kind = if limit.iter().any(|limit| message.starts_with(limit)) {
        "Limit".to_owned()
    } else {
        error.exc_type().to_string()
    };
    let frames =
        error.traceback().iter().filter(|frame| frame.filename == FILE).map(|frame| Frame {
            line: frame.start.line as usize,
            start: frame.start.column as usize,
            end: (frame.start.line == frame.end.line).then_some(frame.end.column as usize),
        });
    Fault { kind, message: message.to_owned(), frames: frames.collect() }
}
