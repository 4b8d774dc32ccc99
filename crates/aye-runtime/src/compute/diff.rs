//! The difference of two texts, for people.

use std::fmt::Write as _;

/// Lines shown before and after what differs.
const AROUND: usize = 1;
/// Lines that differ and are shown, of each text.
const SHOWN: usize = 20;

/// The lines that differ, as a diff shows them: `-` what goes, `+` what comes,
/// a line around them, and the number of the first one. Empty if nothing
/// differs. The text is as it is: the caller escapes it before it prints it.
pub fn diff(before: &str, after: &str) -> String {
    diff_within(before, after, SHOWN)
}

/// The same with every line that differs, for what someone agrees to.
pub fn whole_diff(before: &str, after: &str) -> String {
    diff_within(before, after, usize::MAX)
}

fn diff_within(before: &str, after: &str, shown: usize) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let ends = old[start..].iter().rev().zip(new[start..].iter().rev());
    let end = ends.take_while(|(old, new)| old == new).count();
    let (gone, come) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    if gone.is_empty() && come.is_empty() {
        return String::new();
    }
    let first = start.saturating_sub(AROUND);
    let mut text = format!("@@ line {} @@\n", first + 1);
    let mut show = |sign: char, lines: &[&str], most: usize| {
        for line in lines.iter().take(most) {
            // A string takes everything.
            let _ = match line.is_empty() {
                true => writeln!(text, "{}", sign.to_string().trim_end()),
                false => writeln!(text, "{sign}{line}"),
            };
        }
        if lines.len() > most {
            let _ = writeln!(text, "{sign}… {} more lines", lines.len() - most);
        }
    };
    show(' ', &old[first..start], AROUND);
    show('-', gone, shown);
    show('+', come, shown);
    let rest = &old[old.len() - end..];
    show(' ', &rest[..rest.len().min(AROUND)], AROUND);
    text
}

#[cfg(test)]
mod tests {
    use super::diff;

    #[test]
    fn what_differs_is_shown() {
        assert_eq!(diff("a\nb\nc\nd", "a\nb\nC\nd"), "@@ line 2 @@\n b\n-c\n+C\n d\n");
        assert_eq!(diff("a", "b"), "@@ line 1 @@\n-a\n+b\n");
        assert_eq!(diff("a\n\nc\n", "a\n\nc\nd\n"), "@@ line 3 @@\n c\n+d\n");
        assert_eq!(diff("a\nb\n", "b\n"), "@@ line 1 @@\n-a\n b\n");
        assert_eq!(diff("a\n\nc", "a\n\nd"), "@@ line 2 @@\n\n-c\n+d\n");
        assert_eq!(diff("a ", "a"), "@@ line 1 @@\n-a \n+a\n");
        assert_eq!(diff("a\r\nb\r\n", "a\r\nc\r\n"), "@@ line 1 @@\n a\n-b\n+c\n");
        assert_eq!(diff("a\n", "a\n"), "");
        assert_eq!(diff("", ""), "");
    }

    #[test]
    fn much_is_cut() {
        let many = "x\n".repeat(50);
        let shown = diff("", &many);
        assert_eq!(shown.lines().count(), 22);
        assert!(shown.ends_with("+… 30 more lines\n"));
    }
}
