//! The planted secrets are invented and written in pieces, so that secret scanners do not stop at this file.

#[path = "redact/evaluation.rs"]
mod evaluation;
#[path = "redact/places.rs"]
mod places;

use std::borrow::Cow;

use proptest::prelude::*;
use text::redact::{is_token_byte, redact};

use crate::check_linear;

fn check(input: &str, expect: &str) {
    assert_eq!(redact(input), expect, "input: {input:?}");
    assert_eq!(redact(expect), expect, "redacting twice changed {input:?}");
}

/// Checks that a secret is replaced in any place: alone, in prose, in shell, in JSON and in JSON in JSON.
fn check_everywhere(secret: &str, kind: &str) {
    let mark = format!("[redacted:{kind}]");
    for around in [
        "{}",
        "see {} there",
        "({})",
        "x={};",
        "https://example.com/?k={}&b=1",
        "`{}`",
        "first line\n{}\nlast line",
        r#"{"a":"{}","b":"c"}"#,
        r#"{"a":"one\n{}\nthree"}"#,
        r#"{"a":"\u001b{}\u001b"}"#,
        r#"{"a":"{\"b\":\"one\\n{}\\nthree\"}"}"#,
        "日本{}語",
    ] {
        check(&around.replace("{}", secret), &around.replace("{}", &mark));
    }
}

const PEM: &str = concat!(
    "-----BEGIN RSA PRIV",
    "ATE KEY-----\n",
    "MIIEowIBAAKCAQEAvTYT9kV3bq0wQ2nX0a1Zr8hJ5yq7mC4eK6uLw3pBd9sFgHtN\n",
    "c2VjcmV0c2VjcmV0c2VjcmV0\n",
    "-----END RSA PRIV",
    "ATE KEY-----",
);

