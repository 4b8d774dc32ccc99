//! Asking the person directly, where the client can show a form.
//!
//! The run waits at its question already, so nothing is lost whatever becomes
//! of the form. The two eras ask differently: before 2026-07-28 the server
//! sends a request of its own and waits for a while; since then the result says
//! that input is needed, and the client calls again with it.
//!
//! Clients do not always show what they accept: a form that is declined within
//! a second was not seen by a person, and no form can be accepted empty.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use aye_core::advice::Advice;
use aye_core::facts::Change;
use aye_core::id::{QuestionId, RunId};
use aye_core::question::{AnswerScope, Channel, Purpose, Question};
use aye_core::skill::AskKind;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientResult, ElicitRequest, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationSchema, InputRequest, InputRequiredResult,
    ProtocolVersion, ServerRequest,
};
use rmcp::service::PeerRequestOptions;
use serde_json::{Value, json};

use crate::paint::{escape_control_line, escape_control_lines};
use aye_runtime::error::Error;
use aye_runtime::usecases::{AskingRun, JournalReader};

use super::answer::{self, Word};
use super::asking_run;
use super::budget;
use super::call::Call;
use super::handle::Handle;
use super::outgoing::harmless;
use super::report::{hint, refused};
use super::server_state::ServerState;

/// What came of asking.
pub(super) enum Asked {
    /// A form was filled in and the answer taken.
    Answered(Option<String>),
    /// The client is to show this and call again.
    Form(InputRequiredResult),
    /// Nobody was asked, or nobody answered; why, if that is worth telling.
    Not(Option<String>),
}

/// A form that a client can show.
pub(super) struct Form {
    pub(super) question: Question,
    pub(super) params: ElicitRequestParams,
}

/// A form that a client gave back.
pub(super) struct Returned {
    /// The run that someone started.
    pub(super) run: RunId,
    pub(super) question: Question,
    /// How long the client had it.
    pub(super) waited: Duration,
}

/// A form that is declined sooner was not shown to a person.
const SEEN: Duration = Duration::from_secs(1);
/// The name of the one form of a result.
const FORM: &str = "answer";
/// Its field.
const CHOICE: &str = "choice";
/// How far the answer is given again.
const REMEMBER: &str = "remember";
/// The choice that sends the question to the assistant before it is answered.
const LOOK: &str = "let the assistant look";

/// What a person made of a form.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FormOutcome {
    Choice {
        value: String,
        reason: Option<String>,
        remember: Option<AnswerScope>,
    },
    /// The assistant is to look at it first.
    Look,
    No,
    Nothing(&'static str),
}

