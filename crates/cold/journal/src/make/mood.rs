//! How a sentence is meant: whether it states something, or advises, supposes, asks or announces. Who only hears the words of a
//! decision takes advice for one.

use language::lexicon::{self, JOURNAL, LANGUAGES, PEOPLE};
use language::{Phrases, folded};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// What a person's sentence must weigh to count as a decision.
const DECIDES: f64 = 0.7;
/// What a phrase of another language weighs, and a normative word.
const FOREIGN: f64 = 0.7;
const NORMATIVE: f64 = 0.3;
/// What a phrase weighs that rejects something, or only reports that it does not work.
const REPORTS: f64 = 0.3;

/// Phrases of a person that decide, reject or cut, with what each counts.
static DECISIONS: LazyLock<Phrases<f64>> = LazyLock::new(|| {
    let is_wanted = |name: &str| matches!(name, "decision" | "rejection" | "scope");
    let reports: BTreeSet<&str> = lexicon::list(JOURNAL, "reports").collect();
    let people = lexicon::weighed(PEOPLE)
        .filter(move |(name, ..)| is_wanted(name))
        .map(|(_, phrase, weight)| (phrase, weight));
    let foreign = lexicon::phrases(LANGUAGES).filter_map(move |(heading, phrase)| match heading {
        "normative" => Some((phrase, NORMATIVE)),
        heading => is_wanted(heading).then_some((phrase, FOREIGN)),
    });
    let weighed = people.chain(foreign);
    Phrases::new(
        weighed
            .map(move |(phrase, weight)| (phrase, if reports.contains(phrase) { REPORTS } else { weight })),
    )
});

/// Tables of one heading each.
macro_rules! phrases {
    ($($name:ident, $heading:literal;)*) => {
        $(static $name: LazyLock<Phrases<()>> = LazyLock::new(|| Phrases::of(JOURNAL, $heading));)*
    };
}
phrases! {
    FOUND, "found";
    CHOSE, "chose";
    WEIGHS, "weighs";
    REASONS, "reasons";
    NORMS, "norms";
    TELLS, "tells";
    SETTLES, "settles";
    TAKES, "takes";
    HOLDS, "holds";
    ADVISES, "advises";
    SUPPOSES, "supposes";
    SUPPOSING, "supposing";
    ASKS, "asks";
    PLANS, "plans";
    NEXT, "next";
    NEXT_BEGINS, "next begins";
    EXPECTS, "expects";
    NONE, "none";
    YET, "yet";
    DENIES, "denies";
    DEPENDS, "depends";
    WAS, "was";
}

/// Returns a sentence as it is listened to: in lower case, without the words that it quotes.
pub(super) fn heard(sentence: &str) -> String {
    const PAIRS: [(char, char); 7] =
        [('`', '`'), ('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('「', '」'), ('『', '』')];
    let text = folded(sentence);
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(character) = rest.chars().next() {
        let behind = &rest[character.len_utf8()..];
        let close = PAIRS
            .iter()
            .find(|(open, _)| *open == character)
            .and_then(|(_, close)| behind.find(*close).map(|at| (at, *close)));
        kept.push(character);
        rest = match close {
            // A word stays in its place, so that a sentence does not seem to begin behind it.
            Some((at, close)) => {
                kept.push('x');
                kept.push(close);
                &behind[at + close.len_utf8()..]
            }
            None => behind,
        };
    }
    kept
}

/// Returns whether a person settles something by this sentence.
pub(super) fn is_settled_by_person(heard: &str) -> bool {
    if asks(heard) || (supposes(heard) && !NORMS_WITHIN.occur(heard)) {
        return false;
    }
    let is_norm = NORMS.begin(heard) && !TELLS.begin(heard);
    let takes = TAKES.begin(without_opening(heard)) && WEIGHS.occur(heard);
    if SETTLES.occur(heard) || is_norm || takes {
        return true;
    }
    let (mut weight, mut strongest, mut covered) = (0.0, 0.0_f64, 0);
    for hit in DECISIONS.find(heard) {
        // A phrase inside another one has been heard already.
        if hit.start >= covered {
            weight += hit.label;
            strongest = strongest.max(hit.label);
            covered = hit.end;
        }
    }
    // Words that weigh little are in reports of faults as well: "it always shows the old total instead of the new one".
    strongest >= DECIDES || (weight >= DECIDES && HOLDS.occur(heard))
}

/// Words that have a rule be one although it depends on something.
static NORMS_WITHIN: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new(
        [
            "always", "never", "must", "immer", "nie", "niemals", "muss", "toujours", "jamais", "siempre",
            "nunca", "sempre", "必须", "必ず",
        ]
        .map(|phrase| (phrase, ())),
    )
});

