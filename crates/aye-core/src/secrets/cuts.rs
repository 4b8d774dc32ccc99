//! Parts of a secret beside the place where a message was cut: `ghp_abcdefgh…`.
//!
//! Values are quoted and shortened in many places, most of which do not know the secrets. The
//! rest of one is not among its forms; the mark beside it says where to look.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// What stands where a text was cut.
const CUT: &str = "…";
/// The end of the line in front of an output whose beginning was dropped.
const DROPPED: &str = " bytes dropped]\n";

/// Shorter parts say too little, and are found where no secret is.
const SHORTEST: usize = 8;

/// The text with the parts of secrets replaced that end or begin at a cut; `None` if there are
/// none.
pub(super) fn mask_beside_cuts(text: &str, forms: &[String]) -> Option<String> {
    let before: Vec<usize> = text.match_indices(CUT).map(|(at, _)| at).collect();
    let marks = text.match_indices(CUT).chain(text.match_indices(DROPPED));
    let mut after: Vec<usize> = marks.map(|(at, mark)| at + mark.len()).collect();
    if after.is_empty() {
        return None;
    }
    after.sort_unstable();
    let (ends, _) = parts_at(text, forms, &before, Side::End);
    let (beginnings, _) = parts_at(text, forms, &after, Side::Beginning);
    let before = before.iter().zip(ends).map(|(at, length)| at - length..*at);
    let after = after.iter().zip(beginnings).map(|(at, length)| *at..at + length);
    let mut found: Vec<_> = before.chain(after).filter(|part| !part.is_empty()).collect();
    if found.is_empty() {
        return None;
    }
    found.sort_by_key(|part| part.start);
    let (mut masked, mut at) = (String::new(), 0);
    for part in found {
        if part.start >= at {
            masked.push_str(&text[at..part.start]);
            masked.push_str(super::HIDDEN);
        }
        at = at.max(part.end);
    }
    masked.push_str(&text[at..]);
    Some(masked)
}

/// Which part of a secret a cut has left.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    /// The text in front of the cut ends with the beginning of a secret.
    End,
    /// The text behind the cut begins with the end of a secret.
    Beginning,
}

/// Bytes as they are, or from their end: the end of a secret is the beginning of one that is
/// read backwards.
#[derive(Clone, Copy)]
struct Bytes<'a>(&'a [u8], Side);

impl Bytes<'_> {
    fn len(self) -> usize {
        self.0.len()
    }

    fn at(self, at: usize) -> u8 {
        match self.1 {
            Side::End => self.0[at],
            Side::Beginning => self.0[self.0.len() - 1 - at],
        }
    }

    /// The first bytes from here.
    fn first(self, at: usize) -> Option<[u8; SHORTEST]> {
        (at + SHORTEST <= self.len()).then(|| std::array::from_fn(|next| self.at(at + next)))
    }
}

/// How many bytes at each of these places are a part of a secret, and how much work that was. A
/// program decides how many cuts its output has: the work grows with the text and the secrets,
/// and not with the product of them.
fn parts_at(text: &str, forms: &[String], places: &[usize], side: Side) -> (Vec<usize>, usize) {
    let text = Bytes(text.as_bytes(), side);
    let forms = forms.iter().map(|form| Bytes(form.as_bytes(), side));
    let turned = |place: usize| match side {
        Side::End => place,
        Side::Beginning => text.len() - place,
    };
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|at| turned(places[*at]));
    let longest = forms.clone().map(Bytes::len).max().unwrap_or(0);
    // Where a part of a secret can begin.
    let mut regions: Vec<Range<usize>> = Vec::new();
    for at in &order {
        let place = turned(places[*at]);
        let from = place.saturating_sub(longest);
        match regions.last_mut().filter(|last| last.end >= from) {
            Some(last) => last.end = place,
            None => regions.push(from..place),
        }
    }
    let mut steps = 0;
    let known: HashSet<_> = forms.clone().filter_map(|form| form.first(0)).collect();
    let mut begun = HashSet::new();
    for region in &regions {
        for at in region.clone() {
            steps += 1;
            begun.extend(text.first(at).filter(|bytes| known.contains(bytes)));
        }
    }
    let mut lengths = vec![0; places.len()];
    if begun.is_empty() {
        return (lengths, steps);
    }
    let mut beginnings = Beginnings::default();
    for form in forms.filter(|form| form.first(0).is_some_and(|bytes| begun.contains(&bytes))) {
        steps += form.len();
        beginnings.add(form);
    }
    beginnings.link();
    let mut due = order.into_iter().peekable();
    for region in regions {
        let mut state = 0;
        for at in region.start..=region.end {
            while let Some(place) = due.next_if(|place| turned(places[*place]) == at) {
                let length = beginnings.states[state].depth;
                lengths[place] = if length >= SHORTEST { length } else { 0 };
            }
            if at < region.end {
                (state, steps) = beginnings.step(state, text.at(at), steps);
            }
        }
    }
    (lengths, steps)
}

/// Every beginning of some texts as the states of a machine: reading a text it is always in that
/// of the longest beginning which ends there (Aho and Corasick).
struct Beginnings {
    states: Vec<Beginning>,
    next: HashMap<(usize, u8), usize>,
}

/// A beginning of a text.
struct Beginning {
    depth: usize,
    /// The longest one that it ends with.
    inner: usize,
    /// The one that is a letter shorter, and the letter.
    from: (usize, u8),
}

impl Default for Beginnings {
    fn default() -> Self {
        let states = vec![Beginning { depth: 0, inner: 0, from: (0, 0) }];
        Self { states, next: HashMap::new() }
    }
}

