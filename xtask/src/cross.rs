//! Builds the programs for other systems and has them answer under emulation: aarch64 Linux with qemu, Windows with wine.
//!
//! Every hook runs once for each of its events, with a recorded payload, in a home that was empty before, here and there; the
//! answers and what `wyren export` reads back afterwards have to be the same. What qemu and wine do not show is in
//! `docs/systems.md`.

mod build;
mod machine;
mod session;

use anyhow::{Result, ensure};
use build::Tools;
use clap::ValueEnum;
use machine::Machine;
use session::Session;
use std::time::Instant;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only this system.
    system: Option<System>,
}

/// A system that the programs are built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum System {
    Aarch64,
    Windows,
}

impl System {
    fn triple(self) -> &'static str {
        match self {
            Self::Aarch64 => "aarch64-unknown-linux-musl",
            Self::Windows => "x86_64-pc-windows-gnu",
        }
    }

    fn exe_suffix(self) -> &'static str {
        match self {
            Self::Aarch64 => "",
            Self::Windows => ".exe",
        }
    }
}

/// Builds and runs everything; fails when a program does not answer as it does on this machine.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    ensure!(cfg!(all(target_os = "linux", target_arch = "x86_64")), "the emulators are for Linux on x86_64");
    let systems = arguments.system.map_or_else(|| System::value_variants().to_vec(), |system| vec![system]);
    // Before the builds, which take longer than a look.
    systems.iter().try_for_each(|system| machine::require(*system))?;
    let tools = Tools::install()?;
    Tools::lint()?;
    let here = Session::of(&Machine::here()?)?;
    for system in systems {
        let started = Instant::now();
        let plugin = tools.plugin(system)?;
        let built = started.elapsed();
        let machine = Machine::emulated(system, plugin, &tools)?;
        let there = Session::of(&machine)?;
        there.compare(&here)?;
        if system == System::Windows {
            let passed = machine.run_tests(&tools.tests(system)?)?;
            println!("{}: tests passed: {passed:?}", system.triple());
        }
        println!(
            "{}: {} answers and {} observations are those of this machine (build {} s, run {} s)",
            system.triple(),
            there.answers(),
            there.observations(),
            built.as_secs(),
            (started.elapsed() - built).as_secs(),
        );
    }
    Ok(())
}
