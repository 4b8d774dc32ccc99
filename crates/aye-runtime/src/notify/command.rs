//! A command of the user: the message as JSON on its standard input.

use std::time::Instant;

use aye_process::{Outcome, Spec, Stdin, signal_words};

use crate::fmt::duration;
use crate::settings::CommandChannel;

use super::body::whole;
use super::{Channel, Delivered, Delivery, DeliveryError};

/// Nobody reads more than the last words.
const KEPT: usize = 4 * 1024;

pub(super) fn deliver(
    channel: &Channel,
    command: &CommandChannel,
    delivery: &Delivery,
) -> Result<Delivered, DeliveryError> {
    let Delivery::Send(message) = delivery else { return Ok(Delivered::default()) };
    let (program, args) =
        command.argv.split_first().ok_or_else(|| DeliveryError::new("no program is named"))?;
    let mut spec = Spec::new(program).args(args).without_own_variables(&["AYE_HOME"]);
    spec.cwd = Some(channel.settings.root.clone());
    spec.stdin = Stdin::Bytes(whole(message, false).to_string().into_bytes());
    spec.timeout = Some(command.timeout);
    spec.tail_limit = KEPT;
    spec.aside = true;
    let failed = |why: String| DeliveryError::new(why);
    let found = aye_process::resolve(&spec).map_err(|error| failed(error.to_string()))?;
    let policy = channel.policy.for_run(&channel.settings.root);
    policy.check(&spec, &found).map_err(|refusal| failed(refusal.to_string()))?;
    let mut child = aye_process::spawn(spec).map_err(|error| failed(error.to_string()))?;
    let ended = aye_process::wait_to_end(&mut child, Instant::now() + command.timeout * 2);
    let ended = ended.map_err(|error| failed(error.to_string()))?;
    let exit = ended.ok_or_else(|| failed("it does not end".to_owned()))?;
    let why = match &exit.outcome {
        Outcome::Exited(0) => return Ok(Delivered::default()),
        Outcome::Exited(code) => format!("it ended with exit code {code}"),
        Outcome::TimedOut => format!("it took longer than {}", duration(command.timeout)),
        Outcome::Signaled(signal) => format!("{} ended it", signal_words(*signal)),
        Outcome::Cancelled | Outcome::Interrupted => "it was ended".to_owned(),
    };
    let words = exit.stderr.text_of_last(KEPT);
    let last = words.lines().rev().find(|line| !line.trim().is_empty());
    Err(failed(last.map_or_else(|| why.clone(), |last| format!("{why}: {}", last.trim()))))
}
