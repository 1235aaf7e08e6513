//! Search by meaning, with an embeddings server on the loopback interface that is scripted.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use wyren_tests::mock::Mock;
use wyren_tests::sandbox::{Sandbox, feed};

/// One number for each of three topics: what a model would know.
fn vector(text: &str) -> Value {
    let topics = [["car", "vehicle"], ["login", "sign-in"], ["rain", "weather"]];
    let of = |words: [&str; 2]| if words.iter().any(|word| text.contains(word)) { 1.0 } else { 0.01 };
    json!(topics.map(of))
}

/// A server that answers every request for vectors.
fn server() -> Result<Mock> {
    let mock = Mock::start()?;
    mock.speak(|request| {
        if !request.path.ends_with("/v1/embeddings") {
            return None;
        }
        let texts = request.body["input"].as_array()?.clone();
        let data: Vec<Value> = texts
            .iter()
            .enumerate()
            .map(|(index, text)| json!({"index": index, "embedding": vector(text.as_str().unwrap_or_default())}))
            .collect();
        Some(("application/json", json!({ "data": data }).to_string()))
    });
    Ok(mock)
}

fn wyren(sandbox: &Sandbox, arguments: &[&str]) -> Result<String> {
    let output = sandbox.wyren(arguments)?;
    ensure!(output.status.success(), "{arguments:?}: {output:?}");
    Ok(String::from_utf8(output.stdout)?)
}

fn set_up(sandbox: &Sandbox, mock: &Mock) -> Result<()> {
    wyren(sandbox, &["config", "set", "search.embeddings_endpoint", &format!("{}/v1", mock.base_url())])?;
    wyren(sandbox, &["config", "set", "search.embeddings_model", "small"])?;
    Ok(())
}

/// Has texts remembered; returns their ids.
fn remember(sandbox: &Sandbox, texts: &[&str]) -> Result<Vec<String>> {
    let of = |text: &&str| -> Result<String> {
        let facts: Value = serde_json::from_str(&wyren(sandbox, &["remember", "--json", text])?)?;
        Ok(facts["id"].as_str().context("no id")?.to_owned())
    };
    texts.iter().map(of).collect()
}

fn work(sandbox: &Sandbox) -> Result<()> {
    let output = feed(sandbox.command("wyren").args(["worker", "run", "--until-idle"]), b"")?;
    ensure!(output.status.success(), "{output:?}");
    Ok(())
}

/// Returns the titles of what is found, best first, and what was printed besides.
fn search(sandbox: &Sandbox, words: &str) -> Result<(Vec<String>, String)> {
    let output = sandbox.wyren(&["search", "--json", "--limit", "1000", words])?;
    ensure!(output.status.success(), "{output:?}");
    let facts: Value = serde_json::from_slice(&output.stdout)?;
    let hits = facts["hits"].as_array().context("no hits")?;
    // Lessons that ship are found, too.
    let own = hits.iter().filter(|hit| hit["is"] != "lesson");
    let titles = own.map(|hit| hit["title"].as_str().unwrap_or_default().to_owned()).collect();
    Ok((titles, String::from_utf8(output.stderr)?))
}

fn vectors(sandbox: &Sandbox) -> Vec<PathBuf> {
    let files = fs::read_dir(sandbox.data().join("search/meaning")).into_iter().flatten().flatten();
    files
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "vec"))
        .collect()
}

const TEXTS: [&str; 3] = ["The vehicle broke down", "The sign-in page is slow", "A login takes long"];

#[test]
fn what_has_other_words_is_found_once_a_server_is_set_up() -> Result<()> {
    let (Some(sandbox), mock) = (Sandbox::new()?, server()?) else { return Ok(()) };
    remember(&sandbox, &TEXTS)?;
    work(&sandbox)?;
    assert_eq!(search(&sandbox, "car")?.0, Vec::<String>::new());
    assert_eq!((mock.requests().len(), vectors(&sandbox).len()), (0, 0), "it is off by default");

    set_up(&sandbox, &mock)?;
    remember(&sandbox, &["Rain is expected"])?;
    work(&sandbox)?;
    assert!(!vectors(&sandbox).is_empty());
    let (found, said) = search(&sandbox, "car")?;
    assert_eq!((&*found[0], &*said), (TEXTS[0], ""));
    let (found, _) = search(&sandbox, "login")?;
    assert_eq!(found[..2], [TEXTS[2], TEXTS[1]]);
    let asked = mock.requests();
    assert!(asked.iter().all(|request| request.body["model"] == "small"));

    // What has a vector is not asked for again.
    work(&sandbox)?;
    assert_eq!(mock.requests().len(), asked.len());
    Ok(())
}

