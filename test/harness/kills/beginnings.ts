// The starts that kills cut: what the data directory has before, and what must be there when a later start has finished it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findDifferences, goldenVersions, unpackGolden } from '../../upgrade/golden-appliance.ts';
import { ask } from '../client.ts';
import type { Daemon } from '../daemon.ts';
import { copyDirectory } from '../once.ts';
import { Find } from './connection.ts';
import { Life } from './life.ts';
import type { Plan } from './plan.ts';

/** A start of one kind. */
export type Beginning = {
  readonly name: string;
  /** makes what the data directory has before; it may make none */
  make(directory: string): void;
  readonly args: readonly string[];
  /** of an appliance that its data directory does not tell */
  readonly rootToken?: string;
  /** Throws Find. */
  prove(daemon: Daemon): Promise<void>;
  /** from the start to the ready line, as measured last */
  takesMs: number;
};

const firstGuessMs = 2_500;
const stormBeforeBackupMs = 1_500;
const keys = '/v1/config/keystore/transit-keys';
const actions = '/v1/state/keystore/transit-keys';

/** One of each kind: a first start, restores, and an update from each golden version. */
export async function makeBeginnings(plan: Plan): Promise<readonly Beginning[]> {
  const first: Beginning = { name: 'first start', make: () => undefined, args: [], prove: requireUsable, takesMs: firstGuessMs };
  return [first, ...(await makeRestores(plan)), ...goldenVersions.map((version) => makeUpdate(plan, version))];
}

function makeUpdate(plan: Plan, version: string): Beginning {
  const template = plan.path(`golden-${version}`);
  const golden = unpackGolden(version, template);
  return {
    name: `update from ${version}`,
    make: (directory) => copyDirectory(join(template, 'data'), directory),
    args: [],
    async prove(daemon) {
      const differences = await findDifferences(golden, daemon);
      if (differences.length > 0) throw new Find(differences.join('; '));
    },
    takesMs: firstGuessMs,
  };
}

/** Of backups of an appliance that a storm has filled: one of a moment of the storm, of which all keys must work, and one of which all is known. */
async function makeRestores(plan: Plan): Promise<readonly Beginning[]> {
  const { seed, recipient, program, identityFile } = plan;
  const life = await Life.begin({ directory: plan.path('before-backup'), seed, workers: 2, recipient, program });
  const daemon = await life.run();
  const restore = async (name: string, prove: Beginning['prove']): Promise<Beginning> => {
    const file = plan.path(name.replaceAll(' ', '-'));
    writeFileSync(file, await takeBackup(daemon, recipient));
    const args = ['--restore', file, '--restore-identity-file', identityFile];
    return { name, make: () => undefined, args, rootToken: daemon.rootToken, prove, takesMs: firstGuessMs };
  };
  await life.wait(stormBeforeBackupMs);
  const ofMoment = await restore('restore of a moment', requireKeysWork);
  await life.calm();
  const ofAll = await restore('restore', (restored) => life.storm.prove(restored, 'everything'));
  await life.end();
  plan.record.add(life.storm.tally);
  return [ofMoment, ofAll];
}

/** One backup runs at a time, and the storm takes some, too. */
async function takeBackup({ url, caPem: ca, rootToken: token }: Daemon, recipient: string): Promise<Buffer> {
  for (;;) {
    const { status, octets, text } = await ask(url, '/v1/state/system/backup', {
      method: 'POST',
      body: { recipients: [recipient] },
      token,
      ca,
    });
    if (status === 200) return octets;
    if (status !== 409) throw new Find(`the backup was answered ${status} ${text}`);
  }
}

type KeyState = { readonly name: string; readonly derived: boolean; readonly 'supports-encryption': boolean };

/** Every key that is listed can be used. */
async function requireKeysWork(daemon: Daemon): Promise<void> {
  const listed = (await daemon.request('GET', actions)) as readonly KeyState[];
  for (const { name, derived, 'supports-encryption': encrypts } of listed) {
    const action = encrypts ? 'encrypt' : 'sign';
    const body = encrypts ? { plaintext: 'AA==', ...(derived ? { context: 'any' } : {}) } : { text: 'AA==' };
    const { status, text } = await daemon.exchange('POST', `${actions}/${name}/${action}`, body);
    if (status !== 200) throw new Find(`${name} fails to ${action}: ${status} ${text}`);
  }
}

/** An appliance that has just been founded: its root token works, and keys do. */
async function requireUsable(daemon: Daemon): Promise<void> {
  const plaintext = Buffer.from('first').toString('base64');
  await daemon.request('POST', keys, { name: 'first' });
  const { ciphertext } = (await daemon.request('POST', `${actions}/first/encrypt`, { plaintext })) as { ciphertext: string };
  const opened = (await daemon.request('POST', `${actions}/first/decrypt`, { ciphertext })) as { plaintext: string };
  if (opened.plaintext !== plaintext) throw new Find('the first key does not open its value');
}
