//! Cases from seeds.

use crate::random::Random;

/// The longest case. In longer lines the template engine adds one to a column of
/// 65,535, which panics where overflow is checked and does no harm elsewhere.
const LONGEST: usize = 60_000;
/// Numbers at which something may change.
const NUMBERS: [&str; 10] = [
    "0",
    "-1",
    "1",
    "255",
    "65536",
    "99999999",
    "2147483648",
    "9223372036854775807",
    "18446744073709551616",
    "1e999",
];
/// What opens and closes.
const PAIRS: [(&str, &str); 8] = [
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
    ("{{", "}}"),
    ("\"", "\""),
    ("lambda a: (", ")"),
    ("[", " for a in b]"),
    ("{\"a\":", "}"),
];

/// Makes cases.
pub(crate) struct Mutator<'a> {
    seeds: &'a [Vec<u8>],
    /// So many of them, from the first, are quick.
    quick: usize,
    words: &'a [&'a str],
}

impl<'a> Mutator<'a> {
    pub(crate) fn new(seeds: &'a [Vec<u8>], quick: usize, words: &'a [&'a str]) -> Self {
        Self { seeds, quick, words }
    }

    /// The case of this number.
    pub(crate) fn make(&self, seed: u64, number: u64) -> Vec<u8> {
        let random = &mut Random::new(seed, number);
        let mut case = self.seed(random).to_vec();
        for _ in 0..=random.below(6) {
            self.change(&mut case, random);
            case.truncate(LONGEST);
        }
        case
    }

    /// Mostly a quick one: what is at its limit from the start finds little.
    fn seed(&self, random: &mut Random) -> &[u8] {
        let from = if random.below(100) == 0 { self.seeds } else { &self.seeds[..self.quick] };
        random.pick(from).map_or(&[], Vec::as_slice)
    }

    fn change(&self, case: &mut Vec<u8>, random: &mut Random) {
        let at = random.below(case.len() + 1);
        let most = if random.below(20) == 0 { case.len() } else { 24 };
        let end = (at + random.below(most + 1)).min(case.len());
        match random.below(10) {
            0 => {
                case.drain(at..end);
            }
            1 => {
                let times = often_few(random, [2, 3, 8, 64, 1000]);
                let piece = case[at..end].repeat(times);
                case.splice(at..at, piece);
            }
            2 => {
                let other = self.seed(random).to_vec();
                let from = random.below(other.len() + 1);
                let to = (from + random.below(64)).min(other.len());
                case.splice(at..end, other[from..to].iter().copied());
            }
            3 | 4 => {
                let word = random.pick(self.words).copied().unwrap_or_default();
                case.splice(at..at, word.bytes());
            }
            5 => {
                let number = random.pick(&NUMBERS).copied().unwrap_or_default();
                let start = case[at..].iter().position(u8::is_ascii_digit).map_or(at, |by| at + by);
                let digits = case[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                case.splice(start..start + digits, number.bytes());
            }
            6 => {
                let (open, close) = random.pick(&PAIRS).copied().unwrap_or_default();
                let times = often_few(random, [1, 2, 5, 40, 300]);
                case.splice(end..end, close.repeat(times).bytes());
                case.splice(at..at, open.repeat(times).bytes());
            }
            7 => {
                if let Some(byte) = case.get_mut(at) {
                    *byte = byte.wrapping_add(u8::try_from(random.below(256)).unwrap_or_default());
                }
            }
            8 => {
                // Lines change places.
                let mut lines: Vec<&[u8]> = case.split_inclusive(|byte| *byte == b'\n').collect();
                let (one, other) = (random.below(lines.len()), random.below(lines.len()));
                if !lines.is_empty() {
                    lines.swap(one, other);
                }
                *case = lines.concat();
            }
            _ => {
                let space =
                    [" ", "\n", "\t", "\r\n", "  ", "\u{feff}", "\0", "é", "🦀", "\u{202e}"];
                let space = random.pick(&space).copied().unwrap_or_default();
                case.splice(at..at, space.bytes());
            }
        }
    }
}

/// The first ones more often than the last.
fn often_few(random: &mut Random, of: [usize; 5]) -> usize {
    match random.below(100) {
        0..50 => of[0],
        50..80 => of[1],
        80..94 => of[2],
        94..99 => of[3],
        _ => of[4],
    }
}