impl Beginnings {
    fn add(&mut self, text: Bytes<'_>) {
        let mut state = 0;
        for at in 0..text.len() {
            let (from, new) = ((state, text.at(at)), self.states.len());
            state = *self.next.entry(from).or_insert(new);
            if state == new {
                self.states.push(Beginning { depth: at + 1, inner: 0, from });
            }
        }
    }

    /// Finds for each beginning the longest one that it ends with, the short ones first.
    fn link(&mut self) {
        let mut order: Vec<usize> = (1..self.states.len()).collect();
        order.sort_by_key(|state| self.states[*state].depth);
        order.retain(|state| self.states[*state].depth > 1);
        for state in order {
            let (before, letter) = self.states[state].from;
            self.states[state].inner = self.step(self.states[before].inner, letter, 0).0;
        }
    }

    /// The state after one more letter.
    fn step(&self, mut state: usize, letter: u8, mut steps: usize) -> (usize, usize) {
        loop {
            steps += 1;
            match self.next.get(&(state, letter)) {
                Some(next) => return (*next, steps),
                None if state == 0 => return (0, steps),
                None => state = self.states[state].inner,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::quote;
    use crate::secrets::Secrets;

    fn secrets(values: &[&str]) -> Secrets {
        let mut secrets = Secrets::default();
        for (at, value) in values.iter().enumerate() {
            secrets.insert(format!("s{at}"), *value);
        }
        secrets
    }

    /// No eight letters in a row of any of them.
    fn tells_nothing(secrets: &[&str], text: &str) {
        for secret in secrets {
            let letters: Vec<char> = secret.chars().collect();
            for part in letters.windows(super::SHORTEST) {
                let part: String = part.iter().collect();
                assert!(!text.contains(&part), "{part:?} in {text}");
            }
        }
    }

    #[test]
    fn what_is_left_of_a_secret_at_a_cut() {
        let long = |length: usize| -> String {
            (0..length).map(|at| format!("{at:x}-")).collect::<String>()[..length].to_owned()
        };
        for length in [61, 98, 300, 5000] {
            let secret = format!("ghp_{}", long(length));
            let known = secrets(&[&secret]);
            for lead in ["", "https://me:", "é "] {
                let value = format!("{lead}{secret}");
                let quoted = quote(&value);
                assert!(quoted.ends_with("…`"), "{quoted}");
                tells_nothing(&[&secret], &known.mask(&format!("{quoted} does not match")));
                let dropped = format!("[12 bytes dropped]\n{} and", &secret[20..]);
                assert_eq!(known.mask(&dropped), "[12 bytes dropped]\n*** and");
            }
        }
    }

    #[test]
    fn what_a_message_escapes_and_cuts() {
        for secret in
            ["abcdWXYZ\u{1b}efgh1234", "it's\na \"key\"\nof lines", "tab\tand\u{200b}nothing é"]
        {
            let known = secrets(&[secret]);
            let long = format!("{secret}{}", "x".repeat(80));
            let longer = secrets(&[&long]);
            for (known, secret) in [(&known, secret), (&longer, &long)] {
                let escaped = secret.escape_debug().to_string();
                for text in [quote(secret), format!("`{escaped}`"), format!("{secret:?}")] {
                    let parts: Vec<&str> = secret.split(|c: char| !c.is_alphanumeric()).collect();
                    tells_nothing(&parts, &known.mask(&text));
                    tells_nothing(&[&escaped, secret], &known.mask(&text));
                }
            }
        }
    }

    /// Twice the text is twice the work, and so is twice the secret, however often it is cut: a
    /// key of many lines and an output full of marks took minutes.
    #[test]
    fn the_work_grows_with_the_text_and_not_with_its_cuts() {
        let work = |lines: usize, cuts: usize, letter: &str| {
            let key: Vec<String> =
                (0..lines).map(|at| letter.repeat(58) + &format!("{at:06}")).collect();
            let known = secrets(&[&key.join("\n")]);
            let text = format!("{} part…", &key[0][..20]).repeat(cuts);
            let marks: Vec<usize> = text.match_indices('…').map(|(at, _)| at).collect();
            let side = super::Side::End;
            let (lengths, steps) = super::parts_at(&text, &known.forms, &marks, side);
            assert_eq!(lengths.len(), cuts);
            steps
        };
        for letter in ["k", "-----BEGIN KEY----- ab cd ef gh"] {
            let small = work(6, 100, letter);
            for (lines, cuts, most) in [(6, 400, 5), (24, 100, 5), (12, 200, 3)] {
                let large = work(lines, cuts, letter);
                assert!(large <= small * most, "{lines}, {cuts}: {large} to {small}");
            }
        }
    }

    /// All the cuts of a text, from both sides, as if each were the only one.
    #[test]
    fn each_of_many_cuts_is_found() {
        let secret = "ababababab-abababcdabab";
        let known = secrets(&[secret]);
        for length in super::SHORTEST..secret.len() {
            let (begin, end) = (&secret[..length], &secret[secret.len() - length..]);
            for times in [1, 3] {
                let text = format!("x {begin}…y …{end} z ").repeat(times);
                assert_eq!(known.mask(&text), "x ***…y …*** z ".repeat(times), "{length}");
            }
        }
    }

    #[test]
    fn other_texts_with_a_cut_stay() {
        let known = secrets(&["hunter2-swordfish-and-more"]);
        for text in ["hunter…", "a hunter2-x…", "…fish-and", "…", "nothing", "é…hunter2-"]
        {
            assert_eq!(known.mask(text), text);
        }
        assert_eq!(known.mask("a hunter2-sword… b"), "a ***… b");
        assert_eq!(known.mask("…fish-and-more b"), "…*** b");
        assert_eq!(known.mask("…hunter2-swordfish-and-more…"), "…***…");
    }
}
