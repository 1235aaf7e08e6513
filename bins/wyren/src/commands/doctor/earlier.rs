//! Earlier systems: none does the same as Wyren beside it.

use super::{Check, Subject};
use crate::person;
use crate::wired::{self, Wiring};
use migrate::{Around, Found};

const NAME: &str = "earlier";

pub(super) fn check(subject: &Subject<'_>) -> Check {
    let cwd = std::env::current_dir().unwrap_or_default();
    let around =
        Around { env: subject.env.clone(), paths: subject.paths.clone(), project: wired::project(&cwd) };
    let wiring = Wiring::read(subject.env, subject.paths, &cwd);
    let is_wired = !wiring.plugins.is_empty() || !wiring.by_hand.is_empty();
    judge(&migrate::found(&around), is_wired, &person::name(subject.env))
}

fn judge(found: &[Found], is_wired: bool, wyren: &str) -> Check {
    let on: Vec<&Found> = found.iter().filter(|found| found.is_on()).collect();
    if let Some(double) = on.iter().find(|found| found.system.is_replaced()) {
        let (system, name) = (double.system, double.system.name);
        let beside = if is_wired { " as well" } else { "" };
        let message = format!("{} is on{beside}: {}", system.title, system.doubled);
        return Check::odd(NAME, message, format!("{wyren} migrate --only {name}"));
    }
    let titles: Vec<&str> = on.iter().map(|found| found.system.title).collect();
    let message = match &titles[..] {
        [] => "no earlier system runs beside Wyren".to_owned(),
        [one] => format!("{one} runs beside Wyren, which does not replace it yet"),
        [others @ .., last] => {
            let others = others.join(", ");
            format!("{others} and {last} run beside Wyren, which does not replace them yet")
        }
    };
    Check::good(NAME, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Health;
    use migrate::Hooks;

    fn on(name: &str) -> Found {
        let system = migrate::named(name).unwrap();
        let hooks =
            vec![Hooks { file: "/home/ada/.claude/settings.json".into(), count: 1, members: Vec::new() }];
        Found { system, plugins: Vec::new(), hooks, programs: Vec::new(), records: Vec::new() }
    }

    #[test]
    fn a_system_that_does_the_same_is_named_with_the_command_that_ends_it() {
        assert_eq!(judge(&[], true, "wyren").health, Health::Good);
        let other = judge(&[on("claude-mem")], true, "wyren");
        assert!(other.health == Health::Good && other.message.contains("claude-mem"), "{other:?}");
        let two = judge(&[on("claude-mem"), on("aiwcli")], true, "wyren").message;
        assert_eq!(two, "claude-mem and aiwcli run beside Wyren, which does not replace them yet");
        let double = judge(&[on("claude-mem"), on("lessons-learned")], true, "wyren");
        assert_eq!(double.health, Health::Odd);
        assert!(double.message.contains("both show lessons"), "{double:?}");
        assert_eq!(double.fix.as_deref(), Some("wyren migrate --only lessons-learned"));
    }
}
