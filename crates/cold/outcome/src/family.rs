//! Which programs print which summaries.

use shell::Command;

/// Programs whose outputs have the same forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    Rust,
    Python,
    Script,
    Go,
    Jvm,
    Ruby,
    Php,
    Dotnet,
    Native,
    Swift,
    Dart,
    /// `12 tests, 1 failure`: ExUnit and bats.
    Plain,
    /// The Test Anything Protocol.
    Tap,
    /// `make`, `npm` and others that run others: `make: *** [test] Error 1`.
    Runner,
    /// What puts something in its place: `Apply complete!`.
    Deploy,
}

/// All of them: what a script may run.
const ALL: &[Family] = &[
    Family::Rust,
    Family::Python,
    Family::Script,
    Family::Go,
    Family::Jvm,
    Family::Ruby,
    Family::Php,
    Family::Dotnet,
    Family::Native,
    Family::Swift,
    Family::Dart,
    Family::Plain,
    Family::Tap,
    Family::Runner,
    Family::Deploy,
];

/// Programs whose output is what others printed or wrote; with the subcommands of which that holds, all where there is none.
const READERS: &[(&str, &[&str])] = &[
    ("aws", &[]),
    ("curl", &[]),
    ("docker", &["compose logs", "compose ps", "history", "images", "inspect", "logs", "ps", "stats"]),
    ("docker-compose", &["logs", "ps"]),
    ("gh", &[]),
    ("glab", &[]),
    ("http", &[]),
    ("journalctl", &[]),
    ("kubectl", &["describe", "exec", "get", "logs", "top"]),
    ("mysql", &[]),
    ("podman", &["compose logs", "compose ps", "history", "images", "inspect", "logs", "ps", "stats"]),
    ("psql", &[]),
    ("sqlite3", &[]),
    ("ssh", &[]),
    ("wget", &[]),
];

/// Options with a value that come before a subcommand.
const VALUED: &[&str] =
    &["-C", "-c", "-f", "-n", "-p", "--context", "--file", "--filter", "--namespace", "--prefix"];

/// Returns the words behind a program that are no options, nor values of options that come before a subcommand.
pub fn subcommands(command: &Command) -> impl Iterator<Item = &str> {
    let mut is_value = false;
    command.words.iter().skip(1).map(|word| word.text.as_str()).filter(move |word| {
        let was_value = std::mem::replace(&mut is_value, VALUED.contains(word));
        !was_value && !word.starts_with(['-', '+'])
    })
}

/// Returns whether what a command prints is what others printed or wrote, such as a log.
pub fn shows_others(command: &Command) -> bool {
    let reader = READERS.iter().find(|(reader, _)| *reader == command.program());
    reader.is_some_and(|(_, of)| {
        let is_it = |sub: &&str| sub.split(' ').eq(subcommands(command).take(sub.split(' ').count()));
        of.is_empty() || of.iter().any(is_it)
    })
}

/// Returns whose summaries a command may print; none where its output is what others wrote, such as that of `git log`.
pub fn families(command: &Command) -> Vec<Family> {
    if shows_others(command) {
        return Vec::new();
    }
    let words = command.words.iter().skip(1).map(|word| word.text.as_str());
    let sub = words.clone().find(|word| !word.starts_with(['-', '+'])).unwrap_or_default();
    let program = command.program();
    let found: &[Family] = match program {
        "cargo" if matches!(sub, "xtask" | "make" | "run" | "r") => ALL,
        "cargo" | "rustc" | "wasm-pack" | "trunk" => &[Family::Rust],
        "pytest" | "py.test" | "unittest" | "nose2" | "coverage" | "mypy" | "ruff" | "flake8" | "pylint"
        | "pyright" | "black" | "isort" | "bandit" | "pip" | "pip3" | "manage.py" | "dbt" => {
            &[Family::Python]
        }
        "jest" | "vitest" | "mocha" | "ava" | "playwright" | "cypress" | "karma" | "deno" | "tsc"
        | "vue-tsc" | "eslint" | "prettier" | "biome" | "stylelint" | "webpack" | "vite" | "rollup"
        | "esbuild" | "next" | "nuxt" | "astro" | "ng" | "react-scripts" | "nyc" | "c8" | "tap" => {
            &[Family::Script, Family::Tap]
        }
        "node" if words.clone().any(|word| word == "--test") => &[Family::Script, Family::Tap],
        "go" | "gotestsum" | "golangci-lint" | "staticcheck" | "ginkgo" => &[Family::Go],
        "gradle" | "gradlew" | "mvn" | "mvnw" | "sbt" | "ant" | "javac" | "kotlinc" => &[Family::Jvm],
        "rspec" | "rubocop" | "minitest" | "rails" => &[Family::Ruby],
        "phpunit" | "pest" | "phpstan" | "artisan" => &[Family::Php],
        "php" if sub == "artisan" || sub.ends_with("phpunit") || sub.ends_with("pest") => &[Family::Php],
        "dotnet" | "msbuild" => &[Family::Dotnet],
        "ctest" | "ninja" | "cmake" | "meson" | "gcc" | "g++" | "cc" | "clang" | "clang++" | "zig"
        | "dune" => &[Family::Native, Family::Runner],
        "swift" | "xcodebuild" => &[Family::Swift],
        "flutter" | "dart" => &[Family::Dart],
        "mix" | "bats" => &[Family::Plain, Family::Tap],
        "prove" => &[Family::Tap],
        "terraform" | "tofu" | "kubectl" | "helm" | "pulumi" | "cdk" | "ansible-playbook" | "ansible" => {
            &[Family::Deploy]
        }
        "make" | "gmake" | "just" | "task" | "rake" | "npm" | "pnpm" | "yarn" | "bun" | "tox" | "nox"
        | "nx" | "turbo" | "bazel" | "composer" | "pre-commit" | "hatch" | "poe" | "invoke" | "lerna"
        | "act" | "bundle" => ALL,
        "docker" | "podman" if matches!(sub, "build" | "buildx" | "run" | "compose" | "exec") => ALL,
        "docker-compose" => ALL,
        "python" | "python3" | "ruby" | "php" | "node" | "bash" | "sh" | "tsx" | "ts-node" | "perl" => ALL,
        _ => {
            let is_script = command.words.first().is_some_and(|word| word.text.contains('/'))
                || program.ends_with(".sh")
                || program.ends_with(".py");
            if is_script { ALL } else { &[] }
        }
    };
    found.to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shows_logs_and_answers_has_no_summaries_of_its_own() {
        let is_other = |line: &str| shows_others(&shell::commands(line)[0]);
        for line in [
            "kubectl -n shop logs deploy/gate",
            "kubectl get pods",
            "docker logs web",
            "docker compose -f ci.yml logs web",
            "gh run view 12 --log",
            "journalctl -u shop",
            "curl -s localhost/health",
            "psql shop -c 'select 1'",
        ] {
            assert!(is_other(line) && families(&shell::commands(line)[0]).is_empty(), "{line}");
        }
        for line in [
            "kubectl apply -f a.yml",
            "docker compose run web npm test",
            "docker build .",
            "helm upgrade a b",
        ] {
            assert!(!is_other(line) && !families(&shell::commands(line)[0]).is_empty(), "{line}");
        }
    }
}
