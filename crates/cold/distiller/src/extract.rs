//! Extraction without a model: statements so clear that rules find them.
//!
//! Sentence by sentence, by wording and position: a person who answers a question of the model decides more often than
//! one who asks for something. People count more than the model, and tool output does not count at all. This finds less
//! than a model does; what it finds should be right.

mod cue;
mod plan;
mod rewrite;

use std::sync::LazyLock;

use memory::hygiene::MAX_ENTRY_CHARS;
use memory::section::{BROKEN, DECISIONS, QUESTIONS, REJECTED, SCOPE, WORKAROUNDS};

use crate::budget::EXTRACTED;
use crate::operation::{Action, Operation, Source};
use crate::score::Category;
use crate::slice::{Message, Part, Role, Slice};
use crate::wording;
use language::Sentence;
use language::lexicon::CONVERSATION;
pub(crate) use language::sentences;
use language::{Phrases, folded};
use language::{content_words, words};

/// From here on a sentence of a person is a fact.
const PERSON_THRESHOLD: f64 = 0.55;

/// From here on a sentence of a person may be a fact.
const STATEMENT: f64 = 0.4;

/// From here on a sentence of the model is a fact.
const MODEL_THRESHOLD: f64 = 0.75;

/// What it adds to reply to what the model put up for decision …
const ANSWERING: f64 = 0.35;
/// … or to answer a question that offers a choice.
const CHOOSING: f64 = 0.6;

/// What it adds to explain what the model found: "that's because …".
const EXPLAINING: f64 = 0.4;

/// What it takes off to stand beside a question.
const ASKING: f64 = 0.2;

/// What it adds to change what was just agreed to: "do it, but …".
const AMENDING: f64 = 0.45;

/// What it adds to name a topic first: "exit codes: follow sysexits".
const TOPIC: f64 = 0.45;

/// The most words of a topic.
const TOPIC_WORDS: usize = 4;

/// What it adds to set one thing against another: "ours, not theirs", "toml only".
const CONTRAST: f64 = 0.3;

/// What it adds to forbid something.
const FORBIDDING: f64 = 0.3;

/// What it adds to give a figure.
const FIGURE: f64 = 0.15;

/// What it adds to give a reason.
const REASON: f64 = 0.15;

/// An answer with fewer words of its own needs its question.
const SELF_CONTAINED: usize = 3;

/// What it takes off to stand in the first prompt of a session, which mostly says what is wanted.
const OPENING: f64 = 0.3;

/// What it takes off to be a supposition.
const SUPPOSING: f64 = 0.5;

/// Sentences of fewer words lean on the next one.
const SHORT_WORDS: usize = 4;

/// What leads up to a fact has at most so many words.
const LEAD_WORDS: usize = 25;

/// Longer ones are stories.
const MAX_WORDS: usize = 60;

/// The fewest words that an entry has.
const MIN_WORDS: usize = 3;

/// A remark of fewer words that names nothing is not kept alone.
const LEANING_WORDS: usize = 8;

/// Entries that share so much are one.
const SAME: f64 = 0.6;

/// The most that extraction is sure of.
const MAX_CONFIDENCE: f64 = 0.75;

/// A decision counts as recent for so many messages.
const RECENT_MESSAGES: u64 = 6;

/// Words that stand for what was named before.
const POINTERS: &[&str] = &["that", "it", "this", "those", "them", "these"];

/// How a model proposes.
const PROPOSALS: &[&str] = &[
    "i'd recommend ",
    "i would recommend ",
    "i recommend ",
    "i'd suggest ",
    "i suggest ",
    "i would suggest ",
    "my recommendation: ",
    "my suggestion: ",
];

/// What takes an earlier decision back; the word behind it is what is taken back.
const TAKING_BACK: &[&str] =
    &["scrap ", "forget ", "drop ", "ditch ", "instead of ", "not ", "no more ", "rather than "];

/// What may stand before the verb of a work order.
const ORDER_LEADS: &[&str] =
    &["only ", "just ", "now ", "first ", "first, ", "next ", "next, ", "go ahead and "];

/// How people and models talk.
struct Talk {
    requests: Phrases<()>,
    orders: Phrases<()>,
    orders_or_nouns: Phrases<()>,
    objects: Phrases<()>,
    suppositions: Phrases<()>,
    backward: Phrases<()>,
    second_thoughts: Phrases<()>,
    verdicts: Phrases<()>,
    defects: Phrases<()>,
    agreements: Phrases<()>,
    offers: Phrases<()>,
    choices: Phrases<()>,
    reasons: Phrases<()>,
}

