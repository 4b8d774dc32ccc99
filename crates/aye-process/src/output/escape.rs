//! Bytes that a terminal does not show as text.

/// No sequence is longer: what continues is text that looks like the beginning of one.
const LONGEST: usize = 4096;

/// What stands at the beginning of some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Invisible {
    /// Something that is shown.
    No,
    /// So many bytes that are not.
    Yes(usize),
    /// Perhaps: the bytes end too early to tell.
    Perhaps,
}

/// Whether bytes begin with an escape sequence or a character without a shape.
pub(crate) fn invisible(bytes: &[u8]) -> Invisible {
    match bytes {
        [0x00..=0x07 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f, ..] => Invisible::Yes(1),
        [0x1b] | [0xc2] => Invisible::Perhaps,
        // The second begins anew.
        [0x1b, 0x1b, ..] => Invisible::Yes(1),
        [0x1b, b'[', rest @ ..] | [0xc2, 0x9b, rest @ ..] => parameters(rest),
        // Texts for the terminal itself: titles, links, and what nobody uses.
        [0x1b, b']' | b'P' | b'X' | b'^' | b'_', rest @ ..] => text(rest),
        [0x1b, rest @ ..] => match rest.iter().position(|byte| !(0x20..0x30).contains(byte)) {
            Some(at) if at < LONGEST => Invisible::Yes(at + 2),
            None if rest.len() < LONGEST => Invisible::Perhaps,
            Some(_) | None => Invisible::No,
        },
        _ => Invisible::No,
    }
}

/// The rest of a sequence with parameters, behind its two bytes.
fn parameters(rest: &[u8]) -> Invisible {
    match rest.iter().position(|byte| !(0x20..0x40).contains(byte)) {
        Some(at) if at >= LONGEST => Invisible::No,
        Some(at) if (0x40..0x7f).contains(&rest[at]) => Invisible::Yes(at + 3),
        // It is broken off by something else.
        Some(at) => Invisible::Yes(at + 2),
        None if rest.len() < LONGEST => Invisible::Perhaps,
        None => Invisible::No,
    }
}

/// The rest of a sequence with a text, behind its two bytes.
fn text(rest: &[u8]) -> Invisible {
    let end = rest.iter().position(|byte| [0x07, 0x1b].contains(byte));
    match end {
        Some(at) if at >= LONGEST => Invisible::No,
        Some(at) if rest[at] == 0x07 => Invisible::Yes(at + 3),
        Some(at) => match rest.get(at + 1) {
            Some(b'\\') => Invisible::Yes(at + 4),
            Some(_) => Invisible::Yes(at + 2),
            None => Invisible::Perhaps,
        },
        None if rest.len() < LONGEST => Invisible::Perhaps,
        None => Invisible::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_end_where_a_terminal_ends_them() {
        for (bytes, found) in [
            (&b"a"[..], Invisible::No),
            (b"\n", Invisible::No),
            (b"\x1b", Invisible::Perhaps),
            (b"\x1b[1;31", Invisible::Perhaps),
            (b"\x1b[1;31mx", Invisible::Yes(7)),
            (b"\x1b[3\nx", Invisible::Yes(3)),
            (b"\xc2\x9b0mx", Invisible::Yes(4)),
            ("ä".as_bytes(), Invisible::No),
            (b"\x1b]8;;x\x07y", Invisible::Yes(7)),
            (b"\x1b]8;;x\x1b\\y", Invisible::Yes(8)),
            (b"\x1b]8;;x\x1b", Invisible::Perhaps),
            (b"\x1b]8;;", Invisible::Perhaps),
            (b"\x1b(B", Invisible::Yes(3)),
            (b"\x1b7x", Invisible::Yes(2)),
            (b"\0x", Invisible::Yes(1)),
            (b"\x05x", Invisible::Yes(1)),
            (b"\x18x", Invisible::Yes(1)),
            (b"\tx", Invisible::No),
            (b"\x1b\x1b[31m", Invisible::Yes(1)),
        ] {
            assert_eq!(invisible(bytes), found, "{:?}", String::from_utf8_lossy(bytes));
        }
        let endless = [b"\x1b]".to_vec(), vec![b'x'; 2 * LONGEST]].concat();
        assert_eq!(invisible(&endless), Invisible::No);
    }
}
