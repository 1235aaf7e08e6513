//! A collection like a journal, the same on every machine, and questions about it.
//!
//! Words follow Zipf's law over 200,000; three words in ten come from the document's topic (200 words of its own), so that words of
//! one question occur together as they do in real text.

use search::{Document, Kind};
use std::collections::HashSet;

const VOCABULARY: usize = 200_000;
const TOPICS: usize = 4_000;
const TOPIC_WORDS: usize = 200;
/// Two years up to the clock of the questions, in milliseconds.
pub(crate) const NOW: u64 = 1_763_072_000_000;
const YEARS: u64 = 2 * 365 * 86_400_000;

const COMMON: &str = "the to in and is test of file for error fix it with run add not when now from that by on use was \
    build code check after function change make read user only config returns because before as are an be so but has \
    cargo path new type call value server line module key session token cache query index parse write commit branch \
    failed works instead field already missing first data string log update version store empty still moved does then \
    without lock set client request table name schema list hook timeout api retry state default folder process \
    output input remove thread import local remote crate script handler event job worker memory plan task summary note \
    decision lesson review merge deploy release docker image database migration column row transaction pool async await \
    stream buffer encode decode hash sign verify login password permission role admin panic unwrap result option clone \
    borrow lifetime trait struct enum macro match loop iterator closure generic compile linker symbol target feature flag \
    lint format clippy bench latency leak overflow underflow race deadlock mutex channel socket http header body \
    json yaml toml xml csv parser lexer grammar node tree graph edge heap stack queue map vector array slice pointer";
const ONSET: [&str; 24] = [
    "b", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "st", "tr", "pl", "br",
    "gr", "sh", "ch", "fl",
];
const VOWEL: [&str; 10] = ["a", "e", "i", "o", "u", "a", "e", "i", "ou", "ea"];
const CODA: [&str; 12] = ["", "", "", "n", "r", "l", "s", "t", "m", "ck", "nd", "rt"];
const ENDING: [&str; 8] = ["", "", "", "s", "ing", "ed", "er", "ation"];

/// Random numbers, the same with every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, most: usize) -> usize {
        (((self.next() >> 32) * most as u64) >> 32) as usize
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn of<'w>(&mut self, words: &[&'w str]) -> &'w str {
        words[self.below(words.len())]
    }

    fn word(&mut self, syllables: usize) -> String {
        (0..syllables).map(|_| [self.of(&ONSET), self.of(&VOWEL), self.of(&CODA)].concat()).collect()
    }
}

/// Makes documents, one after the other.
pub(crate) struct Collection {
    random: Random,
    words: Vec<String>,
    cumulative: Vec<f64>,
    topics: Vec<Vec<usize>>,
    /// In how many documents each word is.
    frequency: Vec<u32>,
    documents: usize,
    made: usize,
    pub(crate) text_bytes: usize,
}

impl Collection {
    pub(crate) fn new(documents: usize) -> Self {
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let words = vocabulary(&mut random);
        let cumulative = (1..=VOCABULARY).scan(0.0, |sum, rank| {
            *sum += 1.0 / rank as f64;
            Some(*sum)
        });
        let cumulative = cumulative.collect();
        // A topic's words are beyond the first 150, spread evenly over the logarithm of the rank.
        let rank = |unit: f64| (150.0 * (VOCABULARY as f64 / 150.0).powf(unit)) as usize;
        let topics = (0..TOPICS)
            .map(|_| (0..TOPIC_WORDS).map(|_| rank(random.unit()).min(VOCABULARY - 1)).collect())
            .collect();
        let frequency = vec![0; VOCABULARY];
        Self { random, words, cumulative, topics, frequency, documents, made: 0, text_bytes: 0 }
    }

    fn zipf(&mut self) -> usize {
        let at = self.random.unit() * self.cumulative[VOCABULARY - 1];
        self.cumulative.partition_point(|sum| *sum <= at).min(VOCABULARY - 1)
    }

