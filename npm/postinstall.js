// Puts the programs of this machine into bin/, in place of the launchers. npm runs it, unless its scripts are off: then the
// launchers do the same at the end of a session. It never fails an installation.
'use strict';

const fs = require('fs');
const path = require('path');

const bin = path.join(__dirname, 'bin');

/** Returns the folder with the programs of this machine, wherever npm put their package. */
function programs() {
  const name = `@wyren/${process.platform}-${process.arch}`;
  try {
    return path.join(path.dirname(require.resolve(`${name}/package.json`)), 'bin');
  } catch {
    return null;
  }
}

/** Puts a file in place of another by a rename, so that a call meanwhile finds the one or the other. */
function place(from, to) {
  const fresh = `${to}.new-${process.pid}`;
  fs.rmSync(fresh, { force: true });
  try {
    fs.linkSync(from, fresh);
  } catch {
    // Another file system, or one without links.
    fs.copyFileSync(from, fresh);
    fs.chmodSync(fresh, 0o755);
  }
  fs.renameSync(fresh, to);
  // Renaming a link to another link to the same file does nothing.
  fs.rmSync(fresh, { force: true });
}

try {
  const folder = programs();
  if (folder) {
    for (const program of fs.readdirSync(folder)) {
      place(path.join(folder, program), path.join(bin, program));
      if (program.endsWith('.exe')) {
        // Windows has no use for the launcher, which is a shell script.
        fs.rmSync(path.join(bin, program.slice(0, -'.exe'.length)), { force: true });
      }
    }
  } else {
    console.error(`wyren: no programs for ${process.platform}-${process.arch} were installed`);
  }
} catch (error) {
  console.error(`wyren: could not put the programs into ${bin}: ${error.message}`);
}
