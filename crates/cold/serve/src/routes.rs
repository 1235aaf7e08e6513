//! Every route: one row each. The router and the OpenAPI document are made of this table, and a test compares both with
//! `docs/openapi.json`.

use crate::ask::Asked;
use crate::server::{Failed, Server};
use crate::{bring, find, ingest, keeper, rows, token};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

/// How a route is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    Get,
    Post,
}

impl Method {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
        }
    }
}

/// What answers.
#[derive(Clone, Copy)]
pub(crate) enum Call {
    Json(fn(&Server, &Asked) -> Result<Value, Failed>),
    Text(fn(&Server, &Asked) -> Result<String, Failed>),
    /// Server-sent events.
    Stream,
}

/// One route.
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) about: &'static str,
    /// Parameters of the path and the query, by their names in [`crate::openapi`].
    pub(crate) parameters: &'static [&'static str],
    /// The schema of the body.
    pub(crate) body: Option<&'static str>,
    /// The schema of the answer.
    pub(crate) answer: &'static str,
    pub(crate) needs_token: bool,
    pub(crate) call: Call,
}

const fn get(
    path: &'static str,
    about: &'static str,
    parameters: &'static [&'static str],
    answer: &'static str,
    call: fn(&Server, &Asked) -> Result<Value, Failed>,
) -> Route {
    Route {
        method: Method::Get,
        path,
        about,
        parameters,
        body: None,
        answer,
        needs_token: true,
        call: Call::Json(call),
    }
}

const fn post(
    path: &'static str,
    about: &'static str,
    body: &'static str,
    answer: &'static str,
    call: fn(&Server, &Asked) -> Result<Value, Failed>,
) -> Route {
    Route {
        method: Method::Post,
        path,
        about,
        parameters: &[],
        body: Some(body),
        answer,
        needs_token: true,
        call: Call::Json(call),
    }
}

const fn open(route: Route) -> Route {
    Route { needs_token: false, ..route }
}

const fn text(
    path: &'static str,
    about: &'static str,
    parameters: &'static [&'static str],
    call: fn(&Server, &Asked) -> Result<String, Failed>,
) -> Route {
    Route {
        method: Method::Get,
        path,
        about,
        parameters,
        body: None,
        answer: "Text",
        needs_token: true,
        call: Call::Text(call),
    }
}

const LIST: &[&str] = &["offset", "limit", "project", "platformSource"];
const FILTERS: &[&str] = &[
    "query",
    "type",
    "obs_type",
    "concepts",
    "files",
    "project",
    "platformSource",
    "dateStart",
    "dateEnd",
    "limit",
    "offset",
    "orderBy",
    "format",
];
const AROUND: &[&str] = &["anchor", "query", "depth_before", "depth_after", "project", "format"];

