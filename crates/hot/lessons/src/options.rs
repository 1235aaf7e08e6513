//! Which words of a command are flags, values of flags, and words proper.
//!
//! Options that take the next word as their value must be known, or the value is taken for a word. The names are in
//! functions, not in tables: a table of texts is a table of addresses, which each start of a hook would have to relocate.

/// Where a program's options are, and which of them take the next word as their value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Options {
    place: Place,
    valued: &'static str,
}

/// Where the options with values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Before the subcommand, and no flags of it: `git -C folder push`.
    BeforeSubcommand,
    /// Before the first word.
    BeforeWords,
    /// Anywhere.
    Anywhere,
}

/// What a word of a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// An option; `--` is one, too.
    Flag,
    /// The value of the option before it.
    Value,
    /// A word proper.
    Word,
}

/// Goes through the words behind a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scan<'a> {
    program: &'a str,
    options: Options,
    words: usize,
    is_before_subcommand: bool,
    skips_value: bool,
    /// Whether the value that is skipped must be a number: `make -j install` has none.
    skips_number: bool,
    only_words: bool,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(program: &'a str) -> Self {
        let options = of_program(program);
        Self {
            program,
            options,
            words: 0,
            is_before_subcommand: options.place == Place::BeforeSubcommand,
            skips_value: false,
            skips_number: false,
            only_words: false,
        }
    }

    /// Takes the next word.
    pub(crate) fn role(&mut self, text: &str, is_prose: bool) -> Role {
        let is_number = || text.bytes().all(|byte| byte.is_ascii_digit());
        if std::mem::take(&mut self.skips_value) && (!self.skips_number || is_number()) {
            return Role::Value;
        }
        let is_flag = !self.only_words && text.len() > 1 && text.starts_with('-') && !is_prose;
        if !is_flag {
            self.words += 1;
            self.is_before_subcommand = false;
            if self.words == 1
                && let Some(options) = of_subcommand(self.program, text)
            {
                self.options = options;
                self.is_before_subcommand = options.place == Place::BeforeSubcommand;
            }
            return Role::Word;
        }
        if text == "--" {
            self.only_words = true;
        } else {
            let is_place =
                self.words == 0 || self.is_before_subcommand || self.options.place == Place::Anywhere;
            self.skips_number = text == "-j";
            self.skips_value = is_place && self.options.valued.split(' ').any(|option| option == text);
        }
        Role::Flag
    }

    /// Returns whether flags that come now are those of the command itself, not of the program in front of a subcommand.
    pub(crate) fn is_behind_subcommand(&self) -> bool {
        !self.is_before_subcommand
    }
}

const KUBECTL: &str = "-n --namespace --context --cluster --kubeconfig -s --server --user --as --token -l --selector \
    -o --output --field-selector --request-timeout --timeout --grace-period --cascade";
const PSQL: &str = "-h --host -p --port -U --username -d --dbname -v --set --variable -F -P -c --command -f --file -o \
    --output -L --log-file -T -R";
const MYSQL: &str = "-h --host -P --port -u --user -D --database -S --socket -e --execute --defaults-file \
    --defaults-extra-file --ssl-ca --ssl-cert --ssl-key --default-character-set --protocol";
const POSTGRES_TOOLS: &str = "-h --host -p --port -U --username -d --dbname -n --schema -t --table -j --jobs -F --format \
    -f --file --maintenance-db -O --owner -T --template -E --encoding -l --locale -D --tablespace";
const CURL: &str = "-X --request -H --header -d --data --data-raw --data-binary --data-urlencode --json -o --output -u \
    --user -F --form --form-string -A --user-agent -e --referer -b --cookie -c --cookie-jar -x --proxy -m --max-time \
    --connect-timeout --retry --retry-delay --retry-max-time --cacert --cert -E --key --resolve --url-query -T \
    --upload-file -w --write-out -K --config --limit-rate -r --range -D --dump-header --oauth2-bearer --aws-sigv4 \
    --max-redirs --interface --unix-socket --variable --rate --ciphers --tls-max --connect-to";

