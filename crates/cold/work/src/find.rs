//! Finds the context that a person means: by its id, the beginning of it, or a part of it.

use crate::contexts::{Context, id};

/// Why no context is meant.
#[derive(Clone, Debug, PartialEq)]
pub enum Unfound {
    /// There is none like this.
    None,
    /// There are several.
    Several(Vec<String>),
}

/// Returns the one context that is meant: exactly, else by the beginning, else by a part of its id, in any case.
pub fn find<'c>(query: &str, contexts: &'c [Context]) -> Result<&'c Context, Unfound> {
    let query = id::to_ascii(&query.trim().to_lowercase());
    if query.is_empty() {
        return Err(Unfound::None);
    }
    // People remember the words of an id, not its time.
    let slug = |id: &str| id.splitn(3, '-').nth(2).unwrap_or(id).to_owned();
    let ways: [&dyn Fn(&str) -> bool; 3] = [
        &|id| id == query || slug(id) == query,
        &|id| id.starts_with(&query) || slug(id).starts_with(&query),
        &|id| id.contains(&query),
    ];
    for way in ways {
        let found: Vec<&Context> =
            contexts.iter().filter(|context| way(&context.id.to_lowercase())).collect();
        match *found {
            [] => {}
            [only] => return Ok(only),
            _ => return Err(Unfound::Several(found.into_iter().map(|context| context.id.clone()).collect())),
        }
    }
    Err(Unfound::None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contexts() -> Vec<Context> {
        ["261118-0905-fix-beta", "261118-0906-fix-parser", "261118-0907-session-store", "261118-0907-beta"]
            .map(|id| Context { id: id.to_owned(), ..Context::default() })
            .to_vec()
    }

    #[test]
    fn exact_counts_more_than_a_beginning_and_that_more_than_a_part() {
        let contexts = contexts();
        let found = |query: &str| find(query, &contexts).map(|context| context.id.as_str());
        assert_eq!(found("beta"), Ok("261118-0907-beta"));
        assert_eq!(found("Session"), Ok("261118-0907-session-store"));
        assert_eq!(found("PARSER"), Ok("261118-0906-fix-parser"));
        assert_eq!(found("261118-0905"), Ok("261118-0905-fix-beta"));
        assert_eq!(found("gamma"), Err(Unfound::None));
        assert_eq!(found(" "), Err(Unfound::None));
        let word =
            Context { id: format!("261118-0908-{}", id::slug("Füge Prüfung hinzu")), ..Context::default() };
        for query in ["prüfung", "Füge", "PRUEFUNG"] {
            assert!(find(query, std::slice::from_ref(&word)).is_ok(), "{query}");
        }
        let Err(Unfound::Several(several)) = found("fix") else { panic!() };
        assert_eq!(several, ["261118-0905-fix-beta", "261118-0906-fix-parser"]);
    }
}
