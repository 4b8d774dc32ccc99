//! What differs is painted, and nothing else is harmed.

use aye::screen::{Painted, Screen};
use proptest::prelude::*;

use super::vt::Vt;

fn painted(lines: &[String]) -> Vec<Painted> {
    let one = |line: &String| Painted { text: line.clone(), width: line.len() };
    lines.iter().map(one).collect()
}

#[test]
fn only_what_changed_is_written() {
    let mut screen = Screen::default();
    let mut out = String::new();
    let lines = |last: &str| painted(&["one".into(), "two".into(), last.into()]);
    screen.show(lines("30s left"), (1, 3), &mut out);
    out.clear();
    screen.show(lines("30s left"), (1, 3), &mut out);
    assert_eq!(out, "");
    screen.show(lines("29s left"), (1, 3), &mut out);
    assert_eq!(out, "\u{1b}[1B\r\u{1b}[?7l29s left\u{1b}[K\u{1b}[?7h\u{1b}[1A\r\u{1b}[3C");
}

#[test]
fn a_line_that_becomes_the_last_stays() {
    let mut vt = Vt::new(20, 10);
    let mut screen = Screen::default();
    for view in [&["", "kept", ""][..], &["", "kept"]] {
        let view: Vec<String> = view.iter().map(|line| (*line).to_owned()).collect();
        let mut out = String::new();
        screen.show(painted(&view), (0, 0), &mut out);
        vt.write(out.as_bytes());
    }
    assert_eq!(vt.all(), "\nkept");
}

proptest! {
    /// However views follow each other, the screen shows the last one, with
    /// what was there before above it, and erasing leaves only that.
    #[test]
    fn the_last_view_is_what_is_seen(
        before in prop::collection::vec("[a-z]{1,10}", 0..20),
        views in prop::collection::vec(prop::collection::vec("[a-z ]{0,18}", 1..9), 1..8),
        at in any::<prop::sample::Index>(),
    ) {
        let mut vt = Vt::new(20, 10);
        for line in &before {
            vt.write(format!("{line}\r\n").as_bytes());
        }
        let mut screen = Screen::default();
        for view in &views {
            let mut out = String::new();
            let row = at.index(view.len());
            let column = view[row].len();
            screen.show(painted(view), (row, column), &mut out);
            vt.write(out.as_bytes());
            let mut expected: Vec<String> = before.clone();
            expected.extend(view.iter().map(|line| line.trim_end().to_owned()));
            let (all, expected) = (vt.all(), expected.join("\n"));
            prop_assert_eq!(all.trim_end(), expected.trim_end());
            prop_assert_eq!(vt.cursor().1, column);
        }
        let mut out = String::new();
        screen.erase(&mut out);
        vt.write(out.as_bytes());
        let all = vt.all();
        prop_assert_eq!(all.trim_end(), before.join("\n"));
        prop_assert_eq!(vt.cursor().1, 0);
    }
    /// Lines that are printed for good stay above the view, whatever was there.
    #[test]
    fn what_is_printed_stays_above_the_view(
        turns in prop::collection::vec(
            (
                prop::collection::vec("[a-z]{1,30}", 0..6),
                prop::collection::vec("[a-z]{1,18}", 0..9),
            ),
            1..10,
        ),
    ) {
        let mut vt = Vt::new(20, 12);
        let mut screen = Screen::default();
        screen.fit(20);
        let mut printed: Vec<String> = Vec::new();
        for (lines, view) in &turns {
            let mut out = String::new();
            screen.print(&painted(lines), &mut out);
            let cursor = (view.len().saturating_sub(1), view.last().map_or(0, String::len));
            screen.show(painted(view), cursor, &mut out);
            vt.write(out.as_bytes());
            for line in lines {
                let chars: Vec<char> = line.chars().collect();
                printed.extend(chars.chunks(20).map(|row| row.iter().collect::<String>()));
            }
            let expected: Vec<String> = printed.iter().chain(view).cloned().collect();
            let all = vt.all();
            prop_assert_eq!(all.trim_end(), expected.join("\n"));
        }
    }
}
