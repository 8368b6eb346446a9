// Two builds of one tree, with another folder, user, umask, time zone, locale, host name, clock and number of processors, are equal octet by
// octet: the Debian package, every form of keystorectl and the container image, with their bills of materials.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { must } from '../clients/commands.ts';

const root = resolve(import.meta.dirname, '../..');
const isRoot = process.getuid?.() === 0;
const possible = isRoot && spawnSync('mmdebstrap', ['--version']).status === 0;
if (!possible) console.warn('SKIPPED: two builds of one tree, because that needs root and mmdebstrap');

const bills = (...names: readonly string[]): string[] => names.flatMap((name) => [name, `${name}.cdx.json`, `${name}.spdx.json`]);

describe.skipIf(!possible)('npm run build reproduce', () => {
  test('finds no difference', { timeout: 3_600_000 }, async () => {
    const { stdout } = await must(process.execPath, ['appliance/setup.mjs', 'build', 'reproduce'], { cwd: root });
    const architecture = (await must('dpkg', ['--print-architecture'])).stdout.trim();
    const { version } = manifest;
    const same = [...stdout.matchAll(/^same {5}[0-9a-f]{64} {2}(.*)$/gm)].map(([, name]) => name);
    expect(new Set(same)).toEqual(
      new Set([
        ...bills(`keystored_${version}_${architecture}.deb`, `keystored_${version}_${architecture}.oci.tar`),
        ...bills('keystorectl-linux-amd64', 'keystorectl-linux-arm64', 'keystorectl.tar.gz'),
        ...bills(`keystorectl_${version}_amd64.deb`, `keystorectl_${version}_arm64.deb`),
        ...['LICENSES', 'SHA256SUMS'],
      ]),
    );
    expect(stdout).toMatch(/^\d+ the same, 0 not$/m);
  });
});
