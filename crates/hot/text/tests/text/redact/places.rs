//! Secrets that are known by what is around them, and those that are written so that no word shows them.

use text::redact::redact;

use super::evaluation::is_gone;

/// A password that is no word and has no shape.
const PASSWORD: &str = "Tr0ub4dor&3xk";

/// A password without characters that mean something to a shell.
const PLAIN: &str = "hunter2Zq9";

/// Forty characters as AWS makes them.
const AWS_SECRET: &str = concat!("k3JxQ9vT7mWz2LpR8dYb", "5NcF1hGs6KtVaEoUiXqB");

/// Random characters without a shape.
const RANDOM: &str = "q7Zk2mXv9RtB4nWcL8pD";

/// Checks that `secret` is gone from `{}` of `around` and that the rest is there as it was, raw and as a string in JSON.
#[track_caller]
fn check(around: &str, secret: &str) {
    let text = around.replace("{}", secret);
    for text in [text.clone(), serde_json::to_string(&text).expect("text is JSON")] {
        let redacted = redact(&text);
        assert!(is_gone(&redacted, secret) && !redacted.contains(secret), "{text}\nbecame\n{redacted}");
        assert_eq!(redact(&redacted), redacted, "redacting twice changed {text:?}");
        let kept: String = around.chars().take_while(|c| !" {}=:\"\\\n".contains(*c)).collect();
        assert!(redacted.contains(&kept), "{text}\nbecame\n{redacted}");
    }
}

#[test]
fn passwords_of_command_lines_are_found() {
    for around in [
        "curl -u admin:{} https://example.com/api",
        "curl -s -u 'admin:{}' https://example.com/api",
        "curl -X POST -u \"admin:{}\" https://example.com/api",
        "curl --user admin:{} https://example.com",
        "curl --user=admin:{} https://example.com",
        "curl --proxy-user admin:{} https://example.com",
        "mysql -u root -p{} app",
        "mysql -uroot -p'{}' app",
        "mysqldump -h db -u root -p{} app > dump.sql",
        "sshpass -p {} ssh root@example.com",
        "sshpass -p'{}' scp a b:",
        "docker login -u alice -p {} registry.example.com",
        "docker login registry.example.com -u alice -p '{}'",
        "podman login -u alice -p {} quay.io",
        "helm registry login -u alice -p {} ghcr.io",
        "redis-cli -h cache -a {} ping",
        "openssl enc -aes-256-cbc -pass pass:{} -in a -out b",
        "openssl rsa -passin pass:{} -in key.pem",
        "echo 'alice:{}' | chpasswd",
        "echo \"alice:{}\" | sudo chpasswd",
        "chpasswd <<< 'alice:{}'",
        "net use z: \\\\server\\share {} /user:alice",
        "net use \\\\server\\share /user:alice {}",
        "ConvertTo-SecureString '{}' -AsPlainText -Force",
        "$p = ConvertTo-SecureString \"{}\" -AsPlainText -Force",
        "az login --service-principal -u app -p {} --tenant t",
        "gh secret set DEPLOY --body {}",
        "gh secret set DEPLOY -b \"{}\"",
        "echo {} | docker login -u alice --password-stdin",
        "echo -n '{}' | podman login -u alice --password-stdin quay.io",
        "printf '%s' '{}' | docker login -u alice --password-stdin",
        "echo {} | sudo -S apt-get update",
        "ssh-keygen -t ed25519 -f key -N {}",
        "ssh-keygen -p -P {} -f key",
        "zip -P {} secret.zip file",
        "unzip -P {} secret.zip",
        "7z a -p{} archive.7z folder",
        "ldapsearch -x -D cn=admin -w {} -b dc=example",
        "aws configure set aws_secret_access_key {}",
        "setx API_KEY {}",
        "setx DB_PASSWORD \"{}\"",
        "set -gx API_TOKEN {}",
        "htpasswd -b .htpasswd alice {}",
        "htpasswd -nb alice {}",
        "kubectl create secret generic db --from-literal=anything={}",
        "keytool -genkey -storepass {} -alias a",
        "gpg --batch --passphrase {} -d file.gpg",
        "smbclient //server/share -U alice%{}",
        "sqlcmd -S db -U sa -P {} -Q 'select 1'",
        "mongosh -u alice -p {} mongodb://db/app",
        "twine upload -u __token__ -p {} dist/*",
        "wget --password={} https://example.com",
    ] {
        check(around, PLAIN);
    }
}

