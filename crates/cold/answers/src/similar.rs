//! What a person may have meant by a name that does not exist.

/// The most changes between a name and what was meant by it, as a share of its length: one in three.
const CLOSENESS: usize = 3;

/// Returns the known names that are most similar to `wanted`, the nearest first; none when none is near.
pub fn nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    let wanted = wanted.to_lowercase();
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let changes = if lower.contains(&wanted) || (!lower.is_empty() && wanted.contains(&lower)) {
                1
            } else {
                changes(&wanted, &lower)
            };
            let longest = wanted.chars().count().max(lower.chars().count());
            (changes <= longest.div_ceil(CLOSENESS)).then_some((changes, name))
        })
        .collect();
    near.sort();
    near.dedup();
    near.into_iter().take(most).map(|(_, name)| name).collect()
}

/// Returns how many letters must be added, removed, replaced or swapped with their neighbour to turn one word into the other.
fn changes(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut before = vec![0; other.len() + 1];
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, theirs) in other.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != theirs);
            let mut least = replaced.min(last[column + 1] + 1).min(next[column] + 1);
            if row > 0 && column > 0 && one[row - 1] == *theirs && *letter == other[column - 1] {
                least = least.min(before[column - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut last, next);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_mistake_finds_what_was_meant_and_another_word_finds_nothing() {
        let known = ["status", "sync", "spend", "init"];
        assert_eq!(nearest("statsu", known, 3), ["status"]);
        assert_eq!(nearest("Snyc", known, 1), ["sync"]);
        assert_eq!(nearest("stat", known, 1), ["status"]);
        assert_eq!(nearest("frobnicate", known, 3), Vec::<&str>::new());
    }

    #[test]
    fn a_swap_of_neighbours_is_one_change() {
        assert_eq!(changes("statsu", "status"), 1);
        assert_eq!(changes("", "abc"), 3);
        assert_eq!(changes("kitten", "sitting"), 3);
    }
}
