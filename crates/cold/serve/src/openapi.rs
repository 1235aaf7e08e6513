//! The OpenAPI document: paths from the table of routes, schemas from `schemas.json`.

use crate::routes::{Call, ROUTES, Route};
use serde_json::{Map, Value, json};

/// What the schemas are called that routes name.
const SCHEMAS: &str = include_str!("schemas.json");

/// Parameters: name, whether it is in the path, whether a request needs it, its schema and what it means.
const PARAMETERS: &[(&str, &str, bool, &str, &str)] = &[
    ("id", "path", true, r#"{"type": "string"}"#, "A number, or one of Wyren's ids with 8 characters."),
    (
        "word",
        "query",
        true,
        r#"{"type": "string", "pattern": "^[0-9a-f]{64}$"}"#,
        "A word that the server cannot know before.",
    ),
    ("offset", "query", false, r#"{"type": "integer", "minimum": 0}"#, "How many are left out."),
    (
        "limit",
        "query",
        false,
        r#"{"type": "integer", "minimum": 1}"#,
        "The most that are returned; large ones count as 100.",
    ),
    ("project", "query", false, r#"{"type": "string"}"#, "The name of a project, or several with commas."),
    ("projects", "query", false, r#"{"type": "string"}"#, "The names of projects, with commas."),
    ("platformSource", "query", false, r#"{"type": "string"}"#, "The agent, as claude-mem names it."),
    (
        "path",
        "query",
        true,
        r#"{"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 100}"#,
        "A file; may be repeated.",
    ),
    ("filePath", "query", true, r#"{"type": "string"}"#, "A file."),
    ("query", "query", false, r#"{"type": "string"}"#, "Words; any of them counts."),
    (
        "type",
        "query",
        false,
        r#"{"type": "string"}"#,
        "observations, sessions or prompts, or several with commas; else as obs_type.",
    ),
    ("obs_type", "query", false, r#"{"type": "string"}"#, "Types of entries, with commas."),
    (
        "concepts",
        "query",
        false,
        r#"{"type": "string"}"#,
        "Concepts of entries, with commas; one of them is enough.",
    ),
    (
        "orderBy",
        "query",
        false,
        r#"{"enum": ["relevance", "date_desc", "date_asc"]}"#,
        "The order of the rows; without words, relevance is date_desc.",
    ),
    ("files", "query", false, r#"{"type": "string"}"#, "A file or folder, or several with commas."),
    ("dateStart", "query", false, r#"{"type": "string"}"#, "A date, or milliseconds since 1970."),
    (
        "dateEnd",
        "query",
        false,
        r#"{"type": "string"}"#,
        "A date, which is included, or milliseconds since 1970.",
    ),
    ("format", "query", false, r#"{"type": "string"}"#, "json for rows; a text else."),
    ("anchor", "query", false, r#"{"type": "string"}"#, "An id, S and the id of a summary, or a moment."),
    ("depth_before", "query", false, r#"{"type": "integer", "minimum": 0}"#, "How many from before."),
    ("depth_after", "query", false, r#"{"type": "integer", "minimum": 0}"#, "How many from after."),
    ("full", "query", false, r#"{"type": "string"}"#, "true for the newest entries in full."),
    ("colors", "query", false, r#"{"type": "string"}"#, "Without an effect."),
];

/// Returns the document.
pub fn document() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for route in ROUTES {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.name()] = operation(route);
    }
    let schemas: Value = serde_json::from_str(SCHEMAS).unwrap_or_default();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "wyren serve",
            "version": "1",
            "description": "What Wyren remembers, for programs that know claude-mem's worker. Listens on 127.0.0.1 only.",
        },
        "servers": [{"url": "http://127.0.0.1:37777"}],
        "security": [{"bearer": []}, {"header": []}, {"parameter": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "header": {"type": "apiKey", "in": "header", "name": "X-Wyren-Token"},
                "parameter": {"type": "apiKey", "in": "query", "name": "token"},
            },
            "schemas": schemas,
        },
    })
}

fn operation(route: &Route) -> Value {
    let kind = match route.call {
        Call::Json(_) => "application/json",
        Call::Text(_) => "text/plain",
        Call::Stream => "text/event-stream",
    };
    let schema = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let failed = |about: &str| json!({"description": about, "content": {"application/json": {"schema": schema("Error")}}});
    let mut operation = json!({
        "summary": route.about,
        "parameters": route.parameters.iter().map(|name| parameter(name)).collect::<Value>(),
        "responses": {
            "200": {"description": "The answer.", "content": {kind: {"schema": schema(route.answer)}}},
            "400": failed("The request cannot be understood."),
            "401": failed("The token is missing or wrong."),
            "403": failed("Host or Origin name another machine."),
            "404": failed("There is no such thing."),
            "503": failed("Another program keeps the database, or too many listen."),
        },
    });
    if !route.needs_token {
        operation["security"] = json!([]);
    }
    if let Some(body) = route.body {
        operation["requestBody"] =
            json!({"required": true, "content": {"application/json": {"schema": schema(body)}}});
        operation["responses"]["408"] = failed("The body did not come in time.");
        operation["responses"]["413"] = failed("The body is too large.");
        operation["responses"]["507"] = failed("The disk is full.");
    }
    operation
}

fn parameter(name: &str) -> Value {
    let Some((_, place, is_needed, schema, about)) = PARAMETERS.iter().find(|(known, ..)| *known == name)
    else {
        return Value::Null;
    };
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    json!({"name": name, "in": place, "required": is_needed, "description": about, "schema": schema})
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn every_route_is_in_the_document_and_every_path_of_it_is_a_route() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/openapi.json");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&file, format!("{:#}\n", document())).unwrap();
        }
        let written: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let of_document: BTreeSet<(String, String)> = written["paths"]
            .as_object()
            .unwrap()
            .iter()
            .flat_map(|(path, methods)| {
                methods
                    .as_object()
                    .unwrap()
                    .keys()
                    .map(|method| (path.clone(), method.clone()))
                    .collect::<Vec<_>>()
            })
            .collect();
        let of_table: BTreeSet<(String, String)> =
            ROUTES.iter().map(|route| (route.path.to_owned(), route.method.name().to_owned())).collect();
        assert_eq!(of_document, of_table);
        assert_eq!(of_table.len(), ROUTES.len(), "a route is there twice");
        assert_eq!(written, document(), "UPDATE_GOLDEN=1 cargo test -p wyren-serve writes docs/openapi.json");
    }

    #[test]
    fn every_name_of_a_schema_or_parameter_is_known_and_used() {
        let document = document();
        let text = document.to_string();
        let schemas = document["components"]["schemas"].as_object().unwrap();
        assert!(!schemas.is_empty());
        for route in ROUTES {
            for name in route.body.into_iter().chain([route.answer]) {
                assert!(schemas.contains_key(name), "{}: {name}", route.path);
            }
            for name in route.parameters {
                assert!(!parameter(name).is_null(), "{}: {name}", route.path);
            }
        }
        for name in schemas.keys() {
            assert!(text.contains(&format!("#/components/schemas/{name}\"")), "{name} is used by no route");
        }
        for (name, ..) in PARAMETERS {
            assert!(ROUTES.iter().any(|route| route.parameters.contains(name)), "{name} is used by no route");
        }
    }
}
