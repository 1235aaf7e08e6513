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

/// Returns whose summaries a command may print; none where its output is what others wrote, such as that of `git log`.
pub fn families(command: &Command) -> Vec<Family> {
    let words = command.words.iter().skip(1).map(|word| word.text.as_str());
    let sub = words.clone().find(|word| !word.starts_with(['-', '+'])).unwrap_or_default();
    let program = command.program();
    let found: &[Family] = match program {
        "cargo" if matches!(sub, "xtask" | "make" | "run" | "r") => ALL,
        "cargo" | "rustc" | "wasm-pack" | "trunk" => &[Family::Rust],
        "pytest" | "py.test" | "unittest" | "nose2" | "coverage" | "mypy" | "ruff" | "flake8" | "pylint"
        | "pyright" | "black" | "isort" | "bandit" | "pip" | "pip3" | "manage.py" => &[Family::Python],
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
        "ctest" | "ninja" | "cmake" | "meson" | "gcc" | "g++" | "cc" | "clang" | "clang++" => {
            &[Family::Native, Family::Runner]
        }
        "swift" | "xcodebuild" => &[Family::Swift],
        "flutter" | "dart" => &[Family::Dart],
        "mix" | "bats" => &[Family::Plain, Family::Tap],
        "terraform" | "tofu" | "kubectl" | "helm" | "pulumi" | "cdk" => &[Family::Deploy],
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
