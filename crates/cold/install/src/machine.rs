//! Which system and processor a program was built for, by its first bytes.

use base::files;
use std::fmt;
use std::io;
use std::path::Path;

/// How much of a program is read, in bytes: in one for Windows, the part that tells is behind a small program for DOS.
const BEGINNING: usize = 4096;

/// What a program was built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// As in [`std::env::consts::OS`]; `linux` for every system that has ELF.
    pub system: &'static str,
    /// As in [`std::env::consts::ARCH`].
    pub processor: &'static str,
}

impl fmt::Display for Machine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let system = match self.system {
            "macos" => "macOS",
            "windows" => "Windows",
            _ => "Linux",
        };
        write!(formatter, "{system} on {}", self.processor)
    }
}

impl Machine {
    /// Returns what this program was built for.
    pub fn of_this_program() -> Self {
        let system = match std::env::consts::OS {
            system @ ("macos" | "windows") => system,
            _ => "linux",
        };
        Self { system, processor: std::env::consts::ARCH }
    }

    /// Returns what a program was built for; `None` for one that is no program of a kind that Wyren ships, a script for
    /// instance.
    pub fn of(program: &Path) -> io::Result<Option<Self>> {
        let mut beginning = Vec::new();
        files::read_start(&files::canonical(program), BEGINNING, &mut beginning)?;
        Ok(Self::of_bytes(&beginning))
    }

    fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let at = |place: usize, length: usize| bytes.get(place..place.checked_add(length)?);
        let pair = |place| Some(u16::from_le_bytes(at(place, 2)?.try_into().ok()?));
        let four = |place| Some(u32::from_le_bytes(at(place, 4)?.try_into().ok()?));
        let (system, processor) = match at(0, 4)? {
            b"\x7fELF" => (
                "linux",
                match pair(18)? {
                    62 => "x86_64",
                    183 => "aarch64",
                    _ => "another processor",
                },
            ),
            [0xcf, 0xfa, 0xed, 0xfe] => (
                "macos",
                match four(4)? {
                    0x0100_0007 => "x86_64",
                    0x0100_000c => "aarch64",
                    _ => "another processor",
                },
            ),
            [b'M', b'Z', ..] => {
                let header = usize::try_from(four(0x3c)?).ok()?;
                let processor = match (at(header, 4)?, pair(header.checked_add(4)?)?) {
                    (b"PE\0\0", 0x8664) => "x86_64",
                    (b"PE\0\0", 0xaa64) => "aarch64",
                    _ => "another processor",
                };
                ("windows", processor)
            }
            _ => return None,
        };
        Some(Self { system, processor })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_of_a_program_is_in_its_first_bytes() {
        let mut elf = b"\x7fELF\x02\x01\x01".to_vec();
        elf.resize(64, 0);
        elf[18] = 62;
        let mut arm = elf.clone();
        arm[18] = 183;
        let mut pe = b"MZ".to_vec();
        pe.resize(0x80, 0);
        pe[0x3c] = 0x40;
        pe[0x40..0x46].copy_from_slice(b"PE\0\0\x64\x86");
        let mach = [0xcf, 0xfa, 0xed, 0xfe, 0x0c, 0, 0, 1];
        for (bytes, expected) in [
            (&elf[..], Some(("linux", "x86_64"))),
            (&arm, Some(("linux", "aarch64"))),
            (&pe, Some(("windows", "x86_64"))),
            (&mach, Some(("macos", "aarch64"))),
            (b"#!/bin/sh\n", None),
            (b"MZ", None),
            (b"", None),
        ] {
            let found = Machine::of_bytes(bytes).map(|machine| (machine.system, machine.processor));
            assert_eq!(found, expected, "{bytes:?}");
        }
    }

    #[test]
    fn this_program_is_for_this_machine() {
        let ours = std::env::current_exe().unwrap();
        assert_eq!(Machine::of(&ours).unwrap(), Some(Machine::of_this_program()));
    }
}
