//! `aye answer --resume`: the secrets that the run is resumed with.

use indexmap::IndexMap;

use crate::cli::Context;
use crate::paint::{escape_control_line, shell_word};
use crate::report::given_again;
use aye_runtime::error::Error;
use aye_runtime::usecases::QuestionState;

use super::answer::AnswerArgs;
use super::resume;

/// The secrets that the run needs to be driven on, before anything is recorded:
/// an answer that cannot be acted on is not what was asked for. The exit code if
/// the person would rather not give them.
pub(super) fn secrets_to_resume(
    args: &AnswerArgs,
    context: &Context,
) -> Result<Result<IndexMap<String, String>, u8>, Error> {
    if !args.resume {
        return Ok(Ok(IndexMap::new()));
    }
    let journal = context.journal()?;
    let question = journal.find_question(&args.question)?;
    let row = journal.find_run(question.run.as_str())?;
    let outer = journal.outermost(&row.id)?.unwrap_or(row);
    if question.state != QuestionState::Open || journal.is_driven(&outer.id)? {
        return Ok(Ok(IndexMap::new()));
    }
    let run = context.resumable(outer.id.as_str())?;
    let asked = journal.asked(&question.id)?;
    if asked.as_ref().is_some_and(|asked| asked.secret) {
        let lost: Vec<String> = run.lost_secrets().map(str::to_owned).collect();
        return Err(Error::Refused {
            message: format!("`{}` asks for a secret and no process drives the run", question.id),
            hint: Some(format!(
                "answer it where the run continues: `aye resume {}{}`",
                outer.id,
                given_again(&lost)
            )),
        });
    }
    let may_ask = !args.no_input && !context.json;
    let secrets = match resume::ask_for_secrets(&run, &args.inputs, may_ask, context)? {
        Ok(secrets) => secrets,
        Err(code) => return Ok(Err(code)),
    };
    let lost: Vec<String> = (run.lost_secrets())
        .filter(|name| !secrets.contains_key(*name))
        .map(str::to_owned)
        .collect();
    let Some(first) = lost.first() else { return Ok(Ok(secrets)) };
    let choice = args.choice.iter().map(|word| format!(" {}", shell_word(word)));
    let choice: String = choice.collect();
    let message = format!(
        "the secret `{}` is not kept in the journal: nothing was answered",
        escape_control_line(first)
    );
    let hint = format!(
        "give it again: `aye answer {}{choice} --resume{}`; without `--resume` the answer is \
         recorded and the run waits",
        question.id,
        given_again(&lost)
    );
    Err(Error::usage(message, hint))
}
