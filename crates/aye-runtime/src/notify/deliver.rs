//! One delivery: a message to its channel, or taking it back.

use aye_core::secrets::Secrets;

use crate::fmt::escape_control_line;
use crate::settings::ChannelKind;

use super::{Channel, Message, command, desktop, dropbox};
#[cfg(feature = "notify")]
use super::{email, ntfy, webhook};

/// How many characters of what a channel said are kept.
const SHOWN: usize = 200;

/// Why a channel did not take a message. It never holds a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DeliveryError(String);

impl DeliveryError {
    /// For this reason.
    pub fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }

    /// The same on one line, harmless and without these secrets.
    fn without(self, secrets: &Secrets) -> Self {
        let line = secrets.mask(&escape_control_line(&self.0));
        Self(match line.char_indices().nth(SHOWN) {
            Some((at, _)) => format!("{}…", &line[..at]),
            None => line,
        })
    }
}

/// A channel took a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Delivered {
    /// What it needs to take it back, if it can.
    pub receipt: Option<String>,
}

/// What is to be delivered.
#[derive(Debug, Clone)]
pub enum Delivery {
    /// Tell this.
    Send(Box<Message>),
    /// Take back what has this receipt.
    Retract(String),
}

/// Delivers. It may take seconds; the channels have limits of their own.
///
/// # Errors
/// When the channel did not take it.
pub fn deliver(channel: &Channel, delivery: &Delivery) -> Result<Delivered, DeliveryError> {
    // What is read for this delivery must not come back in an error.
    let mut secrets = Secrets::default();
    let done = match &channel.settings.kind {
        #[cfg(feature = "notify")]
        ChannelKind::Webhook(hook) => webhook::deliver(channel, hook, delivery, &mut secrets),
        #[cfg(feature = "notify")]
        ChannelKind::Ntfy(ntfy) => ntfy::deliver(channel, ntfy, delivery, &mut secrets),
        #[cfg(feature = "notify")]
        ChannelKind::Email(mail) => email::deliver(channel, mail, delivery, &mut secrets),
        #[cfg(not(feature = "notify"))]
        ChannelKind::Webhook(_) | ChannelKind::Ntfy(_) | ChannelKind::Email(_) => {
            let _ = &mut secrets;
            Err(DeliveryError::new("this program was built without notifications"))
        }
        ChannelKind::Command(command) => command::deliver(channel, command, delivery),
        ChannelKind::DropBox(files) => dropbox::deliver(files, delivery),
        ChannelKind::Desktop => desktop::deliver(channel, delivery),
    };
    done.map_err(|error| error.without(&secrets))
}
