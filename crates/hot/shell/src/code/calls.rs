//! The names that run a command or delete files, by language.

use super::Language;

/// The words of AppleScript's call.
pub(super) const DO_SHELL_SCRIPT: &str = "do shell script";

/// What a call does with its arguments.
#[derive(Clone, Copy)]
pub(super) enum Call {
    /// The first one is a line of shell, or a list of words.
    Shell,
    /// The first one is a program, the next list its arguments.
    Program,
    /// They are a program and its arguments.
    Words,
    /// They are a program and its arguments, behind so many others.
    Exec(usize),
    /// They are deleted, folders with what is in them or not.
    Delete { is_tree: bool },
    /// They are deleted; an option says how.
    DeleteAsSaid,
    /// They make a path, which something is done with.
    Path,
    /// They are a file or folder and where it is moved to.
    Move,
    /// They name the files that the code goes through.
    Glob,
    /// The first one is the name of a function, the others are what it is called with.
    Map,
}

/// Which modules a piece of code mentions; each is looked for once.
pub(super) struct Mentions<'code> {
    code: &'code str,
    known: Vec<(&'static str, bool)>,
}

impl<'code> Mentions<'code> {
    pub(super) fn new(code: &'code str) -> Self {
        Mentions { code, known: Vec::new() }
    }

    pub(super) fn has(&mut self, module: &'static str) -> bool {
        if let Some((_, is_mentioned)) = self.known.iter().find(|(known, _)| *known == module) {
            return *is_mentioned;
        }
        let is_mentioned = self.code.contains(module);
        self.known.push((module, is_mentioned));
        is_mentioned
    }
}

const TREE: Call = Call::Delete { is_tree: true };
const FILE: Call = Call::Delete { is_tree: false };

/// Returns what a name with its dots calls. Names that others use as well count only with their module, or in code
/// that mentions it.
pub(super) fn call(language: Language, path: &str, mentions: &mut Mentions<'_>) -> Option<Call> {
    let joint = path.rfind(['.', ':', '>']).map_or(0, |joint| joint + 1);
    let (module, name) = (path[..joint].trim_end_matches(['.', ':', '-', '>', '?']), &path[joint..]);
    let module = module.rsplit(['.', ':']).next().unwrap_or(module);
    let mut is_of = |modules: &[&'static str]| {
        modules.contains(&module) || (module.is_empty() && modules.iter().any(|module| mentions.has(module)))
    };
    Some(match language {
        Language::Python => match name {
            "system"
            | "popen"
            | "getoutput"
            | "getstatusoutput"
            | "check_call"
            | "check_output"
            | "Popen"
            | "create_subprocess_shell" => Call::Shell,
            "run" | "call" if is_of(&["subprocess", "sp"]) => Call::Shell,
            "spawn" if module == "pty" => Call::Shell,
            "create_subprocess_exec" => Call::Words,
            "execv" | "execve" | "execvp" | "execvpe" | "execl" | "execlp" | "execle" if is_of(&["os"]) => {
                Call::Exec(1)
            }
            "spawnl" | "spawnlp" | "spawnv" | "spawnvp" | "spawnve" if is_of(&["os"]) => Call::Exec(2),
            "rmtree" | "remove_tree" | "send2trash" => TREE,
            "removedirs" => FILE,
            "remove" | "unlink" | "rmdir" if module == "os" => FILE,
            "rename" | "renames" | "replace" if module == "os" => Call::Move,
            "move" if is_of(&["shutil"]) => Call::Move,
            "glob" | "iglob" if is_of(&["glob"]) => Call::Glob,
            "walk" | "listdir" | "scandir" if is_of(&["os"]) => Call::Glob,
            "remove" | "unlink" | "rmdir" if module.is_empty() && mentions.has("from os ") => FILE,
            "Path" | "PosixPath" => Call::Path,
            "home" if module == "Path" => Call::Path,
            _ => return None,
        },
        Language::JavaScript => match name {
            "execSync" => Call::Shell,
            "exec" if is_of(&["child_process", "cp", "childProcess", "shell", "shelljs"]) => Call::Shell,
            "spawnSync" | "execFile" | "execFileSync" | "spawn" => Call::Program,
            "Command" if module == "Deno" => Call::Program,
            "run" if module == "Deno" => Call::Program,
            "rmSync" | "rmdirSync" => Call::DeleteAsSaid,
            "rm" if matches!(module, "shell" | "shelljs") => TREE,
            "rm" | "rmdir" if is_of(&["fs", "promises", "fsp"]) => Call::DeleteAsSaid,
            "remove" | "removeSync" if module == "Deno" => Call::DeleteAsSaid,
            "unlinkSync" => FILE,
            "unlink" if is_of(&["fs", "promises", "fsp"]) => FILE,
            "rimraf" | "rimrafSync" | "removeSync" | "emptyDirSync" => TREE,
            "sync" if is_of(&["rimraf"]) => TREE,
            "remove" | "emptyDir" if matches!(module, "fs" | "fse") => TREE,
            _ => return None,
        },
        Language::Perl => match name {
            "system" | "exec" => Call::Shell,
            "rmtree" | "remove_tree" => TREE,
            "unlink" | "rmdir" => FILE,
            _ => return None,
        },
        Language::Ruby => match name {
            "system" | "exec" | "spawn" if matches!(module, "" | "Kernel" | "Process") => Call::Shell,
            "popen" | "capture2" | "capture2e" | "capture3" | "popen2" | "popen3" => Call::Shell,
            "rm_rf" | "rm_r" | "remove_dir" | "remove_entry" | "remove_entry_secure" | "rmtree" => TREE,
            "rm" | "rm_f" if is_of(&["FileUtils"]) => FILE,
            "delete" | "unlink" | "rmdir" if matches!(module, "File" | "Dir") => FILE,
            "mv" | "move" if module == "FileUtils" => Call::Move,
            "rename" if module == "File" => Call::Move,
            "glob" | "each_child" | "children" if module == "Dir" => Call::Glob,
            "Pathname" | "new" if path == "Pathname" || path == "Pathname.new" => Call::Path,
            _ => return None,
        },
        Language::Php => match name {
            "system" | "exec" | "shell_exec" | "passthru" | "popen" | "proc_open" if module.is_empty() => {
                Call::Shell
            }
            "pcntl_exec" => Call::Program,
            "unlink" | "rmdir" if module.is_empty() => FILE,
            "rename" if module.is_empty() => Call::Move,
            "array_map" => Call::Map,
            _ => return None,
        },
        Language::Other => match name {
            "cmd" | "shell" if module == "System" => Call::Program,
            "system" | "exec" | "executeShell" | "run" => Call::Shell,
            "rm_rf" | "deleteDir" | "deleteRecursively" | "deleteDirectory" | "removeItem"
            | "delete_tree" => TREE,
            "rm" | "delete" | "deleteIfExists" => Call::DeleteAsSaid,
            "File" | "Path" => Call::Path,
            "mv" | "moveItem" => Call::Move,
            _ => return None,
        },
        Language::Awk => match path {
            "system" => Call::Shell,
            _ => return None,
        },
        Language::AppleScript => match path {
            DO_SHELL_SCRIPT => Call::Shell,
            _ => return None,
        },
        Language::Lua => match path {
            "os.execute" | "io.popen" => Call::Shell,
            "os.remove" => FILE,
            _ => return None,
        },
        Language::R => match path {
            "system" | "shell" => Call::Shell,
            "system2" => Call::Program,
            "unlink" => Call::DeleteAsSaid,
            "file.remove" => FILE,
            _ => return None,
        },
    })
}
