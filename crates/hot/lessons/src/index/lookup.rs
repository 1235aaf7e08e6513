//! Looking up the lessons that a call may be about.

use super::layout::bitmap as bitmap_of;
use super::layout::{
    BITMAP_BYTES, Domain, Fingerprint, GRAM_BYTES, HEADER_BYTES, Header, POSTING_BYTES, SLOT_BYTES, STRIDE,
    bit, fold, fold_eight, gram_key, key, u16_at, u32_at, u64_at,
};
use super::record::{self, Entry};
use super::{Damaged, build};
use crate::allowance::Allowance;
use crate::call::Call;
use crate::escaped::{OVERLAP_BYTES, Piece};
use crate::lesson::Kind;
use crate::path_class::Class;
use crate::sql;
use crate::trigger::Simple;
use std::ops::Deref;

/// An index over any bytes: a mapped file, or a buffer.
#[derive(Debug)]
pub struct Index<B> {
    bytes: B,
    header: Header,
}

impl<B: Deref<Target = [u8]>> Index<B> {
    /// Takes bytes for an index. Only the header is looked at: the cost does not depend on the number of lessons.
    pub fn new(bytes: B) -> Result<Self, Damaged> {
        let header = Header::read(&bytes)?;
        Ok(Self { bytes, header })
    }

    /// Returns what the index was made from.
    pub fn fingerprint(&self) -> Fingerprint {
        self.header.fingerprint
    }

    /// Returns the number of lessons.
    pub fn len(&self) -> usize {
        self.header.lessons as usize
    }

