use super::*;
use crate::{Resume, of_contexts, since};
use base::project::Project;
use capture::Spool;
use std::fs;
use std::path::Path;
use store::Store;
use store::observations::Drain;
use tempfile::TempDir;
use work::contexts::Origin;

const TABLE: &str = "| approach | why |\n|---|---|\n| floats | 0.1 + 0.2 |\n\n---\n\nafter the rule";

struct Bench {
    folder: TempDir,
    paths: Paths,
    env: Env,
}

impl Bench {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let env = Env::fixed([("WYREN_DATA_DIR", folder.path().join("data"))]);
        let paths = Paths::of(&env);
        fs::create_dir(folder.path().join("shop")).unwrap();
        Self { paths, env, folder }
    }

    fn shop(&self) -> PathBuf {
        self.folder.path().join("shop")
    }

    fn save_at(&self, draft: &Draft, context: Option<&str>, now: u64) -> Result<Saved, Error> {
        let shop = self.shop();
        let place = Place::in_session("s1", &shop);
        let now = Timestamp::from_millis(now);
        save(draft, &Into { paths: &self.paths, env: &self.env, place, context, now })
    }

    fn store(&self) -> Store {
        let tables = [&work::WorkObservations as &'static dyn store::Derived, &work::contexts::Contexts];
        let mut store =
            Store::open(&self.paths.database(), store::TABLES).unwrap().deriving(Box::leak(Box::new(tables)));
        Drain::unbounded(&Spool::new(self.paths.spool())).run(&mut store, Timestamp::now()).unwrap();
        store
    }

    fn git(&self, arguments: &[&str]) {
        let git = std::process::Command::new("git")
            .args(["-c", "user.name=A", "-c", "user.email=a@example.com"])
            .args(arguments)
            .current_dir(self.shop())
            .output()
            .unwrap();
        assert!(git.status.success(), "{git:?}");
    }
}

