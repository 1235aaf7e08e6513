//! Limits that the system sets for a process.

/// Makes a write beyond the limit on file sizes (`ulimit -f`) fail with an error, where the signal would end the process.
/// Every program calls this first.
pub fn survive_file_size_limit() {
    crate::system::survive_file_size_limit();
}
