//! How alike two texts are: the share of their words that they have in common, in any script.

use lessons::Lesson;
use std::collections::{BTreeMap, BTreeSet};

/// From this share on two problems are taken for one.
pub const NEAR_DUPLICATE: f64 = 0.5;
/// From this share on a solution says no more than the problem.
pub const SAME_WORDS: f64 = 0.7;

/// Returns the words of a text in lower case. Scripts that write no spaces give pairs of neighbouring characters.
pub fn words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for word in text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let word = word.to_lowercase();
        let characters: Vec<char> = word.chars().collect();
        if characters.len() > 1 && characters.iter().any(|character| is_unspaced(*character)) {
            words.extend(characters.windows(2).map(|pair| pair.iter().collect::<String>()));
        } else {
            words.insert(word);
        }
    }
    words
}

/// Says whether a character belongs to a script that writes words without spaces between them.
fn is_unspaced(character: char) -> bool {
    // Thai to Khmer, kana, ideographs.
    matches!(u32::from(character), 0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x3400..=0x9FFF | 0x20000..=0x3FFFF)
}

/// Returns how much of all their words two texts share: 0 to 1.
pub fn jaccard(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let common = one.intersection(other).count();
    let all = one.len() + other.len() - common;
    if all == 0 { 0.0 } else { common as f64 / all as f64 }
}

/// Two lessons that say nearly the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The place of the first in the list.
    pub one: usize,
    /// The place of the second in the list, greater than the first's.
    pub other: usize,
    /// How much of their words they share.
    pub share: f64,
}

/// Returns the pairs of lessons whose problems are near duplicates.
///
/// Two sets that share half of their words share one of the rarest half of either: only lessons that meet in such a
/// word are compared, so ten thousand lessons do not make fifty million comparisons.
pub fn near_duplicates(lessons: &[&Lesson]) -> Vec<Pair> {
    let sets = ranked(lessons);
    let mut meeting: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut pairs = Vec::new();
    for (place, set) in sets.iter().enumerate() {
        let shared = (set.len() as f64 * NEAR_DUPLICATE).ceil() as usize;
        let mut met = BTreeSet::new();
        for word in set.iter().take(set.len() - shared + 1) {
            let others = meeting.entry(*word).or_default();
            met.extend(others.iter().copied());
            others.push(place);
        }
        for other in met {
            let share = share_of(&sets[other], set);
            if share >= NEAR_DUPLICATE {
                pairs.push(Pair { one: other, other: place, share });
            }
        }
    }
    pairs
}

/// Returns the words of each problem as numbers, sorted: the rarer a word is among all of them, the smaller its number.
fn ranked(lessons: &[&Lesson]) -> Vec<Vec<usize>> {
    let sets: Vec<BTreeSet<String>> = lessons.iter().map(|lesson| words(&lesson.problem)).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in sets.iter().flatten() {
        *counts.entry(word).or_default() += 1;
    }
    let mut order: Vec<(usize, &str)> = counts.into_iter().map(|(word, count)| (count, word)).collect();
    order.sort_unstable();
    let ranks: BTreeMap<&str, usize> =
        order.iter().enumerate().map(|(rank, (_, word))| (*word, rank)).collect();
    let numbers = |set: &BTreeSet<String>| {
        let mut numbers: Vec<usize> = set.iter().map(|word| ranks[word.as_str()]).collect();
        numbers.sort_unstable();
        numbers
    };
    sets.iter().map(numbers).collect()
}

/// As [`jaccard`], of sorted numbers.
fn share_of(one: &[usize], other: &[usize]) -> f64 {
    let (mut at, mut common) = (0, 0);
    for number in one {
        while other.get(at).is_some_and(|next| next < number) {
            at += 1;
        }
        common += usize::from(other.get(at) == Some(number));
    }
    let all = one.len() + other.len() - common;
    if all == 0 { 0.0 } else { common as f64 / all as f64 }
}

/// Returns the lesson that `lesson` nearly repeats, the most similar one first.
pub fn nearest<'a>(
    lesson: &Lesson,
    others: impl IntoIterator<Item = &'a Lesson>,
) -> Option<(&'a Lesson, f64)> {
    let problem = words(&lesson.problem);
    others
        .into_iter()
        .map(|other| (other, jaccard(&problem, &words(&other.problem))))
        .filter(|(_, share)| *share >= NEAR_DUPLICATE)
        .max_by(|(_, one), (_, other)| one.total_cmp(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lesson(problem: &str) -> Lesson {
        Lesson { problem: problem.to_owned(), ..Lesson::default() }
    }

    #[test]
    fn line_25_texts_of_every_script_are_compared_alike() {
        let share = |one: &str, other: &str| jaccard(&words(one), &words(other));
        assert!(share("Der Prozess hängt ewig", "der PROZESS HÄNGT ewig!") > 0.99);
        assert!(share("测试会一直挂起等待输入", "测试会一直挂起等待终端输入") >= NEAR_DUPLICATE);
        assert!(share("测试会一直挂起", "数据库迁移失败了") < 0.1);
        assert!(share("тест зависает навсегда", "сборка падает сразу") < 0.1);
        assert!(share("", "") < 0.1);
    }

    #[test]
    fn every_near_pair_is_found_without_comparing_all() {
        let texts = [
            "pytest waits for the terminal and never ends",
            "pytest waits for a terminal and never ends",
            "git stash leaves files that are not tracked behind",
            "npm install rewrites the lock file of the project",
            "never ends: pytest waits for the terminal",
        ];
        let lessons: Vec<Lesson> = texts.iter().map(|text| lesson(text)).collect();
        let lessons: Vec<&Lesson> = lessons.iter().collect();
        let found: Vec<(usize, usize)> =
            near_duplicates(&lessons).iter().map(|pair| (pair.one, pair.other)).collect();
        let mut expected = Vec::new();
        for other in 0..texts.len() {
            for one in 0..other {
                if jaccard(&words(texts[one]), &words(texts[other])) >= NEAR_DUPLICATE {
                    expected.push((one, other));
                }
            }
        }
        assert_eq!(found, expected);
        assert_eq!(found, [(0, 1), (0, 4), (1, 4)]);
    }
}
