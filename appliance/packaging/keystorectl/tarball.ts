// The tarball for every platform: the bundle, launchers for shells and for Windows, manual pages and licences. It needs Node.js 22.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { dayOf } from '../manual/install.ts';
import { keystorectlPages } from '../manual/pages.ts';
import { licenses } from '../licenses.ts';
import { archiveTar } from '../tar.ts';
import { bundleKeystorectl } from './bundle.ts';

/** Without a version, so that a script can download it by name; `keystorectl --version` says it. */
export const tarballName = 'keystorectl.tar.gz';

/** Writes the tarball, and answers the names of the npm packages in it. The same sources and time make the same octets. */
export async function makeTarball(target: string, epochSeconds: number): Promise<readonly string[]> {
  const work = mkdtempSync(join(tmpdir(), 'keystorectl-'));
  try {
    const { modules, packages } = await bundleKeystorectl({ oneModule: false });
    const files: Readonly<Record<string, string>> = {
      keystorectl: shellLauncher,
      'keystorectl.cmd': windowsLauncher.replaceAll('\n', '\r\n'),
      LICENSES: licenses('keystorectl', packages),
      ...Object.fromEntries((await keystorectlPages(dayOf(epochSeconds))).map(({ path, text }) => [`man/${path}`, text])),
      'lib/package.json': '{ "type": "module" }\n',
      'lib/start.js': start,
      ...Object.fromEntries([...modules].map(([name, code]) => [`lib/${name}`, code])),
    };
    for (const [name, text] of Object.entries(files)) {
      const path = join(work, 'keystorectl', name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text, { mode: name === 'keystorectl' ? 0o755 : 0o644 });
    }
    archiveTar(target, work, ['keystorectl'], epochSeconds);
    return packages;
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** The shell is that of Linux and macOS. Compiled code is kept as in the other forms. */
const shellLauncher = `#!/bin/sh
# keystorectl under the Node.js of this machine; KEYSTORED_NODE names another.
self=$0
while [ -L "$self" ]; do
  link=$(readlink "$self")
  case $link in /*) self=$link ;; *) self=$(dirname "$self")/$link ;; esac
done
node=\${KEYSTORED_NODE:-node}
command -v "$node" >/dev/null || { echo "keystorectl: Node.js 22 or newer is needed (https://nodejs.org); $node is not there" >&2; exit 1; }
cache=\${XDG_CACHE_HOME:-\${HOME:+$HOME/.cache}}
[ -z "$cache" ] || export NODE_COMPILE_CACHE="\${NODE_COMPILE_CACHE:-$cache/keystored/compiled}"
exec "$node" "$(dirname "$self")/lib/start.js" "$@"
`;

const windowsLauncher = `@echo off
rem keystorectl under the Node.js of this machine; KEYSTORED_NODE names another.
setlocal
if not defined KEYSTORED_NODE set KEYSTORED_NODE=node
if not defined NODE_COMPILE_CACHE set NODE_COMPILE_CACHE=%LOCALAPPDATA%\\keystored\\compiled
"%KEYSTORED_NODE%" "%~dp0lib\\start.js" %*
`;

/** Refuses an old Node.js by name, before it fails for a missing function. */
const start = `// Starts keystorectl, or says that this Node.js is too old.
if (Number(process.versions.node.split('.')[0]) >= 22) await import('./keystorectl.js');
else {
  console.error('keystorectl: Node.js 22 or newer is needed; this is ' + process.versions.node);
  process.exitCode = 1;
}
`;
