//! Bytes that a terminal does not show as text.

/// No sequence is longer: what continues is text that looks like the beginning of one.
const LONGEST: usize = 12 * 1024;

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
        // Texts for the terminal itself: titles and links, which a bell ends too, and what
        // nobody uses.
        [0x1b, b']', rest @ ..] | [0xc2, 0x9d, rest @ ..] => text(rest, true),
        [0x1b, b'P' | b'X' | b'^' | b'_', rest @ ..]
        | [0xc2, 0x90 | 0x98 | 0x9e | 0x9f, rest @ ..] => text(rest, false),
        // The next line.
        [0xc2, 0x85, ..] => Invisible::No,
        [0xc2, 0x80..=0x9f, ..] => Invisible::Yes(2),
        [0x1b, rest @ ..] => match rest.iter().position(|byte| !(0x20..0x30).contains(byte)) {
            Some(at) if at < LONGEST => Invisible::Yes(at + 2),
            None if rest.len() < LONGEST => Invisible::Perhaps,
            Some(_) | None => Invisible::No,
        },
        _ => Invisible::No,
    }
}

/// The rest of a sequence with parameters, behind its two bytes. A terminal acts on control
/// characters inside, and continues with the sequence.
fn parameters(rest: &[u8]) -> Invisible {
    let inside = |byte: &u8| match byte {
        b'\n' | b'\r' | 0x18 | 0x1a | 0x1b => false,
        byte => *byte < 0x40 || *byte == 0x7f,
    };
    match rest.iter().position(|byte| !inside(byte)) {
        Some(at) if at >= LONGEST => Invisible::No,
        Some(at) if (0x40..0x7f).contains(&rest[at]) => Invisible::Yes(at + 3),
        // It is broken off by something else.
        Some(at) => Invisible::Yes(at + 2),
        None if rest.len() < LONGEST => Invisible::Perhaps,
        None => Invisible::No,
    }
}

/// The rest of a sequence with a text, behind its two bytes.
fn text(rest: &[u8], bell_ends: bool) -> Invisible {
    let ends = |at: usize| match rest[at] {
        0x07 => bell_ends,
        // Two characters break it off.
        0x18 | 0x1a | 0x1b => true,
        0xc2 => rest.get(at + 1).is_none_or(|next| *next == 0x9c),
        _ => false,
    };
    match (0..rest.len().min(LONGEST)).find(|at| ends(*at)) {
        Some(at) => match (rest[at], rest.get(at + 1)) {
            (0x1b | 0xc2, None) => Invisible::Perhaps,
            (0x1b, Some(b'\\')) | (0xc2, Some(_)) => Invisible::Yes(at + 4),
            (0x1b, Some(_)) => Invisible::Yes(at + 2),
            (_, _) => Invisible::Yes(at + 3),
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
            (b"\x1b[3\x01\x7f;1mx", Invisible::Yes(8)),
            (b"\x1b[3\x18mx", Invisible::Yes(3)),
            (b"\xc2\x9b0mx", Invisible::Yes(4)),
            ("ä".as_bytes(), Invisible::No),
            (b"\x1b]8;;x\x07y", Invisible::Yes(7)),
            (b"\x1b]8;;x\x1b\\y", Invisible::Yes(8)),
            (b"\x1b]8;;x\x1b", Invisible::Perhaps),
            (b"\x1bPa\x07b\x1b\\c", Invisible::Yes(7)),
            (b"\x1b_a\x18b", Invisible::Yes(4)),
            ("\u{9d}0;t\u{9c}b".as_bytes(), Invisible::Yes(7)),
            ("\u{90}a\x07b\u{9c}c".as_bytes(), Invisible::Yes(7)),
            ("\u{90}a\x07b\u{9c}".as_bytes().split_last().expect("bytes").1, Invisible::Perhaps),
            ("\u{84}x".as_bytes(), Invisible::Yes(2)),
            ("\u{85}x".as_bytes(), Invisible::No),
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
