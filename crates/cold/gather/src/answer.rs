//! What a person answers when the model asks them with a tool.

use distiller::clean_cut;
use serde_json::Value;

/// The tool by which a model asks.
pub(crate) const ASKS: &str = "AskUserQuestion";

/// Returns each question with its answer, on a line: from the structured result of the call, or from what the model got to read.
pub(crate) fn answers(output: &str, result: Option<&str>, most_chars: usize) -> Vec<String> {
    let result: Option<Value> = result.and_then(|result| serde_json::from_str(result).ok());
    let structured = result.as_ref().and_then(|result| result["answers"].as_object());
    let pairs: Vec<(String, String)> = match structured.filter(|answers| !answers.is_empty()) {
        Some(answers) => {
            let text = |answer: &Value| answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
            answers.iter().map(|(question, answer)| (question.clone(), text(answer))).collect()
        }
        None => told(output),
    };
    let line =
        |(question, answer): (String, String)| clean_cut(&format!("{question} → {answer}"), most_chars);
    pairs.into_iter().map(line).collect()
}

/// Reads `"Which db?"="postgres", "Which port?"="5432"`.
fn told(output: &str) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut rest = output;
    while let Some((before, after)) = rest.split_once("\"=\"") {
        let question = before.rsplit_once('"').map_or(before, |(_, question)| question);
        // An answer may have quotation marks of its own.
        let end = ["\", \"", "\". ", "\" "].iter().filter_map(|end| after.find(end)).min();
        let end = end.unwrap_or_else(|| after.trim_end_matches(['"', '.', ' ']).len());
        pairs.push((question.to_owned(), after[..end].to_owned()));
        rest = &after[end..];
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_has_its_answer_beside_it() {
        let told = "User has answered your questions: \"Which db?\"=\"postgres\", \"Drop the old table?\"=\"no, keep it\". You can now continue with the user's answers in mind.";
        assert_eq!(answers(told, None, 200), ["Which db? → postgres", "Drop the old table? → no, keep it"]);
        let result = r#"{"questions":[],"answers":{"Which db?":"sqlite"}}"#;
        assert_eq!(answers(told, Some(result), 200), ["Which db? → sqlite"]);
        assert!(answers("The user did not answer.", None, 200).is_empty());
    }
}