static TALK: LazyLock<Talk> = LazyLock::new(|| {
    let of = |heading| Phrases::of(CONVERSATION, heading);
    Talk {
        requests: of("request"),
        orders: of("work order"),
        orders_or_nouns: of("work order or noun"),
        objects: of("object"),
        suppositions: of("supposition"),
        backward: of("backward"),
        second_thoughts: of("second thought"),
        verdicts: of("verdict"),
        defects: of("defect"),
        agreements: of("agreement"),
        offers: of("offer"),
        choices: of("choice"),
        reasons: of("reason"),
    }
});

/// Returns what the slice says clearly, as operations that add entries.
pub fn extract(slice: &Slice) -> Vec<Operation> {
    // A slice that begins later in the session begins with a prompt like any other.
    let is_later = slice.messages.first().is_some_and(|first| first.number > 1);
    let mut listener = Listener { has_heard_a_person: is_later, ..Listener::default() };
    for message in &slice.messages {
        listener.hear(message);
    }
    listener.operations()
}

/// Returns the messages in which a person states what may be a fact, though not clearly enough for rules: a sentence that
/// asks for nothing and has words in it by which people settle things. What only fails is a report.
pub(crate) fn statements(slice: &Slice) -> impl Iterator<Item = u64> {
    let is_statement = |sentence: &Sentence| {
        let text = &sentence.text;
        let sound = cue::of_person(text).filter(|sound| sound.category != Category::Broken);
        sound.is_some_and(|sound| sound.weight >= STATEMENT)
            && !(sentence.is_question || is_request(text) || is_work_order(text) || is_verdict(text))
    };
    let people = slice.messages.iter().filter(|message| message.role == Role::User);
    people.flat_map(move |message| {
        let stated = message.said().flat_map(sentences).filter(is_statement).count();
        std::iter::repeat_n(message.number, stated)
    })
}

/// A fact that was heard.
struct Fact {
    category: Category,
    text: String,
    confidence: f64,
    message: u64,
    is_of_person: bool,
}

#[derive(Default)]
struct Listener {
    facts: Vec<Fact>,
    /// What the model said last.
    before: Vec<Sentence>,
    has_heard_a_person: bool,
    /// The plan that waits for its answer, by the id of its call.
    proposed: Option<(String, String)>,
}

impl Listener {
    fn hear(&mut self, message: &Message) {
        self.hear_plan(message);
        let spoken: Vec<Sentence> = message.said().flat_map(sentences).collect();
        if spoken.is_empty() {
            return;
        }
        match message.role {
            Role::User => {
                self.hear_person(message.number, &spoken);
                self.has_heard_a_person = true;
            }
            Role::Assistant => {
                self.hear_model(message.number, &spoken);
                self.before = spoken;
            }
        }
    }

    /// Keeps what an accepted plan begins with: the person has agreed to it.
    fn hear_plan(&mut self, message: &Message) {
        for part in &message.parts {
            match part {
                Part::Call { id, name, input } if name == "ExitPlanMode" => {
                    self.proposed = plan::gist(input).map(|gist| (id.clone(), gist));
                }
                Part::Result { id, is_error, .. } => {
                    if let Some((_, gist)) =
                        self.proposed.take_if(|(call, _)| call == id).filter(|_| !is_error)
                    {
                        self.keep(Category::Decision, &gist, PERSON_THRESHOLD, message.number - 1, false);
                    }
                }
                _ => {}
            }
        }
    }

    fn hear_person(&mut self, message: u64, spoken: &[Sentence]) {
        self.hear_change_of_mind(message, spoken);
        let reply = Reply::to(&self.before, self.has_heard_a_person);
        let asks = spoken.iter().any(|sentence| sentence.is_question || is_request(&sentence.text));
        let mut unit = String::new();
        let mut has_agreed = false;
        let mut is_first = true;
        for (at, sentence) in spoken.iter().enumerate() {
            let is_order = is_work_order(&sentence.text) && !(is_first && reply.is_choice());
            if sentence.is_question || is_request(&sentence.text) || is_order {
                unit.clear();
                is_first = false;
                continue;
            }
            let agrees = self.hear_agreement(message, &sentence.text);
            unit = join(&unit, &sentence.text);
            let is_supposed = is_supposition(&sentence.text);
            let mut judged = reply.judge(&unit, is_first);
            judged.weight += if has_agreed { AMENDING } else { 0.0 };
            judged.weight -= if is_supposed { SUPPOSING } else { 0.0 };
            judged.weight -= if asks && !reply.is_offered { ASKING } else { 0.0 };
            has_agreed |= agrees;
            // What says nothing yet may lead up to what follows, and a short sentence leans on the next one.
            let is_short = words(&unit).len() <= SHORT_WORDS && at + 1 < spoken.len();
            if is_verdict(&unit) {
                unit.clear();
                continue;
            }
            if judged.weight < PERSON_THRESHOLD || is_short {
                let is_story = words(&unit).len() > LEAD_WORDS || is_supposed;
                if is_story {
                    unit.clear();
                }
                continue;
            }
            let line = reply.in_context(&judged, &unit, is_first);
            self.keep(judged.category, &line, judged.weight, message, true);
            unit.clear();
            is_first = false;
        }
    }

