//! What changed between two texts.

/// The lines that differ, between those that do not.
pub fn diff(old: &str, new: &str) -> Vec<String> {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(one, other)| one == other).count()
    };
    let before = same(&mut old.iter().zip(&new));
    let room = old.len().min(new.len()) - before;
    let after = same(&mut old.iter().rev().zip(new.iter().rev())).min(room);
    let gone = old[before..old.len() - after].iter().map(|line| format!("- {line}"));
    let come = new[before..new.len() - after].iter().map(|line| format!("+ {line}"));
    gone.chain(come).collect()
}
