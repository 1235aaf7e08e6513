//! A prompt: shows entries about something that the prompt names. Off unless the user turns `recall.prompts` on, since only
//! the model can tell whether it wanted to know.
//!
//! A match is strong when the prompt names a file or a name from code, or has two rare words of one entry's title.

use crate::cache::{Cache, Line, Strength};
use crate::{file, place, terms, wording};
use hook::{Answer, Claim, Event as _, Host, Keep, UserPromptSubmit};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::path::Path;
use text::privacy;

/// A shorter prompt, such as `yes` or `go on`, names nothing; in characters.
const MIN_CHARS: usize = 20;
/// How much of a prompt is looked at: a pasted log is no question about each of its words.
const MAX_BYTES: usize = 4_096;
/// How long the lines are, in characters.
const MAX_CHARS: usize = 900;
/// What an entry needs: a name counts as much as two words.
const STRONG: u32 = 2;

/// Adds the entries that the prompt of `call` is about to an answer. Off, it costs one look at a setting.
#[must_use]
pub fn beside(
    answer: Answer<UserPromptSubmit>,
    call: &UserPromptSubmit,
    host: &Host,
) -> Answer<UserPromptSubmit> {
    if !host.settings().is_on("recall.prompts") {
        return answer;
    }
    match find(call, host) {
        Some((text, claims)) => answer.adding_context(&text).claiming(claims),
        None => answer,
    }
}

fn find(call: &UserPromptSubmit, host: &Host) -> Option<(String, Vec<Claim>)> {
    let prompt = privacy::strip_private(call.prompt.as_deref()?);
    if prompt.chars().take(MIN_CHARS).count() < MIN_CHARS {
        return None;
    }
    let cwd = host.cwd(call);
    let root = place::root_of(&cwd);
    let cache = place::open(&host.paths, root)?;
    let found = matching(&cache, &prompt, root);
    // `prompt-record` may not have noted yet that the prompt is private; then nothing is left of it.
    if found.is_empty() || file::is_left_alone(None, &cwd, host) {
        return None;
    }
    let most = usize::try_from(host.settings().number("recall.prompt_entries")).unwrap_or(usize::MAX);
    let own = call.session_id().map(crate::layout::session_tag);
    let claims = host.claims(call);
    let (mut lines, mut held): (Vec<Line<'_>>, Vec<Claim>) = (Vec::new(), Vec::new());
    for line in wording::lines(&cache, &found).into_iter().filter(|line| Some(line.session) != own) {
        if lines.len() == most {
            break;
        }
        if let Some(claim) = claims.take(&format!("recall-{}", line.id), Keep::UntilCompaction) {
            lines.push(line);
            held.push(claim);
        }
    }
    let text = || wording::about_prompt(&lines, MAX_CHARS, &host.fence(call));
    (!lines.is_empty()).then(|| (text(), held))
}

/// Returns the entries that a prompt has a strong match with, the strongest first, then the newest.
fn matching<B: Deref<Target = [u8]>>(cache: &Cache<B>, prompt: &str, root: &Path) -> Vec<u32> {
    let prompt = &prompt[..prompt.floor_char_boundary(MAX_BYTES)];
    let mut scores: BTreeMap<u32, u32> = BTreeMap::new();
    let mut add = |numbers: Vec<u32>, score: u32| {
        numbers.into_iter().for_each(|number| *scores.entry(number).or_default() += score);
    };
    let (mut names, mut words) = (BTreeSet::new(), BTreeSet::new());
    for token in terms::tokens(prompt) {
        if token.len() >= terms::MIN_NAME && names.insert(token) {
            let path = file::journal_path(Path::new(token), root);
            let of_path = path.map(|path| cache.about_file(&path)).unwrap_or_default();
            let of_name = || cache.about_term(Strength::Name, token);
            add(if of_path.is_empty() { of_name() } else { of_path }, STRONG);
        }
        for name in terms::names(token) {
            if names.insert(name) {
                add(cache.about_term(Strength::Name, name), STRONG);
            }
        }
        for word in terms::words(token) {
            if !words.contains(&word) {
                add(cache.about_term(Strength::Word, &word), 1);
                words.insert(word);
            }
        }
    }
    let mut found: Vec<(u32, u32)> = scores.into_iter().filter(|(_, score)| *score >= STRONG).collect();
    found.sort_by_key(|(number, score)| (std::cmp::Reverse(*score), *number));
    found.into_iter().map(|(number, _)| number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Contents, Entry};

    fn cache(titles: &[&str], files: &[(&str, &[u32])]) -> Cache<Vec<u8>> {
        let entry = |title: &&str| Entry { title: (*title).to_owned(), ..Entry::default() };
        let files = files.iter().map(|(path, numbers)| ((*path).to_owned(), numbers.to_vec()));
        let contents = Contents { entries: titles.iter().map(entry).collect(), files: files.collect() };
        Cache::new(contents.build(1)).unwrap()
    }

    #[test]
    fn a_file_a_name_from_code_or_two_rare_words_of_one_title_are_a_strong_match() {
        let cache = cache(
            &[
                "auth.rs: `verify_token` checks expiry (+12 −3); cargo test passed",
                "Webhooks are retried with exponential backoff",
                "Prices are integer cents",
            ],
            &[("src/verify.rs", &[0]), ("db/schema.sql", &[2])],
        );
        let root = Path::new("/home/dev/project");
        for (prompt, found) in [
            ("please look at src/verify.rs:12 again", &[0_u32][..]),
            ("what is in /home/dev/project/db/schema.sql?", &[2]),
            ("open schema.sql, and tell me", &[2]),
            ("why does verify_token fail here?", &[0]),
            ("why is auth::verify_token so slow?", &[0]),
            ("the backoff of webhooks is too long", &[1]),
            ("change verify_token and the exponential backoff", &[0, 1]),
            ("the backoff is too long, I think", &[]),
            ("the tests passed, and the change is fine", &[]),
            ("integer overflow in the webhooks code", &[]),
            ("what about verify_tokens_of_others?", &[]),
        ] {
            assert_eq!(matching(&cache, prompt, root), found, "{prompt}");
        }
    }

    #[test]
    fn a_name_that_many_files_have_says_nothing() {
        let files =
            ["a/README.md", "b/README.md", "c/README.md", "d/README.md"].map(|path| (path, &[0_u32][..]));
        let cache = cache(&["one"], &files);
        assert_eq!(matching(&cache, "what does README.md say about it?", Path::new("/p")), [0_u32; 0]);
        assert_eq!(matching(&cache, "what does b/README.md say about it?", Path::new("/p")), [0]);
    }
}
