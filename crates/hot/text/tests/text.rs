//! What happens to text that is secret, private or someone else's.

#[path = "text/privacy.rs"]
mod privacy;
#[path = "text/redact.rs"]
mod redact;
#[path = "text/sanitize.rs"]
mod sanitize;
#[path = "text/tags.rs"]
mod tags;

use std::time::Duration;

/// How much hostile text a test tries.
const HOSTILE_BYTES: usize = 1_000_000;

/// How often a measurement is repeated before it counts: other programs disturb it, and the least time is the truest.
const ATTEMPTS: usize = 8;

/// What may be measured too much: the clock, and memory that is touched for the first time.
const SLACK: Duration = Duration::from_millis(1);

/// Returns the processor time of this thread: on a busy machine the clock on the wall runs on while others have their turn.
#[cfg(unix)]
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(unix))]
fn processor_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

/// Checks that `unit`, repeated to four times the length, takes about four times as long, and not sixteen times.
#[track_caller]
fn check_linear(unit: &str, work: impl Fn(&str)) {
    let [short, long] = [HOSTILE_BYTES / 4, HOSTILE_BYTES].map(|bytes| unit.repeat(bytes / unit.len()));
    let time = |text: &str| {
        let started = processor_time();
        work(text);
        processor_time().saturating_sub(started)
    };
    let [mut of_short, mut of_long] = [Duration::MAX; 2];
    for _ in 0..ATTEMPTS {
        of_short = of_short.min(time(&short));
        of_long = of_long.min(time(&long));
        if of_long <= of_short * 8 + SLACK {
            return;
        }
    }
    panic!("{unit:?}: {of_short:?} for {} bytes, {of_long:?} for {}", short.len(), long.len());
}

#[test]
#[should_panic(expected = "bytes")]
fn quadratic_work_is_noticed() {
    check_linear("abcdefgh", |text| {
        let letters = text.as_bytes().iter().step_by(128);
        let pairs: usize =
            letters.enumerate().map(|(index, _)| (0..index).map(std::hint::black_box).count()).sum();
        std::hint::black_box(pairs);
    });
}