#[test]
fn secrets_are_known_by_their_shape() {
    for (secret, kind) in [
        (concat!("sk-", "ant-api03-AbCdEf0123456789-_AbCdEf0123456789AA"), "anthropic"),
        (concat!("sk-", "ant-oat01-AbCdEf0123456789AbCdEf0123456789"), "anthropic"),
        (concat!("sk-", "proj-AbCdEf0123456789_AbCdEf-0123456789"), "openai"),
        (concat!("sk-", "svcacct-AbCdEf0123456789AbCdEf"), "openai"),
        (concat!("sk-", "AbCdEf0123456789AbCdEf0123456789AbCdEf0123456789"), "openai"),
        (concat!("sk-", "or-v1-0123456789abcdef0123456789abcdef"), "openrouter"),
        (concat!("AK", "IAIOSFODNN7EXAMPLE"), "aws-access-key"),
        (concat!("AS", "IAIOSFODNN7EXAMPLE"), "aws-access-key"),
        (concat!("AI", "zaSyA0123456789-_abcdefghijklmnopqrstu"), "google-api-key"),
        (concat!("GOC", "SPX-0123456789abcdefghijklmnopqr"), "google-oauth"),
        (concat!("ya", "29.a0AfH6SMBx0123456789_abcdefghijk-lmnop"), "google-oauth"),
        (concat!("gh", "p_0123456789abcdefghijklmnopqrstuvwxyz"), "github"),
        (concat!("gh", "o_0123456789abcdefghijklmnopqrstuvwxyz"), "github"),
        (concat!("gh", "u_0123456789abcdefghijklmnopqrstuvwxyz"), "github"),
        (concat!("gh", "s_0123456789abcdefghijklmnopqrstuvwxyz"), "github"),
        (concat!("gh", "r_0123456789abcdefghijklmnopqrstuvwxyz"), "github"),
        (concat!("github", "_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz0123456789"), "github"),
        (concat!("gl", "pat-0123456789abcdefghij"), "gitlab"),
        (concat!("gl", "rt-t1_0123456789abcdefghij"), "gitlab"),
        (concat!("xo", "xb-123456789012-1234567890123-AbCdEfGhIjKl"), "slack"),
        (concat!("xo", "xp-123456789012-AbCdEfGhIjKl"), "slack"),
        (concat!("xo", "xa-2-123456789012"), "slack"),
        (concat!("xo", "xo-123456789012-AbCd"), "slack"),
        (concat!("xo", "xr-123456789012-AbCd"), "slack"),
        (concat!("xo", "xs-123456789012-AbCd"), "slack"),
        (concat!("xa", "pp-1-A0123456789-0123456789012-abcdef"), "slack"),
        (concat!("sk", "_live_0123456789abcdefghijklmn"), "stripe"),
        (concat!("rk", "_live_0123456789abcdefghijklmn"), "stripe"),
        (concat!("sk", "_test_0123456789abcdefghijklmn"), "stripe"),
        (concat!("wh", "sec_0123456789abcdefghijklmnopqrstuv"), "stripe"),
        (concat!("np", "m_0123456789abcdefghijklmnopqrstuvwxyz"), "npm"),
        (concat!("py", "pi-AgEIcHlwaS5vcmcCJDAxMjM0NTY3LTg5YWItY2RlZi0wMTIz"), "pypi"),
        (concat!("dckr", "_pat_0123456789abcdefghij-_klmno"), "docker"),
        (concat!("h", "f_abcdefghijklmnopqrstuvwxyzABCDEFGH"), "huggingface"),
        (concat!("S", "G.0123456789abcdefghijkl.0123456789abcdefghijklmnopqrstuvwxyz_-ABCDE"), "sendgrid"),
        (concat!("S", "K0123456789abcdef0123456789abcdef"), "twilio"),
        (
            concat!("do", "p_v1_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"),
            "digitalocean",
        ),
        (concat!("da", "pi0123456789abcdef0123456789abcdef"), "databricks"),
        (concat!("12345", "67890:AAH0123456789abcdefghijklmnopqrstuvw"), "telegram"),
        (concat!("AGE-SECRET", "-KEY-1QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KH"), "age"),
        (concat!("ey", "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"), "jwt"),
        (concat!("ey", "JhbGciOiJub25lIn0.eyJzdWIiOiIxMjM0In0."), "jwt"),
        (concat!("h", "vs.CAESIJ0123456789abcdefghijkl"), "vault"),
    ] {
        check_everywhere(secret, kind);
    }
}

