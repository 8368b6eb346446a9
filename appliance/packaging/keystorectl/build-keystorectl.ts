// npm run build keystorectl: every form of the command line into dist/keystorectl, or the folder that is named: a single file and a Debian
// package for each platform, a tarball for all others, the bills of materials of each, and SHA256SUMS.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { nodeParts, npmParts, type Part } from '../bill/parts.ts';
import { sha256Of, writeBills } from '../bill/write.ts';
import { archiveDeb, commitEpochSeconds, controlOf, installedSize } from '../debian-archive.ts';
import { licenses } from '../licenses.ts';
import { dayOf, installCompletion, installPages } from '../manual/install.ts';
import { keystorectlPages } from '../manual/pages.ts';
import { fetchNode, platforms, type Platform } from '../node-binary.ts';
import { packagesNamed } from '../npm-packages.ts';
import { bundleKeystorectl } from './bundle.ts';
import { makeSingleFile, singleFileName } from './single-file.ts';
import { makeTarball, tarballName } from './tarball.ts';

const root = resolve(import.meta.dirname, '../../..');
const [directory = join(root, 'dist/keystorectl')] = process.argv.slice(2);
const output = resolve(directory);
const epochSeconds = commitEpochSeconds();
const work = mkdtempSync(join(tmpdir(), 'keystorectl-build-'));
try {
  mkdirSync(output, { recursive: true });
  for (const path of await buildAll()) console.log(path);
} finally {
  rmSync(work, { recursive: true });
}

async function buildAll(): Promise<readonly string[]> {
  const made: string[] = [];
  const bundle = await bundleKeystorectl({ oneModule: true });
  for (const platform of platforms) {
    const { binary, license } = fetchNode(platform, work);
    const file = join(output, singleFileName(platform));
    makeSingleFile(bundle, binary, file);
    const deb = await packageFor(platform, file, licenses('keystorectl', bundle.packages, license));
    const parts = [...npmParts(packagesNamed(bundle.packages)), ...nodeParts(platform)];
    made.push(...withBills(file, parts), ...withBills(deb, parts));
  }
  const tarball = join(output, tarballName);
  const packages = await makeTarball(tarball, epochSeconds);
  const text = join(output, 'LICENSES');
  writeFileSync(text, licenses('keystorectl', bundle.packages, fetchNode('amd64', work).license));
  made.push(...withBills(tarball, npmParts(packagesNamed(packages))), text);
  const sums = join(output, 'SHA256SUMS');
  writeFileSync(sums, made.map((path) => `${sha256Of(path)}  ${basename(path)}\n`).join(''));
  return [...made, sums];
}

/** A file and its bills of materials. */
function withBills(file: string, parts: readonly Part[]): readonly string[] {
  return [file, ...writeBills(file, { kind: 'application', name: 'keystorectl', parts, epochSeconds })];
}

/** The Debian package of one platform: the single file, so that it needs no Node.js of the release that it is installed on. */
async function packageFor(platform: Platform, file: string, copyright: string): Promise<string> {
  const stage = join(work, `deb-${platform}`);
  const place = (path: string, text: string): void => {
    mkdirSync(join(stage, path, '..'), { recursive: true });
    writeFileSync(join(stage, path), text);
  };
  mkdirSync(join(stage, 'usr/bin'), { recursive: true });
  copyFileSync(file, join(stage, 'usr/bin/keystorectl'));
  installPages(await keystorectlPages(dayOf(epochSeconds)), stage);
  await installCompletion(stage);
  place('usr/share/doc/keystorectl/copyright', copyright);
  place(
    'DEBIAN/control',
    controlOf({
      Package: 'keystorectl',
      Version: manifest.version,
      Architecture: platform,
      Maintainer: 'keystored maintainers <keystored@localhost>',
      'Installed-Size': installedSize(stage),
      Depends: 'libc6 (>= 2.28), libstdc++6 (>= 9), libgcc-s1, libatomic1',
      Recommends: 'ca-certificates',
      Section: 'admin',
      Priority: 'optional',
      Description:
        'command line of keystored, a key-management appliance\n Works with an appliance over its API. The package keystored has it, too.\n',
    }),
  );
  const target = join(output, `keystorectl_${manifest.version}_${platform}.deb`);
  return archiveDeb(stage, target, { epochSeconds, isExecutable: (path) => path.includes('/usr/bin/') });
}
