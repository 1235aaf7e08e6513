#!/bin/sh
# In bin/ of the npm package until the programs of this machine take its place: postinstall puts them there, and where npm
# runs no scripts, the end of the first session does, or the first command. It downloads nothing, prints nothing of its own
# unless the programs are missing, and leaves standard input to the program.

self=$0
while [ -h "$self" ]; do
  link=$(readlink "$self")
  case $link in
  /*) self=$link ;;
  *) self=${self%/*}/$link ;;
  esac
done
name=${self##*/}
bin=$(cd "${self%/*}" && pwd -P) || exit 0
root=${bin%/*}

# npm chooses by its own processor, which on a Mac may be the emulated one: the other build runs as well.
machine=$(uname -sm)
case $machine in
'Linux x86_64' | 'Linux amd64') platforms=linux-x64 ;;
'Linux aarch64' | 'Linux arm64') platforms=linux-arm64 ;;
'Darwin arm64') platforms='darwin-arm64 darwin-x64' ;;
'Darwin x86_64') platforms='darwin-x64 darwin-arm64' ;;
*) platforms= ;;
esac

for platform in $platforms; do
  programs=$root/node_modules/@wyren/$platform/bin
  [ -x "$programs/$name" ] || continue
  # A hook that starts meanwhile would have its shell read a program for a script. No other starts at a session's end.
  case $name in
  session-end | wyren) ;;
  *) exec "$programs/$name" "$@" ;;
  esac
  # Every program at once, so that this is paid for once; each by a rename, so that a call meanwhile finds the one or the
  # other. Hooks that start together do the same work twice and end with the same files.
  new=$bin/.new-$$
  is_placed=
  if mkdir "$new" 2>/dev/null; then
    if { ln "$programs"/* "$new" || cp -p "$programs"/* "$new"; } 2>/dev/null; then
      mv -f "$new"/* "$bin" 2>/dev/null && is_placed=yes
    fi
    # With what a killed one left; one that runs falls back to the programs below node_modules.
    rm -rf "$bin"/.new-* 2>/dev/null
  fi
  [ "$is_placed" ] && exec "$self" "$@"
  # A folder that cannot be written.
  exec "$programs/$name" "$@"
done

if [ "$platforms" ]; then
  quoted=$(printf '%s' "$root" | sed "s/'/'\\\\''/g")
  problem="Wyren's programs for this machine ($machine) are missing, so it does nothing. npm left out the optional package @wyren/${platforms%% *}. To fix it, run: npm ci --include=optional --prefix '$quoted'"
else
  problem="Wyren has no programs for this machine ($machine), so it does nothing. Build them from its sources (cargo xtask plugin), or remove the plugin: claude plugin uninstall wyren"
fi

case $name in
wyren)
  printf 'wyren: %s\n' "$problem" >&2
  exit 1
  ;;
session-start-reset)
  # The one hook that speaks, and only when a session begins.
  read -r event
  case $event in
  *'"source":"clear"'* | *'"source":"compact"'*) ;;
  *) printf '{"systemMessage":"%s"}\n' "$(printf '%s' "$problem" | sed 's/[\\"]/\\&/g')" ;;
  esac
  ;;
esac
cat >/dev/null
exit 0
