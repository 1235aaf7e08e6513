//! The most bytes that are read of each kind of file: beyond what any honest file has, and little enough to hold in memory.

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// What leads from one git folder to another, and HEAD: one path or name. Linux allows paths of 4 KiB.
pub const POINTER: usize = 8 * KIB;

/// A git `config`. Clones of thousands of branches have some hundred KiB.
pub const GIT_CONFIG: usize = 4 * MIB;

/// `.git/info/exclude` and `.gitignore`.
pub const EXCLUDE: usize = MIB;

/// `.git/index`, where a hook reads it: some 50,000 files.
pub const GIT_INDEX: usize = 4 * MIB;
/// Git's index, where all of its names are wanted: of some 500,000 files.
pub const WHOLE_GIT_INDEX: usize = 64 * MIB;

/// `.git/packed-refs`.
pub const PACKED_REFS: usize = 4 * MIB;

/// `memory.md`, and any other file that a team shares.
pub const SHARED: usize = 8 * MIB;

/// A file of a session: a shared memory with a few lines before it.
pub const SESSION: usize = SHARED + MIB;

/// One lesson, or a manifest of all of them.
pub const LESSON: usize = MIB;

/// A file below `.wyren/state/` or in the data folder that holds numbers and names.
pub const STATE: usize = MIB;

/// A file below `.wyren/state/` that holds texts: edits, plans, what is held back.
pub const TEXTS: usize = 32 * MIB;

/// The part of `.wyren/log` and its rotated file that is read, from the end. Both are rotated at 1 MiB.
pub const LOG: usize = 4 * MIB;

/// The configuration of the user.
pub const CONFIG: usize = MIB;

/// A file that a person names on the command line.
pub const NAMED: usize = 64 * MIB;

/// Any file of ours, such as the history of a memory.
pub const LARGEST: usize = 64 * MIB;
