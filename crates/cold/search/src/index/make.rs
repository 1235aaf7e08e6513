//! Writing segments: the documents first, then the postings term by term, then the dictionary.

use super::dictionary;
use super::number::put;
use super::postings;
use super::segment::{Details, HEADER_BYTES, Header, PARTS, Part, Record, key_hash};
use crate::document::Document;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write as _};
use text::terms::Terms;

/// A line of more words is several passages: each ends with a sentence after the first figure, and anywhere after the second.
const ENOUGH_FOR_PASSAGE: u32 = 40;
const MAX_PASSAGE: u32 = 200;
/// How often each word of the title counts.
const TIMES_OF_TITLE: usize = 2;
/// How many files of a document are found by their names.
const MAX_FILES: usize = 24;
/// The most bytes of a document that are looked at.
const MAX_BYTES: usize = 1 << 20;

/// Documents in the order of the segment.
#[derive(Debug, Default)]
pub(super) struct Documents {
    records: Vec<u8>,
    details: Vec<u8>,
    strings: Strings,
    count: u32,
    words: u64,
    passages: u64,
}

/// Strings, each once.
#[derive(Debug, Default)]
pub(super) struct Strings {
    numbers: HashMap<Box<str>, u32>,
    places: Vec<u8>,
    bytes: Vec<u8>,
}

impl Strings {
    pub(super) fn number(&mut self, string: &str) -> u32 {
        if let Some(number) = self.numbers.get(string) {
            return *number;
        }
        let number = self.numbers.len() as u32;
        self.bytes.extend(string.as_bytes());
        self.places.extend((self.bytes.len() as u32).to_le_bytes());
        self.numbers.insert(string.into(), number);
        number
    }
}

impl Documents {
    pub(super) fn strings(&mut self) -> &mut Strings {
        &mut self.strings
    }

    /// Adds a document, whose strings have their numbers already.
    pub(super) fn add(&mut self, mut record: Record, details: &Details<'_>) {
        record.details = self.details.len() as u32;
        put(&mut self.details, details.key.len() as u64);
        self.details.extend(details.key.as_bytes());
        put(&mut self.details, details.files.len() as u64);
        details.files.iter().for_each(|file| put(&mut self.details, u64::from(*file)));
        put(&mut self.details, details.passages.len() as u64);
        let mut last = 0;
        for start in &details.passages {
            put(&mut self.details, u64::from(start - last));
            last = *start;
        }
        record.write(&mut self.records);
        self.count += 1;
        self.words += u64::from(record.length);
        self.passages += details.passages.len() as u64 + 1;
    }
}

/// Writes a segment into a file.
#[derive(Debug)]
pub(super) struct Maker<'f> {
    file: BufWriter<&'f mut File>,
    header: Header,
    dictionary: dictionary::Builder,
    at: u64,
    postings_at: u64,
    buffer: Vec<u8>,
}

impl<'f> Maker<'f> {
    pub(super) fn begin(file: &'f mut File, documents: &Documents) -> io::Result<Self> {
        let header = Header {
            documents: documents.count,
            words: documents.words,
            passages: documents.passages,
            ..Header::default()
        };
        let file = BufWriter::with_capacity(1 << 16, file);
        let mut maker = Self {
            file,
            header,
            dictionary: dictionary::Builder::default(),
            at: 0,
            postings_at: 0,
            buffer: Vec::new(),
        };
        maker.file.write_all(&[0; HEADER_BYTES])?;
        maker.at = HEADER_BYTES as u64;
        maker.part(Part::Documents, &documents.records)?;
        maker.part(Part::Details, &documents.details)?;
        maker.part(Part::StringPlaces, &documents.strings.places)?;
        maker.part(Part::Strings, &documents.strings.bytes)?;
        maker.postings_at = maker.at;
        Ok(maker)
    }

    fn part(&mut self, part: Part, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.at += bytes.len() as u64;
        self.header.ends[part as usize] = self.at;
        Ok(())
    }

    /// Adds a term with its postings; terms come in order. A term without documents is left out.
    pub(super) fn term(&mut self, term: &str, postings: &mut postings::Builder) -> io::Result<()> {
        let documents = postings.documents();
        if documents == 0 {
            return Ok(());
        }
        self.buffer.clear();
        postings.finish(&mut self.buffer);
        let place =
            dictionary::Place { documents, at: self.at - self.postings_at, bytes: self.buffer.len() as u64 };
        self.dictionary.add(term, place);
        self.file.write_all(&self.buffer)?;
        self.at += place.bytes;
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.header.ends[Part::Postings as usize] = self.at;
        let (blocks, places, backward, terms) = std::mem::take(&mut self.dictionary).finish();
        self.header.terms = terms;
        self.part(Part::Blocks, &blocks)?;
        self.part(Part::BlockPlaces, &places)?;
        self.part(Part::Backward, &backward)?;
        debug_assert_eq!(self.header.ends[PARTS - 1], self.at);
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&self.header.write())?;
        self.file.flush()
    }
}

