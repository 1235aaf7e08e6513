//! What happens, for those who listen: `/stream` as server-sent events, with ids and replay.
//!
//! claude-mem's events have no ids. Here each has one, and the last ones are kept: a program that was cut off names the last that
//! it saw (`Last-Event-ID`) and gets what it missed. An id of an earlier server, or one too old, is answered by a fresh
//! `initial_load`.

use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::PoisonError;
use tokio::sync::broadcast;

/// How many events are kept for replay.
const KEPT: usize = 1_024;

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) number: u64,
    pub(crate) data: String,
}

/// The events of one server.
#[derive(Debug)]
pub(crate) struct Feed {
    /// Which server: another one has another word, so that its numbers are not taken for these.
    word: String,
    kept: Mutex<Kept>,
    sender: broadcast::Sender<Event>,
}

#[derive(Debug, Default)]
struct Kept {
    last: u64,
    events: VecDeque<Event>,
}

/// What a new listener begins with.
pub(crate) struct Joined {
    /// What it missed; `None` where that is not known any more.
    pub(crate) missed: Option<Vec<Event>>,
    /// The number of the last event before it joined.
    pub(crate) last: u64,
    pub(crate) receiver: broadcast::Receiver<Event>,
}

impl Feed {
    pub(crate) fn new(word: String) -> Self {
        Self { word, kept: Mutex::default(), sender: broadcast::channel(KEPT).0 }
    }

    /// Tells everyone who listens; the data gets its time.
    pub(crate) fn tell(&self, mut data: Value, now: u64) {
        data["timestamp"] = now.into();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.last += 1;
        let event = Event { number: kept.last, data: data.to_string() };
        if kept.events.len() == KEPT {
            kept.events.pop_front();
        }
        kept.events.push_back(event.clone());
        // Within the lock, so that a listener that joins meanwhile gets it once.
        let _ = self.sender.send(event);
    }

    /// Lets go of everything that is kept for replay: something of it may have been forgotten.
    pub(crate) fn drop_kept(&self) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).events.clear();
    }

    /// Begins to listen, after the event with this id.
    pub(crate) fn join(&self, after: Option<&str>) -> Joined {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let after = after.and_then(|id| id.strip_prefix(&*self.word)?.strip_prefix('-')?.parse::<u64>().ok());
        let first = kept.events.front().map_or(kept.last + 1, |event| event.number);
        let missed = after.filter(|after| *after <= kept.last && after + 1 >= first);
        let missed = missed.map(|after| {
            kept.events.iter().filter(|event| event.number > after).cloned().collect::<Vec<_>>()
        });
        Joined { missed, last: kept.last, receiver: self.sender.subscribe() }
    }

    /// Returns an event as it goes over the wire.
    pub(crate) fn lines(&self, event: &Event) -> String {
        format!("id: {}-{}\ndata: {}\n\n", self.word, event.number, event.data)
    }

    pub(crate) fn listeners(&self) -> usize {
        self.sender.receiver_count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn numbers(joined: &Joined) -> Option<Vec<u64>> {
        joined.missed.as_ref().map(|missed| missed.iter().map(|event| event.number).collect())
    }

    #[test]
    fn a_listener_gets_what_it_missed_and_nothing_twice() {
        let feed = Feed::new("w".to_owned());
        for number in 1..=3 {
            feed.tell(json!({"type": "new_prompt", "number": number}), 5);
        }
        assert_eq!(numbers(&feed.join(Some("w-1"))), Some(vec![2, 3]));
        assert_eq!(numbers(&feed.join(Some("w-3"))), Some(vec![]));
        for unknown in [None, Some("v-1"), Some("w-9"), Some("w-x"), Some("")] {
            assert_eq!(numbers(&feed.join(unknown)), None, "{unknown:?}");
        }
        let mut joined = feed.join(Some("w-3"));
        feed.tell(json!({"type": "new_summary"}), 6);
        let event = joined.receiver.try_recv().unwrap();
        assert_eq!(feed.lines(&event), "id: w-4\ndata: {\"timestamp\":6,\"type\":\"new_summary\"}\n\n");
        assert!(joined.receiver.try_recv().is_err());
    }

    #[test]
    fn what_was_let_go_is_not_replayed() {
        let feed = Feed::new("w".to_owned());
        feed.tell(json!({"type": "new_summary", "summary": "the merger"}), 5);
        feed.drop_kept();
        feed.tell(json!({}), 5);
        assert_eq!(numbers(&feed.join(Some("w-0"))), None);
        assert_eq!(numbers(&feed.join(Some("w-1"))), Some(vec![2]));
    }

    #[test]
    fn what_is_too_old_is_not_replayed_in_part() {
        let feed = Feed::new("w".to_owned());
        for _ in 0..KEPT + 10 {
            feed.tell(json!({}), 5);
        }
        assert_eq!(numbers(&feed.join(Some("w-5"))), None);
        assert_eq!(numbers(&feed.join(Some("w-10"))).map(|missed| missed.len()), Some(KEPT));
    }
}
