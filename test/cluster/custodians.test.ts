// npm test -- cluster: custodians of two appliances with a token in each: one ceremony serves both, and each share is sent to both at once.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { OwnMembers } from './own-members.ts';

const path = temporaryDirectory();
const keystorectl = resolve('appliance/cli/keystorectl.ts');
const running: Daemon[] = [];
afterAll(async () => {
  for (const daemon of running) await daemon.stop().catch(() => undefined);
});

/** In a process of its own, which holds the data directory to its end. */
function ctl(...words: string[]): { readonly code: number | null; readonly said: string } {
  const env = { ...process.env, HOME: path('home') };
  const { status, stdout, stderr } = spawnSync(process.execPath, [keystorectl, ...words], { encoding: 'utf8', env });
  return { code: status, said: stdout + stderr };
}

/** The configuration of a member that starts attended. */
function attended(name: string): string {
  const configuration = JSON.parse(readFileSync(path(`${name}.yaml`), 'utf8')) as { hsm: object };
  writeFileSync(path(`${name}-attended.yaml`), JSON.stringify({ ...configuration, hsm: { ...configuration.hsm, start: 'attended' } }));
  return path(`${name}-attended.yaml`);
}

/** The PIN is in a safe place from now on. */
function putAway(name: string): void {
  copyFileSync(path('tokens', `${name}-pin`), path(`${name}-safe`));
  rmSync(path('tokens', `${name}-pin`));
}

test('two of three shares of one ceremony unseal both appliances', async () => {
  const members = await OwnMembers.withOwnTokens(path);
  const a = await members.start('a');
  running.push(a);
  await members.found(a);
  const b = await members.join('b', a);
  running.push(b);
  await a.request('POST', '/v1/config/keystore/transit-keys', { name: 'orders' });
  const encrypt = '/v1/state/keystore/transit-keys/orders/encrypt';
  const { ciphertext } = (await a.request('POST', encrypt, { plaintext: 'aGVsbG8=' })) as { ciphertext: string };
  for (const one of [a, b]) await one.stop();
  const { rootToken } = a;
  const start = async (name: string): Promise<Daemon> =>
    startDaemon({ directory: path(`data-${name}`), workers: 2, args: ['--config', path(`${name}-attended.yaml`)], rootToken });
  const startBoth = async (): Promise<[Daemon, Daemon]> => {
    const both = await Promise.all([start('a'), start('b')]);
    running.splice(0, 2, ...both);
    return both;
  };

  const recipients = ['anna', 'bert', 'cleo'].map((name) => {
    execFileSync('age-keygen', ['--output', path(name)], { stdio: 'ignore' });
    return execFileSync('age-keygen', ['-y', path(name)], { encoding: 'utf8' }).trim();
  });
  const places = ['a', 'b'].map((name) => ['--config', attended(name), '--data-dir', path(`data-${name}`)]) as [string[], string[]];
  const to = recipients.flatMap((one) => ['--recipient', one]);
  const how = ['--shares', '3', '--needed', '2', ...to, '--out', path('out'), '--pin-file', path('a-safe')];
  const make = () => ctl('custodians', 'make', ...places[0], ...how);
  // One that has never started attended could not wait for shares.
  expect(make().said).toContain('start the appliance attended once');
  for (const one of await startBoth()) await one.stop();
  for (const name of ['a', 'b']) putAway(name);
  const made = make();
  expect(made.code, made.said).toBe(0);
  const shares = readdirSync(path('out'))
    .toSorted()
    .map((file, at) =>
      execFileSync('age', ['-d', '-i', path(['anna', 'bert', 'cleo'][at] ?? ''), path('out', file)], { encoding: 'utf8' }).trim(),
    );

  copyFileSync(path('data-a', 'custodians.json'), path('ceremony.json'));
  const join = (...more: string[]) => ctl('custodians', 'join', ...places[1], '--ceremony', path('ceremony.json'), ...more);
  const words = /words: ([a-z ]+)/.exec(join().said)?.[1] ?? '';
  const agreed = (texts: readonly string[], line: string): string[] =>
    texts.flatMap((share, at) => {
      writeFileSync(path(`agreed-${at}`), `${share}\n${line}\n`);
      return ['--share', path(`agreed-${at}`)];
    });
  expect(join('--pin-file', path('b-safe'), ...agreed(shares.slice(0, 1), words)).said).toContain('1 different shares were given');
  expect(join('--pin-file', path('b-safe'), ...agreed(shares.slice(0, 2), 'words of something else')).said).toContain(
    'agreed to something else',
  );
  const joined = join('--pin-file', path('b-safe'), ...agreed(shares.slice(1), words));
  expect(joined.code, joined.said).toBe(0);
  expect(join('--pin-file', path('b-safe'), ...agreed(shares.slice(1), words)).said).toContain('has custodians already');
  const [first, second] = ['a', 'b'].map((name) => readFileSync(path(`data-${name}`, 'custodians.json'), 'utf8'));
  expect(second).not.toBe(first);

  const [again, beside] = await startBoth();
  writeFileSync(path('ca.pem'), again.caPem + beside.caPem);
  const give = (share: string) => {
    writeFileSync(path('share'), share);
    return ctl('custodians', 'give', '--all-members', '--in', path('share'), '--url', `${again.url},${beside.url}`, '--ca', path('ca.pem'));
  };
  const one = give(shares[0] ?? '');
  expect([one.code, one.said.match(/1 of 2 shares/g)?.length], one.said).toEqual([0, 2]);
  const two = give(shares[2] ?? '');
  expect([two.code, two.said.match(/2 of 2 shares: unsealed/g)?.length], two.said).toEqual([0, 2]);
  const decrypt = '/v1/state/keystore/transit-keys/orders/decrypt';
  for (const daemon of [again, beside])
    await expect
      .poll(async () => (await daemon.exchange('POST', decrypt, { ciphertext }).catch(() => undefined))?.body?.plaintext, {
        timeout: 60_000,
      })
      .toBe('aGVsbG8=');
});
