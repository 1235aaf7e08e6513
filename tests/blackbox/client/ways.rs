//! Every way in and out with the real client: from a clean home to every hook firing, and back to the same bytes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result, anyhow, ensure};
use install::list::{self, Below};
use serde_json::{Value, json};
use wyren_tests::client::{self, Client};
use wyren_tests::mock::{Lane, Reply};
use wyren_tests::plugin;
use wyren_tests::tree::{self, Tree, tree};

use super::{TOOLS, check_processes, every_start, fires_every_hook};
use crate::team::{Member, Mode, Remote, git};

/// Settings that a user wrote by hand.
const SETTINGS: &str =
    "{\n      \"cleanupPeriodDays\": 99,\n\n  \"_comment\": \"a // b\", \"env\": {\"A\":\"1\"}}";

/// A user with a clean home and a repository.
struct User {
    client: Client,
    plugin: PathBuf,
    /// Everything of theirs as it was.
    before: Tree,
    /// Whether the client's own program wrote their settings anew.
    is_laid_out_by_client: bool,
    /// Holds `claude`, for the PATH.
    _tools: tempfile::TempDir,
}

impl User {
    fn new(settings: Option<&str>) -> Result<Option<User>> {
        Self::make(
            settings,
            &[
                &["init", "--quiet"],
                &["config", "user.name", "Ada"],
                &["config", "user.email", "ada@example.org"],
                &["commit", "--quiet", "--allow-empty", "-m", "First"],
            ],
        )
    }

    /// Makes a user whose repository is made by commands of git.
    fn make(settings: Option<&str>, repository: &[&[&str]]) -> Result<Option<User>> {
        let (Some(client), Some(plugin)) = (Client::new()?, plugin::folder()) else { return Ok(None) };
        let tools = tempfile::tempdir()?;
        #[cfg(unix)]
        std::os::unix::fs::symlink(client::program().context("no client")?, tools.path().join("claude"))?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = [tools.path().to_owned()].into_iter().chain(std::env::split_paths(&path));
        let client = client
            .env("PATH", std::env::join_paths(path)?)
            .env("WYREN_MODEL_PROVIDER", "off")
            .allow_tools(&TOOLS);
        // A machine that Wyren never was on.
        fs::remove_dir_all(client.data())?;
        for arguments in repository {
            ensure!(client.run(Path::new("git"), arguments)?.status.success());
        }
        if let Some(settings) = settings {
            fs::write(client.config().join("settings.json"), settings)?;
        }
        let before = tree(&root(&client))?;
        Ok(Some(User {
            client,
            plugin: plugin.canonicalize()?,
            before,
            is_laid_out_by_client: false,
            _tools: tools,
        }))
    }

    fn wyren(&self, arguments: &[&str]) -> Result<String> {
        self.client.wyren(&self.plugin, arguments)
    }

    /// Returns what is not as it was, but for what the client changes in the same sessions without Wyren.
    fn changed(&self) -> Result<BTreeSet<PathBuf>> {
        let (after, of_client) = (tree(&root(&self.client))?, clients_own()?);
        let mut changed = tree::changed(&self.before, &after);
        changed.retain(|path| !of_client.contains(&named(path, &self.client)));
        // The client logs there what it does with each MCP server.
        changed.retain(|path| !path.starts_with("home/.cache/claude-cli-nodejs") && path != "home/.cache");
        Ok(changed)
    }

    /// Checks that every hook fires and the doctor is content, that the list has every path, and that nothing is left after the
    /// way out.
    fn check_in_and_out(&self) -> Result<()> {
        self.wyren(&["init"])?;
        self.wyren(&["memory", "add", "Use Postgres", "--section", "Decisions"])?;
        fires_every_hook(&self.client)?;
        let doctor: Value = serde_json::from_str(&self.wyren(&["doctor", "--json"])?)?;
        assert_eq!(doctor["ok"], true, "{doctor:#}");
        check_listed(&self.changed()?, &self.client)?;
        self.wyren(&["uninstall", "--purge", "--yes"])?;
        self.check_as_before()?;
        let turn = self.client.prompt("and without?")?;
        assert!(turn.succeeded(), "{:#?}", turn.output);
        check_processes(&self.client)?;
        assert!(!self.client.data().exists(), "a hook ran");
        self.check_as_before()
    }