/// Every route.
pub(crate) const ROUTES: &[Route] = &[
    open(get("/health", "Says that a server is there.", &[], "Health", health)),
    open(get(
        "/api/health",
        "Says that a server is there; with the token, more about it.",
        &[],
        "Health",
        health,
    )),
    open(get("/api/readiness", "Says that requests are answered.", &[], "Readiness", readiness)),
    open(get(
        "/api/admin/prove",
        "Proves that the server has the token: the SHA-256 of `wyren serve`, the word and the token, on a line each.",
        &["word"],
        "Proof",
        prove,
    )),
    post("/api/admin/shutdown", "Ends the server.", "Empty", "Status", shutdown),
    get("/api/version", "The version of Wyren.", &[], "Version", version),
    get("/openapi.json", "This document.", &[], "Document", |_, _| Ok(crate::document())),
    post("/api/sessions/init", "A prompt was sent.", "Init", "Initialized", ingest::init),
    post("/api/sessions/observations", "A tool was called.", "ToolUse", "Queued", ingest::observation),
    post("/api/sessions/summarize", "A turn ended.", "TurnEnd", "Queued", ingest::summarize),
    post("/api/sessions/complete", "A session ended.", "SessionEnd", "Queued", ingest::complete),
    get(
        "/api/observations",
        "Entries of the journal, newest first.",
        LIST,
        "Observations",
        rows::observation_list,
    ),
    get("/api/summaries", "Summaries of turns, newest first.", LIST, "Summaries", rows::summary_list),
    get("/api/prompts", "Prompts, newest first.", LIST, "Prompts", rows::prompt_list),
    get("/api/observation/{id}", "One entry.", &["id"], "Observation", rows::one_observation),
    get("/api/session/{id}", "One summary.", &["id"], "Summary", rows::one_summary),
    get("/api/prompt/{id}", "One prompt.", &["id"], "Prompt", rows::one_prompt),
    get(
        "/api/observations/by-file",
        "Entries about files.",
        &["path", "projects", "limit", "platformSource"],
        "OfFile",
        rows::by_file,
    ),
    post("/api/observations/batch", "Entries by their ids.", "Batch", "ObservationArray", rows::batch),
    post(
        "/api/sdk-sessions/batch",
        "Sessions by their ids.",
        "SessionBatch",
        "SessionArray",
        rows::session_batch,
    ),
    get("/api/stats", "Counts and sizes.", &[], "Stats", rows::stats),
    get("/api/projects", "The projects, by the agents that worked in them.", &[], "Projects", rows::projects),
    get("/api/processing-status", "How much is not in the database yet.", &[], "Processing", processing),
    post("/api/import", "Takes rows as claude-mem exports them.", "Import", "Imported", bring::import),
    post("/api/memory/save", "Keeps a memory, as `wyren remember` does.", "Memory", "Saved", bring::save),
    get("/api/search", "Searches entries, summaries and prompts.", FILTERS, "Found", find::search),
    get("/api/search/observations", "Searches entries.", FILTERS, "Found", find::search_observations),
    get(
        "/api/search/by-file",
        "Finds entries about a file.",
        &["filePath", "project", "platformSource", "limit", "format"],
        "Found",
        find::search_by_file,
    ),
    get("/api/timeline", "What was before and after something.", AROUND, "Found", find::timeline),
    get(
        "/api/timeline/by-query",
        "What was before and after what a query finds.",
        AROUND,
        "Found",
        find::timeline,
    ),
    text(
        "/api/context/inject",
        "The index that a session is shown at its start.",
        &["project", "projects", "full", "colors", "platformSource"],
        find::inject,
    ),
    text("/api/context/preview", "The same index.", &["project", "projects", "full"], find::inject),
    get("/api/context/recent", "The last summaries.", &["project", "limit"], "Content", find::recent_context),
    post("/api/context/semantic", "What is known about a prompt.", "Semantic", "Context", find::semantic),
    Route {
        method: Method::Get,
        path: "/stream",
        about: "Server-sent events, with ids and replay by Last-Event-ID.",
        parameters: &[],
        body: None,
        answer: "Events",
        needs_token: true,
        call: Call::Stream,
    },
];

/// Returns every route by its method and path.
pub fn table() -> impl Iterator<Item = (Method, &'static str)> {
    ROUTES.iter().map(|route| (route.method, route.path))
}

/// What claude-mem serves and Wyren does not, by the beginning of the path, each with the reason.
const UNSERVED: &[(&str, &str)] = &[
    ("/api/settings", "settings are changed with `wyren config`, and no key is ever returned"),
    ("/api/logs", "logs are shown by `wyren log`"),
    ("/api/corpus", "there are no corpora: search answers without a model"),
    ("/api/chroma", "there is no Chroma: the search index is Wyren's own"),
    ("/api/mcp", "the MCP server is a program of its own and needs no switch here"),
    ("/api/sync", "nothing is synced to a cloud; teams share by git"),
    ("/api/onboarding", "there is no onboarding text"),
    ("/api/instructions", "instructions are in the skills of the plugin"),
    ("/api/admin/restart", "use `wyren serve stop` and `wyren serve start`"),
    ("/api/admin/doctor", "use `wyren doctor`"),
];
/// What deletes.
const DELETED: [&str; 4] = ["/api/observation/", "/api/summary/", "/api/session/", "/api/prompt/"];