#[test]
fn a_webhook_keeps_its_host() {
    let path = concat!("T01234567/B01234567/", "0123456789abcdefghijklmn");
    check(
        &format!("curl https://hooks.slack.com/services/{path} -d x"),
        "curl https://hooks.slack.com/services/[redacted:slack-webhook] -d x",
    );
    check(
        &format!(r#"{{"u":"https:\/\/hooks.slack.com\/services\/{}"}}"#, path.replace('/', "\\/")),
        r#"{"u":"https:\/\/hooks.slack.com\/services\/[redacted:slack-webhook]"}"#,
    );
    check(
        "https://discord.com/api/webhooks/123456789012345678/abcdef_0123",
        "https://discord.com/api/webhooks/[redacted:discord-webhook]",
    );
    check(
        concat!("https://api.telegram.org/bot12345", "67890:AAH0123456789abcdefghijklmnopqrstuvw/getMe"),
        "https://api.telegram.org/bot[redacted:telegram]/getMe",
    );
}

#[test]
fn private_keys_go_with_their_armour() {
    let escaped = PEM.replace('\n', "\\n");
    let twice = PEM.replace('\n', "\\\\n");
    let cut = &PEM[..90];
    let openssh = PEM.replace("RSA ", "OPENSSH ");
    for (input, expect) in [
        (format!("a\n{PEM}\nb"), "a\n[redacted:private-key]\nb".to_owned()),
        (format!("a\r\n{}\r\nb", PEM.replace('\n', "\r\n")), "a\r\n[redacted:private-key]\r\nb".to_owned()),
        (format!("{openssh}\n{openssh}"), "[redacted:private-key]\n[redacted:private-key]".to_owned()),
        (
            format!(r#"{{"private_key": "{escaped}\n", "x": 1}}"#),
            r#"{"private_key": "[redacted:private-key]\n", "x": 1}"#.to_owned(),
        ),
        (
            format!(r#"{{"t":"{{\"private_key\":\"{twice}\\n\"}}"}}"#),
            r#"{"t":"{\"private_key\":\"[redacted:private-key]\\n\"}"}"#.to_owned(),
        ),
        (format!("PRIVATE_KEY='{PEM}'"), "PRIVATE_KEY='[redacted:private-key]'".to_owned()),
        (format!("PRIVATE_KEY={escaped}"), "PRIVATE_KEY=[redacted:private-key]".to_owned()),
        (format!("key: |\n  {}\nx: y", PEM.replace('\n', "\n  ")), "key: |\n  [redacted:private-key]\nx: y".to_owned()),
        (format!("a\n{cut}\n... the rest"), "a\n[redacted:private-key]".to_owned()),
        (format!(r#"{{"a":"{}","b":"c"}}"#, cut.replace('\n', "\\n")), r#"{"a":"[redacted:private-key]","b":"c"}"#.to_owned()),
        (
            format!(r#"{{"a":"{{\"k\":\"{}\",\"b\":1}}"}}"#, cut.replace('\n', "\\\\n")),
            r#"{"a":"{\"k\":\"[redacted:private-key]\",\"b\":1}"}"#.to_owned(),
        ),
        (
            PEM.split('\n').map(|line| format!("\"{line}\\n\"")).collect::<Vec<_>>().join(" +\n"),
            "\"[redacted:private-key]\" +\n\"[redacted:private-key]\\n\" +\n\"[redacted:private-key]\\n\" +\n\
             \"-----END RSA PRIVATE KEY-----\\n\""
                .to_owned(),
        ),
        (PEM.replace('\n', " "), "[redacted:private-key]".to_owned()),
    ] {
        check(&input, &expect);
    }
}

#[test]
fn headers_keep_their_scheme() {
    for (input, expect) in [
        ("Authorization: Bearer abc123def456", "Authorization: Bearer [redacted:authorization]"),
        (
            "authorization: bearer abc123def456\nHost: x",
            "authorization: bearer [redacted:authorization]\nHost: x",
        ),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [redacted:authorization]"),
        ("Authorization: token abcdefghijkl", "Authorization: token [redacted:authorization]"),
        ("Authorization: abc123def456", "Authorization: [redacted:authorization]"),
        ("Proxy-Authorization: Basic dXNlcjpwYXNz", "Proxy-Authorization: Basic [redacted:authorization]"),
        (
            r#"{"authorization":"Bearer abc123def456","x":1}"#,
            r#"{"authorization":"Bearer [redacted:authorization]","x":1}"#,
        ),
        (
            r#"{"c":"curl -H \"Authorization: Bearer abc123def456\" x"}"#,
            r#"{"c":"curl -H \"Authorization: Bearer [redacted:authorization]\" x"}"#,
        ),
        (
            "curl -H 'Authorization: Bearer abc123def456' https://x.y",
            "curl -H 'Authorization: Bearer [redacted:authorization]' https://x.y",
        ),
        (
            r#"headers["Authorization"] = "Bearer abc123def456""#,
            r#"headers["Authorization"] = "Bearer [redacted:authorization]""#,
        ),
        (
            r#".header("Authorization", "Bearer abc123def456")"#,
            r#".header("Authorization", "Bearer [redacted:authorization]")"#,
        ),
        (
            r#"'Authorization': b'Bearer abc123def456'"#,
            r#"'Authorization': b'Bearer [redacted:authorization]'"#,
        ),
        ("sent Bearer abc123def456ghi789 to", "sent Bearer [redacted:authorization] to"),
        ("x-api-key: abc123def", "x-api-key: [redacted:api-key]"),
        ("curl -H 'X-Api-Key: abc123def'", "curl -H 'X-Api-Key: [redacted:api-key]'"),
        (r#"h.set("x-api-key", "abc123def")"#, r#"h.set("x-api-key", "[redacted:api-key]")"#),
        ("PRIVATE-TOKEN: abc123def", "PRIVATE-TOKEN: [redacted:token]"),
        (
            concat!("Authorization: Bearer gh", "p_0123456789abcdefghijklmnopqrstuvwxyz"),
            "Authorization: Bearer [redacted:github]",
        ),
    ] {
        check(input, expect);
    }
}

#[test]
fn urls_keep_user_and_host() {
    for scheme in
        ["postgres", "postgresql", "mysql", "mongodb", "mongodb+srv", "redis", "amqp", "https", "ftp", "smtp"]
    {
        check(
            &format!("{scheme}://app:s3cr3t!@db:5432/x"),
            &format!("{scheme}://app:[redacted:password]@db:5432/x"),
        );
    }
    for (input, expect) in [
        ("DATABASE_URL=postgres://u:p@ss@h/db", "DATABASE_URL=postgres://u:[redacted:password]@h/db"),
        ("redis://:hunter2@localhost", "redis://:[redacted:password]@localhost"),
        ("postgres://u:pa?s#s@h", "postgres://u:[redacted:password]@h"),
        ("mongodb://u:secret@h1:1,h2:2/db?ssl=true", "mongodb://u:[redacted:password]@h1:1,h2:2/db?ssl=true"),
        (r#"{"u":"postgres:\/\/u:pw\u0021@h"}"#, r#"{"u":"postgres:\/\/u:pw\u0021@h"}"#),
        (r#"{"u":"postgres:\/\/u:pw@h\/db"}"#, r#"{"u":"postgres:\/\/u:[redacted:password]@h\/db"}"#),
        ("https://token:abcdef123456@host/x", "https://token:[redacted:password]@host/x"),
        (
            "jdbc:postgresql://h/db?user=u&password=hunter2&ssl=1",
            "jdbc:postgresql://h/db?user=u&password=[redacted:password]&ssl=1",
        ),
        ("Server=h;Uid=u;Pwd=hunter2;", "Server=h;Uid=u;Pwd=[redacted:password];"),
        (
            concat!("https://gh", "p_0123456789abcdefghijklmnopqrstuvwxyz:x-oauth-basic@github.com"),
            "https://[redacted:github]:[redacted:password]@github.com",
        ),
        (
            concat!("https://gh", "p_0123456789abcdefghijklmnopqrstuvwxyz@github.com"),
            "https://[redacted:github]@github.com",
        ),
    ] {
        check(input, expect);
    }
}

#[test]
fn clouds_have_names_for_their_keys() {
    for (input, expect) in [
        (
            concat!("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/", "bPxRfiCYEXAMPLEKEY"),
            "aws_secret_access_key = [redacted:aws-secret]",
        ),
        (
            concat!("export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/", "bPxRfiCYEXAMPLEKEY"),
            "export AWS_SECRET_ACCESS_KEY=[redacted:aws-secret]",
        ),
        (
            concat!(r#""SecretAccessKey": "wJalrXUtnFEMI/K7MDENG/"#, r#"bPxRfiCYEXAMPLEKEY","#),
            r#""SecretAccessKey": "[redacted:aws-secret]","#,
        ),
        (
            "AccountName=x;AccountKey=abcdefgh0123456789+/ABCDEFGH==;EndpointSuffix=core.windows.net",
            "AccountName=x;AccountKey=[redacted:azure-key];EndpointSuffix=core.windows.net",
        ),
        (
            "Endpoint=sb://x.net/;SharedAccessKeyName=n;SharedAccessKey=abcdefgh0123456789+/=",
            "Endpoint=sb://x.net/;SharedAccessKeyName=n;SharedAccessKey=[redacted:azure-key]",
        ),
        (
            "https://a.blob.core.windows.net/c?sv=2022&sig=abcdefgh0123456789abcdefgh0123456789%2B%3D&se=2",
            "https://a.blob.core.windows.net/c?sv=2022&sig=[redacted:azure-sas]&se=2",
        ),
        (
            r#"{"u":"https://a.net/c?sv=1\u0026sig=abcdefgh0123456789abcdefgh0123456789%3D"}"#,
            r#"{"u":"https://a.net/c?sv=1\u0026sig=[redacted:azure-sas]"}"#,
        ),
        (
            "https://s3.aws/x?X-Amz-Signature=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            "https://s3.aws/x?X-Amz-Signature=[redacted:aws-signature]",
        ),
        ("TWILIO_AUTH_TOKEN=0123456789abcdef0123456789abcdef", "TWILIO_AUTH_TOKEN=[redacted:token]"),
    ] {
        check(input, expect);
    }
}

#[test]
fn assignments_lose_their_value_in_every_notation() {
    for (input, expect) in [
        // Environment and shell.
        ("password=hunter2", "password=[redacted:password]"),
        ("PASSWORD=supersecret", "PASSWORD=[redacted:password]"),
        ("export DB_PASSWORD=correct-horse-battery\n", "export DB_PASSWORD=[redacted:password]\n"),
        ("PGPASSWORD=hunter2 psql", "PGPASSWORD=[redacted:password] psql"),
        ("DB_PASS='pa ss w0rd' x", "DB_PASS='[redacted:password]' x"),
        ("MY_SERVICE_TOKEN=abcdefgh", "MY_SERVICE_TOKEN=[redacted:token]"),
        ("API_KEY=\"abc123def\"", "API_KEY=\"[redacted:api-key]\""),
        ("API_KEY_2=abc123def", "API_KEY_2=[redacted:api-key]"),
        ("PASSWORD=p@$$w0rd!", "PASSWORD=[redacted:password]"),
        ("set PASSWD=hunter2", "set PASSWD=[redacted:password]"),
        // JSON, also as a string in JSON.
        (r#"{"password":"hunter2"}"#, r#"{"password":"[redacted:password]"}"#),
        (r#"{"password" : "a\"b\\c\u00e9d"}"#, r#"{"password" : "[redacted:password]"}"#),
        (r#"{"clientSecret":"abc123","x":"y"}"#, r#"{"clientSecret":"[redacted:secret]","x":"y"}"#),
        (r#"{"client_secret":"abcdefgh"}"#, r#"{"client_secret":"[redacted:secret]"}"#),
        (
            r#"{"access_token":"abcdefgh","refresh_token":"abc123"}"#,
            r#"{"access_token":"[redacted:token]","refresh_token":"[redacted:token]"}"#,
        ),
        (r#"{"apiKey":"abc123def"}"#, r#"{"apiKey":"[redacted:api-key]"}"#),
        (
            r#"{"a":"{\"token\":\"abc123def\",\"b\":1}"}"#,
            r#"{"a":"{\"token\":\"[redacted:token]\",\"b\":1}"}"#,
        ),
        (
            r#"{"a":"{\"b\":\"{\\\"token\\\":\\\"abc123def\\\"}\"}"}"#,
            r#"{"a":"{\"b\":\"{\\\"token\\\":\\\"[redacted:token]\\\"}\"}"}"#,
        ),
        (
            r#"{"a":"{\"b\":\"{\\\"token\\\":\\\"abc123def\"}"}"#,
            r#"{"a":"{\"b\":\"{\\\"token\\\":\\\"[redacted:token]\"}"}"#,
        ),
        (r#"{"a":"PASSWORD=hunter2"}"#, r#"{"a":"PASSWORD=[redacted:password]"}"#),
        (r#"{"a":"PASSWORD='hunter 2","b":"c'd"}"#, r#"{"a":"PASSWORD='[redacted:password]","b":"c'd"}"#),
        (r#"{"a":"x\nDB_PASSWORD=hunter2\ny"}"#, r#"{"a":"x\nDB_PASSWORD=[redacted:password]\ny"}"#),
        (r#"["--password","hunter2"]"#, r#"["--password","[redacted:password]"]"#),
        (r#"{"auth": "dXNlcjpwYXNzd29yZDEyMw=="}"#, r#"{"auth": "[redacted:secret]"}"#),
        // YAML, TOML, INI.
        ("password: hunter2", "password: [redacted:password]"),
        ("db:\n  password: swordfish\n  port: 1", "db:\n  password: [redacted:password]\n  port: 1"),
        ("  - api_key: 'abc123def' # x", "  - api_key: '[redacted:api-key]' # x"),
        ("password: 12345678", "password: [redacted:password]"),
        ("password: Tr0ub4dor&3 x", "password: [redacted:password] x"),
        ("SECRET_KEY_BASE=0123abc", "SECRET_KEY_BASE=[redacted:secret]"),
        ("define('DB_PASSWORD', 'hunter2');", "define('DB_PASSWORD', '[redacted:password]');"),
        ("\"password\": hunter2", "\"password\": [redacted:password]"),
        ("token = \"abc123def\"", "token = \"[redacted:token]\""),
        ("passwd = hunter2", "passwd = [redacted:password]"),
        ("//registry.npmjs.org/:_authToken=abc123def", "//registry.npmjs.org/:_authToken=[redacted:token]"),
        // Command lines.
        ("mysql --password=hunter2 db", "mysql --password=[redacted:password] db"),
        ("tool --api-key abc123def run", "tool --api-key [redacted:api-key] run"),
        (r#"{"a":"tool\n--token abc123def"}"#, r#"{"a":"tool\n--token [redacted:token]"}"#),
        ("tool --token \"abc123def\"", "tool --token \"[redacted:token]\""),
        // Programs.
        ("const clientSecret = 'abc123def';", "const clientSecret = '[redacted:secret]';"),
        ("let password: &str = \"hunter2\";", "let password: &str = \"[redacted:password]\";"),
        ("password: str = 'hunter2'", "password: str = '[redacted:password]'"),
        ("connect(user=u, password='hunter2')", "connect(user=u, password='[redacted:password]')"),
        ("secret = b\"abc123def\"", "secret = b\"[redacted:secret]\""),
        ("'password' => 'hunter2',", "'password' => '[redacted:password]',"),
        ("os.environ[\"API_KEY\"] = \"abc123def\"", "os.environ[\"API_KEY\"] = \"[redacted:api-key]\""),
        ("password := `hunter2`", "password := `[redacted:password]`"),
        ("CREATE ROLE r PASSWORD 'hunter2'", "CREATE ROLE r PASSWORD '[redacted:password]'"),
        // Markup and prose.
        ("<password>hunter2</password>", "<password>[redacted:password]</password>"),
        ("**Password:** hunter2", "**Password:** [redacted:password]"),
        ("The API key: abc123def.", "The API key: [redacted:api-key]."),
        ("GET /cb?access_token=abc123def&x=1", "GET /cb?access_token=[redacted:token]&x=1"),
        ("passphrase: \"correct horse 7 staple\"", "passphrase: \"[redacted:password]\""),
        ("密码 password=пароль123", "密码 password=[redacted:password]"),
    ] {
        check(input, expect);
    }
}

#[test]
fn a_known_shape_names_the_value_of_an_assignment() {
    check(
        concat!("ANTHROPIC_API_KEY=sk-", "ant-api03-AbCdEf0123456789AbCdEf0123456789"),
        "ANTHROPIC_API_KEY=[redacted:anthropic]",
    );
    check(
        concat!(r#"{"token":"gh"#, r#"p_0123456789abcdefghijklmnopqrstuvwxyz"}"#),
        r#"{"token":"[redacted:github]"}"#,
    );
}

#[test]
fn ordinary_text_survives() {
    let lines =
        include_str!("ordinary.txt").lines().filter(|line| !line.is_empty() && !line.starts_with("##"));
    let mut count = 0;
    for line in lines {
        check(line, line);
        assert!(matches!(redact(line), Cow::Borrowed(_)), "{line:?} was copied");
        count += 1;
    }
    assert!(count >= 60, "only {count} lines of ordinary text");
    let whole = include_str!("ordinary.txt");
    check(whole, whole);
    let as_json = serde_json::to_string(whole).expect("text is JSON");
    check(&as_json, &as_json);
}

#[test]
fn token_bytes_are_those_a_cut_may_split() {
    for byte in "azAZ09_-.+/=~%:@!#$^*?".bytes() {
        assert!(is_token_byte(byte), "{:?}", byte as char);
    }
    for byte in " \t\n\"'`\\,;&)}]<>|\0\u{7f}é".bytes() {
        assert!(!is_token_byte(byte), "{byte:#x}");
    }
}

#[test]
fn hostile_repetition_takes_linear_time() {
    for unit in [
        "sk-",
        "sk-ant-",
        "pypi-",
        "xoxb-",
        "AKIA",
        "eyJ",
        "eyJhbGciOiJ-",
        "eyJhbGciOiJ9.",
        "eyJhbGciOiJ9.eyJ-",
        "SG.",
        "SG.0123456789abcdef-",
        "ghp_",
        "AIza-",
        "hooks.slack.com/services/",
        "12345678:",
        "password=",
        "password: ",
        "password='",
        "password=\"",
        "password=\\\"",
        "\"password\":\"",
        "\"password\":\"\\",
        "password = a.",
        "password: a<",
        "token: x =",
        "token=x.",
        "token=(",
        "secret ",
        "--token ",
        "Bearer ",
        "Authorization: Bearer ",
        "Authorization: ",
        "://",
        "a://",
        "a://b:",
        "a://b:c@",
        "a:\\/\\/",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY----- x",
        "-----BEGIN PRIVATE KEY-----\n\"",
        "-----BEGIN ",
        "-----",
        "-",
        "\\",
        "\\n",
        "\\u0041",
        "_",
        "a",
        "a_",
        "*",
        " ",
        "api_",
        "[redacted:",
        "password=[redacted:",
        "password=a[redacted:x]",
    ] {
        check_linear(unit, |text| drop(redact(text)));
        check_linear(unit, |text| drop(redact(&format!("password=\"{text}"))));
    }
}

#[test]
fn hostile_places_take_linear_time() {
    for unit in [
        "data:\n",
        "kind: Secret\ndata:\n a: b\n",
        "\"kind\":\"Secret\",\"data\":{\"",
        "Cookie: a=",
        "Cookie: a=b;",
        "echo x | ",
        "curl -u ",
        " -p",
        " -pass pass:",
        "net use \\\\a ",
        "chpasswd <<< a:",
        "%3D",
        "%",
        "a%20b ",
        "\x1b[0m",
        "\x1b]8;;",
        "\\u001b[",
        "\u{200b}",
        "password,",
        "a,password\n",
        "| password ",
        "| password |\n|-|\n",
        "password: |\n",
        "password:\n",
        "password for ",
        "password is ",
        "name: password\nvalue",
        "login password ",
        "-----END PRIVATE KEY-----",
        "AAAAAAAAAAAAAAAAAAAAAAAA\n-----END PRIVATE KEY-----",
        "AAAAAAAAAAAAAAAAAAAAAAAA\n",
        "AAAAAAAAAAAAAAAAAAAAAAAA",
        "Private-Lines: 1\nAAAA\n",
        "ghp_a1\n",
        "eyJhbGciOiJ\n",
        "eyJhbGciOiJhbGciOiJhbGciOiJhbGciOiJ..a",
        "a:5432:a:b:c\n",
        "postgres://a:b/",
        "REJfUEFTU1dPUkQ9aHVudGVyMlpxOQpE",
        "RVhBTVBMRSBURVhUIEVYQU1QTEUgVEVYVCBF",
        "xghp_",
        "пароль",
        "密码：",
        "arn:aws:secret:",
        "_key=",
        "acme_sk_",
        "acme_sk_a1B2c3D4e5F6g7H8i9J0",
    ] {
        check_linear(unit, |text| drop(redact(text)));
    }
}

/// Text in which names, separators, quotes, escapes and secrets are likely to meet.
fn secretive_text() -> impl Strategy<Value = String> {
    let pieces = vec![
        "password",
        "token",
        "secret",
        "api_key",
        "AccountKey",
        "authorization",
        "Bearer ",
        "&sig",
        "--",
        "PASS_",
        "=",
        ":",
        " = ",
        ": ",
        " => ",
        ",",
        "\"",
        "\\\"",
        "\\\\\\\"",
        "'",
        "`",
        "\\",
        "\\\\",
        "\\n",
        "\\u0041",
        "\n",
        " ",
        "{",
        "}",
        "[",
        "]",
        "(",
        "<",
        ">",
        "*",
        "/",
        "://",
        ":\\/\\/",
        "https",
        "@",
        ".",
        "-",
        "_",
        "$",
        "%",
        "é",
        "日",
        "x",
        "a1",
        "hunter2",
        "abc123def456",
        "swordfish",
        "12345678",
        "[redacted:",
        "-----BEGIN ",
        "PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "eyJhbGciOiJ9",
        ".eyJ",
        concat!("sk-", "ant-"),
        "0123456789abcdefABCDEF",
        "AKIA",
        "ABCDEFGH01234567",
        "pypi-",
        concat!("gh", "p_"),
        "hooks.slack.com/services/",
        "12345678:",
        "String",
        "const ",
        "%3D",
        "%22",
        "\u{1b}[0m",
        "\u{200b}",
        "\\u001b[0m",
        "-----END ",
        "MIIEowIBAAKCAQEAvTYT9kV3bq0w\n",
        "kind: Secret\n",
        "data:\n",
        "\"data\":{",
        "Cookie: ",
        "sid=",
        "; ",
        "|",
        "echo ",
        " | docker login --password-stdin",
        "curl -u ",
        "mysql -p",
        "REJfUEFTU1dPUkQ9aHVudGVyMlpxOQpEQl9IT1NUPWRi",
        "_key",
        "пароль",
        "value",
        "name",
        " is ",
        "localhost:5432:",
        "postgres://u:",
    ];
    let piece = prop_oneof![
        20 => prop::sample::select(pieces).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => "[a-z0-9]{100,300}",
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f32>().prop_map(Into::into),
        secretive_text().prop_map(Into::into),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::vec((secretive_text(), inner.clone()), 0..6)
                .prop_map(|fields| serde_json::Value::Object(fields.into_iter().collect())),
            inner.prop_map(|value| value.to_string().into()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn redacting_twice_changes_nothing(text in secretive_text()) {
        let once = redact(&text).into_owned();
        prop_assert_eq!(redact(&once), once.as_str());
    }

    #[test]
    fn any_text_is_survived(text in any::<String>()) {
        redact(&text);
    }

    #[test]
    fn valid_json_stays_valid(value in json(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let text = text.expect("a value is JSON");
        let redacted = redact(&text);
        prop_assert!(serde_json::from_str::<serde_json::Value>(&redacted).is_ok(), "{text}\nbecame\n{redacted}");
    }
}