    /// Drops the decision that a person has just taken, when they stop and think again.
    fn hear_change_of_mind(&mut self, message: u64, spoken: &[Sentence]) {
        let beginning = spoken.first().map(|first| folded(&first.text)).unwrap_or_default();
        if !TALK.second_thoughts.begin(&beginning) {
            return;
        }
        let is_recent = |fact: &Fact| {
            fact.is_of_person
                && fact.category == Category::Decision
                && fact.message + RECENT_MESSAGES >= message
        };
        if let Some(last) = self.facts.iter().rposition(is_recent) {
            self.facts.remove(last);
        }
    }

    /// Keeps what the model proposed when the person agrees to it.
    fn hear_agreement(&mut self, message: u64, sentence: &str) -> bool {
        let folded_sentence = folded(sentence);
        if !TALK.agreements.begin(&folded_sentence) {
            return false;
        }
        let proposal = self.before.iter().rev().find_map(|sentence| {
            let folded = folded(&sentence.text);
            PROPOSALS.iter().find_map(|proposal| {
                let at = folded.find(proposal)?;
                sentence.text.get(at + proposal.len()..).map(str::to_owned)
            })
        });
        if let Some(proposal) = proposal {
            self.keep(Category::Decision, &proposal, PERSON_THRESHOLD, message, true);
        }
        true
    }

    fn hear_model(&mut self, message: u64, spoken: &[Sentence]) {
        for sentence in spoken.iter().filter(|sentence| !sentence.is_question) {
            let Some(sound) = cue::of_model(&sentence.text) else { continue };
            let weight = sound.weight - if is_supposition(&sentence.text) { SUPPOSING } else { 0.0 };
            if weight >= MODEL_THRESHOLD {
                self.keep(sound.category, &sentence.text, weight - 0.2, message, false);
            }
        }
    }

    fn keep(&mut self, category: Category, text: &str, weight: f64, message: u64, is_of_person: bool) {
        let text = rewrite::line(text);
        let count = words(&text).len();
        if !(MIN_WORDS..=MAX_WORDS).contains(&count) {
            return;
        }
        let Ok(text) = wording::fit(&text) else { return };
        if is_of_person && self.continue_last(category, &text, message) {
            return;
        }
        let confidence = (0.4 + weight / 4.0).min(MAX_CONFIDENCE);
        self.take_back(&text, message);
        self.facts.push(Fact { category, text, confidence, message, is_of_person });
    }

    /// Adds to the last fact what the same person says about it in the same breath. A remark that names nothing itself
    /// goes nowhere else.
    fn continue_last(&mut self, category: Category, text: &str, message: u64) -> bool {
        let leans = leans(&folded(text));
        let last = self.facts.last_mut().filter(|last| last.message == message && last.is_of_person);
        let Some(last) =
            last.filter(|last| leans || last.category == category && category != Category::Decision)
        else {
            return leans && words(text).len() < LEANING_WORDS;
        };
        let joined = format!("{}; {}", last.text, text);
        if joined.chars().count() <= MAX_ENTRY_CHARS {
            last.text = joined;
        }
        true
    }

    /// Drops earlier decisions that this sentence takes back.
    fn take_back(&mut self, text: &str, message: u64) {
        let folded = folded(text);
        let gone: Vec<String> = TAKING_BACK
            .iter()
            .filter_map(|verb| {
                let at = folded.find(verb)?;
                let next = folded[at + verb.len()..].split(|c: char| !c.is_alphanumeric()).next()?;
                content_words(next).into_iter().next()
            })
            .collect();
        let about = content_words(text);
        self.facts.retain(|fact| {
            let before = content_words(&fact.text);
            let is_taken_back = fact.category == Category::Decision
                && fact.message < message
                && gone.iter().any(|word| before.contains(word))
                && before.intersection(&about).count() >= 1;
            !is_taken_back
        });
    }