#[test]
fn an_option_behind_others_and_far_from_its_command_is_found() {
    for around in [
        "curl -sSu alice:{} https://example.com",
        "curl -fsSLu 'alice:{}' https://example.com",
        "curl -sualice:{} https://example.com",
        "curl -uadmin:{} https://example.com/api",
        "curl -u'admin:{}' https://example.com/api",
        "curl \"https://example.com/?a=1&b=2\" -u admin:{}",
        "curl -H 'Accept: text/html; q=1' -A 'Mozilla/5.0 (X11; Linux)' -u admin:{} example.com",
        "curl -X POST \\\n  -H 'Accept: */*' \\\n  -sSu admin:{} \\\n  https://example.com",
        "mysql -Bp{} app",
        "sshpass -vp {} ssh alice@example.com",
        "zip -r9P {} all.zip folder",
        "ldapsearch -LLLxw {} -D cn=admin",
        "smbclient //server/share -NUalice%{}",
    ] {
        check(around, PLAIN);
    }
    for around in [
        "curl -kLsu deploy:{} -O https://repo.example.com/a.tgz",
        "curl -v -XPUT -u deploy:{} -T a.tgz https://repo.example.com/",
        "curl -ivu \"deploy:{}\" https://example.com",
        "curl -s -o /dev/null -w '%{http_code}' --user 'deploy:{}' https://example.com",
        "curl -d '{\"a\": 1; \"b\": (2)}' -u deploy:{} https://example.com",
        "RESULT=$(curl -fsu ci:{} https://example.com/api)",
        "wget --user=ci --password={} https://example.com",
        "wget --http-user ci --http-password {} https://example.com",
        "mysql -h db -uroot -p{} -e 'show tables'",
        "mysqladmin -fp{} drop app",
        "mariadb -u root --password={} app",
        "sshpass -p\"{}\" rsync -a a b:",
        "subprocess.run([\"mysql\", \"-p{}\", \"app\"])",
        "curl -x proxy:3128 -U ci:{} https://example.com",
        "zip -qrP {} a.zip a",
        "ssh host \"cd /srv; curl -su ci:{} localhost\"",
        "docker run --rm curlimages/curl -sSLu ci:{} https://example.com",
        "http -va ci:{} https://example.com",
        "lftp -uci,{} ftp.example.com",
        "curl https://example.com \\\n     --silent \\\n     --user ci:{}",
    ] {
        check(around, PLAIN);
    }
    for text in [
        "curl -fsSLO https://example.com/users.tgz",
        "curl -sSfL https://example.com/install.sh | sh -s -- -u host:build12",
        "curl -i -N https://example.com:8080",
        "tar -xupf backup2024.tar",
        "docker compose -p shop2024 up",
        "git log -p -S curl2024",
        "ls -lsu home:dir12345",
        "curl -sS --unix-socket /run/x12345 http://localhost",
        "mysql -v; ssh -p22222 host",
        "rsync -avu host1:dir12345 .",
        "curl -s example.com | sort -u a:b12345",
        "curl -fsSL -o curl-8.5.0.tar.gz https://example.com/u:2024",
        "7z x -y all.7z -so",
        "curl -fsSLo out.tar https://example.com:8080/x",
        "curl -sS https://example.com/users:admin123 -o user:admin123",
        "curl -s example.com; mkdir -pv build1234",
        "mysql app < dump.sql; mkdir -pbuild1234",
        "mysql -e 'select 1'\nmkdir -pbuild1234",
        "zip -r -9 all.zip Projects2024",
        "7z a -spf -tzip all.7z folder2024",
        "unzip -o Photos2024.zip -d Pictures2024",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn passwords_of_files_are_found() {
    for around in [
        "machine api.example.com login alice password {}",
        "machine api.example.com\n  login alice\n  password {}\n",
        "db.example.com:5432:app:alice:{}",
        "localhost:5432:*:alice:{}\n",
        "*:*:*:alice:x\nlocalhost:5432:app:alice:{}\n",
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  anything: {}\n",
        "apiVersion: v1\ndata:\n  anything: {}\nkind: Secret\n",
        "{\"kind\": \"Secret\", \"data\": {\"anything\": \"{}\"}}",
        "kind: Secret\nstringData:\n  anything: {}\n",
        "<add key=\"ClearTextPassword\" value=\"{}\" />",
        "<add key=\"Password\" value=\"{}\" />",
        "{\"github-oauth\": {\"github.com\": \"{}\"}}",
        "{\"gitlab-token\": {\"gitlab.com\": \"{}\"}}",
        "{\"bearer\": {\"repo.example.com\": \"{}\"}}",
        "<input type=\"password\" name=\"pw\" value=\"{}\">",
        "<input type=\"password\" value=\"{}\">",
        "password: |\n  {}\nuser: alice",
        "api_key: >-\n  {}\n",
        "env:\n  - name: DB_PASSWORD\n    value: {}\n",
        "env:\n  - name: API_KEY\n    value: \"{}\"\n",
        "{\"name\": \"DB_PASSWORD\", \"value\": \"{}\"}",
        "user,password,role\nalice,{},admin\n",
        "name,api_key\nprod,{}\n",
        "| user | password |\n|---|---|\n| alice | {} |\n",
        "| password | {} |",
        "ENV API_KEY {}",
        "FROM x\nENV DB_PASSWORD {}\nRUN y",
        "CREATE USER alice IDENTIFIED BY '{}';",
        "ALTER USER alice IDENTIFIED WITH mysql_native_password BY '{}';",
        "CREATE USER alice WITH PASSWORD '{}';",
        "bindpw: {}",
    ] {
        check(around, PLAIN);
    }
}

#[test]
fn credentials_of_requests_are_found() {
    for around in [
        "Cookie: session={}; theme=dark",
        "Set-Cookie: sid={}; Path=/; HttpOnly",
        "curl -H 'Cookie: connect.sid={}' https://example.com",
        "https://maps.example.com/api?key={}",
        "https://example.com/callback?code={}&state=1",
        "https://example.com/callback?state=1&code={}",
        "AUTH_HEADER: Bearer {}",
        "Authorization: {}",
        "Proxy-Authorization: Bearer {}",
    ] {
        check(around, RANDOM);
    }
    check(
        "Authorization: AWS4-HMAC-SHA256 Credential=x/20260101/eu/s3/aws4_request, SignedHeaders=host, Signature={}",
        &"0f3a9c".repeat(11)[..64],
    );
    check("sent Basic {} to the proxy", "YWxpY2U6aHVudGVyMlpxOQ==");
    for around in
        ["postgres://alice:{}@db.example.com/app", "mysql://alice:{}@db/app", "amqp://alice:{}@mq:5672/%2F"]
    {
        check(around, "p@ss/w0rd#9xZ");
        check(around, PASSWORD);
    }
}

#[test]
fn secrets_of_names_are_found() {
    for name in [
        "consumer_key",
        "DD_APP_KEY",
        "ALGOLIA_ADMIN_KEY",
        "STRIPE_KEY",
        "ADAFRUIT_IO_KEY",
        "NEW_RELIC_LICENSE_KEY",
        "MAXMIND_LICENSE_KEY",
        "hmac_key",
        "DEPLOY_KEY",
        "SSH_KEY",
        "SERVICE_ROLE_KEY",
        "CREDENTIALS",
        "creds",
        "pw",
        "LDAP_BINDPW",
        "AUTH_HEADER",
        "db_pw",
        "PRESHARED_KEY",
        "client-key-data",
        "JWT_SIGNING_KEY",
        "webhookSecret",
        "masterKey",
        "dbPassword",
        "passcode",
        "SESSION_KEY",
    ] {
        for around in ["=", ": ", " = "] {
            check(&format!("{name}{around}{{}}"), RANDOM);
        }
        check(&format!("{name} = \"{{}}\""), RANDOM);
    }
    check("APP_KEY=base64:{}", "q7Zk2mXv9RtB4nWcL8pDq7Zk2mXv9RtB4nWcL8pDabc=");
    check("PIN={}", "483920");
    check("pin: {}", "4839");
}

#[test]
fn prose_gives_passwords_away() {
    for around in [
        "the password is {}",
        "The password for staging is: {} (do not share)",
        "your API key is {}",
        "log in with password {} please",
        "Das Passwort lautet {}",
        "Passwort: {}",
        "Kennwort: {}",
        "contraseña: {}",
        "la contraseña es {}",
        "mot de passe : {}",
        "le mot de passe est {}",
        "пароль: {}",
        "Пароль: {}",
        "密码: {}",
        "密码：{}",
        "密码是 {}",
        "パスワード: {}",
        "비밀번호: {}",
        "senha: {}",
    ] {
        check(around, PLAIN);
    }
}

#[test]
fn the_secret_of_aws_follows_its_key() {
    let key = concat!("AK", "IAQ3EGSLMN7PXRT2VW");
    for around in [
        format!("id {key}\n{{}}\n"),
        format!("id {key},{{}}\n"),
        format!("id {key} {{}}"),
        "aws_secret_access_key =\n  {}\n".to_owned(),
        "AWS Secret Access Key [None]: {}".to_owned(),
    ] {
        check(&around, AWS_SECRET);
    }
}

const TOKEN: &str = concat!("gh", "p_q7Zk2mXv9RtB4nWcL8pDq7Zk2mXv9RtB4nWc");

#[test]
fn what_interrupts_a_token_does_not_hide_it() {
    let (head, tail) = TOKEN.split_at(17);
    for between in [
        "\x1b[0m",
        "\x1b[1;31m",
        "\x1b[0m\x1b[32m",
        "\u{200b}",
        "\u{200d}",
        "\u{feff}",
        "\u{2060}",
        "\u{ad}",
        "\n",
        "\r\n",
        "\n    ",
        "\\\n",
        "\\u001b[0m",
        "\\u200b",
        "\\x1b[31m",
        "\\033[0m",
        "\\n",
    ] {
        let text = format!("see {head}{between}{tail} there");
        for text in [text.clone(), serde_json::to_string(&text).expect("text is JSON")] {
            let redacted = redact(&text);
            assert!(!redacted.contains(&head[6..]) && !redacted.contains(tail), "{text}\nbecame\n{redacted}");
            assert!(redacted.contains("see ") && redacted.contains(" there"), "{text}\nbecame\n{redacted}");
        }
    }
    let (head, tail) = TOKEN.split_at(2);
    for between in ["\x1b[0m", "\u{200b}"] {
        check(&format!("see {head}{between}{{}} there"), tail);
    }
    check("DB_PASS\u{200b}WORD={}", PLAIN);
    check("password: \x1b[31m{}\x1b[0m", PLAIN);
}

#[test]
fn what_is_glued_to_a_token_does_not_hide_it() {
    for before in
        ["x", "token", "TOKEN", "my", "abc123", "%3D", "token%3D", "%20", "%22", "a%0A", "_", "é", "日本"]
    {
        check(&format!("see {before}{{}} there"), TOKEN);
    }
    let key = concat!("AK", "IAQ3EGSLMN7PXRT2VW");
    for before in ["x", "key", "%3D", "id%3D", "_"] {
        check(&format!("see {before}{{}} there"), key);
    }
}

#[test]
fn url_encoding_does_not_hide_secrets() {
    check("next=%2Fcb%3Ftoken%3D{}%26x%3D1", TOKEN);
    check("body=password%3D{}%26user%3Dalice", PLAIN);
    check("q=%7B%22password%22%3A%22{}%22%7D", PLAIN);
    let encoded = TOKEN.replace('_', "%5F");
    check("see {} there", &encoded);
    check("https%3A%2F%2Falice%3A{}%40example.com", PLAIN);
}

fn base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let bits =
            chunk.iter().fold(0_u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
        for index in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * index) & 63) as usize];
            encoded.push(if index <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    encoded
}

