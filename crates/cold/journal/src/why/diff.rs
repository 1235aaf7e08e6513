//! Which lines two texts share, in order.

use super::line::Key;

/// The most lines that are inserted and deleted between two texts before the rest counts as different: the time grows with
/// the square of it.
const MOST_CHANGES: usize = 1_000;

/// Returns the pairs of places at which two lists are the same, in order and as many as possible (Myers' algorithm).
pub(super) fn common(old: &[u64], new: &[u64]) -> Vec<(usize, usize)> {
    let head = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail =
        old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(one, other)| one == other).count();
    let (old_rest, new_rest) = (&old_rest[..old_rest.len() - tail], &new_rest[..new_rest.len() - tail]);
    let mut pairs: Vec<(usize, usize)> = (0..head).map(|at| (at, at)).collect();
    pairs.extend(middle(old_rest, new_rest).into_iter().map(|(one, other)| (head + one, head + other)));
    pairs.extend((0..tail).rev().map(|back| (old.len() - 1 - back, new.len() - 1 - back)));
    pairs
}

fn middle(old: &[u64], new: &[u64]) -> Vec<(usize, usize)> {
    if old.is_empty() || new.is_empty() {
        return Vec::new();
    }
    let most = (old.len() + new.len()).min(MOST_CHANGES);
    let width = 2 * most + 3;
    let offset = most + 1;
    // How far along `old` each diagonal reaches, after each number of changes.
    let mut reach = vec![0_usize; width];
    let mut steps: Vec<Vec<usize>> = Vec::new();
    for changes in 0..=most {
        steps.push(reach.clone());
        let mut diagonal = -(changes as isize);
        while diagonal <= changes as isize {
            let at = (offset as isize + diagonal) as usize;
            let goes_down = diagonal == -(changes as isize)
                || diagonal != changes as isize && reach[at - 1] < reach[at + 1];
            let mut one = if goes_down { reach[at + 1] } else { reach[at - 1] + 1 };
            let mut other = (one as isize - diagonal) as usize;
            while one < old.len() && other < new.len() && old[one] == new[other] {
                one += 1;
                other += 1;
            }
            reach[at] = one;
            if one >= old.len() && other >= new.len() {
                return back(old, new, &steps, offset);
            }
            diagonal += 2;
        }
    }
    Vec::new()
}

fn back(old: &[u64], new: &[u64], steps: &[Vec<usize>], offset: usize) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let (mut one, mut other) = (old.len() as isize, new.len() as isize);
    for (changes, reach) in steps.iter().enumerate().rev() {
        let diagonal = one - other;
        let changes = changes as isize;
        let at = (offset as isize + diagonal) as usize;
        let goes_down = diagonal == -changes || diagonal != changes && reach[at - 1] < reach[at + 1];
        let previous = if goes_down { diagonal + 1 } else { diagonal - 1 };
        let (from_one, from_other) = match changes {
            0 => (0, 0),
            _ => {
                let from = reach[(offset as isize + previous) as usize] as isize;
                (from, from - previous)
            }
        };
        while one > from_one && other > from_other {
            one -= 1;
            other -= 1;
            pairs.push((one as usize, other as usize));
        }
        (one, other) = (from_one, from_other);
    }
    pairs.reverse();
    pairs
}

/// Returns, for each line of `new`, the place of the same line in `old`, which counts as the same with other spaces.
pub fn carry_over(old: &[&str], new: &[&str]) -> Vec<Option<usize>> {
    let keys = |lines: &[&str]| lines.iter().map(|line| Key::of(line).hash).collect::<Vec<u64>>();
    let mut carried = vec![None; new.len()];
    for (one, other) in common(&keys(old), &keys(new)) {
        carried[other] = Some(one);
    }
    carried
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, shared: &str) {
        let keys = |text: &str| text.bytes().map(u64::from).collect::<Vec<u64>>();
        let pairs = common(&keys(old), &keys(new));
        let found: String = pairs.iter().map(|(one, _)| char::from(old.as_bytes()[*one])).collect();
        assert_eq!(found, shared, "{old} {new}");
        assert!(pairs.iter().all(|(one, other)| old.as_bytes()[*one] == new.as_bytes()[*other]));
        assert!(pairs.is_sorted());
    }

    #[test]
    fn what_two_lists_share_is_found_in_order() {
        check("", "", "");
        check("abc", "", "");
        check("abc", "abc", "abc");
        check("abc", "axc", "ac");
        check("abcabba", "cbabac", "caba");
        check("xaby", "ab", "ab");
        check("ab", "xaby", "ab");
        check("a12345b", "a54321b", "a5b");
    }

    #[test]
    fn lists_that_share_little_end_soon() {
        let one: Vec<u64> = (0..20_000).collect();
        let other: Vec<u64> = (100_000..120_000).collect();
        assert!(common(&one, &other).is_empty());
    }
}