    fn check_as_before(&self) -> Result<()> {
        let mut changed = self.changed()?;
        let unreachable =
            self.client.run(Path::new("git"), &["fsck", "--unreachable", "--no-reflogs", "--no-progress"])?;
        // Git removes objects that have no name any more; a purge does not touch those of the user.
        changed.retain(|path| {
            let object = path.strip_prefix("project/.git/objects").ok();
            let name = object.map(|object| object.to_string_lossy().replace('/', ""));
            name.is_none_or(|name| name.is_empty() || !unreachable.stdout.contains(&name))
        });
        if self.is_laid_out_by_client {
            let settings = Path::new("config/settings.json");
            let now: Value = serde_json::from_slice(&fs::read(root(&self.client).join(settings))?)?;
            assert_eq!(now, serde_json::from_str::<Value>(SETTINGS)?);
            changed.remove(settings);
        }
        assert_eq!(changed, BTreeSet::new());
        Ok(())
    }
}

/// Returns the folder that everything of a user is in.
fn root(client: &Client) -> PathBuf {
    client.config().parent().map(Path::to_owned).unwrap_or_default()
}

/// Returns a path without what differs from one run to the next: the part of a name from its first number on, but for the
/// ending, and the name of the folder that everything is in.
fn named(path: &Path, client: &Client) -> String {
    let unique = root(client).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let path = path.to_string_lossy().replace(&unique.replace('.', "-"), "").replace(&unique, "");
    let parts = path.split('/').map(|part| {
        let (name, ending) =
            part.rsplit_once('.').map_or((part, None), |(name, ending)| (name, Some(ending)));
        // The first eight digits of an id may all be letters.
        let is_hex = |word: &str| word.len() == 8 && word.chars().all(|letter| letter.is_ascii_hexdigit());
        let is_unique = |word: &str| word.contains(|letter: char| letter.is_ascii_digit()) || is_hex(word);
        let words: Vec<&str> = name.split('-').take_while(|word| !is_unique(word)).collect();
        let number = if words.len() < name.split('-').count() { "-#" } else { "" };
        let ending = ending.map(|ending| if is_unique(ending) { "#" } else { ending });
        format!("{}{number}.{}", words.join("-"), ending.unwrap_or_default())
    });
    parts.collect::<Vec<_>>().join("/")
}

/// Returns what the client changes by itself in such sessions, with hooks that do nothing.
fn clients_own() -> Result<&'static BTreeSet<String>> {
    static OWN: OnceLock<std::result::Result<BTreeSet<String>, String>> = OnceLock::new();
    let own = OWN.get_or_init(|| idle_sessions().map_err(|error| format!("{error:#}")));
    own.as_ref().map_err(|error| anyhow!("{error}"))
}

fn idle_sessions() -> Result<BTreeSet<String>> {
    let user = User::new(Some(SETTINGS))?.context("there is no client")?;
    let printed = user.wyren(&["install", "--settings", "--print"])?;
    let mut settings: Value = serde_json::from_str(&printed)?;
    let groups = settings["hooks"].as_object_mut().context("no hooks")?.values_mut();
    for hook in groups
        .filter_map(Value::as_array_mut)
        .flatten()
        .filter_map(|group| group["hooks"].as_array_mut())
        .flatten()
    {
        hook["command"] = "/bin/true".into();
    }
    let path = user.client.config().join("settings.json");
    fs::write(&path, settings.to_string())?;
    every_start(&user.client, |_| Ok(()))?;
    check_processes(&user.client)?;
    fs::write(&path, SETTINGS)?;
    assert!(!user.client.data().exists());
    let changed = tree::changed(&user.before, &tree(&root(&user.client))?);
    let own: BTreeSet<String> = changed.iter().map(|path| named(path, &user.client)).collect();
    ensure!(
        own.len() > 5 && !own.iter().any(|path| path.contains("settings") || path.contains("wyren")),
        "{own:#?}"
    );
    Ok(own)
}