    fn operations(mut self) -> Vec<Operation> {
        // Most confident first, so that they win over duplicates; then in order of appearance.
        self.facts.sort_by(|one, two| {
            two.confidence.total_cmp(&one.confidence).then(one.message.cmp(&two.message))
        });
        let mut kept: Vec<Fact> = Vec::new();
        for fact in self.facts {
            let is_same = |other: &Fact| {
                memory::similarity(&other.text, &fact.text) >= SAME
                    && figures(&other.text) == figures(&fact.text)
            };
            let is_echo = |other: &Fact| !fact.is_of_person && is_echo(&other.text, &fact.text);
            if kept.len() < EXTRACTED && !kept.iter().any(|other| is_same(other) || is_echo(other)) {
                kept.push(fact);
            }
        }
        kept.sort_by_key(|fact| fact.message);
        kept.into_iter().map(Fact::operation).collect()
    }
}

impl Fact {
    fn operation(self) -> Operation {
        let section = match self.category {
            Category::Rejection => REJECTED,
            Category::Hack => WORKAROUNDS,
            Category::Broken => BROKEN,
            Category::Scope => SCOPE,
            Category::Open => QUESTIONS,
            Category::Decision | Category::Maintenance | Category::Weak => DECISIONS,
        };
        Operation {
            action: Action::Add { text: self.text },
            section: section.to_owned(),
            confidence: self.confidence,
            turns: vec![self.message],
            source: Source::Extraction,
        }
    }
}

/// Returns the words with figures, which tell sentences apart that are otherwise alike.
fn figures(text: &str) -> Vec<String> {
    words(text).into_iter().filter(|word| has_figure(word)).collect()
}

/// Returns whether the model only repeats what a person said.
fn is_echo(said: &str, repeated: &str) -> bool {
    let (said, repeated) = (content_words(said), content_words(repeated));
    let shared = said.intersection(&repeated).count();
    shared * 2 >= repeated.len().max(1)
}

/// Returns whether a sentence names nothing itself.
fn leans(folded: &str) -> bool {
    let words = words(folded);
    let is_about_others =
        words.len() < LEANING_WORDS && words.iter().any(|word| POINTERS.contains(&word.as_str()));
    points_back(folded) || is_about_others || content_words(folded).len() < 2
}

/// What a person replies to.
struct Reply {
    /// The model's last question, when it ended with one.
    question: Option<String>,
    /// The model's last sentence, when it was none.
    statement: Option<String>,
    /// Whether the model offered something to decide about.
    is_offered: bool,
    is_first_prompt: bool,
}

/// What a person's words were found to be.
struct Judged {
    category: Category,
    weight: f64,
}

impl Reply {
    fn to(before: &[Sentence], has_heard_a_person: bool) -> Self {
        let last = before.last();
        Self {
            question: last.filter(|last| last.is_question).map(|last| last.text.clone()),
            statement: last.filter(|last| !last.is_question).map(|last| last.text.clone()),
            is_offered: before.iter().any(|sentence| sentence.is_question || offers(&sentence.text)),
            is_first_prompt: !has_heard_a_person,
        }
    }

    /// Returns whether the model asked for a choice. The answer to "what should I do?" has the form of an order.
    fn is_choice(&self) -> bool {
        self.question.as_deref().is_some_and(asks_for_a_choice)
    }

    /// Judges words by what they sound like, by how they are built and by what they reply to.
    fn judge(&self, text: &str, is_first: bool) -> Judged {
        let line = folded(&rewrite::line(text));
        let sound = cue::of_person(text);
        let mut settling = match is_first {
            true if self.is_choice() => CHOOSING,
            true if self.is_offered => ANSWERING,
            _ => 0.0,
        };
        settling += if has_topic(text) { TOPIC } else { 0.0 };
        settling += if line.contains(", not ") || line.ends_with(" only") || line.contains(" only:") {
            CONTRAST
        } else {
            0.0
        };
        settling += if line.starts_with("don't ") { FORBIDDING } else { 0.0 };
        let mut weight = settling + sound.map_or(0.0, |sound| sound.weight);
        weight += if has_figure(text) { FIGURE } else { 0.0 };
        weight += if has_reason(text) { REASON } else { 0.0 };
        let explains =
            is_first && self.statement.is_some() && points_back(&line) && words(&line).len() > SHORT_WORDS;
        weight += if explains { EXPLAINING } else { 0.0 };
        weight -= if self.is_first_prompt { OPENING } else { 0.0 };
        let is_of_defect = explains && self.statement.as_deref().is_some_and(names_defect);
        // How a sentence is built makes a decision of it, unless its words say outright what else it is.
        let category = match sound {
            None if is_of_defect => Category::Broken,
            Some(sound) if is_of_defect && sound.category == Category::Decision && !is_outright(sound) => {
                Category::Broken
            }
            Some(sound) if settling == 0.0 || is_outright(sound) => sound.category,
            _ => Category::Decision,
        };
        Judged { category, weight }
    }

