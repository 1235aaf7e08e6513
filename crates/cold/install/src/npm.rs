//! What the client leaves behind of a plugin from npm: its own project of packages, from which it copies plugins.

use crate::jsonc::{self, Member, Node};
use base::files;
use std::fs;
use std::io;
use std::path::Path;

/// The owner of our packages, as a folder of `node_modules`.
const SCOPE: &str = "@wyren";

/// The files in which npm names packages, with the objects that have a member for each.
const NAMING: [(&str, &[&[&str]]); 3] = [
    ("package.json", &[&["dependencies"]]),
    ("package-lock.json", &[&["packages"], &["packages", "", "dependencies"]]),
    ("node_modules/.package-lock.json", &[&["packages"]]),
];

/// Takes our packages out of the client's project; without any other, the project itself goes. Returns whether there were any.
pub fn remove(project: &Path) -> io::Result<bool> {
    let ours = project.join("node_modules").join(SCOPE);
    if !ours.is_dir() {
        return Ok(false);
    }
    files::refuse_link(project)?;
    if !has_others(project)? {
        return fs::remove_dir_all(project).map(|()| true);
    }
    for (name, objects) in NAMING {
        let path = project.join(name);
        let text = match files::read_text_capped(&path, files::cap::SHARED) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let rest = objects.iter().try_fold(text.clone(), |text, object| without_ours(text, object));
        // A file that npm did not write stays as it is: npm looks at the folders as well.
        if let Some(rest) = rest.filter(|rest| *rest != text) {
            let permissions = fs::metadata(&path)?.permissions();
            files::write_atomic(&path, rest.as_bytes())?;
            fs::set_permissions(&path, permissions)?;
        }
    }
    fs::remove_dir_all(ours).map(|()| true)
}

/// Says whether packages of others are installed in a project.
fn has_others(project: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(project.join("node_modules"))? {
        let name = entry?.file_name();
        let is_npms_own = name.to_string_lossy().starts_with('.');
        if name != SCOPE && !is_npms_own {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_ours(member: &Member) -> bool {
    let name = member.key.strip_prefix("node_modules/").unwrap_or(&member.key);
    name.strip_prefix(SCOPE).is_some_and(|rest| rest.starts_with('/'))
}

/// Returns the text without the members of an object that are about our packages; nothing if it is not JSON.
fn without_ours(mut text: String, object: &[&str]) -> Option<String> {
    loop {
        let root = jsonc::parse(&text).ok()??;
        let found = object.iter().try_fold(&root, |node, key| Some(&node.member(key)?.value));
        let Some((node, index)) =
            found.and_then(|node| Some((node, node.members().iter().position(is_ours)?)))
        else {
            return Some(text);
        };
        text = without_member(&text, node, index);
    }
}

/// Returns the text without one member, the comma that goes with it and the space before it.
fn without_member(text: &str, object: &Node, index: usize) -> String {
    let members = object.members();
    let span = &members[index].span;
    let (from, to) = match jsonc::comma_after(text, span.end) {
        Some(comma) => (jsonc::end_before(text, span.start), comma + 1),
        None if index > 0 => (members[index - 1].span.end, span.end),
        None => (object.span.start + 1, object.span.end - 1),
    };
    format!("{}{}", &text[..from], &text[to..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// Writes the files that npm has for a project with these packages.
    fn write(project: &Path, packages: &[&str]) {
        let lines = |prefix: &str, value: &str| {
            let lines = packages.iter().map(|name| format!("    \"{prefix}{name}\": {value}"));
            lines.collect::<Vec<_>>().join(",\n")
        };
        let named = format!("{{\n  \"dependencies\": {{\n{}\n  }}\n}}\n", lines("", "\"^1.0.0\""));
        let locked = lines("node_modules/", "{ \"version\": \"1.0.0\" }");
        let hidden = format!("{{\n  \"requires\": true,\n  \"packages\": {{\n{locked}\n  }}\n}}\n");
        let root = format!("    \"\": {{ \"dependencies\": {{\n{}\n    }} }}", lines("", "\"^1.0.0\""));
        let lock = format!("{{\n  \"requires\": true,\n  \"packages\": {{\n{root},\n{locked}\n  }}\n}}\n");
        for package in packages {
            fs::create_dir_all(project.join("node_modules").join(package)).unwrap();
        }
        fs::write(project.join("package.json"), named).unwrap();
        fs::write(project.join("package-lock.json"), lock).unwrap();
        fs::write(project.join("node_modules/.package-lock.json"), hidden).unwrap();
    }

    fn texts(project: &Path) -> Vec<String> {
        NAMING.iter().map(|(name, _)| fs::read_to_string(project.join(name)).unwrap()).collect()
    }

    fn project() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("npm-cache");
        (folder, project)
    }

    #[test]
    fn a_project_with_nothing_else_goes() {
        let (_folder, project) = project();
        write(&project, &["@wyren/linux-x64", "@wyren/plugin"]);
        assert!(remove(&project).unwrap());
        assert!(!project.exists());
        assert!(!remove(&project).unwrap());
    }

    #[test]
    fn packages_of_others_stay_and_the_files_are_as_if_ours_had_never_been_there() {
        for ours in [&["@wyren/linux-x64", "@wyren/plugin"][..], &["@wyren/plugin"]] {
            for (before, after) in [(&["@a/b"][..], &["zebra"][..]), (&[], &["@wyrens/x"]), (&["@a/b"], &[])]
            {
                let ((_folder, project), (_other, expected)) = (project(), project());
                write(&project, &[before, ours, after].concat());
                write(&expected, &[before, after].concat());
                assert!(remove(&project).unwrap());
                assert_eq!(texts(&project), texts(&expected));
                assert!(!project.join("node_modules/@wyren").exists());
                for package in [before, after].concat() {
                    assert!(project.join("node_modules").join(package).is_dir(), "{package}");
                }
            }
        }
    }

    #[test]
    fn a_file_that_is_not_json_stays() {
        let (_folder, project) = project();
        write(&project, &["@wyren/plugin", "zebra"]);
        fs::write(project.join("package.json"), "{ \"dependencies\": ").unwrap();
        assert!(remove(&project).unwrap());
        assert_eq!(texts(&project)[0], "{ \"dependencies\": ");
    }
}
