//! Ids of contexts: `YYMMDD-HHMM-slug`, in local time. The slug is made of the prompt's words, without a model.

use base::digest;
use chrono::{DateTime, Local, TimeZone};
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

/// The longest id, in characters.
pub const MAX_CHARS: usize = 64;
/// How many words a slug has at most.
const MOST_WORDS: usize = 12;
/// How many it needs, unless the prompt has no more.
const LEAST_WORDS: usize = 2;
/// How many it has where too few carry a meaning.
const MOST_PLAIN_WORDS: usize = 6;
/// The slug of a prompt without words.
const FALLBACK: &str = "context";
/// How many digits tell names apart that are cut to the same words.
const NAME_DIGITS: usize = 8;
/// The highest number that tells equal ids apart.
const MOST_EQUAL: u32 = 10_000;

/// Words that say nothing about the work. Verbs of action are kept on purpose.
const STOP_WORDS: &str = " \
a about above actually after again all also alright am an and any anyway are around as at away back basically be because been \
before being below between both but by bye can cannot could currently did do does doing dont done down during each either else \
etc even ever every everything few for from further get gets getting go goes going gonna got gotta guess had has have having he \
hello help her here hers hey hi him his how however i id if ill im in into is isnt it its itself ive just kind kinda know \
lets like literally little ll look lot made make makes many may maybe me might mine more most much must my myself need needs \
no nor not now of off ok okay on once one only onto or other our ours out over own per perhaps please possible possibly pretty \
probably quite rather re really right said same say see seems shall she should since so some somehow someone something sort \
still stuff such sure take tell than thank thanks that thats the their them themselves then there these they thing things \
think this those though through thus to too two uh um under until up upon us use used using ve very via wanna want wants was \
way we well were what whatever when where whether which while who whole whom why will with within without wont would wouldnt \
yeah yep yes yet you your yours yourself ";

/// Why something is no id of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    Empty,
    /// Names a place outside of the folder of contexts, as it is or encoded.
    Path,
    /// Has a character that no id has.
    Character(char),
    /// Is longer than [`MAX_CHARS`].
    Long(usize),
}

impl fmt::Display for Unfit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(formatter, "it is empty"),
            Self::Path => write!(formatter, "it is a path"),
            Self::Character(character) => {
                write!(formatter, "it has {character:?}; ids have only letters, digits, - and _")
            }
            Self::Long(length) => {
                write!(formatter, "it has {length} characters, and ids have at most {MAX_CHARS}")
            }
        }
    }
}

/// Checks what is to name a context, also in the folder of contexts.
pub fn check(id: &str) -> Result<(), Unfit> {
    let lower = id.to_lowercase();
    let leaves = ["..", "/", "\\", "%2e", "%2f", "%5c"];
    if id.is_empty() {
        Err(Unfit::Empty)
    } else if leaves.iter().any(|part| lower.contains(part)) {
        Err(Unfit::Path)
    } else if let Some(other) =
        id.chars().find(|c| !matches!(c, 'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_'))
    {
        Err(Unfit::Character(other))
    } else if id.len() > MAX_CHARS {
        Err(Unfit::Long(id.len()))
    } else {
        Ok(())
    }
}

/// Returns the words of a text that say what the work is, joined by `-`.
pub fn slug(text: &str) -> String {
    let plain: String = text
        .to_lowercase()
        .chars()
        .filter(|c| !matches!(c, '\'' | '’'))
        .map(|c| if c.is_alphanumeric() { c } else { ' ' })
        .collect();
    let words: Vec<String> = plain.split_whitespace().map(to_ascii).filter(|word| !word.is_empty()).collect();
    let telling = words.iter().filter(|word| word.len() > 1 && !STOP_WORDS.contains(&format!(" {word} ")));
    let mut chosen: Vec<&str> = telling.map(String::as_str).take(MOST_WORDS).collect();
    if chosen.len() < LEAST_WORDS {
        let plain = words.iter().filter(|word| word.len() > 2).map(String::as_str);
        let plain: Vec<&str> = plain.take(MOST_PLAIN_WORDS).collect();
        if plain.len() > chosen.len() {
            chosen = plain;
        }
    }
    if chosen.is_empty() { FALLBACK.to_owned() } else { chosen.join("-") }
}

/// Returns a word as ids have it, in ASCII: German letters by their usual spelling, other accents dropped, other scripts by their code.
pub(crate) fn to_ascii(word: &str) -> String {
    let mut ascii = String::with_capacity(word.len());
    for c in word.chars() {
        match c {
            c if c.is_ascii() => ascii.push(c),
            'ä' => ascii.push_str("ae"),
            'ö' => ascii.push_str("oe"),
            'ü' => ascii.push_str("ue"),
            'ß' => ascii.push_str("ss"),
            'à' | 'á' | 'â' | 'ã' | 'å' | 'ą' => ascii.push('a'),
            'ç' | 'ć' | 'č' => ascii.push('c'),
            'è' | 'é' | 'ê' | 'ë' | 'ę' | 'ě' => ascii.push('e'),
            'ì' | 'í' | 'î' | 'ï' | 'ı' => ascii.push('i'),
            'ñ' | 'ń' | 'ň' => ascii.push('n'),
            'ò' | 'ó' | 'ô' | 'õ' | 'ø' => ascii.push('o'),
            'ł' => ascii.push('l'),
            'ś' | 'š' | 'ş' => ascii.push('s'),
            'ù' | 'ú' | 'û' | 'ů' => ascii.push('u'),
            'ý' | 'ÿ' => ascii.push('y'),
            'ź' | 'ż' | 'ž' => ascii.push('z'),
            _ => ascii.push_str(&format!("u{:x}", u32::from(c))),
        }
    }
    ascii
}