/// Returns whether a model says by this sentence that it chose something, or that something was decided.
pub(super) fn is_choice_of_model(heard: &str) -> bool {
    if supposes(heard) || PLANS.begin(heard) || asks(heard) {
        return false;
    }
    let is_stated = |start: usize, end: usize| !ADVISES.occur(scope(heard, start, end));
    let chose = CHOSE.find(heard).iter().any(|hit| is_stated(hit.start, hit.end));
    chose || (REASONS.occur(heard) && WEIGHS.find(heard).iter().any(|hit| is_stated(hit.start, hit.end)))
}

/// Returns whether a sentence states something, and does not recommend or offer it.
pub(super) fn is_statement(heard: &str) -> bool {
    !is_unsure(heard) && !ADVISES.occur(scope(heard, 0, 0))
}

/// Returns whether a sentence says what was found out.
pub(super) fn finds(heard: &str) -> bool {
    let is_stated = |start: usize, end: usize| !SUPPOSES.occur(scope(heard, start, end));
    !is_unsure(heard) && FOUND.find(heard).iter().any(|hit| is_stated(hit.start, hit.end))
}

/// Returns whether a sentence only supposes, asks or announces.
pub(super) fn is_unsure(heard: &str) -> bool {
    supposes(heard) || asks(heard) || PLANS.begin(heard)
}

/// Returns whether a sentence leaves something to do.
pub(super) fn leaves_open(heard: &str) -> bool {
    if supposes(heard) || asks(heard) || EXPECTS.occur(heard) {
        return false;
    }
    let is_left = |start: usize| !NONE.occur(clause(heard, start));
    let is_named = NEXT.find(heard).iter().any(|hit| is_left(hit.start));
    !PLANS.begin(heard) && (is_named || NEXT_BEGINS.begin(heard)) || is_not_yet(heard)
}

/// Returns whether a sentence says that something is not so yet: now, and whatever else is so.
fn is_not_yet(heard: &str) -> bool {
    let is_now = |start: usize| {
        let clause = clause(heard, start);
        !WAS.occur(clause) && !DEPENDS.occur(&heard[place_of(heard, clause)..start])
    };
    let said = YET.find(heard).into_iter().any(|hit| {
        let word = &heard[hit.start..hit.end];
        // In Japanese and Korean the word means "still", too.
        let is_whole = !matches!(word, "まだ" | "아직") || DENIES.occur(&heard[hit.end..]);
        is_whole && is_now(hit.start)
    });
    let yet = || {
        heard.match_indices("yet").any(|(at, word)| {
            let is_word = !heard[..at].ends_with(char::is_alphanumeric)
                && !heard[at + word.len()..].starts_with(char::is_alphanumeric);
            let start = place_of(heard, clause(heard, at));
            is_word && DENIES.occur(&heard[start..at]) && is_now(at)
        })
    };
    said || yet()
}

/// Returns whether a sentence depends on what may not be so.
fn supposes(heard: &str) -> bool {
    SUPPOSING.begin(without_opening(heard))
}

/// Returns whether a sentence asks, whatever mark it has.
pub(super) fn asks(heard: &str) -> bool {
    let ends = ["吗", "呢", "ですか", "ますか", "でしょうか", "까요", "나요"];
    let heard_first = without_opening(heard);
    // "Wie besprochen" is no question.
    (ASKS.begin(heard_first) && !CHOSE.begin(heard_first))
        || ends.iter().any(|end| heard.trim_end().ends_with(end))
}