/// Returns the options of a program in front of its first word.
fn of_program(program: &str) -> Options {
    let group = |valued| Options { place: Place::BeforeSubcommand, valued };
    let anywhere = |valued| Options { place: Place::Anywhere, valued };
    let leading = |valued| Options { place: Place::BeforeWords, valued };
    match program {
        "git" => group(
            "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source",
        ),
        "docker" | "nerdctl" => {
            group("-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey")
        }
        "podman" => group(
            "--connection -c --url --root --runroot --log-level --identity --runtime --storage-driver --tmpdir",
        ),
        "docker-compose" | "podman-compose" => group(COMPOSE),
        "terraform" | "tofu" | "terragrunt" => group("--terragrunt-working-dir --working-dir"),
        "kubectl" | "oc" => anywhere(KUBECTL),
        "helm" => anywhere(
            "-n --namespace --kube-context --kubeconfig --kube-apiserver --kube-token -f --values --set --set-string \
             --set-file --version --timeout --repo --username --password -o --output",
        ),
        "npm" => anywhere("--prefix -w --workspace -C --registry --userconfig --loglevel --tag --otp"),
        "pnpm" => anywhere("-C --dir --filter -F --registry --tag"),
        "yarn" => anywhere("--cwd --registry --tag"),
        "cargo" => anywhere(
            "--manifest-path -Z --config -C --color -p --package --features -F --target --bin --example --bench --profile \
             --target-dir -j --jobs --registry --index --token --message-format --exclude",
        ),
        "make" | "gmake" => anywhere("-C -f --file --makefile --directory -I -o -W -j"),
        "gh" => anywhere("-R --repo"),
        "glab" => anywhere("-R --repo -g --group"),
        "aws" => anywhere(
            "--profile --region --output --endpoint-url --query --color --ca-bundle --cli-read-timeout \
             --cli-connect-timeout --cli-input-json --cli-input-yaml --cli-binary-format",
        ),
        "gcloud" => anywhere(
            "--project --account --configuration --format --verbosity --zone --region --impersonate-service-account \
             --billing-project --filter --location",
        ),
        "az" => anywhere("-g --resource-group -n --name --subscription -o --output --query -l --location"),
        "gsutil" => leading("-h -o -u -i"),
        "bq" => leading("--project_id --location --dataset_id --format --api"),
        "heroku" => anywhere("-a --app -r --remote -t --team"),
        "fly" | "flyctl" => anywhere("-a --app -c --config -o --org -t --access-token"),
        "doctl" => anywhere("-t --access-token -c --config --context -o --output -u --api-url"),
        "ssh" => leading("-i -p -l -o -F -J -L -R -D -b -B -c -e -E -I -m -O -P -Q -S -W -w"),
        "scp" | "sftp" => leading("-i -P -o -F -J -c -l -S -b -B -D -X -R -s"),
        "rsync" => anywhere(
            "-e --rsh --exclude --include --exclude-from --include-from --files-from --bwlimit --timeout --port \
             --log-file --backup-dir --suffix --temp-dir -T --password-file --rsync-path --chmod --chown -f --filter",
        ),
        "psql" | "pgcli" | "ysqlsh" => anywhere(PSQL),
        "mysql" | "mariadb" | "mycli" | "mysqladmin" | "mariadb-admin" | "mysqldump" | "mariadb-dump"
        | "mysqlimport" => anywhere(MYSQL),
        "dropdb" | "createdb" | "dropuser" | "createuser" | "pg_restore" | "pg_dump" | "pg_dumpall"
        | "vacuumdb" | "reindexdb" | "clusterdb" => anywhere(POSTGRES_TOOLS),
        "mongosh" | "mongo" => anywhere(
            "--host --port -u --username -p --password --eval -f --file --authenticationDatabase --tlsCAFile \
             --tlsCertificateKeyFile",
        ),
        "sqlcmd" | "mssql-cli" | "osql" => anywhere("-S -U -P -d -Q -q -i -o -s -h -v -l -t"),
        "clickhouse-client" | "clickhouse-local" => anywhere(
            "-h --host --port -u --user --password -d --database -q --query --queries-file -f --format",
        ),
        "sqlite3" | "sqlite" | "litecli" => anywhere("-cmd -init -separator -newline -nullvalue -mmap -A"),
        "duckdb" => anywhere("-cmd -init -separator -newline -nullvalue -c -s -f"),
        "redis-cli" | "valkey-cli" => leading("-h -p -a -n -u -s -r -i --user --pass --cacert --cert --key"),
        "curl" => anywhere(CURL),
        "wget" => anywhere(
            "-O --output-document -o --output-file -a --append-output -P --directory-prefix -t --tries -T --timeout -U \
             --user-agent --header --method --body-data --body-file --post-data --post-file --user --password -e \
             --execute -i --input-file --limit-rate -w --wait",
        ),
        "systemctl" => anywhere(
            "-H --host -M --machine -t --type -p --property -n --lines -o --output -s --signal --root",
        ),
        "journalctl" => {
            anywhere("-u --unit -n --lines -o --output -t --identifier -p --priority -S --since -U --until")
        }
        "apt" | "apt-get" => anywhere("-o --option -t --target-release --default-release -c --config-file"),
        "vault" => anywhere("--address --namespace"),
        _ => leading(""),
    }
}