/// Checks that the one list has every path, by the folder that it is below; returns the rows that they are in.
fn check_listed(changed: &BTreeSet<PathBuf>, client: &Client) -> Result<BTreeSet<&'static str>> {
    let places = [
        ("data", Below::Data),
        ("runtime/wyren", Below::Claims),
        ("project/.wyren", Below::Project),
        ("project/.git", Below::Git),
        ("project/.claude", Below::Client),
        ("config", Below::Client),
        ("home", Below::Home),
    ];
    let root = root(client);
    let (mut found, mut rows) = (BTreeSet::new(), BTreeSet::new());
    for path in changed.iter().filter(|path| !root.join(path).is_dir()) {
        let place =
            places.iter().find_map(|(folder, below)| Some((*below, folder, path.strip_prefix(folder).ok()?)));
        let (below, folder, part) =
            place.with_context(|| format!("{} is in no folder of Wyren's", path.display()))?;
        // Git keeps them until it finds that they have no name.
        if below == Below::Git && part.starts_with("objects") {
            continue;
        }
        let row = list::row(below, part);
        let (_, row) = row.with_context(|| format!("{below:?}: {} is not in the list", path.display()))?;
        found.insert(*folder);
        rows.insert(*row);
    }
    for folder in ["data", "runtime/wyren", "project/.wyren"] {
        ensure!(found.contains(folder), "nothing in {folder}: {found:?}");
    }
    Ok(rows)
}

#[cfg(unix)]
#[test]
fn the_registry_folder_fires_every_hook_and_the_way_out_leaves_everything_as_it_was() -> Result<()> {
    let Some(mut user) = User::new(Some(SETTINGS))? else { return Ok(()) };
    user.client.add_marketplace(&user.plugin)?;
    user.client.install_plugin("wyren@wyren")?;
    // `claude plugin` sorts the file and changes its layout. Without a copy from before, the values are what comes back.
    user.is_laid_out_by_client = true;
    user.check_in_and_out()
}

#[cfg(unix)]
#[test]
fn wyren_install_fires_every_hook_and_the_way_out_leaves_everything_as_it_was() -> Result<()> {
    for settings in [Some(SETTINGS), None] {
        let Some(user) = User::new(settings)? else { return Ok(()) };
        let shown = user.wyren(&["install"])?;
        assert!(shown.contains("Installed the plugin wyren@wyren"), "{shown}");
        let again = user.wyren(&["install"])?;
        assert!(again.contains("has the plugin wyren@wyren already"), "{again}");
        if settings.is_some() {
            user.check_in_and_out()?;
        } else {
            user.wyren(&["uninstall", "--purge", "--yes"])?;
            user.check_as_before()?;
        }
    }
    Ok(())
}

#[cfg(unix)]
#[test]
fn wyren_install_settings_fires_every_hook_and_the_way_out_leaves_everything_as_it_was() -> Result<()> {
    let Some(user) = User::new(Some(SETTINGS))? else { return Ok(()) };
    user.wyren(&["install", "--settings"])?;
    user.check_in_and_out()
}

#[cfg(unix)]
#[test]
fn pasted_settings_fire_every_hook_and_the_way_out_leaves_everything_as_it_was() -> Result<()> {
    let Some(user) = User::new(None)? else { return Ok(()) };
    let printed = user.wyren(&["install", "--settings", "--print"])?;
    fs::write(user.client.config().join("settings.json"), printed)?;
    user.check_in_and_out()
}

const LESSON: &str = "---
summary: frobnicate SUMMARY
kind: KIND
command: frobnicate
---
frobnicate removes the table that the next step reads.

## Solution
Run `frob --dry-run` first, look at what it would remove, and keep a copy of the table.
";