/// Returns a sentence without words at its beginning that say nothing.
fn without_opening(heard: &str) -> &str {
    const OPENINGS: [&str; 24] = [
        "and", "but", "so", "ok", "okay", "well", "then", "also", "yes", "no", "please", "hmm", "und",
        "aber", "dann", "also", "et", "mais", "alors", "y", "pero", "entonces", "e", "mas",
    ];
    let mut rest = heard.trim_start();
    while let Some(opening) = OPENINGS.iter().find_map(|opening| {
        let behind = rest.strip_prefix(opening)?;
        behind.starts_with([' ', ',']).then(|| behind.trim_start_matches([' ', ',']))
    }) {
        rest = opening;
    }
    rest
}

/// Where a clause ends.
const MARKS: [char; 14] = [',', ';', ':', '–', '—', '(', ')', '.', '，', '；', '：', '。', '（', '、'];

/// Returns the clause around a place.
fn clause(heard: &str, at: usize) -> &str {
    let start = heard[..at]
        .rfind(MARKS)
        .map_or(0, |mark| mark + heard[mark..].chars().next().map_or(0, char::len_utf8));
    let end = heard[at..].find(MARKS).map_or(heard.len(), |mark| at + mark);
    &heard[start..end]
}

/// Returns where a part of a text begins in it.
fn place_of(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// Returns what governs a phrase: everything up to the end of its clause, but for what is contrasted with it. What is behind a
/// reason may be hypothetical.
fn scope(heard: &str, start: usize, end: usize) -> &str {
    const CONTRASTS: [&str; 8] = [" but ", " aber ", " mais ", " pero ", " mas ", " но ", "但", "; "];
    const REASONS: [&str; 12] = [
        " because ",
        " since ",
        " so that ",
        " which ",
        " as it ",
        " to avoid ",
        " weil ",
        " damit ",
        " parce que ",
        " car ",
        " porque ",
        "因为",
    ];
    let begun = CONTRASTS
        .iter()
        .filter_map(|word| heard[..start].rfind(word).map(|at| at + word.len()))
        .max()
        .unwrap_or(0);
    let marked = heard[end..].find(MARKS);
    let reasoned = REASONS.iter().filter_map(|word| heard[end..].find(word)).min();
    let ended = marked.into_iter().chain(reasoned).min().map_or(heard.len(), |at| end + at);
    &heard[begun..ended]
}

#[cfg(test)]
mod tests {
    use crate::make::prose::{self, Said};

    /// Checks what each of these sentences counts as: `kind | sentence`, where the kinds are decision, finding, open and none.
    #[track_caller]
    fn check(said: fn(&str) -> Said, table: &str) {
        let kinds = |said: &Said| {
            let lists = [("decision", &said.decisions), ("finding", &said.discoveries), ("open", &said.next)];
            let kinds: Vec<&str> =
                lists.into_iter().filter(|(_, list)| !list.is_empty()).map(|(kind, _)| kind).collect();
            if kinds.is_empty() { "none".to_owned() } else { kinds.join("+") }
        };
        let rows = table.lines().map(str::trim).filter(|line| !line.is_empty());
        let wrong: Vec<String> = rows
            .filter_map(|row| {
                let (expected, text) = row.split_once(" | ").unwrap();
                let found = kinds(&said(&text.replace("\\n", "\n")));
                (found != expected.trim()).then(|| format!("{found} instead of {row}"))
            })
            .collect();
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    }

    #[test]
    fn of_a_model_what_it_chose_decides_and_not_what_it_advises() {
        check(
            prose::of_model,
            "
            none     | I'd suggest using Redis for the sessions instead of Postgres, because it expires keys by itself.
            none     | You could move the queue to its own process rather than a thread so that a crash stays there.
            none     | Option A would use SQLite instead of a server, which keeps the setup small.
            none     | We should switch from cron to a queue, since the job takes longer than its interval.
            none     | My recommendation is to keep the monolith instead of splitting it, because the team is small.
            none     | I would go with the second one rather than the first to avoid the lock.
            none     | Either we keep the index or we decided to scan every time, both work.
            none     | If you went with Kafka, consumers would need their own offsets.
            none     | **Recommendation:** hash partitions instead of one per tenant, because planning stays fast.
            none     | ## Options\\n- Use a list instead of a map, to keep the order\\n- Use a map with an index
            none     | The comment says “we decided to use floats instead of cents because of the old API”.
            none     | // we decided to use a list instead of a map because of the order
            none     | The parser uses a list instead of a map, so the order stays.
            none     | The page showed the wrong name because it used the cached user instead of the session.
            none     | I'll now use the staging database instead of production to avoid trouble.
            none     | Ich würde Redis statt Postgres nehmen, weil es Schlüssel selbst verfallen lässt.
            none     | Man könnte statt des Threads einen Prozess nehmen, damit ein Absturz dort bleibt.
            none     | Je propose d'utiliser Redis au lieu de Postgres pour éviter les verrous.
            none     | On pourrait garder la table plutôt que la vue, sinon tout est recalculé.
            none     | Te recomiendo usar Redis en vez de Postgres para evitar bloqueos.
            none     | Podríamos usar una cola en lugar de cron, porque el trabajo tarda más.
            none     | Eu usaria o Redis em vez do Postgres para evitar bloqueios.
            none     | Я бы выбрал Redis вместо Postgres, чтобы не было блокировок.
            none     | 建议使用 Redis 而不是 Postgres，避免锁竞争。
            none     | Postgres の代わりに Redis を使うことをお勧めします。
            none     | Postgres 대신 Redis를 사용하는 것을 추천합니다.
            decision | I used a unique column rather than a second table because old rows need no backfill.
            decision | I went with a partial index, since only open orders are searched.
            decision | I decided against a cache: prices change every hour.
            decision | As agreed, the public field keeps its old name.
            decision | I kept the retry in the client so that the server stays free of state.
            decision | Errors are deliberately swallowed here, the caller logs them.
            decision | **Decision:** one table per tenant, enforced by the schema.
            decision | Ich habe mich für eine eigene Tabelle entschieden, weil alte Zeilen so bleiben können.
            decision | J'ai choisi une colonne unique plutôt qu'une seconde table.
            decision | Opté por una columna única porque las filas antiguas no cambian.
            decision | Optei por uma coluna única porque as linhas antigas não mudam.
            decision | Я выбрал отдельный индекс, потому что ищут только открытые заказы.
            decision | 我选择了唯一索引，因为旧数据不需要回填。
            ",
        );
    }

    #[test]
    fn of_a_model_only_what_is_so_is_found_and_only_what_is_left_is_open() {
        check(
            prose::of_model,
            "
            finding  | The root cause was a missing index on the orders table.
            finding  | It turns out that the scheduler runs twice on the night of the clock change.
            finding  | The query went from 480 ms to 12 ms.
            finding  | Die Ursache war ein fehlender Index auf der Tabelle orders.
            finding  | La cause est un index manquant sur la table des commandes.
            finding  | El problema era que la sesión no se cerraba nunca.
            none     | If the root cause is the proxy, the header will be missing in the log.
            none     | The root cause could be the proxy or the cache in front of it.
            none     | What was the root cause of the failing nightly import
            none     | That would bring the query from 480 ms to 12 ms.
            none     | I'll look for the root cause of the failing nightly import now.
            none     | Wenn die Ursache der Proxy ist, fehlt der Header im Log.
            none     | La cause pourrait être le proxy ou le cache.
            none     | The Next.js build prints the next line of the log.
            none     | The worker waits for the queue to drain before it stops.
            none     | The next step button is disabled until the form is valid.
            none     | The retry has nothing to do with the old client.
            none     | Nothing is left to do on the server side.
            none     | There are no open questions about the export.
            none     | I'll now run the tests and wait for the result.
            none     | The banner is hidden when the user is not yet logged in.
            none     | The token was not yet valid, so the call failed early.
            none     | You should now see the new button on the page.
            none     | Es ist nichts mehr noch offen bei den Rechnungen.
            none     | Il n'y a plus rien à faire côté serveur.
            none     | Not done: nothing
            open     | Not done: the Windows build
            open     | The Windows build is not tested yet.
            open     | Search isn't wired up yet.
            open     | The docs haven't been updated yet.
            open     | Still to do: the migration of the old orders.
            open     | ## Known issues\\n- The map flickers on Safari
            open     | ## Follow-ups\\n- Rename the config key
            open     | **Left:** the metrics for the new queue
            open     | - [ ] update the screenshots in the guide
            open     | You still need to rotate the key on staging.
            open     | ## Offen\\n- Der Export nach Excel
            open     | Der Export nach Excel ist noch nicht umgestellt.
            open     | Noch zu tun: die Übersetzung der Meldungen
            open     | Reste à faire : la migration des anciennes commandes
            open     | La recherche n'est pas encore branchée.
            open     | Pendiente: la migración de los pedidos antiguos
            open     | La búsqueda todavía no está conectada.
            open     | A busca ainda não está ligada ao novo índice.
            open     | Поиск ещё не подключён к новому индексу.
            open     | 未完了：古い注文の移行
            open     | 検索はまだ新しい索引に対応していません。
            open     | 搜索功能尚未接入新的索引。
            open     | 검색은 아직 새 색인에 연결되지 않았습니다.
            open     | खोज अभी तक नहीं जोड़ी गई है।
            ",
        );
    }

    #[test]
    fn a_person_decides_by_what_they_settle_and_not_by_what_they_report_or_ask() {
        check(
            prose::of_person,
            "
            decision | use pnpm instead of npm
            decision | Use UTC everywhere instead of local time, because cron runs twice otherwise.
            decision | we'll stay with Postgres for now
            decision | never use floats for money again
            decision | We're sticking with REST, GraphQL is too much for three people.
            decision | From now on every migration sets a lock timeout.
            decision | Nimm SQLite statt Postgres, das reicht für die Tests.
            decision | Wir bleiben bei Postgres.
            decision | Port 25 nehmen wir nie wieder.
            decision | Utilise pnpm au lieu de npm.
            decision | On reste sur Postgres pour l'instant.
            decision | Usa pnpm en vez de npm.
            decision | Nos quedamos con Postgres.
            decision | Continuamos com Postgres por enquanto.
            decision | Используй pnpm вместо npm.
            decision | 继续用 Postgres，不换了
            decision | npm の代わりではなく、今後は pnpm を使います
            decision | 앞으로는 pnpm을 사용합시다
            none     | should we go with Redis or Postgres for this
            none     | what happens if we switch to Postgres and the job runs twice
            none     | If we switch to Postgres, the export has to change.
            none     | I was thinking we'll use Redis, but I don't know it well
            none     | The cart always shows the old total instead of the new one.
            none     | The API rejected the request with 403 forbidden.
            none     | By default the list is sorted by name, that looks odd.
            none     | First run the tests, then fix the rest, don't ask me
            none     | It never worked on my machine.
            none     | Wenn wir Postgres nehmen, muss der Export anders werden?
            none     | Sollen wir Redis nehmen oder Postgres
            none     | Was passiert, wenn wir Postgres verwenden
            none     | Faut-il passer à Redis ou garder Postgres
            none     | ¿Usamos Redis o Postgres?
            none     | Das Zertifikat läuft ab, der Renew funktioniert nicht.
            ",
        );
    }

    #[test]
    fn advice_in_other_words_decides_nothing() {
        check(
            prose::of_model,
            "
            none     | A cleaner way would be to store the state in the URL rather than in a cookie, because links stay shareable.
            none     | If you prefer, I can use zod instead of the hand-written checks.
            none     | I'd lean towards nginx over HAProxy since the team already knows it.
            none     | Consider replacing moment with date-fns instead of patching it, to avoid the bundle size.
            none     | Happy to switch to pnpm instead of npm if you like.
            none     | It might be better to keep the lock in Redis rather than in the process so that two hosts agree.
            none     | Two options: keep the table as it is, or split it by tenant instead of by date to avoid hot spots.
            none     | Suggestion: use a queue instead of a cron job, because jobs overlap.
            none     | **Possible fix:** retry with backoff rather than at once, so that the server recovers.
            none     | The docs say \"we chose eventual consistency over locking\".
            none     | `retry` uses exponential backoff instead of a fixed delay.
            none     | The old code kept the connection open instead of returning it, so the pool ran dry.
            none     | Shall I use the v2 API instead of v1 because v1 goes away in May?
            none     | Had we decided on Postgres, the lock would not be needed.
            none     | Let me use the debug build instead of the release one to see the symbols.
            none     | Mein Vorschlag: statt der Schleife eine Abfrage, weil das schneller ist.
            none     | Ich empfehle, die Spalte zu behalten statt sie zu löschen, damit alte Clients laufen.
            none     | Wir sollten lieber einen Index anlegen statt zu cachen, weil Preise sich ändern.
            none     | Il vaudrait mieux garder le cache plutôt que de tout relire, sinon la page est lente.
            none     | Vous pourriez utiliser une file au lieu d'un cron.
            none     | Sería mejor usar un índice en vez de una caché porque los precios cambian.
            none     | Se puede usar Redis en lugar de la base para evitar bloqueos.
            none     | Recomendo usar uma fila em vez do cron para evitar sobreposição.
            none     | Лучше использовать очередь вместо cron, чтобы задачи не пересекались.
            none     | 可以改用队列而不是定时任务，避免重叠。
            none     | cron の代わりにキューを使うほうがよいでしょう。
            decision | I chose the streaming parser over the DOM one because the files reach 2 GB.
            decision | We agreed that prices are stored in cents.
            decision | I left the old endpoint in place on purpose, two clients still call it.
            decision | I replaced the polling with a webhook instead of raising the interval, to avoid the load.
            decision | I opted for a soft delete so orders can be restored.
            decision | I settled on three retries; more only hides outages.
            decision | The id stays a string, as decided on Monday.
            decision | ## Decisions made\\n- Timestamps are stored in UTC only
            decision | Ich habe bewusst keinen Cache eingebaut, die Preise ändern sich stündlich.
            decision | Wie besprochen bleibt das alte Feld im JSON.
            decision | J'ai gardé l'ancien champ, deux clients l'utilisent encore.
            decision | He decidido no usar caché porque los precios cambian cada hora.
            decision | Decidi manter o campo antigo porque dois clientes ainda o usam.
            decision | 两个客户端还在使用旧字段，所以我决定保留它。
            decision | 旧フィールドは二つのクライアントが使っているため、残すことにしました。
            ",
        );
    }

    #[test]
    fn what_is_left_is_open_under_any_heading_and_in_any_language() {
        check(
            prose::of_model,
            "
            finding  | The reason was a stale lock file left behind by the killed worker.
            finding  | I found that two workers share one connection.
            finding  | Turns out the proxy strips the header before it reaches the app.
            finding  | The bundle shrank from 1.4 MB to 380 kB.
            finding  | Es stellte sich heraus, dass der Proxy den Header entfernt.
            finding  | L'erreur était un fuseau horaire oublié dans la conversion.
            finding  | La causa es una zona horaria olvidada en la conversión.
            finding  | 原因是缓存没有失效，旧价格一直被返回。
            none     | Maybe the cause is the proxy in front of the app.
            none     | The bug might be caused by the proxy in front of the app.
            none     | Unless the cause is the proxy, the header must be there.
            none     | Could the reason be a stale lock file of the worker?
            none     | Next I'll find out what the root cause of this timeout is.
            none     | The error message reads \"root cause: lock file is stale and old\".
            none     | Si la causa es el proxy, falta la cabecera en el registro.
            none     | Vielleicht ist die Ursache der Proxy vor der App.
            none     | Next.js 15 caches nothing by default any more in this route.
            none     | The loop reads the next step from the queue and runs it.
            none     | The consumer waits for tomorrow's batch file to arrive.
            none     | `TODO` comments are ignored by the linter in this folder.
            none     | No follow-up is needed for the old clients.
            none     | Nothing else is pending on the server.
            none     | Everything works, no open points remain on my side.
            none     | The check returns early because the cache is not ready yet.
            none     | While the page is not loaded yet, a spinner is shown.
            none     | The connection wasn't established yet when the first call came.
            none     | I'm going to run the whole suite next and report back.
            none     | You should see three rows in the table after the import.
            none     | Es gibt keine offenen Punkte mehr bei der Migration.
            none     | Aucun point ouvert ne reste à faire sur cette page.
            none     | No queda nada pendiente en el servidor.
            none     | 没有遗留的待办事项需要处理。
            none     | Follow-ups: none
            none     | ## Next steps\\nNone for now.
            open     | ## Remaining\\n- Retry on 503 in the Go client
            open     | **Not tested:** the upgrade from 2.x
            open     | To do: translate the error pages
            open     | What's left: the cleanup of the old bucket
            open     | Outstanding: a review by legal
            open     | The Go client doesn't retry on 503 yet.
            open     | I have not yet migrated the staging database.
            open     | Pagination has yet to be added to the export.
            open     | I didn't get to the mobile layout yet.
            open     | - [x] rename the field\\n- [ ] remove the alias in the config
            open     | You'll need to restart the agent on every host.
            open     | ## Open questions\\n- Who owns the bucket after the move?
            open     | ## Bekannte Probleme\\n- Die Karte flackert in Safari
            open     | Offene Punkte: Freigabe durch das Datenschutzteam
            open     | Die mobile Ansicht habe ich noch nicht angepasst.
            open     | Es fehlt noch ein Test für den Abbruch.
            open     | ## À faire\\n- la traduction des pages d'erreur
            open     | La vue mobile n'est pas encore adaptée.
            open     | Il reste à traduire les pages d'erreur.
            open     | ## Próximos pasos\\n- traducir las páginas de error
            open     | Aún no he migrado la base de pruebas.
            open     | Falta por traducir la página de error.
            open     | Pendências: traduzir as páginas de erro
            open     | Ainda não migrei o banco de testes.
            open     | Осталось: перевести страницы ошибок
            open     | Мобильная версия пока не готова.
            open     | 残課題：エラーページの翻訳
            open     | モバイル表示はまだ対応できていません。
            open     | 遗留问题：错误页面没有翻译
            open     | 移动端布局还没有适配。
            open     | 남은 작업: 오류 페이지 번역
            open     | 모바일 화면은 아직 적용하지 못했습니다.
            open     | बाकी काम: त्रुटि पृष्ठों का अनुवाद
            ",
        );
    }

    #[test]
    fn a_person_decides_in_other_words() {
        check(
            prose::of_person,
            "
            decision | please use tabs instead of spaces in Makefiles
            decision | Take the webhook rather than polling, we have enough load.
            decision | we're keeping the old endpoint until March
            decision | don't ever touch the generated files, never edit them by hand
            decision | we won't support IE11 any more
            decision | Let's go with three retries.
            decision | always write prices in cents, never as floats
            decision | no more feature flags in this service
            decision | Ab jetzt immer pnpm, nicht npm.
            decision | lieber Vitest statt Jest, das ist schneller
            decision | Wir nehmen Hetzner, weil die Daten in der EU bleiben müssen.
            decision | Désormais on écrit les prix en centimes.
            decision | Prends Vitest plutôt que Jest.
            decision | A partir de ahora los precios van en céntimos.
            decision | nunca más usamos floats para dinero
            decision | Mejor Vitest en lugar de Jest, es más rápido.
            decision | Nunca mais usamos float para dinheiro.
            decision | Остаёмся на Postgres, Redis не нужен.
            decision | больше никогда не используем float для денег
            decision | 以后都用分来存价格
            decision | 今後は価格をセントで保存する
            decision | 다시는 float를 쓰지 말자
            none     | can you use Vitest instead of Jest and see if it's faster
            none     | why did we go with three retries
            none     | Maybe we'll go with Vitest, not sure
            none     | if we keep the old endpoint the mobile app would still work
            none     | the export gives me floats instead of cents, always
            none     | Never seen that error before, what is it
            none     | The default timeout is too short for the export.
            none     | method not allowed when I post the form
            none     | the spinner never stops when I cancel
            none     | The README says \"we decided to use Jest\" but the repo has none.
            none     | // we decided to use floats, see the ticket
            none     | Warum nehmen wir eigentlich drei Versuche
            none     | Falls wir Vitest nehmen, müssen die Mocks anders sein.
            none     | Der Export zeigt immer noch den alten Preis statt des neuen.
            none     | pourquoi on garde Jest
            none     | si on garde Jest il faut changer les mocks
            none     | El botón siempre muestra el precio viejo en vez del nuevo.
            none     | почему мы используем float
            none     | 为什么我们用浮点数存价格
            ",
        );
    }
}
