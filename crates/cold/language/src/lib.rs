//! What people and models say, as far as code can tell: sentences, the words that a sentence is about, and phrases that give
//! away a decision, a discovery or an open end, in ten languages.
//!
//! Pure functions over text. What a phrase counts, and what follows from it, is decided by those who ask.

pub mod lexicon;
mod phrases;
mod sentence;
mod words;

pub use memory::hygiene::{without_bullet, without_code};
pub use phrases::{Hit, Phrases, folded};
pub use sentence::{Sentence, is_abbreviation, sentences};
pub use words::{content_words, is_english_stop_word, is_stop_word, is_unspaced, words};