/// Returns the id of a context that begins at this moment, `number` telling equal ones apart. It ends with a whole word
/// wherever one fits.
pub fn of<Z: TimeZone>(text: &str, moment: &DateTime<Z>, number: u32) -> String
where
    Z::Offset: fmt::Display,
{
    let start = moment.format("%y%m%d-%H%M-").to_string();
    let end = if number > 1 { format!("-{number}") } else { String::new() };
    let room = MAX_CHARS - start.len() - end.len();
    let mut slug = slug(text);
    if slug.len() > room {
        // The character after the cut says whether it is between two words.
        let whole = slug[..=room].rfind('-').filter(|at| *at > 0);
        slug.truncate(whole.unwrap_or(room));
    }
    format!("{start}{slug}{end}")
}

/// Returns an id for a name that is too long for one: its first words, and digits that follow from all of it.
pub(crate) fn shortened(name: &str) -> String {
    let end = format!("-{}", &digest::short_hex(name.as_bytes())[..NAME_DIGITS]);
    let room = name.floor_char_boundary(MAX_CHARS - end.len());
    let whole = name[..room].rfind('-').filter(|at| *at > 0);
    format!("{}{end}", &name[..whole.unwrap_or(room)])
}

/// Takes an id for a new context: makes its folder in `folder`, which one process alone can do.
pub fn take(folder: &Path, text: &str, millis: u64) -> io::Result<String> {
    let moment = i64::try_from(millis).ok().and_then(|millis| Local.timestamp_millis_opt(millis).single());
    let moment = moment.ok_or_else(|| io::Error::other("the clock shows no date"))?;
    base::files::create_private_folder(folder)?;
    for number in 1..MOST_EQUAL {
        let id = of(text, &moment, number);
        match base::files::create_private(&folder.join(&id)) {
            Ok(()) => return Ok(id),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("every id of this minute is taken"))
}

/// Gives an id back that was taken and then not used.
pub fn give_back(folder: &Path, id: &str) {
    // Fails where something is in the folder already.
    let _ = fs::remove_dir(folder.join(id));
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::FixedOffset;

    fn moment() -> DateTime<FixedOffset> {
        DateTime::parse_from_rfc3339("2026-11-18T09:05:30+01:00").unwrap()
    }

    #[test]
    fn line_19_an_id_is_made_of_the_words_of_a_prompt_and_of_nothing_else() {
        for (text, expected) in [
            ("Could you please fix the date parser in the importer?", "fix-date-parser-importer"),
            ("don't let the retry loop spin", "let-retry-loop-spin"),
            ("Why?", "why"),
            ("go on", "context"),
            ("", "context"),
            ("Füge Prüfung der Größe hinzu", "fuege-pruefung-der-groesse-hinzu"),
            ("../../etc/passwd %2e%2e", "passwd-2e-2e"),
        ] {
            assert_eq!(slug(text), expected, "{text}");
            assert_eq!(of(text, &moment(), 1), format!("261118-0905-{expected}"));
        }
        assert_eq!(check(&of("修复 解析器", &moment(), 1)), Ok(()));
    }

    #[test]
    fn line_13_two_prompts_with_the_same_long_slug_in_the_same_minute_give_two_valid_ids() {
        let folder = tempfile::tempdir().unwrap();
        let text =
            "refactor authentication middleware pipeline configuration serializer transport layer migration";
        let now = 1_794_900_000_000;
        let ids: Vec<String> = (0..20).map(|_| take(folder.path(), text, now).unwrap()).collect();
        let distinct: std::collections::BTreeSet<&String> = ids.iter().collect();
        assert_eq!(distinct.len(), 20);
        for id in &ids {
            assert_eq!(check(id), Ok(()), "{id}");
        }
        assert!(ids[1].ends_with("-2") && ids[19].ends_with("-20"), "{ids:?}");
    }

    #[test]
    fn what_leaves_the_folder_or_is_too_long_is_no_id() {
        for (id, expected) in [
            ("", Unfit::Empty),
            ("../evil", Unfit::Path),
            ("a..b", Unfit::Path),
            ("..%2fescape", Unfit::Path),
            ("a%2Eb", Unfit::Path),
            ("a%5Cb", Unfit::Path),
            ("a/b", Unfit::Path),
            ("a\\b", Unfit::Path),
            ("a b", Unfit::Character(' ')),
            ("a\u{202e}b", Unfit::Character('\u{202e}')),
            ("a.b", Unfit::Character('.')),
        ] {
            assert_eq!(check(id), Err(expected), "{id}");
        }
        assert_eq!(check(&"a".repeat(300)), Err(Unfit::Long(300)));
        assert_eq!(check("261118-0905-fix-parser"), Ok(()));
    }
}