/// Writes a segment of documents with different keys.
pub(super) fn write_documents(file: &mut File, mut documents: Vec<Document>) -> io::Result<()> {
    documents.sort_by(|one, other| other.at.cmp(&one.at).then_with(|| one.key.cmp(&other.key)));
    let mut made = Documents::default();
    let mut words = Words::default();
    for (number, document) in documents.iter().enumerate() {
        let (length, passages) = words.take(number as u32, document);
        let strings = made.strings();
        let record = Record {
            key_hash: key_hash(&document.key),
            at: document.at,
            length,
            details: 0,
            project: strings.number(&document.project),
            session: strings.number(&document.session),
            branch: strings.number(&document.branch),
            author: strings.number(&document.author),
            class: strings.number(&document.class),
            kind: document.kind.map_or(0, |kind| kind as u32),
        };
        let files = document.files.iter().map(|file| strings.number(file)).collect();
        made.add(record, &Details { key: &document.key, files, passages });
    }
    let lengths: Vec<u32> =
        made.records.chunks_exact(48).map(|record| super::number::u32_at(record, 16)).collect();
    let mut maker = Maker::begin(file, &made)?;
    words.write(&mut maker, &lengths)?;
    maker.finish()
}

/// Says whether a sentence ends with this text.
fn is_after_sentence(text: &str) -> bool {
    let end = text.trim_end_matches([' ', '"', '\'', '(', '`', '*']);
    end.len() < text.len() && end.ends_with(['.', '!', '?'])
}

/// The words of documents, as they come.
#[derive(Debug, Default)]
struct Words {
    terms: Terms,
    numbers: HashMap<Box<str>, u32>,
    /// Term, document, position.
    found: Vec<(u32, u32, u32)>,
}

impl Words {
    /// Takes a document apart; returns its length and the first word of each passage but the first.
    fn take(&mut self, number: u32, document: &Document) -> (u32, Vec<u32>) {
        let Self { terms, numbers, found } = self;
        let mut starts = Vec::new();
        let mut position = 0;
        let body = &document.body[..document.body.floor_char_boundary(MAX_BYTES)];
        let files = document.files.iter().take(MAX_FILES).map(String::as_str);
        let title = std::iter::once((&*document.title, TIMES_OF_TITLE));
        for (line, times) in title.chain(body.lines().chain(files).map(|line| (line, 1))) {
            let mut start = position;
            let mut starts_here = vec![start];
            position = terms.each(line, position, |term| {
                let words = term.position - start;
                let is_enough = words >= ENOUGH_FOR_PASSAGE && is_after_sentence(&line[..term.bytes.0]);
                if is_enough || words >= MAX_PASSAGE {
                    start = term.position;
                    starts_here.push(start);
                }
                let id = match numbers.get(term.text) {
                    Some(id) => *id,
                    None => {
                        let id = numbers.len() as u32;
                        numbers.insert(term.text.into(), id);
                        id
                    }
                };
                found.extend(std::iter::repeat_n((id, number, term.position), times));
            });
            if position > start {
                starts.append(&mut starts_here);
            }
        }
        // A short text is a passage as a whole: its lines belong together.
        if position < ENOUGH_FOR_PASSAGE {
            starts.clear();
        }
        if !starts.is_empty() {
            starts.remove(0);
        }
        (position, starts)
    }

    fn write(self, maker: &mut Maker<'_>, lengths: &[u32]) -> io::Result<()> {
        let mut order: Vec<(&str, u32)> =
            self.numbers.iter().map(|(term, number)| (&**term, *number)).collect();
        order.sort_unstable();
        // By term, with the order of documents and positions as it is.
        let mut starts = vec![0_usize; self.numbers.len() + 1];
        for (term, _, _) in &self.found {
            starts[*term as usize + 1] += 1;
        }
        for place in 1..starts.len() {
            starts[place] += starts[place - 1];
        }
        let mut next = starts.clone();
        let mut sorted = vec![(0, 0); self.found.len()];
        for (term, document, position) in &self.found {
            let place = &mut next[*term as usize];
            sorted[*place] = (*document, *position);
            *place += 1;
        }
        let mut postings = postings::Builder::default();
        let mut positions = Vec::new();
        for (term, number) in order {
            let found = &sorted[starts[number as usize]..starts[number as usize + 1]];
            for of_document in found.chunk_by(|one, other| one.0 == other.0) {
                let document = of_document[0].0;
                positions.clear();
                positions.extend(of_document.iter().map(|(_, position)| *position));
                postings.add(document, lengths[document as usize], &positions);
            }
            maker.term(term, &mut postings)?;
        }
        Ok(())
    }
}