const COMPOSE: &str =
    "-f --file -p --project-name --profile --env-file --project-directory --ansi --parallel --progress";

/// Returns the options behind the first word of a program, where they are other than before it.
fn of_subcommand(program: &str, word: &str) -> Option<Options> {
    let (place, valued) = match (program, word) {
        ("docker" | "podman" | "nerdctl", "compose") => (Place::BeforeSubcommand, COMPOSE),
        ("gh" | "glab", "api") => (
            Place::Anywhere,
            "-R --repo -X --method -H --header -f --raw-field -F --field -q --jq -t --template --input --hostname \
             --cache -p --preview",
        ),
        ("cockroach", "sql") => {
            (Place::Anywhere, "-e --execute --url --host -p --port -u --user -d --database -f --file")
        }
        ("bq", "query") => (Place::Anywhere, "--project_id --location --dataset_id --format --max_rows -n"),
        _ => return None,
    };
    Some(Options { place, valued })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &str) -> Vec<&str> {
        let mut all = command.split(' ');
        let mut scan = Scan::new(all.next().unwrap());
        all.filter(|text| scan.role(text, false) == Role::Word).collect()
    }

    #[test]
    fn item_17_values_of_known_options_are_no_words() {
        for (command, expected) in [
            ("mysqladmin -u root drop app", "drop app"),
            ("aws s3 --profile p rm s3://b --recursive", "s3 rm s3://b"),
            ("gh api -X DELETE repos/a/b", "api repos/a/b"),
            ("gh api repos/a/b --method DELETE", "api repos/a/b"),
            ("kubectl delete -n prod pods --all", "delete pods"),
            ("docker compose -f x.yml -p app down -v", "compose down"),
            ("docker -H tcp://h run -v a:b image", "run a:b image"),
            ("git -C dir push origin -C main", "push origin main"),
            ("psql -h db -U ada app", "app"),
            ("curl -s -X DELETE https://x/y -H a:b", "https://x/y"),
            ("redis-cli -n 2 set -n 3", "set 3"),
            ("unknown -u root x", "root x"),
            ("make -j 8 install", "install"),
            ("make -j install -C dir", "install"),
            ("shutdown /a /f", "/a /f"),
        ] {
            assert_eq!(words(command).join(" "), expected, "{command}");
        }
    }
}