#[test]
fn base64_of_a_file_with_secrets_is_replaced() {
    let env = format!("DB_HOST=db.example.com\nDB_PASSWORD={PLAIN}\nAPI_TOKEN={TOKEN}\n");
    let json = format!("{{\"user\": \"alice\", \"password\": \"{PLAIN}\", \"host\": \"db\"}}");
    for content in [env, json, format!("see {TOKEN} there, this is a file with some text")] {
        let encoded = base64(&content);
        check("env: {} end", &encoded);
        check("ENV_FILE={}", &encoded);
        check("{}", &encoded);
        let wrapped: Vec<&str> =
            encoded.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).expect("ASCII")).collect();
        let redacted = redact(&wrapped.join("\n")).into_owned();
        assert!(is_gone(&redacted, &encoded), "{redacted}");
    }
    let harmless = base64("name=alice\nteam=core\nregion=eu-west-1\nmode=fast\n");
    assert_eq!(redact(&harmless), harmless);
}

const LINES: &[&str] = &[
    "MIIEowIBAAKCAQEAvTYT9kV3bq0wQ2nX0a1Zr8hJ5yq7mC4eK6uLw3pBd9sFgHtN",
    "c2VjcmV0c2VjcmV0c2VjcmV0Q2nX0a1Zr8hJ5yq7mC4eK6uLw3pBd9sFgHtNabcd",
    "Zr8hJ5yq7mC4eK6uLw==",
];

