// Appliances of earlier versions: their data directories and backups open in this one, their trails verify, and an update that is killed at
// any moment is finished by the next start.
import { writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { startDaemon, startUnlessAbandoned } from '../harness/daemon.ts';
import { requireWhole } from '../harness/kills/whole-check.ts';
import { copyDirectory } from '../harness/once.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { findDifferences, type GoldenAppliance, goldenVersions, unpackGolden } from './golden-appliance.ts';

const path = temporaryDirectory();
const actions = '/v1/state/keystore/transit-keys';

test('there are golden appliances, the first version among them', () => expect(goldenVersions[0]).toMatch(/^1-/));

describe.each(goldenVersions)('version %s', (version) => {
  let golden: GoldenAppliance;
  beforeAll(() => (golden = unpackGolden(version, path(version))));

  test('its data directory goes on as it was; keys rotate, and everything old still opens', async () => {
    const data = path(`${version}-goes-on`);
    copyDirectory(path(version, 'data'), data);
    const daemon = await startDaemon({ directory: data });
    expect(await findDifferences(golden, daemon)).toEqual([]);
    for (const key of ['sealing', 'held', 'build']) await daemon.request('POST', `${actions}/${key}/rotate`, {});
    expect(await daemon.request('POST', '/v1/state/system/rotate-wrapping-key', {})).toMatchObject({ state: 'rewrapping' });
    expect(await findDifferences({ ...golden, documents: {} }, daemon)).toEqual([]);
    expect(await daemon.stop()).toBe(0);
    await requireWhole(data);
  });

  test('its backup restores', async () => {
    const [data, passphraseFile] = [path(`${version}-restored`), path(`${version}.passphrase`)];
    writeFileSync(passphraseFile, golden.passphrase);
    const args = ['--restore', path(version, 'backup'), '--restore-passphrase-file', passphraseFile];
    const daemon = await startDaemon({ directory: data, args, rootToken: golden.rootToken });
    expect(await findDifferences(golden, daemon)).toEqual([]);
    expect(await daemon.stop()).toBe(0);
    await requireWhole(data);
  });

  test('an update that is killed at several moments is finished by the next start', async () => {
    const data = path(`${version}-killed`);
    copyDirectory(path(version, 'data'), data);
    for (const afterMs of [300, 900, 1_800]) await killedStart(data, afterMs);
    const daemon = await startDaemon({ directory: data });
    expect(await findDifferences(golden, daemon)).toEqual([]);
    await daemon.kill();
    await requireWhole(data);
  });
});

/** A start that is killed after this time, or when it is ready. */
async function killedStart(directory: string, abandonAfterMs: number): Promise<void> {
  const started = await startUnlessAbandoned({ directory, abandonAfterMs });
  await started?.kill();
}