fn draft() -> Draft {
    Draft::parse(&format!(
        "# Cents\n\n## Dead ends\n{TABLE}\n\n## Pending\n- checkout.js\n\n## Risks\nrounding\n"
    ))
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn line_1_a_table_and_rules_are_saved_and_resumed_byte_complete() {
    let bench = Bench::new();
    let saved = bench.save_at(&draft(), None, 1_000_000).unwrap();
    assert!(saved.is_context_new);
    assert_eq!(saved.empty_sections, ["completed work", "decisions", "context", "plan"]);
    let files = [
        "completed-work.md",
        "context.md",
        "dead-ends.md",
        "decisions.md",
        "extra.md",
        "index.md",
        "pending.md",
        "plan.md",
    ];
    assert_eq!(names(&saved.folder), files);
    let dead_ends = fs::read_to_string(saved.folder.join("dead-ends.md")).unwrap();
    assert_eq!(dead_ends, format!("# Dead ends\n\n{TABLE}\n"));
    assert!(fs::read_to_string(saved.folder.join("extra.md")).unwrap().contains("## Risks\n\nrounding\n"));
    let kept = of_contexts(&bench.store(), &[&saved.kept.context]).unwrap();
    assert_eq!(kept, std::slice::from_ref(&saved.kept));
    let text = Resume { kept: &kept[0], since: None, now: Timestamp::from_millis(1_000_001) }.text();
    let (dead_ends, pending) = (text.find(TABLE).unwrap(), text.find("- checkout.js").unwrap());
    assert!(dead_ends < pending && text.find("## Dead ends").unwrap() < dead_ends, "{text}");
    assert!(pending < text.find("rounding").unwrap() && !text.contains("STALE"), "{text}");
}

#[test]
fn the_folder_appears_whole_and_two_of_a_minute_are_two() {
    let bench = Bench::new();
    let first = bench.save_at(&draft(), None, 1_000_000).unwrap();
    let context = first.kept.context.clone();
    let second = bench.save_at(&draft(), Some(&context), 1_000_001).unwrap();
    assert_eq!(second.kept.handoff.id, format!("{}-2", first.kept.handoff.id));
    assert_ne!(first.kept.handoff.digest, second.kept.handoff.digest);
    let handoffs = first.folder.parent().unwrap();
    assert_eq!(names(handoffs).len(), 2, "no temporary folder is left");
    // A lost folder is written again, from the observation alone.
    let before = fs::read_to_string(first.folder.join("index.md")).unwrap();
    fs::remove_dir_all(&first.folder).unwrap();
    let kept = of_contexts(&bench.store(), &[&context]).unwrap();
    assert_eq!(crate::write_missing(&bench.paths, &kept).unwrap(), 1);
    assert_eq!(fs::read_to_string(first.folder.join("index.md")).unwrap(), before);
    // One that is forgotten loses its folder, and the other does not.
    let folders = crate::folders(&bench.paths).unwrap();
    assert_eq!(folders.len(), 2);
    crate::sweep(&bench.paths, &folders, &kept[..1]).unwrap();
    assert!(second.folder.is_dir() && !first.folder.exists());
}

#[test]
fn secrets_and_private_parts_are_neither_in_the_folder_nor_in_the_observation() {
    let bench = Bench::new();
    let key = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let text = format!("## Pending\nuse {key} <private>the moon</private> here\n## Context {key}\nx\n");
    let saved = bench.save_at(&Draft::parse(&text), None, 1_000_000).unwrap();
    let mut all = format!("{:?}", of_contexts(&bench.store(), &[&saved.kept.context]).unwrap());
    for name in names(&saved.folder) {
        all.push_str(&fs::read_to_string(saved.folder.join(name)).unwrap());
    }
    assert!(!all.contains(key) && !all.contains("the moon") && all.contains("here"), "{all}");
}

#[test]
fn what_cannot_be_kept_is_refused_and_leaves_nothing() {
    let bench = Bench::new();
    let refused = |text: &str| bench.save_at(&Draft::parse(text), None, 1_000_000).unwrap_err();
    assert!(matches!(refused(" \n"), Error::Empty));
    assert!(matches!(refused("## Pending\n<private>all of it</private>\n"), Error::Private));
    assert!(matches!(refused(&format!("## Pending\n{}", "x".repeat(MAX_BYTES + 1))), Error::Long(_)));
    assert!(!bench.paths.work().exists());
}

#[test]
fn line_25_the_real_difference_since_then_is_shown() {
    let bench = Bench::new();
    bench.git(&["init", "-q", "-b", "main"]);
    fs::write(bench.shop().join("cart.js"), "1").unwrap();
    bench.git(&["add", "."]);
    bench.git(&["commit", "-qm", "Add the cart"]);
    fs::write(bench.shop().join("open.js"), "1").unwrap();
    let saved = bench.save_at(&draft(), None, 1_000_000).unwrap();
    let then = saved.kept.handoff.tree.clone().unwrap();
    assert_eq!((then.branch.as_deref(), &*then.changed), (Some("main"), &["open.js".to_owned()][..]));
    fs::write(bench.shop().join("cart.js"), "2").unwrap();
    bench.git(&["commit", "-qam", "Keep prices in cents"]);
    fs::write(bench.shop().join("late.js"), "1").unwrap();
    let difference = since(&bench.shop(), &bench.env, &then).unwrap();
    let now = Timestamp::from_millis(1_000_000 + 8 * MILLIS_PER_DAY);
    let text = Resume { kept: &saved.kept, since: Some(&difference), now }.text();
    assert!(text.contains("1 commit since") && text.contains("Keep prices in cents\n"), "{text}");
    assert!(!text.contains("Add the cart"), "{text}");
    assert!(text.contains("- cart.js (changed)\n") && text.contains("- late.js (not in git)\n"), "{text}");
    assert!(text.contains("- open.js (not in git, had changes when the handoff was saved)\n"), "{text}");
    assert!(text.contains("STALE: this handoff is 8 days old."), "{text}");
    // The commit of another clone cannot be compared.
    let elsewhere = Git { commit: Some("0123456789".repeat(4)), ..then };
    let difference = since(&bench.shop(), &bench.env, &elsewhere).unwrap();
    let text = Resume { kept: &saved.kept, since: Some(&difference), now }.text();
    assert!(text.contains("does not have the first one"), "{text}");
}

#[test]
fn tasks_come_back_with_their_ids_and_an_automatic_handoff_says_so() {
    let bench = Bench::new();
    let task = OpenTask {
        id: "t-1".to_owned(),
        subject: "Move checkout".to_owned(),
        status: "pending".to_owned(),
        ..OpenTask::default()
    };
    let draft = Draft { tasks: vec![task], origin: Origin::Compaction, ..draft() };
    let saved = bench.save_at(&draft, None, 1_000_000).unwrap();
    let kept = of_contexts(&bench.store(), &[&saved.kept.context]).unwrap();
    assert_eq!(kept[0].handoff.origin, Origin::Compaction);
    let text = Resume { kept: &kept[0], since: None, now: kept[0].at }.text();
    assert!(text.contains("- t-1 [pending] Move checkout\n") && text.contains("persistent_id"), "{text}");
    let project = Project::of(&bench.shop());
    assert!(!project.key.is_empty());
}

const MILLIS_PER_DAY: u64 = 86_400_000;