impl Call<'_> {
    /// Asks the person, if the run asks something that a form may answer and
    /// the client can show one. What the assistant is to see first waits until
    /// it has `seen` it.
    pub(super) async fn ask_person(
        &self,
        run: &RunId,
        seen: Option<&QuestionId>,
    ) -> Result<Asked, ErrorData> {
        let Some(Form { question, params }) = self.form_of(run, seen).await? else {
            return Ok(Asked::Not(None));
        };
        if self.is_modern() {
            let server = self.assistant.server();
            let state = server.handles.form(&question, &self.bound, server.runtime.now());
            let request = InputRequest::Elicitation(ElicitRequest::new(params));
            let requests = BTreeMap::from([(FORM.to_owned(), request)]);
            return Ok(Asked::Form(InputRequiredResult::new(Some(requests), state)));
        }
        let Some(limit) = self.time_for_a_form() else { return Ok(Asked::Not(None)) };
        let since = Instant::now();
        let said = match self.elicit(params, limit).await {
            Some(result) => read(&result, since.elapsed()),
            None => {
                FormOutcome::Nothing("the form was not answered in time; the question stays open")
            }
        };
        self.take(said, &question).await
    }

    /// The form for what a run asks; none if it asks nothing that a form may
    /// answer, or the client can show none.
    pub(super) async fn form_of(
        &self,
        run: &RunId,
        seen: Option<&QuestionId>,
    ) -> Result<Option<Form>, ErrorData> {
        if !self.shows_forms() {
            return Ok(None);
        }
        let (run, seen) = (run.clone(), seen.cloned());
        let found = self.assistant.blocking(move |server| {
            let look = server.runtime.journal()?.overview(&run)?;
            let asks = look.asks.filter(|asking| {
                let question = &asking.question;
                let ready = !assistant_first(question) || seen.as_ref() == Some(&question.id);
                ready && answer::counts(server, question)
            });
            Ok(asks.and_then(|asking| {
                let remembers = server.runtime.settings.mcp.elicited_is_person;
                let params = form(&asking, remembers)?;
                Some(Form { question: asking.question, params })
            }))
        });
        // If it cannot be read now, the report on the run says so.
        Ok(found.await?.unwrap_or_default())
    }

    /// Whether the client can show forms, and may.
    fn shows_forms(&self) -> bool {
        let forms = self.cx.client_capabilities().and_then(|can| can.elicitation);
        // A client that says neither means forms: they came first.
        let can_show = forms.is_some_and(|can| can.form.is_some() || can.url.is_none());
        can_show && self.assistant.server().runtime.settings.mcp.forms
    }

    /// A form that the client gives back, by the key it was sent with. Only a
    /// client that would be sent one has one to give back.
    pub(super) async fn returned(
        &self,
        open: impl FnOnce(&ServerState, &JournalReader) -> Result<(Handle, Duration), Error>
        + Send
        + 'static,
    ) -> Result<Result<Returned, Error>, ErrorData> {
        let shows_forms = self.shows_forms();
        let opened = self.assistant.blocking(move |server| {
            if !shows_forms {
                return Err(Error::Refused {
                    message: "no form was sent that this could be the answer to".to_owned(),
                    hint: Some("ask the person, and call `skill_continue`".to_owned()),
                });
            }
            let (handle, waited) = open(server, &server.runtime.journal()?)?;
            let question = handle.open_question()?.1.clone();
            Ok(Returned { run: handle.outer.id, question, waited })
        });
        opened.await
    }

    /// A call that comes again with a form filled in, or not.
    pub(super) async fn again(
        &self,
        request: CallToolRequestParams,
        state: String,
    ) -> Result<CallToolResponse, ErrorData> {
        let bound = self.bound.clone();
        let returned = self.returned(move |server, journal| {
            let (handle, asked) = server.handles.open_form(&state, &bound, journal)?;
            Ok((handle, server.runtime.now().duration_since(asked).unsigned_abs()))
        });
        let Returned { run, question, waited } = match returned.await? {
            Ok(returned) => returned,
            Err(error) => return Ok(refused(&error).into()),
        };
        let response = request.input_responses.and_then(|mut all| all.remove(FORM));
        let said = match response.map(serde_json::from_value::<ElicitResult>) {
            Some(Ok(result)) => read(&result, waited),
            Some(Err(_)) | None => FormOutcome::Nothing("the form came back without an answer"),
        };
        match self.take(said, &question).await? {
            Asked::Answered(note) => self.follow_and_ask(run, note, None).await,
            Asked::Not(note) => self.tell(run, note).await,
            Asked::Form(form) => Ok(form.into()),
        }
    }

    /// Whether the client speaks 2026-07-28 or later.
    fn is_modern(&self) -> bool {
        let version = self.cx.protocol_version();
        version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
    }

    async fn elicit(&self, params: ElicitRequestParams, limit: Duration) -> Option<ElicitResult> {
        let params = harmless(Ok(params)).ok()?;
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
        let options = PeerRequestOptions::with_timeout(limit);
        let sent = self.cx.peer.send_request_with_option(request, options).await.ok()?;
        match sent.await_response().await {
            Ok(ClientResult::ElicitResult(result)) => Some(result),
            Ok(_) | Err(_) => None,
        }
    }

    /// Gives what a form says to the run.
    pub(super) async fn take(
        &self,
        said: FormOutcome,
        question: &Question,
    ) -> Result<Asked, ErrorData> {
        let (value, reason, remember) = match (said, question.decline()) {
            (FormOutcome::Choice { value, reason, remember }, _) => (value, reason, remember),
            (FormOutcome::Look, _) => {
                let note = "the person wants to hear you first: look at it, then call \
                    skill_continue with your advice and without a choice";
                return Ok(Asked::Not(Some(note.to_owned())));
            }
            (FormOutcome::No, Some(no)) if question.kind == AskKind::Confirm => {
                (no.value.clone(), Some("declined the form".to_owned()), None)
            }
            (FormOutcome::No, _) => {
                let note = "the person declined the form; the question stays open";
                return Ok(Asked::Not(Some(note.to_owned())));
            }
            (FormOutcome::Nothing(why), _) => return Ok(Asked::Not(Some(why.to_owned()))),
        };
        let by = self.who.clone();
        let id = self.assistant.server().handles.of_question(question).unwrap_or_default();
        let taken = self.assistant.blocking(move |server| {
            let handle = server.handles.open(&id, &server.runtime.journal()?)?;
            let prompter = Channel::Elicited;
            let word = Word { value, reason, edits: None, remember, by, prompter };
            answer::answer(server, &handle, word)
        });
        match taken.await? {
            Ok(note) => Ok(Asked::Answered(note)),
            Err(error) => Ok(Asked::Not(Some(told(&error)))),
        }
    }
}