#[test]
fn without_an_answer_search_is_what_it_is_without_a_server() -> Result<()> {
    let (Some(sandbox), mock) = (Sandbox::new()?, server()?) else { return Ok(()) };
    set_up(&sandbox, &mock)?;
    remember(&sandbox, &TEXTS)?;
    work(&sandbox)?;
    drop(mock);
    let (found, said) = search(&sandbox, "login page")?;
    assert_eq!(found, [TEXTS[1], TEXTS[2]]);
    assert!(said.starts_with("Searched by words alone: "), "{said}");
    // The worker goes on without it, and no job is left behind as failed.
    remember(&sandbox, &["A new car"])?;
    work(&sandbox)?;
    let jobs: Value = serde_json::from_str(&wyren(&sandbox, &["jobs", "--json"])?)?;
    assert!(!jobs.to_string().contains("\"dead\""), "{jobs}");
    assert_eq!(search(&sandbox, "new car")?.0, ["A new car"]);
    Ok(())
}

#[test]
fn a_server_elsewhere_is_refused_and_a_variable_names_none() -> Result<()> {
    let (Some(sandbox), mock) = (Sandbox::new()?, server()?) else { return Ok(()) };
    wyren(&sandbox, &["config", "set", "search.embeddings_endpoint", "http://192.0.2.1/v1"])?;
    remember(&sandbox, &TEXTS)?;
    work(&sandbox)?;
    assert!(vectors(&sandbox).is_empty());
    assert_eq!(search(&sandbox, "login")?.0, [TEXTS[2]]);
    wyren(&sandbox, &["config", "set", "search.embeddings_endpoint", ""])?;
    let mut worker = sandbox.command("wyren");
    worker.args(["worker", "run", "--until-idle"]);
    worker.env("WYREN_SEARCH_EMBEDDINGS_ENDPOINT", format!("{}/v1", mock.base_url()));
    feed(&mut worker, b"")?;
    assert!(mock.requests().is_empty());
    Ok(())
}

#[test]
fn no_more_is_asked_than_a_day_allows() -> Result<()> {
    let (Some(sandbox), mock) = (Sandbox::new()?, server()?) else { return Ok(()) };
    set_up(&sandbox, &mock)?;
    wyren(&sandbox, &["config", "set", "search.embeddings_daily", "2"])?;
    remember(&sandbox, &TEXTS)?;
    work(&sandbox)?;
    work(&sandbox)?;
    let texts: usize =
        mock.requests().iter().filter_map(|request| Some(request.body["input"].as_array()?.len())).sum();
    assert_eq!(texts, 2);
    Ok(())
}

#[test]
fn what_is_forgotten_has_no_vector() -> Result<()> {
    let (Some(sandbox), mock) = (Sandbox::new()?, server()?) else { return Ok(()) };
    set_up(&sandbox, &mock)?;
    let ids = remember(&sandbox, &TEXTS)?;
    work(&sandbox)?;
    let before = vectors(&sandbox);
    assert!(!before.is_empty());
    wyren(&sandbox, &["forget", "--id", &ids[0], "--yes"])?;
    assert!(vectors(&sandbox).iter().all(|path| !before.contains(path)), "the file that had it is gone");
    assert!(!search(&sandbox, "car")?.0.contains(&TEXTS[0].to_owned()));
    wyren(&sandbox, &["forget", "--id", &ids[1], "--yes"])?;
    wyren(&sandbox, &["forget", "--id", &ids[2], "--yes"])?;
    assert!(vectors(&sandbox).is_empty());
    Ok(())
}
