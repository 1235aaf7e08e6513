//! Merges free text by line: three versions, no conflict markers, nothing lost.

use std::collections::{HashMap, HashSet};

/// Up to this many cells the longest common subsequence is computed exactly.
const MAX_CELLS: usize = 1 << 20;

/// Returns the lines of both sides: what one side changed is taken from it, what both changed is kept twice.
pub(crate) fn merge<'a>(base: &[&'a str], ours: &[&'a str], theirs: &[&'a str]) -> Vec<&'a str> {
    let (to_ours, to_theirs) = (matches(base, ours), matches(base, theirs));
    let mut merged = Vec::new();
    let (mut b, mut o, mut t) = (0, 0, 0);
    loop {
        while b < base.len() && to_ours[b] == Some(o) && to_theirs[b] == Some(t) {
            merged.push(ours[o]);
            (b, o, t) = (b + 1, o + 1, t + 1);
        }
        let next = (b..base.len()).find_map(|at| Some((at, to_ours[at]?, to_theirs[at]?)));
        let (b_end, o_end, t_end) = next.unwrap_or((base.len(), ours.len(), theirs.len()));
        resolve(&base[b..b_end], &ours[o..o_end], &theirs[t..t_end], &mut merged);
        if next.is_none() {
            return merged;
        }
        (b, o, t) = (b_end, o_end, t_end);
    }
}

/// Appends what the sides made of a stretch of the base that at least one of them changed.
fn resolve<'a>(base: &[&str], ours: &[&'a str], theirs: &[&'a str], merged: &mut Vec<&'a str>) {
    if theirs == base || ours == theirs {
        merged.extend(ours);
    } else if ours == base {
        merged.extend(theirs);
    } else {
        keep_both(ours, theirs, merged);
    }
}

/// Appends both versions: woven together when they are mostly the same lines, else one after the other.
fn keep_both<'a>(ours: &[&'a str], theirs: &[&'a str], merged: &mut Vec<&'a str>) {
    let to_theirs = matches(ours, theirs);
    let is_spoken = |line: &str| !line.trim().is_empty();
    let spoken = |lines: &[&str]| lines.iter().filter(|line| is_spoken(line)).count();
    let shared = ours.iter().zip(&to_theirs).filter(|(line, at)| at.is_some() && is_spoken(line)).count();
    let is_alike = 2 * shared >= spoken(ours).min(spoken(theirs));
    // A bullet is a statement of its own: what ours says already is not said again.
    let said: HashSet<&str> = ours.iter().copied().filter(|line| line.starts_with(['-', '*', '+'])).collect();
    let is_new = |line: &&&str| !said.contains(**line);
    let mut t = 0;
    for (line, at) in ours.iter().zip(to_theirs) {
        if let Some(at) = at.filter(|_| is_alike) {
            merged.extend(theirs[t..at].iter().filter(is_new));
            t = at + 1;
        }
        merged.push(line);
    }
    merged.extend(theirs[t..].iter().filter(is_new));
}

/// Returns for each line of `old` which line of `new` it is; the order of both is kept.
fn matches(old: &[&str], new: &[&str]) -> Vec<Option<usize>> {
    let mut found = vec![None; old.len()];
    match_range(old, new, (0, old.len()), (0, new.len()), &mut found);
    found
}

/// Finds the matches within two ranges: equal ends first, then lines that both sides have once, then the rest.
fn match_range(
    old: &[&str],
    new: &[&str],
    (mut a, mut a_end): (usize, usize),
    (mut b, mut b_end): (usize, usize),
    found: &mut [Option<usize>],
) {
    while a < a_end && b < b_end && old[a] == new[b] {
        found[a] = Some(b);
        (a, b) = (a + 1, b + 1);
    }
    while a < a_end && b < b_end && old[a_end - 1] == new[b_end - 1] {
        (a_end, b_end) = (a_end - 1, b_end - 1);
        found[a_end] = Some(b_end);
    }
    if a == a_end || b == b_end {
        return;
    }
    if (a_end - a) * (b_end - b) <= MAX_CELLS {
        return match_exactly(&old[a..a_end], &new[b..b_end], (a, b), found);
    }
    let anchors = increasing(&unique_pairs(&old[a..a_end], &new[b..b_end]));
    if anchors.is_empty() {
        return;
    }
    let (mut from, mut to) = (a, b);
    for (x, y) in anchors {
        match_range(old, new, (from, a + x), (to, b + y), found);
        found[a + x] = Some(b + y);
        (from, to) = (a + x + 1, b + y + 1);
    }
    match_range(old, new, (from, a_end), (to, b_end), found);
}