fn told(error: &Error) -> String {
    match hint(error) {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    }
}

/// What a form says that was there for so long.
pub(super) fn read(result: &ElicitResult, waited: Duration) -> FormOutcome {
    let text = |name: &str| {
        let value = result.content.as_ref().and_then(|content| content.get(name));
        value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    match result.action {
        ElicitationAction::Accept => match text(CHOICE) {
            Some(choice) if choice.trim().eq_ignore_ascii_case(LOOK) => FormOutcome::Look,
            Some(value) => {
                let remember = text(REMEMBER).map(Value::String);
                let remember = remember.and_then(|scope| serde_json::from_value(scope).ok());
                FormOutcome::Choice { value, reason: text("reason"), remember }
            }
            None => FormOutcome::Nothing(
                "the form was accepted without an answer; that counts for nothing",
            ),
        },
        ElicitationAction::Decline if waited >= SEEN => FormOutcome::No,
        ElicitationAction::Decline => FormOutcome::Nothing(
            "the form was declined at once: nobody has seen it; ask the person yourself",
        ),
        // Whatever else there may be one day, it is not an answer.
        _ => FormOutcome::Nothing("the form was closed without an answer; the question stays open"),
    }
}

/// Whether the assistant sees a question before the person gets a form: where
/// its advice is wanted, and where something failed.
pub(super) fn assistant_first(question: &Question) -> bool {
    question.ai_assist || question.purpose == Purpose::Recover
}

/// What the person reads.
fn message(skill: &str, question: &Question, advice: &[Advice]) -> String {
    // What steps wrote may stand in any of these: it must not look like ours.
    let quoted = |text: &str| budget::quoted(&escape_control_lines(text));
    let mut place = format!("{skill} · {}", question.step);
    place.extend(question.own_title().map(|title| format!(": {title}")));
    let mut parts = vec![escape_control_line(&place)];
    parts.push(quoted(&question.message));
    parts.extend(question.follows.as_ref().map(|line| format!("A yes starts:\n{}", quoted(line))));
    if !question.changed.is_empty() {
        let lines: Vec<String> = question.changed.iter().map(Change::line).collect();
        parts.push(format!("Changed since the last yes:\n{}", quoted(&lines.join("\n"))));
    }
    let covered: Vec<String> = asking_run::covered(question).collect();
    if !covered.is_empty() {
        parts.push(format!("A yes covers:\n{}", quoted(&covered.join("\n"))));
    }
    if !question.not_covered.is_empty() {
        let notes = quoted(&question.not_covered.join("\n"));
        parts.push(format!("A yes does not cover:\n{notes}"));
    }
    let offered = asking_run::values(question);
    for offer in question.options.iter().filter(|offer| offered.contains(&offer.value.as_str())) {
        let about = offer.description.as_deref().map(|about| format!(": {about}"));
        let line = format!("{} = {}{}", offer.value, offer.label, about.unwrap_or_default());
        parts.push(format!("- {}", escape_control_line(&line)));
    }
    for advice in advice {
        let by = escape_control_line(&advice.by);
        parts.push(format!("Advice of {by} (an assistant; it does not decide):"));
        let option = advice.label(question).map(|option| format!("suggests {option}"));
        parts.extend(option.map(|option| quoted(&option)));
        parts.push(quoted(&advice.text));
    }
    parts.join("\n")
}

/// A form with one field that has to be filled in, and no default. Only where
/// a form counts as a person's word can it be remembered.
fn form(asking: &AskingRun, remembers: bool) -> Option<ElicitRequestParams> {
    let question = &asking.question;
    let advice = asking.state.advice();
    let message = message(&asking.run.skill, question, advice);
    let choice = match question.kind {
        AskKind::Input => {
            let mut field = json!({ "type": "string", "title": "Answer", "minLength": 1 });
            if advice.is_empty() {
                field["description"] = format!("to hear the assistant first, write: {LOOK}").into();
            }
            field
        }
        AskKind::Confirm | AskKind::Choose | AskKind::Recover => {
            let mut values = asking_run::values(question);
            if values.is_empty() {
                return None;
            }
            if advice.is_empty() {
                values.push(LOOK);
            }
            json!({ "type": "string", "title": "Your choice", "enum": values })
        }
    };
    let mut schema = json!({
        "type": "object",
        "properties": {
            CHOICE: choice,
            "reason": { "type": "string", "title": "Why (optional, recorded)" },
        },
        "required": [CHOICE],
    });
    let scopes = question.remember_scopes();
    if remembers && !scopes.is_empty() {
        let words: Vec<&str> = scopes.iter().map(|scope| scope.word()).collect();
        let covers =
            scopes.iter().map(|one| format!("{}: {}", one.word(), question.remember_covers(*one)));
        schema["properties"][REMEMBER] = json!({
            "type": "string",
            "title": "Remember it (optional)",
            "description": covers.collect::<Vec<_>>().join("; "),
            "enum": words,
        });
    }
    let requested_schema: ElicitationSchema = serde_json::from_value(schema).ok()?;
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(2);
    const SHORT: Duration = Duration::from_millis(999);

    fn said(result: Value, waited: Duration) -> FormOutcome {
        read(&serde_json::from_value(result).expect("a result"), waited)
    }

    #[test]
    fn a_decline_is_a_no_only_if_somebody_can_have_seen_it() {
        assert_eq!(said(json!({ "action": "decline" }), LONG), FormOutcome::No);
        assert!(matches!(said(json!({ "action": "decline" }), SHORT), FormOutcome::Nothing(_)));
        assert!(matches!(said(json!({ "action": "cancel" }), LONG), FormOutcome::Nothing(_)));
    }

    #[test]
    fn an_empty_form_is_no_answer() {
        for content in [json!(null), json!({}), json!({ "choice": "" }), json!({ "choice": 1 })] {
            let result = json!({ "action": "accept", "content": content });
            assert!(matches!(said(result, LONG), FormOutcome::Nothing(_)));
        }
        let full = json!({ "action": "accept", "content": { "choice": "go", "reason": "why" } });
        let choice = |remember| FormOutcome::Choice {
            value: "go".into(),
            reason: Some("why".into()),
            remember,
        };
        assert_eq!(said(full, SHORT), choice(None));
        let content = json!({ "choice": "go", "reason": "why", "remember": "error" });
        let full = json!({ "action": "accept", "content": content });
        assert_eq!(said(full, SHORT), choice(Some(AnswerScope::Error)));
    }
}
