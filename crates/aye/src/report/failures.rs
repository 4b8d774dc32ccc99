//! What failed inside a step, in few words.

use aye_core::id::RunId;

/// As many of the runs inside a step as a line names.
const MOST: usize = 3;

/// `200 of 200 failed: it[0]: …; it[1]: …`, with the first of them alone; the record has
/// the others, as long as the list is.
pub(super) fn shortened(message: &str, run: &RunId) -> String {
    shorten(message, run).unwrap_or_else(|| message.to_owned())
}

fn shorten(message: &str, run: &RunId) -> Option<String> {
    const FAILED: &str = " failed: ";
    let listed = message.find(FAILED)? + FAILED.len();
    let (intro, list) = message.split_at(listed);
    let of = intro.trim_end_matches(FAILED).rsplit(' ').nth(1);
    of.filter(|of| *of == "of")?;
    // Each begins with the name of the step, and the item.
    let name = &list[..list.find('[')?];
    let (list, progress) = match list.rfind(" (").filter(|_| list.ends_with(')')) {
        Some(at) => list.split_at(at),
        None => (list, ""),
    };
    let between = format!("; {name}[");
    let ends: Vec<&str> = list.split(&between).collect();
    let first = ends.iter().take(MOST).map(|end| shortened(end, run)).collect::<Vec<_>>();
    let more = match ends.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!("; … and {more} more: `aye show {run}`"),
    };
    Some(format!("{intro}{}{more}{progress}", first.join(&between)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(message: &str) -> String {
        shortened(message, &RunId::new("abcdefgh12").expect("an id"))
    }

    #[test]
    fn the_first_of_many_failures_are_named() {
        let all: Vec<String> =
            (0..200).map(|at| format!("it[{at}]: step `it`: exit code 3; see it")).collect();
        let all = format!("step `it`: 200 of 200 failed: {} (0 of 200 done)", all.join("; "));
        assert_eq!(
            short(&all),
            "step `it`: 200 of 200 failed: it[0]: step `it`: exit code 3; see it; it[1]: step `it`: \
             exit code 3; see it; it[2]: step `it`: exit code 3; see it; … and 197 more: \
             `aye show abcdefgh12` (0 of 200 done)"
        );
    }

    #[test]
    fn a_list_in_a_list_is_shortened_too() {
        let inner = "step `b`: 4 of 4 failed: b[0]: x; b[1]: x; b[2]: x; b[3]: x (0 of 4 done)";
        let all = format!("1 of 2 failed: a[eu]: {inner} (1 of 2 done)");
        assert_eq!(
            short(&all),
            "1 of 2 failed: a[eu]: step `b`: 4 of 4 failed: b[0]: x; b[1]: x; b[2]: x; … and 1 \
             more: `aye show abcdefgh12` (0 of 4 done) (1 of 2 done)"
        );
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        for message in [
            "exit code 3",
            "2 of 3 failed: it[0]: x; it[1]: y (1 of 3 done)",
            "curl failed: no route [1]",
            "2 of 3 failed: ",
        ] {
            assert_eq!(short(message), message);
        }
    }
}
