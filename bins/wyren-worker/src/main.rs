//! `wyren-worker`: does background jobs until there are none, then goes away.

use base::settings::Settings;
use base::{Env, Paths, detached, limits};
use runner::{Options, kinds};
use std::process::ExitCode;

fn main() -> ExitCode {
    limits::survive_file_size_limit();
    let env = Env::process();
    let paths = Paths::of(&env);
    detached::leave_session();
    // It keeps no folder of the user's in use. A data folder that was named relative to this one has to stay where it is.
    if paths.data().is_absolute() {
        let _ = std::env::set_current_dir(paths.data());
    }
    let logged = paths.clone();
    detached::end_after(runner::CAP, move || runner::log_cap(&logged));
    let options = Options::of(&Settings::read(&env, &paths.hook_settings()));
    // The log has the reason; only a person who starts the worker by hand sees the exit code.
    match runner::run(&env, &paths, options, &kinds::all()) {
        Ok(_) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