    pub(crate) fn document(&mut self) -> Document {
        let topic = self.zipf() % TOPICS;
        let titled = 3 + self.random.below(4);
        let length = titled + 14 + self.random.below(24);
        let mut used = HashSet::new();
        let (mut title, mut body) = (String::new(), String::new());
        for number in 0..length {
            // Toward the topic's front, so that each topic has words of its own that recur.
            let rank = if self.random.below(10) < 3 {
                self.topics[topic][(self.random.unit() * self.random.unit() * TOPIC_WORDS as f64) as usize]
            } else {
                self.zipf()
            };
            self.frequency[rank] += u32::from(used.insert(rank));
            let to = if number < titled { &mut title } else { &mut body };
            if !to.is_empty() {
                to.push(' ');
            }
            to.push_str(&self.words[rank]);
            if number >= titled && self.random.below(12) == 0 {
                to.push(if self.random.below(3) == 0 { ',' } else { '.' });
            }
        }
        let number = self.made;
        self.made += 1;
        self.text_bytes += title.len() + body.len();
        let age = YEARS - YEARS * number.min(self.documents) as u64 / self.documents as u64;
        Document {
            key: format!("e{number:x}"),
            kind: Some(Kind::Entry),
            class: ["change", "fix", "discovery", "decision"][number % 4].to_owned(),
            project: format!("project-{}", number % 20),
            session: format!("session-{}", number / 40),
            branch: "main".to_owned(),
            at: NOW - age,
            title,
            body,
            ..Document::default()
        }
    }

    /// Returns 200 questions: words by how many documents have them, those of one question from one topic.
    pub(crate) fn questions(&mut self) -> Vec<String> {
        let made = self.made as f64;
        let share = |rank: usize, frequency: &[u32]| f64::from(frequency[rank]) / made;
        let of_share = |least: f64, most: f64| -> Vec<usize> {
            (0..400).filter(|rank| (least..most).contains(&share(*rank, &self.frequency))).collect()
        };
        let (common, frequent) = (of_share(0.25, 0.6), of_share(0.02, 0.25));
        (0..200)
            .map(|number| {
                let topic = self.random.below(TOPICS);
                let mut ranks = Vec::new();
                let mut add = |from: From, most: usize| {
                    for _ in 0..=self.random.below(most) {
                        let rank = match from {
                            From::Common => common[self.random.below(common.len())],
                            From::Frequent => frequent[self.random.below(frequent.len())],
                            From::Topic(least, most) => loop {
                                let rank = self.topics[topic][self.random.below(TOPIC_WORDS)];
                                if self.frequency[rank] > 0
                                    && (least..most).contains(&share(rank, &self.frequency))
                                {
                                    break rank;
                                }
                            },
                        };
                        if !ranks.contains(&rank) {
                            ranks.push(rank);
                        }
                    }
                };
                let (rare, middle) = (From::Topic(0.0, 0.000_2), From::Topic(0.000_2, 0.02));
                let parts: &[(From, usize)] = match number % 10 {
                    0 | 1 => &[(rare, 2)],
                    2 | 3 => &[(middle, 4)],
                    4 => &[(From::Frequent, 3)],
                    5 => &[(From::Common, 4)],
                    6 => &[(From::Common, 2), (middle, 1)],
                    7 => &[(From::Common, 1), (rare, 1)],
                    8 => &[(From::Frequent, 2), (From::Common, 1), (middle, 1)],
                    _ => &[(From::Frequent, 1), (middle, 1), (rare, 1)],
                };
                parts.iter().for_each(|(from, most)| add(*from, *most));
                let words: Vec<&str> = ranks.into_iter().map(|rank| &*self.words[rank]).collect();
                words.join(" ")
            })
            .collect()
    }
}

/// Which words a question takes, by the share of documents that have them.
#[derive(Clone, Copy)]
enum From {
    Common,
    Frequent,
    Topic(f64, f64),
}

fn vocabulary(random: &mut Random) -> Vec<String> {
    let mut words: Vec<String> = COMMON.split_whitespace().map(str::to_owned).collect();
    let mut known: HashSet<String> = words.iter().cloned().collect();
    while words.len() < VOCABULARY {
        let syllables = match words.len() {
            ..2_000 => 1,
            2_000..60_000 => 2,
            _ => 2 + usize::from(random.below(5) == 0),
        };
        let kind = if words.len() < 600 { 0 } else { random.below(100) };
        let word = match kind {
            ..70 => random.word(syllables) + random.of(&ENDING),
            70..82 => format!("{}_{}", random.word(1), random.word(1)),
            82..91 => {
                let second = random.word(1);
                format!("{}{}{}", random.word(1), second[..1].to_uppercase(), &second[1..])
            }
            91..96 => format!("src/{}/{}.rs", random.word(1), random.word(1)),
            96..98 => format!("E{:04}", random.below(10_000)),
            _ => format!("{:07x}", random.next() >> 36),
        };
        if known.insert(word.clone()) {
            words.push(word);
        }
    }
    words
}