#[test]
fn a_private_key_without_its_beginning_is_a_private_key() {
    let end = concat!("-----END RSA PRIV", "ATE KEY-----");
    for separator in ["\n", "\r\n", "\n    ", "\\n"] {
        let key = format!("{}{separator}{end}", LINES.join(separator));
        let text = format!("the last part:{separator}{key}{separator}bye");
        for text in [text.clone(), serde_json::to_string(&text).expect("text is JSON")] {
            let redacted = redact(&text);
            for line in LINES {
                assert!(!redacted.contains(line), "{text}\nbecame\n{redacted}");
            }
            assert!(redacted.contains("the last part:") && redacted.contains("bye"), "{redacted}");
        }
    }
}

#[test]
fn keys_of_other_programs_are_private_keys() {
    let putty = format!(
        "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPublic-Lines: 1\nAAAAC3NzaC1lZDI1NTE5\nPrivate-Lines: 3\n{}\nPrivate-MAC: {}\n",
        LINES.join("\n"),
        "0f3a".repeat(16)
    );
    for text in [putty.clone(), serde_json::to_string(&putty).expect("text is JSON")] {
        let redacted = redact(&text);
        for line in LINES {
            assert!(!redacted.contains(line), "{text}\nbecame\n{redacted}");
        }
        assert!(redacted.contains("Public-Lines: 1") && redacted.contains("Private-MAC"), "{redacted}");
    }
    let key = "q7Zk2mXv9RtB4nWcL8pDq7Zk2mXv9RtB4nWcL8pDabc=";
    for name in ["PrivateKey", "PresharedKey"] {
        check(&format!("[Interface]\n{name} = {{}}\nAddress = 10.0.0.2/24"), key);
    }
}
