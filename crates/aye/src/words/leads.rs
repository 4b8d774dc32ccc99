//! Where each answer leads, in words: `no → restore`.

use aye_core::question::{Question, SILENCE};

use crate::paint::{Paint, escape_control_line};

/// `yes → deploy`, `no → restore`: one for each answer whose way is known.
pub fn lead_words(question: &Question, paint: Paint) -> Vec<String> {
    let arrow = if paint.unicode { "→" } else { "->" };
    let plain = question.yes_and_no();
    let mut words = Vec::new();
    for (index, offer) in question.options.iter().enumerate() {
        let Some(lead) = question.lead(&offer.value) else { continue };
        let answer = match plain {
            Some((yes, _)) if yes == index => "yes".to_owned(),
            Some(_) => "no".to_owned(),
            None => escape_control_line(&offer.label),
        };
        words.push(format!("{answer} {arrow} {}", escape_control_line(&lead.to_string())));
    }
    if let Some(lead) = question.lead(SILENCE) {
        words.push(format!("{SILENCE} {arrow} {}", escape_control_line(&lead.to_string())));
    }
    words
}
