//! The notifications of the desktop of this account.

use crate::desktop::{Note, NotificationService};
use crate::store::Occasion;

use super::{Channel, Delivered, Delivery, DeliveryError, Message};

/// More than this no notification shows.
const LONGEST: usize = 400;
/// What is important enough to stand out.
const URGENT: u8 = 5;

pub(super) fn deliver(channel: &Channel, delivery: &Delivery) -> Result<Delivered, DeliveryError> {
    let service = NotificationService::find(&channel.env).map_err(DeliveryError::new)?;
    match delivery {
        Delivery::Send(message) => {
            let receipt = service.show(&note(message)).map_err(DeliveryError::new)?;
            Ok(Delivered { receipt: Some(receipt) })
        }
        Delivery::Retract(receipt) => {
            service.close(receipt).map_err(DeliveryError::new)?;
            Ok(Delivered::default())
        }
    }
}

fn note(message: &Message) -> Note {
    let icon = match message.occasion {
        Occasion::Question | Occasion::Reminder | Occasion::Escalation | Occasion::Expiring => {
            "dialog-question"
        }
        Occasion::Failed => "dialog-error",
        Occasion::Completed | Occasion::Cancelled => "dialog-information",
    };
    Note {
        icon,
        summary: message.title.clone(),
        body: message.text_within(LONGEST).0,
        urgent: message.destructive || message.priority() >= URGENT,
        replaces: message.replaces.clone(),
    }
}
