// Kills while a token is brought into a group: whatever of it was done, the next start ends with the token in the group, and no key is lost.
import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { DrillFigures } from '../../appliance/docs/drills.ts';
import type { TokenConfig } from '../../hsm/api.ts';
import { listOwnKeys } from '../../hsm/setup/setup.ts';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { keepResult } from '../harness/drill-result.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { makeEmptySoftToken } from '../harness/token/softhsm.ts';

const rounds = Number(process.env['TOKEN_GROUP_ROUNDS'] ?? 100);
const killsInARound = 3;
/** About as long as a token takes to come in, from the first line of the daemon on. */
const longestMs = 9_000;
const check = resolve(import.meta.dirname, '../../appliance/check.ts');
const path = temporaryDirectory();
const run = promisify(execFile);
const ciphers = ['aes256-gcm96', 'ecdsa-p256', 'rsa-2048', 'ed25519'];

test(`${rounds} tokens come into a group under ${killsInARound} kills each`, { timeout: 7_200_000 }, () =>
  keepResult({ name: 'token-groups', command: `TOKEN_GROUP_ROUNDS=${rounds} npm run soak -- token-groups` }, replaceTokens),
);

/** Each round a new token comes into the group, and the one before is lost. */
async function replaceTokens(figures: DrillFigures): Promise<void> {
  let member: TokenConfig = await makeEmptySoftToken(path('tokens'), 'token-0');
  const first = await start([member]);
  const { rootToken } = first;
  for (const cipher of ciphers) await first.request('POST', '/v1/config/keystore/transit-keys', { name: `key-${cipher}`, cipher });
  const ciphertext = await encrypt(first, rootToken, 'key-aes256-gcm96');
  await first.stop();

  for (let round = 1; round <= rounds; round++) {
    const tokens = [member, await makeEmptySoftToken(path('tokens'), `token-${round}`)] as const;
    const moments: number[] = [];
    for (let kill = 0; kill < killsInARound; kill++) {
      const afterMs = randomInt(longestMs);
      moments.push(afterMs);
      const starting = start(tokens, afterMs);
      await starting.then(
        (daemon) => killAfter(daemon, afterMs),
        () => undefined,
      );
      await endTasks(tokens);
    }
    const daemon = await start(tokens);
    await expect.poll(() => states(daemon, rootToken), { timeout: 90_000, interval: 500 }).toEqual(tokens.map(() => 'in-use true'));
    expect(
      await daemon.request('POST', '/v1/state/keystore/transit-keys/key-aes256-gcm96/decrypt', { ciphertext }, rootToken),
    ).toBeDefined();
    const own = await Promise.all(tokens.map(listOwnKeys));
    expect(own[0]).toEqual(own[1]);
    expect(own[0]).toHaveLength(1);
    await daemon.stop();
    // The one that was there before is lost: everything has to open in the other one.
    member = tokens[1];
    const alone = await start([member]);
    expect(
      await alone.request('POST', '/v1/state/keystore/transit-keys/key-aes256-gcm96/decrypt', { ciphertext }, rootToken),
    ).toBeDefined();
    for (const cipher of ciphers.slice(1))
      await alone.request('POST', `/v1/state/keystore/transit-keys/key-${cipher}/sign`, { text: 'text' }, rootToken);
    await alone.stop();
    const { stdout } = await run(process.execPath, [check, '--config', path('keystored.yaml'), '--data', path('data')]);
    console.log(
      `round ${round}: killed after ${moments.join(', ')} ms; wrapping key ${own[0]?.[0]?.number}; ${stdout.trim().split('\n').at(-1)}`,
    );
    Object.assign(figures, { tokens: round, kills: round * killsInARound });
  }
}

function start(tokens: readonly TokenConfig[], abandonAfterMs = 120_000): Promise<Daemon> {
  const configured = tokens.map((token) => ({ ...token, group: 'default' }));
  writeFileSync(path('keystored.yaml'), JSON.stringify({ hsm: { tokens: configured, 'job-timeout': '2s' } }));
  return startDaemon({ directory: path('data'), abandonAfterMs, args: ['--config', path('keystored.yaml')] });
}

async function killAfter(daemon: Daemon, afterMs: number): Promise<void> {
  await setTimeout(afterMs);
  await daemon.kill();
}

/** Tasks that change a token are in a group of processes of their own: they die with the machine, and here by hand. */
async function endTasks(tokens: readonly TokenConfig[]): Promise<void> {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const environment = readFileSync(join('/proc', pid, 'environ'), 'utf8');
      if (tokens.some((token) => environment.includes(token.environment?.['SOFTHSM2_CONF'] ?? '-'))) process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended, or is not ours.
    }
  }
}

async function encrypt(daemon: Daemon, token: string, key: string): Promise<string> {
  const plaintext = Buffer.from('plaintext').toString('base64');
  const answer = await daemon.request('POST', `/v1/state/keystore/transit-keys/${key}/encrypt`, { plaintext }, token);
  return (answer as { ciphertext: string }).ciphertext;
}

async function states(daemon: Daemon, rootToken: string): Promise<string[]> {
  const { tokens } = (await daemon.request('GET', '/v1/state/system/hsm', undefined, rootToken)) as {
    tokens: { group?: { 'opens-keys': boolean }; 'wrapping-key': { state: string } }[];
  };
  return tokens.map((token) => `${token['wrapping-key'].state} ${token.group?.['opens-keys']}`);
}
