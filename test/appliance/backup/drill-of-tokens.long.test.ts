// A drill of an appliance with two tokens: keys of a cipher that only one of them has open there, also with ML-DSA, and not elsewhere.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { expect, test } from 'vitest';
import { defined } from '../../../core/base/defined.ts';
import type { TokenConfig } from '../../../hsm/api.ts';
import { startDaemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { makeNssToken, obtainNss } from '../../harness/token/nss.ts';
import { makeSoftToken } from '../../harness/token/softhsm.ts';
import { serviceUnderTest } from '../../harness/service-program.ts';

const path = temporaryDirectory();
const root = resolve(import.meta.dirname, '../../..');
const program = await serviceUnderTest();
const nss = await obtainNss();

function configured(name: string, tokens: readonly TokenConfig[], more: object = {}): string {
  const wire = tokens.map(({ libraryParameters, ...token }) => ({ ...token, ...defined({ 'library-parameters': libraryParameters }) }));
  writeFileSync(path(name), JSON.stringify({ hsm: { tokens: wire }, ...more }));
  return path(name);
}

function drill(file: string, config: string): { readonly code: number | null; readonly output: string } {
  const words = ['restore-drill', '--work', path('drills'), '--identity-file', path('identity'), '--config', config, file];
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
    encoding: 'utf8',
    cwd: root,
  });
  return { code: status, output: stdout + stderr };
}

test.skipIf('missing' in nss)('ML-DSA keys of transit and of a CA are loaded and used in the token that has them', async () => {
  if ('missing' in nss) return;
  const identity = await generateX25519Identity();
  writeFileSync(path('identity'), `${identity}\n`, { mode: 0o600 });
  for (const name of ['tokens', 'others', 'share', 'drills']) mkdirSync(path(name));
  const tokens = [await makeSoftToken(path('tokens')), await makeNssToken(nss, path('tokens'))] as const;
  const backup = { recipients: [await identityToRecipient(identity)], to: [{ directory: path('share') }] };
  const config = configured('two.yaml', tokens, { backup });
  const daemon = await startDaemon({ directory: path('data'), args: ['--config', config] });
  try {
    for (const cipher of ['ml-dsa-44', 'ml-dsa-65', 'ml-dsa-87', 'ecdsa-p256'])
      await daemon.request('POST', '/v1/config/keystore/transit-keys', { name: `key-${cipher}`, cipher });
    await daemon.request('POST', '/v1/config/keystore/tls/ca', { name: 'devices-pq', 'cert-key-type': 'ml-dsa-65' });
    await daemon.request('POST', '/v1/state/system/run-backup');
    const made = (): string[] => readdirSync(path('share')).filter((name) => name.endsWith('.tar.age'));
    await expect.poll(made, { timeout: 60_000 }).toHaveLength(1);
    const file = path('share', made()[0] ?? '');

    // The appliance goes on serving from the same tokens.
    const good = drill(file, config);
    expect(good.output).toMatch(/keys that were loaded and used: .*1 ml-dsa-44, 1 ml-dsa-65, 1 ml-dsa-65 in token pq, 1 ml-dsa-87/);
    expect(good).toMatchObject({ code: 0, output: expect.stringContaining('this backup restores') });

    // A token of the same name that is not the one whose keys these are.
    const strange = configured('strange.yaml', [tokens[0], await makeNssToken(nss, path('others'))]);
    const bad = drill(file, strange);
    expect([1, 2]).toContain(bad.code);
    expect(bad.output).not.toContain('this backup restores\n');
    const without = drill(file, configured('one.yaml', [tokens[0]]));
    expect(without).toMatchObject({ code: 2, output: expect.stringContaining(tokens[1].name) });
    expect(await daemon.request('GET', '/v1/state/system/health')).toMatchObject({ status: 'ok' });
  } finally {
    await daemon.stop();
  }
});