    /// Returns the words with what the model said before, when they are about that and do not name it.
    fn in_context(&self, judged: &Judged, text: &str, is_first: bool) -> String {
        let line = rewrite::line(text);
        let is_remark = points_back(&folded(&line))
            || judged.category == Category::Broken && content_words(&line).len() < SELF_CONTAINED;
        match (&self.question, &self.statement) {
            (Some(question), _) if is_first && content_words(&line).len() < SELF_CONTAINED => {
                format!("{question}: {line}")
            }
            (_, Some(statement)) if is_first && is_remark => format!("{} ({line})", rewrite::line(statement)),
            _ => line,
        }
    }
}

/// Returns whether the model puts something up for decision.
fn offers(sentence: &str) -> bool {
    let sentence = folded(sentence);
    TALK.offers.occur(&sentence)
}

fn names_defect(statement: &str) -> bool {
    let statement = folded(statement);
    TALK.defects.occur(&statement)
}

/// Returns whether a sentence only judges what the model did.
fn is_verdict(sentence: &str) -> bool {
    let line = folded(&rewrite::line(sentence));
    let words = words(&line);
    words.len() <= SHORT_WORDS + 1 && TALK.verdicts.begin(&line)
}

/// Returns two sentences of one breath on one line.
fn join(one: &str, two: &str) -> String {
    match (one.is_empty(), words(one).len() <= SHORT_WORDS) {
        (true, _) => two.to_owned(),
        (false, true) => format!("{one}: {two}"),
        (false, false) => format!("{one}; {two}"),
    }
}

/// Returns whether the words of a sentence say outright what it is. A choice that names what it rejects stays a choice.
fn is_outright(sound: cue::Sound) -> bool {
    sound.weight >= cue::OUTRIGHT && sound.category != Category::Rejection
}

fn has_figure(text: &str) -> bool {
    text.chars().any(|c| c.is_ascii_digit())
}

fn has_reason(text: &str) -> bool {
    let text = folded(text);
    TALK.reasons.occur(&text) || [", they ", ", it ", ", we "].iter().any(|phrase| text.contains(phrase))
}

/// Returns whether the subject of a sentence is in an earlier one.
fn points_back(folded: &str) -> bool {
    TALK.backward.begin(folded)
}

/// Returns whether a question offers things to choose from.
fn asks_for_a_choice(question: &str) -> bool {
    let question = folded(question);
    TALK.choices.occur(&question)
}

/// Returns whether a sentence names a topic and then says something about it.
fn has_topic(sentence: &str) -> bool {
    let line = rewrite::line(sentence);
    line.split_once(": ").is_some_and(|(topic, rest)| {
        (1..=TOPIC_WORDS).contains(&words(topic).len()) && words(rest).len() >= 2
    })
}

fn is_request(sentence: &str) -> bool {
    let line = folded(&rewrite::line(sentence));
    if ["can you", "could you", "would you", "kannst du", "peux-tu", "puedes"]
        .iter()
        .any(|asking| line.contains(asking))
    {
        return true;
    }
    TALK.requests.begin(&line)
}

/// Returns whether a sentence only says what is to be done now: "rename the button". One that says outright what holds is
/// more than that.
fn is_work_order(sentence: &str) -> bool {
    let line = folded(&rewrite::line(sentence));
    let line = ORDER_LEADS.iter().find_map(|lead| line.strip_prefix(lead)).unwrap_or(&line);
    let has_object = line.split_once(' ').is_some_and(|(_, rest)| TALK.objects.begin(rest));
    let is_order = TALK.orders.begin(line) || TALK.orders_or_nouns.begin(line) && has_object;
    is_order && !cue::is_outright(sentence)
}

fn is_supposition(sentence: &str) -> bool {
    TALK.suppositions.occur(&folded(sentence))
}
