// Cutting a trail back to an earlier signed head: nothing in the files shows it, what was remembered outside of them does.
import { generateKeyPairSync, sign } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { HeadEntry, SignHead } from '../../../core/audit-heads.ts';
import { verifyTrail } from '../../../core/audit-verify.ts';
import { temporaryDirectory } from '../../setup/temporary.ts';
import { openTrail, record } from './trail.ts';

const temporary = temporaryDirectory();
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const keys = new Map([['k', publicKey]]);

/** A signer that remembers, as the appliance does in its store. */
function remembering(): { signHead: SignHead; signed: () => readonly HeadEntry[] } {
  let signed: readonly HeadEntry[] = [];
  return {
    signed: () => signed,
    signHead(octets, heads) {
      signed = heads;
      return Promise.resolve({ keyId: 'k', signature: sign('sha256', octets, { key: privateKey, dsaEncoding: 'ieee-p1363' }) });
    },
  };
}

/** Two chains, signed, then five more records in each, signed again. */
async function makeTrail(directory: string): Promise<readonly HeadEntry[]> {
  const { signHead, signed } = remembering();
  const one = await openTrail(directory, { chain: 'one', signHead });
  const two = await openTrail(directory, { chain: 'two' });
  for (const n of [1, 2, 3, 4, 5]) await Promise.all([one.write(record(n)), two.write(record(n))]);
  await one.signHeads();
  cpSync(directory, `${directory}-earlier`, { recursive: true });
  for (const n of [6, 7, 8, 9, 10]) await Promise.all([one.write(record(n)), two.write(record(n))]);
  await two.close();
  await one.close();
  return signed();
}

async function findings(directory: string): Promise<string[]> {
  return (await verifyTrail(directory, keys)).findings.map(({ problem }) => problem);
}

test('back to an earlier head: the files alone show nothing, the next start tells which records are gone', async () => {
  const directory = temporary('rolled-back');
  const lastSigned = await makeTrail(directory);
  rmSync(directory, { recursive: true });
  cpSync(`${directory}-earlier`, directory, { recursive: true });
  expect(await findings(directory)).toEqual([]);

  const { signHead } = remembering();
  const one = await openTrail(directory, { chain: 'one', signHead, lastSigned });
  const two = await openTrail(directory, { chain: 'two', lastSigned });
  await two.close();
  await one.close();
  expect((await findings(directory)).sort()).toEqual([
    'records 7 to 12 of chain two had been cut off or replaced when the appliance started',
    'records 7 to 12 of chain two had been cut off or replaced when the appliance started',
    'records 8 to 13 of chain one had been cut off or replaced when the appliance started',
  ]);
});

test('a chain that no process goes on with is looked at by the one that signs; also when all its files are gone', async () => {
  const directory = temporary('abandoned');
  const lastSigned = await makeTrail(directory);
  for (const name of readdirSync(directory).filter((file) => file.startsWith('two'))) rmSync(`${directory}/${name}`);
  const one = await openTrail(directory, { chain: 'one', signHead: remembering().signHead, lastSigned });
  await one.close();
  expect(await findings(directory)).toContain('records 1 to 12 of chain two had been cut off or replaced when the appliance started');
});

test('a chain that was cut and then lengthened again beyond what was signed', async () => {
  const directory = temporary('lengthened');
  const lastSigned = await makeTrail(directory);
  const path = `${directory}/two.000000000001.jsonl`;
  writeFileSync(path, readFileSync(path, 'utf8').split('\n').slice(0, 9).concat('').join('\n'));
  const forger = await openTrail(directory, { chain: 'two' });
  for (const n of [8, 9, 10, 11, 12]) await forger.write(record(n, { user: 'somebody else' }));
  await forger.close();
  const two = await openTrail(directory, { chain: 'two', lastSigned });
  await two.close();
  expect(await findings(directory)).toContain('records 12 to 12 of chain two had been cut off or replaced when the appliance started');
});

test('an untouched trail, one that went on after the last signature, and a first start say nothing', async () => {
  const directory = temporary('untouched');
  const lastSigned = await makeTrail(directory);
  for (const signed of [lastSigned, lastSigned]) {
    const one = await openTrail(directory, { chain: 'one', signHead: remembering().signHead, lastSigned: signed });
    const two = await openTrail(directory, { chain: 'two', lastSigned: signed });
    await two.write(record(11));
    await two.close();
    await one.close();
  }
  expect(await findings(directory)).toEqual([]);
  const fresh = await openTrail(temporary('fresh'), { signHead: remembering().signHead, lastSigned: [] });
  await fresh.close();
  expect(await findings(temporary('fresh'))).toEqual([]);
});
