//! Where each answer leads, in words: `no → restore`.

use aye_core::question::{Question, SILENCE};

use crate::paint::{Paint, escape_control_line};

/// More answers than this that lead to the same place are not named.
const MOST: usize = 3;

/// `yes → runs deploy`, `no → restore`: one for each place that answers lead to.
pub fn lead_words(question: &Question, paint: Paint) -> Vec<String> {
    let arrow = if paint.unicode { "→" } else { "->" };
    let plain = question.yes_and_no();
    let mut places: Vec<(String, Vec<String>)> = Vec::new();
    for (index, offer) in question.options.iter().enumerate() {
        let Some(lead) = question.lead(&offer.value) else { continue };
        let answer = match plain {
            Some((yes, _)) if yes == index => "yes".to_owned(),
            Some(_) => "no".to_owned(),
            None => escape_control_line(&offer.label),
        };
        let place = escape_control_line(&lead.to_string());
        match places.iter_mut().find(|(known, _)| *known == place) {
            Some((_, answers)) => answers.push(answer),
            None => places.push((place, vec![answer])),
        }
    }
    let all = places.len() == 1;
    // What many answers share is said last, of the others.
    places.sort_by_key(|(_, answers)| answers.len() > MOST);
    let said = |(place, answers): (String, Vec<String>)| match answers.len() {
        2.. if all => format!("each answer {arrow} {place}"),
        count if count > MOST => format!("other answers {arrow} {place}"),
        _ => format!("{} {arrow} {place}", answers.join(", ")),
    };
    let mut words: Vec<String> = places.into_iter().map(said).collect();
    // Where nobody can say no, what silence does stands beside the time.
    let says_no = question.decline().is_some();
    if let Some(lead) = question.lead(SILENCE).filter(|_| says_no) {
        words.push(format!("{SILENCE} {arrow} {}", escape_control_line(&lead.to_string())));
    }
    words
}

#[cfg(test)]
mod tests {
    use aye_core::id::QuestionId;
    use aye_core::question::{Lead, Offer};
    use aye_core::skill::{AskKind, ChoiceAction};

    use super::*;

    fn words(kind: AskKind, leads: &[(&str, ChoiceAction, &str)]) -> String {
        let offer =
            |(value, action, _): &(&str, ChoiceAction, &str)| Offer::new(*value, *value, *action);
        let lead = |(answer, _, words): &(&str, ChoiceAction, &str)| Lead {
            answer: (*answer).to_owned(),
            ..Lead::said((*words).to_owned())
        };
        let question = Question {
            options: leads.iter().map(offer).collect(),
            leads: leads.iter().map(lead).collect(),
            ..Question::new(QuestionId::from_text("r-1"), kind, "Go?")
        };
        lead_words(&question, Paint { color: false, bold: false, unicode: true }).join(", ")
    }

    #[test]
    fn answers_that_lead_to_one_place_are_said_together() {
        use ChoiceAction::{Cancel, Proceed};
        let no = ("cancel", Cancel, "the run ends (cancelled)");
        let yes = ("proceed", Proceed, "runs deploy");
        let on = |value| (value, Proceed, "the run continues");
        assert_eq!(
            words(AskKind::Confirm, &[yes, no]),
            "yes → runs deploy, no → the run ends (cancelled)"
        );
        assert_eq!(
            words(AskKind::Choose, &[on("a"), on("b"), no]),
            "a, b → the run continues, cancel → the run ends (cancelled)"
        );
        assert_eq!(
            words(AskKind::Choose, &[on("a"), on("b"), on("c"), on("d"), no]),
            "cancel → the run ends (cancelled), other answers → the run continues"
        );
        assert_eq!(words(AskKind::Choose, &[on("a"), on("b")]), "each answer → the run continues");
        assert_eq!(words(AskKind::Choose, &[]), "");
    }
}