/// Says why a path is not served.
pub(crate) fn why_not(method: &str, path: &str) -> &'static str {
    if method == "DELETE" && DELETED.iter().any(|begin| path.starts_with(begin)) {
        return "forgetting is a person's command: `wyren forget`";
    }
    let of_table = UNSERVED.iter().find(|(begin, _)| {
        path.strip_prefix(begin).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    match of_table {
        Some((_, reason)) => reason,
        None if path == "/" || path.starts_with("/ui") => {
            "there is no viewer; `/openapi.json` lists what is served"
        }
        None => "no such route; `/openapi.json` lists what is served",
    }
}

fn health(server: &Server, asked: &Asked) -> Result<Value, Failed> {
    let mut health = json!({"status": "ok", "server": "wyren"});
    if asked.is_known {
        health["version"] = server.version.into();
        health["uptime"] = server.began.elapsed().as_secs().into();
        health["pid"] = std::process::id().into();
        health["initialized"] = true.into();
        health["mcpReady"] = true.into();
        health["activeSessions"] = server.sessions().len().into();
        health["timestamp"] = base::Timestamp::now().millis().into();
    }
    Ok(health)
}

fn readiness(_: &Server, _: &Asked) -> Result<Value, Failed> {
    Ok(json!({"status": "ready"}))
}

fn version(server: &Server, _: &Asked) -> Result<Value, Failed> {
    Ok(json!({"version": server.version}))
}

fn prove(server: &Server, asked: &Asked) -> Result<Value, Failed> {
    let word = asked
        .query("word")
        .filter(|word| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let word = word.ok_or_else(|| "word is missing, or not 64 hexadecimal digits".to_owned())?;
    Ok(json!({"proof": token::proof(&server.token, word)}))
}

fn shutdown(server: &Server, _: &Asked) -> Result<Value, Failed> {
    server.is_over.store(true, Ordering::Relaxed);
    server.over.notify_one();
    Ok(json!({"status": "shutting_down"}))
}

fn processing(server: &Server, _: &Asked) -> Result<Value, Failed> {
    let mut status = keeper::status(server);
    if let Some(status) = status.as_object_mut() {
        status.remove("type");
    }
    Ok(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every route of claude-mem 13.15.3, with an id in place of a parameter.
    const OF_CLAUDE_MEM: [&str; 62] = [
        "GET /api/health",
        "GET /api/readiness",
        "GET /api/version",
        "GET /health",
        "GET /api/instructions",
        "POST /api/admin/restart",
        "POST /api/admin/shutdown",
        "GET /api/admin/doctor",
        "POST /api/sessions/init",
        "POST /api/sessions/observations",
        "POST /api/sessions/summarize",
        "POST /api/sessions/complete",
        "GET /api/observations",
        "GET /api/summaries",
        "GET /api/prompts",
        "GET /api/observation/{id}",
        "GET /api/session/{id}",
        "GET /api/prompt/{id}",
        "DELETE /api/observation/{id}",
        "DELETE /api/summary/{id}",
        "DELETE /api/prompt/{id}",
        "GET /api/observations/by-file",
        "POST /api/observations/batch",
        "POST /api/sdk-sessions/batch",
        "GET /api/stats",
        "GET /api/projects",
        "GET /api/processing-status",
        "POST /api/import",
        "GET /api/search",
        "GET /api/timeline",
        "GET /api/timeline/by-query",
        "GET /api/search/observations",
        "GET /api/search/by-file",
        "GET /api/context/recent",
        "GET /api/context/inject",
        "GET /api/context/preview",
        "POST /api/context/semantic",
        "POST /api/memory/save",
        "POST /api/corpus",
        "GET /api/corpus",
        "GET /api/corpus/name",
        "DELETE /api/corpus/name",
        "POST /api/corpus/name/rebuild",
        "POST /api/corpus/name/prime",
        "POST /api/corpus/name/query",
        "POST /api/corpus/name/reprime",
        "GET /api/settings",
        "POST /api/settings",
        "GET /api/settings/dependency-health",
        "GET /api/mcp/status",
        "POST /api/mcp/toggle",
        "GET /api/logs",
        "POST /api/logs/clear",
        "GET /api/chroma/status",
        "GET /api/sync/status",
        "GET /api/onboarding/explainer",
        "GET /",
        "GET /ui/viewer.js",
        "GET /stream",
        // Of earlier versions.
        "GET /ui",
        "DELETE /api/session/{id}",
        "GET /api/instructions/all",
    ];

    #[test]
    fn every_route_of_claude_mem_is_served_or_says_why_not() {
        for call in OF_CLAUDE_MEM {
            let (method, path) = call.split_once(' ').unwrap();
            let is_served =
                ROUTES.iter().any(|route| route.path == path && route.method.name() == method.to_lowercase());
            let reason = why_not(method, path);
            assert!(is_served || !reason.starts_with("no such route"), "{call}: {reason}");
        }
    }

    #[test]
    fn what_is_not_served_says_why() {
        assert!(why_not("DELETE", "/api/observation/5").contains("wyren forget"));
        assert!(why_not("GET", "/api/settings").contains("wyren config"));
        assert!(why_not("GET", "/api/settings/dependency-health").contains("wyren config"));
        assert!(why_not("GET", "/").contains("no viewer"));
        assert!(why_not("GET", "/api/settingsx").contains("no such route"));
    }
}