    /// Says whether there are no lessons.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a lesson by its number.
    pub fn entry(&self, number: u32) -> Result<Entry<'_>, Damaged> {
        if number >= self.header.lessons {
            return Err(Damaged);
        }
        let place =
            u32_at(&self.bytes, self.header.records_at as usize + 4 * number as usize).ok_or(Damaged)?;
        record::read(self.bytes.get(place as usize..).ok_or(Damaged)?)
    }

    /// Returns the numbers of the lessons that may apply to a call, sorted: all that do are among them.
    pub fn candidates(&self, call: &Call<'_>, commands: &[Simple<'_>]) -> Result<Vec<u32>, Damaged> {
        self.candidates_within(call, commands, &Allowance::unlimited())
    }

    /// As [`Self::candidates`]; when the time is up, some may be missing.
    pub fn candidates_within(
        &self,
        call: &Call<'_>,
        commands: &[Simple<'_>],
        time: &Allowance,
    ) -> Result<Vec<u32>, Damaged> {
        let mut found = Found { numbers: Vec::new(), lessons: self.len(), time };
        self.find(key(Domain::Tool, &call.tool), &mut found)?;
        self.find(key(Domain::Tool, build::ANY_TOOL), &mut found)?;
        if call.is_shell() {
            // One room for all texts that are looked up.
            let mut room = String::new();
            for command in commands {
                self.find_written_files(call, command, &mut found)?;
                if command.program.is_empty() {
                    continue;
                }
                room.clear();
                room.push_str(command.program);
                self.find(key(Domain::Program, &room), &mut found)?;
                if let Some(word) = command.first_word() {
                    room.push(' ');
                    room.push_str(word);
                    self.find(key(Domain::Program, &room), &mut found)?;
                }
                room.clear();
                command.write_text(&mut room);
                self.find_grams(Domain::Shell, Piece::only(&room), &mut found)?;
                if sql::may_be_client(command.program) {
                    for statement in command.statements() {
                        self.find(key(Domain::Sql, build::ANY_STATEMENT), &mut found)?;
                        self.find_grams(Domain::Sql, Piece::only(statement), &mut found)?;
                    }
                }
            }
            let line = call.command.as_deref().unwrap_or_default();
            self.find_grams(Domain::Shell, Piece::only(line), &mut found)?;
        }
        for path in &call.paths {
            let name = path.rsplit('/').next().unwrap_or(path);
            self.find(key(Domain::FileName, name), &mut found)?;
            if let Some((_, ending)) = name.rsplit_once('.') {
                self.find(key(Domain::Ending, ending), &mut found)?;
            }
            self.find_grams(Domain::Field, Piece::only(path), &mut found)?;
        }
        for content in &call.contents {
            content.each_piece(|piece| self.find_grams(Domain::Content, piece, &mut found))?;
        }
        for (name, text) in &call.fields {
            if text.len() <= MAX_FIELD_BYTES && !(call.is_shell() && name == "command") {
                self.find_grams(Domain::Field, Piece::only(text), &mut found)?;
            }
        }
        found.tidy();
        Ok(found.numbers)
    }

    /// Returns the numbers of the lessons of a kind that is shown at a start.
    pub fn said_at_start(&self, kind: Kind) -> Result<Vec<u32>, Damaged> {
        let unlimited = Allowance::unlimited();
        let mut found = Found { numbers: Vec::new(), lessons: self.len(), time: &unlimited };
        self.find(key(Domain::Start, kind.name()), &mut found)?;
        Ok(found.numbers)
    }

    /// Adds the lessons about what a command's output is redirected to.
    fn find_written_files(
        &self,
        call: &Call<'_>,
        command: &Simple<'_>,
        found: &mut Found<'_>,
    ) -> Result<(), Damaged> {
        for file in command.written_files() {
            self.find(key(Domain::Writes, build::ANY_FILE), found)?;
            self.find(key(Domain::Writes, file.text), found)?;
            let classes = file.classes(command.place(call));
            for class in Class::ALL.into_iter().filter(|class| classes.has(*class)) {
                self.find(key(Domain::Writes, class.name()), found)?;
            }
        }
        Ok(())
    }

    /// Adds the lessons filed under a key.
    fn find(&self, key: u64, found: &mut Found<'_>) -> Result<(), Damaged> {
        if found.time.is_spent_by_a_step() {
            return Ok(());
        }
        for posting in self.postings(key)? {
            found.push(posting?.lesson);
        }
        Ok(())
    }

    /// Adds the lessons whose literal is in a text.
    fn find_grams(&self, domain: Domain, piece: Piece<'_>, found: &mut Found<'_>) -> Result<(), Damaged> {
        let text = piece.bytes;
        if self.header.filled_bitmaps & 1 << bitmap_of(domain) == 0 {
            return Ok(());
        }
        let bitmap_at = HEADER_BYTES + bitmap_of(domain) * BITMAP_BYTES;
        let bitmap =
            self.bytes.get(bitmap_at..).and_then(<[u8]>::first_chunk::<BITMAP_BYTES>).ok_or(Damaged)?;
        let filed = |gram: u32| {
            let (place, mask) = bit(gram);
            bitmap[place] & mask
        };
        // Eight bytes hold three grams that are looked up; a large text is gone through in such steps.
        const GRAM: u32 = 0x00ff_ffff;
        let mut start = 0;
        while let Some(eight) = text.get(start..).and_then(<[u8]>::first_chunk) {
            let packed = fold_eight(*eight);
            let (one, two, three) =
                (packed as u32 & GRAM, (packed >> 16) as u32 & GRAM, (packed >> 32) as u32 & GRAM);
            if filed(one) | filed(two) | filed(three) != 0 {
                for (place, gram) in
                    [one, two, three].into_iter().enumerate().filter(|(_, gram)| filed(*gram) != 0)
                {
                    self.find_gram(domain, gram, piece, start + STRIDE * place, found)?;
                }
            }
            start += 3 * STRIDE;
        }
        for (offset, window) in text[start..].windows(GRAM_BYTES).enumerate().step_by(STRIDE) {
            let Some(gram) = window.first_chunk().copied().map(fold) else { continue };
            if filed(gram) != 0 {
                self.find_gram(domain, gram, piece, start + offset, found)?;
            }
        }
        Ok(())
    }

    /// Adds the lessons whose literal is around the gram at `start`.
    fn find_gram(
        &self,
        domain: Domain,
        gram: u32,
        piece: Piece<'_>,
        start: usize,
        found: &mut Found<'_>,
    ) -> Result<(), Damaged> {
        for posting in self.postings(gram_key(domain, gram))? {
            if found.time.is_spent_by_a_step() {
                return Ok(());
            }
            let posting = posting?;
            let literal = self.literal(&posting)?;
            let begin = start.checked_sub(posting.at);
            let there = begin.and_then(|begin| piece.bytes.get(begin..begin + literal.len()));
            let is_there = match there {
                Some(there) => there.eq_ignore_ascii_case(literal),
                // It begins in the piece before, or ends in the next one; a short one is whole in that.
                None => literal.len() > OVERLAP_BYTES && !(piece.is_first && piece.is_last),
            };
            if is_there {
                found.push(posting.lesson);
            }
        }
        Ok(())
    }

    fn literal(&self, posting: &Posting) -> Result<&[u8], Damaged> {
        let start = self.header.literals_at as usize + posting.literal;
        self.bytes.get(start..start + posting.literal_bytes).ok_or(Damaged)
    }

    /// Returns the postings of a key.
    fn postings(&self, key: u64) -> Result<impl Iterator<Item = Result<Posting, Damaged>>, Damaged> {
        let (first, count) = self.slot(key)?.unwrap_or((0, 0));
        if first.checked_add(count).is_none_or(|end| end > self.header.postings) {
            return Err(Damaged);
        }
        let postings_at = self.header.postings_at as usize;
        Ok((first..first + count).map(move |number| {
            let at = postings_at + number as usize * POSTING_BYTES;
            let read = || {
                Some(Posting {
                    lesson: u32_at(&self.bytes, at)?,
                    literal: u32_at(&self.bytes, at + 4)? as usize,
                    literal_bytes: usize::from(u16_at(&self.bytes, at + 8)?),
                    at: usize::from(u16_at(&self.bytes, at + 10)?),
                })
            };
            read().ok_or(Damaged)
        }))
    }

    fn slot(&self, key: u64) -> Result<Option<(u32, u32)>, Damaged> {
        let mask = self.header.slots as usize - 1;
        let mut slot = key as usize & mask;
        // A table without an empty slot is none of ours; the search ends all the same.
        for _ in 0..=mask {
            let at = self.header.slots_at as usize + slot * SLOT_BYTES;
            match u64_at(&self.bytes, at).ok_or(Damaged)? {
                0 => return Ok(None),
                found if found == key => {
                    let first = u32_at(&self.bytes, at + 8).ok_or(Damaged)?;
                    return Ok(Some((first, u32_at(&self.bytes, at + 12).ok_or(Damaged)?)));
                }
                _ => slot = (slot + 1) & mask,
            }
        }
        Err(Damaged)
    }
}

/// Other fields than a file's contents are short; what is longer is not looked through twice.
const MAX_FIELD_BYTES: usize = 64 * 1024;

/// The lessons that were found so far.
struct Found<'a> {
    numbers: Vec<u32>,
    /// How many there are in all.
    lessons: usize,
    time: &'a Allowance,
}

impl Found<'_> {
    fn push(&mut self, lesson: u32) {
        // A large text may hold one literal any number of times.
        if self.numbers.len() >= 2 * self.lessons + 1_024 {
            self.tidy();
        }
        self.numbers.push(lesson);
    }

    fn tidy(&mut self) {
        self.numbers.sort_unstable();
        self.numbers.dedup();
    }
}

struct Posting {
    lesson: u32,
    literal: usize,
    literal_bytes: usize,
    at: usize,
}
