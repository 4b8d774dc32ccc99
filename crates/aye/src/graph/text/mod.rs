//! A flow in a terminal, read from top to bottom.
//!
//! `spine` puts the steps in reading order: what follows when all goes well
//! stands beneath, every other way is a line of its own. `ink` has the
//! glyphs and colours.
//!
//! Touches nothing. `aye graph` prints it.

mod ink;
mod spine;

use aye_core::flow::Flow;
use aye_core::skill::EndStatus;
use unicode_width::UnicodeWidthStr;

use self::ink::{Glyphs, Row, Tone};
use self::spine::{Chain, chains};
use super::diagram::{Diagram, Link, What, status_word};
use super::label::{cut, plain};

/// Fewer columns than this cannot be read anyway.
const NARROWEST: usize = 20;

/// The flow for a terminal of `width` columns. `unicode` chooses between
/// box-drawing characters and plain ASCII; `colour` adds escape codes.
pub fn text(flow: &Flow, width: usize, colour: bool, unicode: bool) -> String {
    let drawing = Diagram::of(flow).without_links_of_ends();
    let width = width.max(NARROWEST);
    let chains = chains(&drawing);
    let mut order = vec![usize::MAX; drawing.shapes.len()];
    for (at, place) in chains.iter().flat_map(|chain| &chain.shapes).enumerate() {
        order[*place] = at;
    }
    let page = Page {
        glyphs: Glyphs::new(unicode),
        names: name_column(&drawing, width),
        drawing: &drawing,
        order,
    };
    let mut rows = vec![page.heading(flow.skill.description.as_deref())];
    for chain in &chains {
        rows.push(Row::default());
        page.chain(chain, &mut rows);
    }
    rows.iter().map(|row| row.print(width, colour, &page.glyphs)).collect()
}

/// How wide the names are together; a few very long ones do not push the
/// rest aside.
fn name_column(drawing: &Diagram, width: usize) -> usize {
    let most = (width / 3).clamp(8, 28);
    drawing.shapes.iter().map(|shape| shape.name.width()).filter(|w| *w <= most).max().unwrap_or(0)
}

struct Page<'a> {
    glyphs: Glyphs,
    names: usize,
    drawing: &'a Diagram,
    /// How far down the page each shape stands.
    order: Vec<usize>,
}

impl Page<'_> {
    fn heading(&self, description: Option<&str>) -> Row {
        let row = Row::default().add(Tone::Strong, &self.drawing.title);
        match description {
            Some(description) => row.add(Tone::Faint, &format!("  {}", plain(description))),
            None => row,
        }
    }

    fn chain(&self, chain: &Chain, rows: &mut Vec<Row>) {
        for (at, &place) in chain.shapes.iter().enumerate() {
            let last = at + 1 == chain.shapes.len();
            rows.push(self.shape(place));
            let mut below = self.asides(place);
            let next = chain.shapes.get(at + 1).copied();
            below.extend(self.ways(place, next));
            let bar = if last && chain.onward.is_none() { " " } else { self.glyphs.bar };
            let airy = !below.is_empty() && !last;
            rows.extend(below.into_iter().map(|row| row.indented(bar)));
            if airy {
                rows.push(Row::default().add(Tone::Faint, &format!("  {bar}")));
            }
        }
        if let Some(link) = chain.onward {
            let corner = format!("  {}", self.glyphs.turn);
            rows.push(self.target(link, place_of(chain), Row::default().add(Tone::Faint, &corner)));
        }
    }

    fn shape(&self, place: usize) -> Row {
        let shape = &self.drawing.shapes[place];
        let tone = match shape.what {
            What::End(status) => Tone::of_end(status),
            What::Question => Tone::Ask,
            What::Command | What::Shell | What::Note => Tone::Mark,
        };
        let name = cut(&shape.name, self.longest_name(), self.glyphs.cut);
        let gap = " ".repeat(self.names.saturating_sub(name.width()) + 2);
        let said = match shape.what {
            What::End(EndStatus::Completed) if shape.name == "end" => "",
            What::End(status) if status_word(status) == shape.name => "",
            What::End(status) => status_word(status),
            _ => &shape.detail,
        };
        let row = Row::default()
            .add(tone, &format!("  {} ", self.glyphs.of(shape.what)))
            .add(if shape.reached { Tone::Strong } else { Tone::Faint }, &name);
        let row = if said.is_empty() { row } else { row.add(Tone::Faint, &(gap + said)) };
        if shape.reached { row } else { row.add(Tone::Bad, "  unreachable") }
    }

    /// Longer names than this are cut, so that something of the rest is seen.
    fn longest_name(&self) -> usize {
        self.names.max(28)
    }

    /// What holds for the step whatever its outcome.
    fn asides(&self, place: usize) -> Vec<Row> {
        let shape = &self.drawing.shapes[place];
        let mut rows = Vec::new();
        if let Some(condition) = &shape.condition {
            rows.push(Row::default().add(Tone::Mark, "if ").add(Tone::Faint, condition));
        }
        if let Some(message) = &shape.gate {
            let flag = format!("{} asks first", self.glyphs.gate);
            rows.push(
                Row::default().add(Tone::Ask, &flag).add(Tone::Faint, &format!("  {message}")),
            );
        }
        if !shape.remarks.is_empty() {
            let remarks = shape.remarks.join(self.glyphs.between);
            rows.push(Row::default().add(Tone::Ask, &remarks));
        }
        rows
    }

    /// Every way out but the one down the page.
    fn ways(&self, place: usize, next: Option<usize>) -> Vec<Row> {
        let onward = spine::success(self.drawing, place);
        let mut ways: Vec<(Vec<&str>, &Link)> = Vec::new();
        for link in self.drawing.links.iter().filter(|link| link.from == place) {
            let main = onward.is_some_and(|onward| std::ptr::eq(onward, link));
            let words: Vec<&str> = link
                .outcomes
                .iter()
                .map(String::as_str)
                .filter(|word| !(main && matches!(*word, "success" | "0")))
                .collect();
            if !(words.is_empty() && (main || next == Some(link.to))) {
                ways.push((words, link));
            }
        }
        let count = ways.len();
        let draw = |(at, (words, link)): (usize, (Vec<&str>, &Link))| {
            let branch = if at + 1 == count { self.glyphs.corner } else { self.glyphs.tee };
            let tone = match words.first() {
                Some(&"failure" | &"timeout") => Tone::Bad,
                Some(&"declined" | &"cancelled") => Tone::Ask,
                Some(_) | None => Tone::Mark,
            };
            let row = Row::default()
                .add(Tone::Faint, &format!("{branch} "))
                .add(tone, &format!("{} ", words.join(", ")));
            self.target(link, place, row)
        };
        ways.into_iter().enumerate().map(draw).collect()
    }

    fn target(&self, link: &Link, from: usize, row: Row) -> Row {
        let name = &self.drawing.shapes[link.to].name;
        let above = self.order[link.to] <= self.order[from];
        if above && spine::leads(self.drawing, link.to, from) {
            row.add(Tone::Mark, self.glyphs.again)
                .add(Tone::Plain, name)
                .add(Tone::Faint, self.glyphs.said_again)
        } else {
            row.add(Tone::Faint, self.glyphs.arrow).add(Tone::Plain, name)
        }
    }
}

fn place_of(chain: &Chain) -> usize {
    chain.shapes.last().copied().unwrap_or_default()
}