/// The longest common subsequence by dynamic programming, from the end.
fn match_exactly(old: &[&str], new: &[&str], (a, b): (usize, usize), found: &mut [Option<usize>]) {
    let width = new.len() + 1;
    let mut longest = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i * width + j] = if old[i] == new[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            found[a + i] = Some(b + j);
            (i, j) = (i + 1, j + 1);
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
}

/// Returns the places of the lines that occur once on either side, in the order of `old`.
fn unique_pairs(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let places = |lines: &[&str]| {
        let mut places: HashMap<String, Option<usize>> = HashMap::new();
        for (at, line) in lines.iter().enumerate() {
            places.entry((*line).to_owned()).and_modify(|place| *place = None).or_insert(Some(at));
        }
        places
    };
    let (left, right) = (places(old), places(new));
    let pair = |(at, line): (usize, &&str)| {
        left.get(*line)?.as_ref()?;
        Some((at, (*right.get(*line)?)?))
    };
    old.iter().enumerate().filter_map(pair).collect()
}

/// Returns the longest part of `pairs` whose second places increase, too.
fn increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, (_, place)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < *place);
        previous.push(length.checked_sub(1).map(|before| ends[before]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut chain: Vec<(usize, usize)> = Vec::new();
    let mut next = ends.last().copied();
    while let Some(at) = next {
        chain.push(pairs[at]);
        next = previous[at];
    }
    chain.reverse();
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(base: &str, ours: &str, theirs: &str, expected: &str) {
        let lines = |text: &'static str| text.split_whitespace().collect::<Vec<_>>();
        let of = |text: &str| lines(Box::leak(text.to_owned().into_boxed_str()));
        assert_eq!(merge(&of(base), &of(ours), &of(theirs)).join(" "), expected);
    }

    #[test]
    fn changes_of_both_sides_are_kept() {
        check("a b c", "a b c", "a b c", "a b c");
        check("a b c", "a B c", "a b c", "a B c");
        check("a b c d", "A b c d", "a b c D", "A b c D");
        check("a b c", "b c", "a b", "b");
        check("a c", "a b c", "a b c", "a b c");
    }

    #[test]
    fn what_both_changed_is_kept_twice() {
        check("a b c", "a X c", "a Y c", "a X Y c");
        check("", "x", "y z", "x y z");
        check("", "a b c d", "a X c d", "a b X c d");
        check("", "-x -y", "-y -x -w", "-x -y -w");
        check("a", "", "b", "b");
    }

    #[test]
    fn long_texts_are_matched_by_the_lines_they_have_once() {
        let base: Vec<String> = (0..3_000).map(|n| format!("line {n}")).collect();
        let lines: Vec<&str> = base.iter().map(String::as_str).collect();
        let mut ours = lines.clone();
        ours[0] = "first";
        ours[1_500] = "ours";
        ours.push("last");
        let mut theirs = lines.clone();
        theirs[0] = "top";
        theirs[1_502] = "theirs";
        theirs.push("end");
        let merged = merge(&lines, &ours, &theirs);
        assert_eq!(merged.len(), 3_003);
        assert!(["first", "top", "ours", "theirs", "last", "end"].iter().all(|line| merged.contains(line)));
        assert!(!merged.contains(&"line 1500") && !merged.contains(&"line 1502"));
    }
}
