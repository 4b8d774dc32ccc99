//! Bytes to keys.

use aye::prompt::key::{Decoder, Key};
use proptest::prelude::*;

#[test]
fn sequences_become_keys() {
    let table: &[(&[u8], &[Key])] = &[
        (b"y", &[Key::Char('y')]),
        ("é日🦀".as_bytes(), &[Key::Char('é'), Key::Char('日'), Key::Char('🦀')]),
        (b"\r", &[Key::Enter]),
        (b"\n", &[Key::Enter]),
        (b"\t", &[Key::Tab]),
        (b"\x7f\x08", &[Key::Backspace, Key::Backspace]),
        (
            b"\x01\x05\x15\x17\x0b",
            &[Key::Ctrl('a'), Key::Ctrl('e'), Key::Ctrl('u'), Key::Ctrl('w'), Key::Ctrl('k')],
        ),
        (b"\x1b[A\x1b[B\x1b[C\x1b[D", &[Key::Up, Key::Down, Key::Right, Key::Left]),
        (b"\x1bOA\x1bOB", &[Key::Up, Key::Down]),
        (
            b"\x1b[H\x1b[F\x1b[1~\x1b[4~\x1b[7~\x1b[8~",
            &[Key::Home, Key::End, Key::Home, Key::End, Key::Home, Key::End],
        ),
        (b"\x1b[3~\x1b[5~\x1b[6~", &[Key::Delete, Key::PageUp, Key::PageDown]),
        (
            b"\x1b[1;5C\x1b[1;3D\x1bb\x1bf",
            &[Key::WordRight, Key::WordLeft, Key::WordLeft, Key::WordRight],
        ),
        (b"\x1b[200~yes\r\x1b[201~n", &[Key::Paste("yes\r".into()), Key::Char('n')]),
        // What a terminal reports is nobody's key.
        (b"\x1b[12;40Ry", &[Key::Char('y')]),
        (b"\x1b]11;rgb:0000/0000/0000\x1b\\y", &[Key::Char('y')]),
        (b"\x1b[?62;c\x1b[I\x1b[Oy", &[Key::Char('y')]),
        (b"\x1b[[Ay", &[Key::Other, Key::Char('y')]),
        (b"\xffy", &[Key::Other, Key::Char('y')]),
        ("\u{9b}Ay".as_bytes(), &[Key::Other, Key::Char('A'), Key::Char('y')]),
    ];
    for (bytes, keys) in table {
        assert_eq!(Decoder::default().push(bytes), *keys, "{bytes:?}");
        // However the bytes are cut, the keys are the same.
        let mut decoder = Decoder::default();
        let single: Vec<Key> =
            bytes.iter().flat_map(|byte| decoder.push(std::slice::from_ref(byte))).collect();
        assert_eq!(single, *keys, "{bytes:?}, byte by byte");
        assert!(!decoder.is_waiting());
    }
}

#[test]
fn an_escape_alone_is_known_when_nothing_follows() {
    let mut decoder = Decoder::default();
    assert_eq!(decoder.push(b"\x1b"), []);
    assert!(decoder.is_waiting());
    assert_eq!(decoder.flush(), [Key::Esc]);
    assert!(!decoder.is_waiting());
    assert_eq!(decoder.flush(), []);
    assert_eq!(decoder.push(b"\x1b\x1b"), []);
    assert_eq!(decoder.flush(), [Key::Esc, Key::Esc]);
}

#[test]
fn a_paste_that_never_ends_does_not_grow_for_ever() {
    let mut decoder = Decoder::default();
    decoder.push(b"\x1b[200~");
    for _ in 0..100 {
        assert_eq!(decoder.push(&[b'x'; 65_536]), []);
    }
    let keys = decoder.push(b"\x1b[201~n");
    assert_eq!(keys.last(), Some(&Key::Char('n')));
}

proptest! {
    #[test]
    fn no_bytes_panic_and_cuts_do_not_matter(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        cut in 0usize..200,
    ) {
        let mut whole = Decoder::default();
        let mut keys = whole.push(&bytes);
        keys.extend(whole.flush());
        let cut = cut.min(bytes.len());
        let mut parts = Decoder::default();
        let mut others = parts.push(&bytes[..cut]);
        others.extend(parts.push(&bytes[cut..]));
        others.extend(parts.flush());
        prop_assert_eq!(keys, others);
    }
}

/// What a terminal sends and nobody typed ends where it ends, however long it
/// is and however it arrives: its rest is never taken for an answer.
#[test]
fn the_rest_of_a_long_sequence_is_nobodys_answer() {
    let long = |open: &str, close: &str, length: usize| {
        format!("{open}{}{close}", "1;".repeat(length / 2)).into_bytes()
    };
    for bytes in [
        long("\x1b[", "yy\r", 100),
        long("\x1b[", "y\r", 5000),
        long("\x1b]11;", "y\x1b\\", 3000),
        long("\x1bP", "y\r\x07", 1022),
        long("\x1bP", "y\r\x1b\\", 1020),
        b"\x1b[\xffA".to_vec(),
    ] {
        let mut whole = Decoder::default();
        let mut keys = whole.push(&bytes);
        keys.extend(whole.flush());
        for size in [1, 7, 64, 1000] {
            let mut parts = Decoder::default();
            let mut same: Vec<Key> = bytes.chunks(size).flat_map(|part| parts.push(part)).collect();
            same.extend(parts.flush());
            assert_eq!(same, keys, "{size}: {:?}", String::from_utf8_lossy(&bytes));
        }
        let typed = keys.iter().filter(|key| matches!(key, Key::Char(_))).count();
        assert!(typed <= 1, "{keys:?}");
    }
}
