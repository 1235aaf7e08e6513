//! Several segments as one, without the documents that are dead.

use super::dead::Dead;
use super::dictionary::Walk;
use super::make::{Documents, Maker};
use super::postings;
use super::segment::{Details, Record, Segment};
use std::fs::File;
use std::io;

/// Where documents of a segment that is merged go that are dead.
const NOWHERE: u32 = u32::MAX;

/// Writes one segment with everything that is alive in these.
pub(super) fn write_merged(file: &mut File, segments: &[(&Segment, &Dead)]) -> io::Result<()> {
    let mut alive: Vec<(Record, usize, u32)> = Vec::new();
    for (number, (segment, dead)) in segments.iter().enumerate() {
        let documents = (0..segment.documents()).filter(|document| !dead.has(*document));
        alive.extend(documents.map(|document| (segment.record(document), number, document)));
    }
    // As within each segment: its documents keep their order.
    alive.sort_by(|(one, one_of, _), (other, other_of, _)| {
        let key = |record: &Record, of: usize| segments[of].0.details(record).key;
        other.at.cmp(&one.at).then_with(|| key(one, *one_of).cmp(key(other, *other_of)))
    });
    let mut moved: Vec<Vec<u32>> =
        segments.iter().map(|(segment, _)| vec![NOWHERE; segment.documents() as usize]).collect();
    let mut strings: Vec<Vec<u32>> =
        segments.iter().map(|(segment, _)| vec![NOWHERE; segment.strings() as usize]).collect();
    let mut documents = Documents::default();
    let mut lengths = Vec::with_capacity(alive.len());
    for (place, (record, of, document)) in alive.iter().enumerate() {
        let segment = segments[*of].0;
        moved[*of][*document as usize] = place as u32;
        let mut string = |number: u32| {
            let known = strings[*of].get_mut(number as usize);
            match known {
                Some(known) if *known != NOWHERE => *known,
                Some(known) => {
                    *known = documents.strings().number(segment.string(number));
                    *known
                }
                None => documents.strings().number(""),
            }
        };
        let details = segment.details(record);
        let record = Record {
            project: string(record.project),
            session: string(record.session),
            branch: string(record.branch),
            author: string(record.author),
            class: string(record.class),
            ..*record
        };
        let files = details.files.iter().map(|file| string(*file)).collect();
        lengths.push(record.length);
        documents.add(record, &Details { files, ..details });
    }
    drop(alive);
    let mut maker = Maker::begin(file, &documents)?;
    drop(documents);
    write_terms(&mut maker, segments, &moved, &lengths)?;
    maker.finish()
}

fn write_terms(
    maker: &mut Maker<'_>,
    segments: &[(&Segment, &Dead)],
    moved: &[Vec<u32>],
    lengths: &[u32],
) -> io::Result<()> {
    let mut walks: Vec<(Walk<'_>, Option<super::dictionary::Place>)> = segments
        .iter()
        .map(|(segment, _)| {
            let mut walk = segment.dictionary().walk();
            let place = walk.step();
            (walk, place)
        })
        .collect();
    let mut builder = postings::Builder::default();
    let mut found: Vec<(u32, usize, usize)> = Vec::new();
    let mut positions: Vec<u32> = Vec::new();
    loop {
        let first = walks.iter().filter(|(_, place)| place.is_some()).map(|(walk, _)| walk.term()).min();
        let Some(term) = first.map(<[u8]>::to_vec) else { return Ok(()) };
        found.clear();
        positions.clear();
        for (number, (walk, place)) in walks.iter_mut().enumerate() {
            if walk.term() != term {
                continue;
            }
            let Some(here) = *place else { continue };
            segments[number].0.postings(here).each(|document, of_document| {
                let to = moved[number].get(document as usize).copied().unwrap_or(NOWHERE);
                if to != NOWHERE {
                    found.push((to, positions.len(), positions.len() + of_document.len()));
                    positions.extend(of_document);
                }
            });
            *place = walk.step();
        }
        found.sort_unstable_by_key(|(document, _, _)| *document);
        for (document, start, end) in &found {
            builder.add(*document, lengths[*document as usize], &positions[*start..*end]);
        }
        let Ok(term) = str::from_utf8(&term) else { continue };
        maker.term(term, &mut builder)?;
    }
}
