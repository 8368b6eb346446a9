// What every generated client has to do with a running appliance, and how the tests judge what it has done.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Json } from '../harness/client.ts';
import { type Daemon, startDaemon } from '../harness/daemon.ts';

/** An appliance, and beside it what a user of a generator has: the description and the appliance's CA, as files. */
export type Subject = {
  readonly daemon: Daemon;
  readonly descriptionFile: string;
  readonly caFile: string;
};

/** A tenant of its own for one client, as the environment of its program. */
export type Stage = {
  readonly environment: Readonly<Record<string, string>>;
  /** the documents of the key and of the approle that the program merges into */
  readonly readMerged: () => Promise<readonly [key: Json, approle: Json]>;
  /** these documents before the program ran */
  readonly before: readonly [key: Json, approle: Json];
};

/** What a program prints as its only line: JSON. */
type Report = {
  /** plaintext of what it encrypted and decrypted again */
  readonly decrypted: string;
  /** `REFERENCE:PLAINTEXT` of each item that succeeded, `REFERENCE:CODE` of each that failed, in order */
  readonly batch: readonly string[];
  readonly failed: number;
  /** of its own signature, and of the same signature over another text */
  readonly verified: readonly [boolean, boolean];
  /** of the keys, from pages of two */
  readonly names: readonly string[];
  readonly pages: number;
  /** the first header that the client shows, where its generator shows headers; otherwise what the pages held */
  readonly total: number;
  /** fields that it reads back after its merge */
  readonly merged: {
    readonly exportable: boolean;
    readonly rotateAfter: string;
    readonly minDecryptionVersion: number;
    readonly uses: number;
  };
  readonly problem: { readonly status: number; readonly code: string };
};

const settings = {
  ...{ exportable: true, 'allow-plaintext-backup': true, 'min-decryption-version': 1, 'min-encryption-version': 1 },
  ...{ distribute: { to: 'none' }, 'auto-rotate': { 'rotate-after': '90d', 'activate-after': '1h' } },
};

const approle = {
  ...{ 'token-policies': ['default'], 'token-ttl': '2h', 'token-max-ttl': '3d', 'token-bound-cidrs': ['127.0.0.0/8'] },
  ...{ 'secret-id-ttl': '30d', 'secret-id-num-uses': 7, 'secret-id-bound-cidrs': ['127.0.0.0/8'] },
};

const keys = '/v1/config/keystore/transit-keys';
const approles = '/v1/config/keystore/authentication/approles';

/** Starts an appliance below `directory`. */
export async function startSubject(directory: string): Promise<Subject> {
  const daemon = await startDaemon({ directory: join(directory, 'data') });
  const [descriptionFile, caFile] = [join(directory, 'openapi.json'), join(directory, 'ca.pem')];
  writeFileSync(descriptionFile, (await daemon.exchange('GET', '/v1/openapi.json', undefined, '')).text);
  writeFileSync(caFile, daemon.caPem);
  return { daemon, descriptionFile, caFile };
}

/**
 * Makes a tenant with keys and an approle whose settings differ from the defaults wherever they can. The program
 * makes the key `made`, encrypts with it one by one and in a batch, signs with `signing`, lists the keys in pages of two,
 * merges one field into the key `merged` (deletion-allowed) and one into the approle `merged` (token-ttl), and asks for a key that is not there.
 */
export async function setStage({ daemon, caFile }: Subject, tenant: string): Promise<Stage> {
  await daemon.request('POST', '/v1/config/tenants', { name: tenant });
  const { token } = (await daemon.request('POST', '/v1/state/keystore/token/create-root', { name: tenant })) as { token: string };
  const ask = (method: string, path: string, body?: unknown): Promise<Json> => daemon.request(method, path, body, token);
  await ask('POST', keys, { name: 'merged', ...settings });
  await ask('POST', keys, { name: 'signing', cipher: 'ed25519' });
  for (const number of [1, 2]) await ask('POST', keys, { name: `page-${number}` });
  await ask('POST', approles, { name: 'merged', ...approle });
  const readMerged = async () => [await ask('GET', `${keys}/merged`), await ask('GET', `${approles}/merged`)] as const;
  const environment = { KEYSTORED_URL: daemon.url, KEYSTORED_CA: caFile, KEYSTORED_TOKEN: token };
  return { environment, readMerged, before: await readMerged() };
}

/** Judges what a program printed and what it left in the appliance: a merge changes the one field that it names. */
export async function expectStory({ before: [key, role], readMerged }: Stage, printed: string): Promise<void> {
  expect(JSON.parse(printed)).toEqual(expected);
  expect(await readMerged()).toEqual([
    { ...key, 'deletion-allowed': true },
    { ...role, 'token-ttl': '4h' },
  ]);
}

const expected: Report = {
  decrypted: 'c2VjcmV0',
  batch: ['a:Zmlyc3Q=', 'b:c2Vjb25k', 'c:version-unknown'],
  failed: 1,
  verified: [true, false],
  names: ['made', 'merged', 'page-1', 'page-2', 'signing'],
  pages: 3,
  total: 5,
  merged: { exportable: true, rotateAfter: '90d', minDecryptionVersion: 1, uses: 7 },
  problem: { status: 404, code: 'not-found' },
};