/// Does everything that Wyren can be asked for in a clone.
fn use_everything(user: &User, ada: &Member) -> Result<()> {
    let (client, project) = (&user.client, user.client.project());
    let (hint, guard, skill) = (project.join("hint.md"), project.join("guard.md"), project.join("skill.md"));
    fs::write(&hint, LESSON.replace("KIND", "hint").replace("SUMMARY", "goes wrong"))?;
    fs::write(&guard, LESSON.replace("KIND", "guard").replace("SUMMARY", "breaks the build"))?;
    fs::write(&skill, "# How we deploy\n")?;
    for arguments in [
        &["install"][..],
        &["install", "--settings", "local"],
        &["install", "--settings", "project"],
        &["init"],
        &["config", "set", "log.level", "debug"],
        &["memory", "add", "Use Postgres", "--section", "Decisions"],
        &["memory", "add", "Use Redis", "--section", "Decisions"],
        &["memory", "remove", "Use Redis"],
        &["memory", "handoff", "The parser is half done"],
        &["broadcast-skill", "skill.md"],
        &["lessons", "add", "--file", "hint.md"],
        &["lessons", "add", "--project", "--force", "--file", "guard.md"],
        &["lessons", "backup"],
        &["trust", "--yes"],
        &["sync"],
        &["jobs", "add", "distill", "{}"],
    ] {
        user.wyren(arguments)?;
    }
    for file in [hint, guard, skill] {
        fs::remove_file(file)?;
    }
    every_start(client, |_| Ok(()))?;
    let frobnicate = json!({"command": "frobnicate", "description": "Try"});
    client
        .mock()
        .script(Lane::Main, [Reply::text("I try.").tool_use("Bash", frobnicate), Reply::text("Refused.")]);
    let refused = client.prompt("frobnicate it")?;
    assert!(
        refused.main_request(1)?.texts().contains("frobnicate breaks the build"),
        "{:#?}",
        refused.requests
    );
    ada.decide("Retry three times")?;
    ada.wyren(&["sync"])?;
    assert!(client.prompt_continued("what changed?")?.succeeded());
    let status = client.prompt("/wyren:trust")?;
    assert!(status.text().contains("trust"), "{:#?}", status.result);
    check_processes(client)?;
    for arguments in [
        &["lessons", "allow", "guard", "--session-id", refused.session()][..],
        &["worker", "run"],
        &["distill", "--push"],
        &["memory", "edit"],
        &["export"],
        &["sync"],
    ] {
        user.wyren(arguments)?;
    }
    for (name, part) in [("wyren.db", "no database"), ("wyren.db-wal", "")] {
        fs::write(client.data().join(name), part)?;
    }
    user.wyren(&["repair"])?;
    user.wyren(&["export"])?;
    check_processes(client)
}

#[cfg(unix)]
#[test]
fn every_path_that_wyren_writes_is_in_the_list_and_a_purge_leaves_none() -> Result<()> {
    let remote = Remote::new(Mode::Side)?;
    let Some(ada) = Member::set_up(&remote, "ada", Mode::Side)? else { return Ok(()) };
    ada.decide("Keep prices in cents")?;
    ada.wyren(&["sync"])?;
    let address = format!("file://{}", remote.path().display());
    let clone = ["clone", "--quiet", &address, "."];
    let identity = [["config", "user.name", "Grace"], ["config", "user.email", "grace@example.org"]];
    let Some(mut user) = User::make(Some(SETTINGS), &[&clone, &identity[0], &identity[1]])? else {
        return Ok(());
    };
    user.client = user.client.env("EDITOR", "true");
    let before = git(&remote.path(), &["for-each-ref", "--exclude=refs/heads/wyren"])?;
    use_everything(&user, &ada)?;
    let changed = user.changed()?;
    let used = check_listed(&changed, &user.client)?;
    for row in [
        "/allowed/*/*",
        "/backups/lessons-*/**",
        "/cache/refused/*/*",
        "/trust/*",
        "/wyren.db.damaged-*",
        "/broadcast/**",
        "/state/history.jsonl",
        "/refs/wyren/**",
        "/plugins/cache/*/wyren/**",
        "/commands/wyren/*.md",
        "/.local/bin/wyren",
    ] {
        assert!(used.contains(row), "{row}: {used:#?}");
    }
    assert!(used.len() >= 45, "{}: {used:#?}", used.len());
    user.wyren(&["uninstall", "--purge", "--yes"])?;
    user.check_as_before()?;
    assert_eq!(git(&remote.path(), &["for-each-ref", "--exclude=refs/heads/wyren"])?, before);
    assert!(remote.memory(Mode::Side).contains("Use Postgres"), "the team's memory stays");
    Ok(())
}
