//! Small charts made of letters.

use crate::paint::Paint;

/// The levels of a line of bars, the lowest first.
const LEVELS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const ASCII_LEVELS: [&str; 8] = ["_", ".", ":", "-", "=", "+", "*", "#"];

/// A letter for each value, as high as its share of the largest. One that is
/// not known is blank.
pub fn sparkline(values: &[Option<u64>], paint: Paint) -> String {
    let levels = if paint.unicode { LEVELS } else { ASCII_LEVELS };
    let most = values.iter().flatten().copied().max().unwrap_or(0).max(1);
    let letter = |value: &Option<u64>| match value {
        None => " ",
        Some(value) => {
            let at = u128::from(*value) * (levels.len() as u128 - 1) / u128::from(most);
            levels[usize::try_from(at).unwrap_or(0).min(levels.len() - 1)]
        }
    };
    values.iter().map(letter).collect()
}

/// A bar as long as its share of the most, at most `widest`; anything at all
/// is seen.
pub fn bar(value: u64, most: u64, widest: u64, paint: Paint) -> String {
    if value == 0 || widest == 0 {
        return String::new();
    }
    let length = (u128::from(value) * u128::from(widest)).div_ceil(most.max(value).into());
    let ink = if paint.unicode { "█" } else { "#" };
    ink.repeat(usize::try_from(length).unwrap_or_default().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNICODE: Paint = Paint { color: false, bold: false, unicode: true };
    const ASCII: Paint = Paint { color: false, bold: false, unicode: false };

    #[test]
    fn a_line_is_as_high_as_its_values() {
        let values = [Some(0), Some(50), Some(100), None, Some(14)];
        assert_eq!(sparkline(&values, UNICODE), "▁▄█ ▁");
        assert_eq!(sparkline(&values, ASCII), "_-# _");
        assert_eq!(sparkline(&[Some(0), Some(0)], UNICODE), "▁▁");
        assert_eq!(sparkline(&[Some(u64::MAX)], UNICODE), "█");
        assert_eq!(sparkline(&[], UNICODE), "");
    }

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!(bar(50, 100, 10, ASCII), "#####");
        assert_eq!(bar(1, 1000, 10, UNICODE), "█");
        assert_eq!(bar(0, 100, 10, UNICODE), "");
        assert_eq!(bar(u64::MAX, 1, 10, ASCII), "##########");
    }
}
