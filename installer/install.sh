#!/bin/sh
# Installs Wyren @VERSION@ for the user who runs this: downloads the archive for this machine, checks it, and starts
# `wyren install` in it. Needs no root. Run the script of a later version to update.
#
# WYREN_DOWNLOAD_BASE   downloads from here instead: a mirror that has the archives
# TMPDIR                unpacks here instead of in /tmp
#
# `wyren install` honours HOME, XDG_DATA_HOME and WYREN_DATA_DIR, and prints what it does and what to type next.
set -eu

version='@VERSION@'
base='@BASE@'
# Platform, archive and SHA-256 of each archive of this version.
archives='@ARCHIVES@'

fail() {
    printf 'wyren: %s.\nNothing was changed. %s\n' "$1" "$2" >&2
    exit 1
}

has() {
    command -v "$1" >/dev/null 2>&1
}

# Prints the target that programs for this machine are built for.
platform() {
    system=$(uname -s) machine=$(uname -m)
    case $machine in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    esac
    case $system in
    Linux) echo "$machine-unknown-linux-musl" ;;
    Darwin)
        # A shell under Rosetta claims to run on Intel.
        [ "$(sysctl -n hw.optional.arm64 2>/dev/null)" != 1 ] || machine=aarch64
        echo "$machine-apple-darwin"
        ;;
    MINGW* | MSYS* | CYGWIN*)
        fail 'this script is for Linux and macOS' 'On Windows, run install.ps1 in PowerShell.'
        ;;
    *) echo "$machine-$system" ;;
    esac
}

download() {
    secure=
    case $1 in
    https://*) secure='=https' ;;
    esac
    if has curl; then
        # A server that proves who it is does not lead to one that does not. wget cannot be kept from it; the sum is checked.
        curl -fsSL ${secure:+--proto "$secure" --proto-redir "$secure"} --retry 2 --connect-timeout 20 --speed-limit 100 --speed-time 60 -o "$2" "$1"
    elif has wget; then
        wget -q -T 60 -O "$2" "$1"
    else
        fail 'neither curl nor wget is on the PATH' 'Install one of them, and run this again.'
    fi
}

# Prints the SHA-256 of a file, and what else the program for it prints.
sha256() {
    if has sha256sum; then
        sha256sum <"$1"
    elif has shasum; then
        shasum -a 256 <"$1"
    elif has openssl; then
        openssl dgst -sha256 -r <"$1"
    else
        fail 'there is no program to check the download with' 'Install sha256sum, shasum or openssl, and run this again.'
    fi
}

main() {
    [ $# = 0 ] || fail "this script takes no arguments, and got $*" 'Run it without arguments.'
    [ -z "${SUDO_USER-}" ] || fail 'do not run this script with sudo' 'Wyren installs into your home.'
    # Agents set one of these in the model's shell, where `wyren install` would refuse as well.
    [ -z "${CLAUDECODE-}${CODEX_THREAD_ID-}${CURSOR_AGENT-}${GEMINI_CLI-}${OPENCODE-}" ] ||
        fail 'this script is for a person' 'Run it in a terminal of your own.'

    target=$(platform)
    line=$(printf '%s\n' "$archives" | grep "^$target ") ||
        fail "Wyren $version has no archive for $target" \
            'In a checkout of the source: cargo xtask plugin, then target/plugin/bin/wyren install.'
    wanted=${line##* }
    archive=${line#* }
    archive=${archive% *}
    base=${WYREN_DOWNLOAD_BASE:-$base}
    [ -n "$base" ] ||
        fail 'this script comes from a checkout, and has no address to download from' \
            'Set WYREN_DOWNLOAD_BASE to the address of the folder with the archives.'

    folder=
    # Pressing Ctrl-C again does not keep it from cleaning up.
    trap 'trap "" HUP INT TERM; [ -z "$folder" ] || rm -rf "$folder"' EXIT
    trap 'trap "" HUP INT TERM; exit 129' HUP
    trap 'trap "" HUP INT TERM; exit 130' INT
    trap 'trap "" HUP INT TERM; exit 143' TERM
    folder=$(mktemp -d "${TMPDIR:-/tmp}/wyren-install.XXXXXX") ||
        fail "could not make a folder in ${TMPDIR:-/tmp}" 'Set TMPDIR to a folder that you can write to.'

    echo "Downloading Wyren $version for $target"
    download "$base/$archive" "$folder/$archive" ||
        fail "could not download $base/$archive" \
            'Check the connection and the room on the disk, and run this again. WYREN_DOWNLOAD_BASE names a mirror.'
    found=$(sha256 "$folder/$archive")
    found=${found%% *}
    [ "$found" = "$wanted" ] ||
        fail "$base/$archive is not the archive of Wyren $version: its SHA-256 is $found, not $wanted" \
            'The download was damaged or replaced on the way. Run this again; if it happens again, report it.'
    tar -xJof "$folder/$archive" -C "$folder" ||
        fail "could not unpack $archive in $folder" \
            'tar needs xz (Debian: xz-utils) and 60 MB there; TMPDIR names another folder.'

    program="$folder/${archive%.tar.xz}/plugin/bin/wyren"
    "$program" --version >/dev/null ||
        fail "$program does not start" \
            'Where programs in that folder may not run, set TMPDIR to one where they may, and run this again.'
    # What comes on standard input may be the rest of this script.
    "$program" install </dev/null || {
        printf 'wyren: the installation failed; the reason is above. Correct it, and run this script again.\n' >&2
        exit 1
    }
}

# The last line, so that half a download runs nothing.
main "$@"
