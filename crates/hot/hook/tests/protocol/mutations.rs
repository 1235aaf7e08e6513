//! 100,000 mutated payloads through the run loop: the answer is always one JSON object.

use crate::{for_event, host, inputs};
use hook::{Answer, Host, Silence};

const MUTATIONS: u64 = 100_000;

/// A small generator of random numbers (xorshift), so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap_or(0)
    }
}

/// Pieces that are spliced in: JSON's own marks, values of other types, and what parsers stumble over.
const PIECES: [&[u8]; 22] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b":",
    b",",
    b"\\",
    b"\\u",
    b"\\ud800",
    b"null",
    b"true",
    b"1e999",
    b"-",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\n",
    b"\"session_id\":",
    b"\"hook_event_name\":\"Stop\",",
    b"{\"a\":{\"a\":",
    b"\xf0\x9f\xa6\x80",
];

fn mutate(input: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        let at = random.below(input.len() + 1);
        match random.below(6) {
            0 => input.truncate(at),
            1 => {
                let end = (at + random.below(20)).min(input.len());
                input.drain(at..end);
            }
            2 => {
                let piece = PIECES[random.below(PIECES.len())];
                input.splice(at..at, piece.iter().copied());
            }
            3 => input.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (at % 8)),
            4 => {
                let end = (at + random.below(60)).min(input.len());
                let copy = input[at..end].to_vec();
                let to = random.below(input.len() + 1);
                input.splice(to..to, copy);
            }
            _ => input.iter_mut().skip(at).take(1).for_each(|byte| *byte = (at % 256) as u8),
        }
    }
}

#[test]
fn the_answer_to_every_mutation_is_valid() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path());
    let mut payloads = inputs("payloads");
    payloads.extend(inputs("hand-typed"));
    payloads.retain(|(event, ..)| for_event!(&**event, is_typed()).is_some());
    let mut random = Random(0x5EED_CAFE);
    for number in 0..MUTATIONS {
        let (event, path, input) = &payloads[random.below(payloads.len())];
        let mut input = input.clone();
        mutate(&mut input, &mut random);
        let answer = for_event!(&**event, answer(input, &host)).expect("a typed event");
        let valid = serde_json::from_str::<serde_json::Value>(&answer).is_ok_and(|answer| answer.is_object());
        assert!(valid, "mutation {number} of {}: {answer}", path.display());
    }
}

fn is_typed<E: hook::Event>() {}

/// Refuses with the text of the input, so that the writing half of the loop is tested as well.
fn answer<E: hook::Event>(input: Vec<u8>, host: &Host) -> String {
    let body = |call: E, _: &Host| {
        let told = format!("{:?} {:?}", call.session_id(), call.cwd());
        Ok(Answer::block(told.clone()).telling_user(told))
    };
    let answer = hook::respond(input.leak(), host, Silence::EmptyObject, body);
    String::from_utf8(answer.stdout).expect("an answer in UTF-8")
}
