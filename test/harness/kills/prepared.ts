// The appliance that all storms begin with: founded once in a run and copied, with what their things are made under.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDeviceCsr, makeKeys } from '../../plugins/ca/pki.ts';
import { type Daemon, startDaemon } from '../daemon.ts';
import { copyDirectory, madeOnce } from '../once.ts';
import { keyObjectLabels } from '../token/token-objects.ts';
import { softhsmModule } from '../token/softhsm.ts';
import { enrolSecret, issuerName } from './things/certificates.ts';
import { primaryName } from './things/keys.ts';

/** What is in the prepared appliance. */
export type Fixtures = {
  readonly tenantId: string;
  readonly rootToken: string;
  /** of an approle whose tokens may do everything */
  readonly roleId: string;
  readonly secretId: string;
  /** base64 of a certification request */
  readonly csr: string;
  /** keys that nobody changes, each with a ciphertext: work for a rotation of the wrapping key */
  readonly ballast: readonly (readonly [name: string, ciphertext: string])[];
  /** key objects in the token, as keyObjectCount() counts them */
  readonly objects: number;
};

/** What the ballast encrypts. */
export const ballastText = Buffer.from('ballast').toString('base64');
const ballastKeys = 200;
const transit = 'keystore/transit-keys';

/** Copies the prepared appliance to a data directory that does not exist. */
export async function copyPrepared(directory: string, program: string | undefined): Promise<Fixtures> {
  const template = await madeOnce('kills', (at) => prepare(at, program));
  copyDirectory(join(template, 'data'), directory);
  return JSON.parse(readFileSync(join(template, 'fixtures.json'), 'utf8')) as Fixtures;
}

/** Keys of tenants in the embedded token, seen by other software. Orphans are objects beyond those of the keys there are. */
export async function keyObjectCount(directory: string): Promise<number> {
  const token = { module: softhsmModule, label: 'keystored', environment: { SOFTHSM2_CONF: join(directory, 'softhsm.conf') } };
  const labels = await keyObjectLabels(token, readFileSync(join(directory, 'pin'), 'utf8').trim());
  return labels.filter((label) => / (?:encrypt|sign)$/.test(label)).length;
}

async function prepare(at: string, program: string | undefined): Promise<void> {
  const directory = join(at, 'data');
  const daemon = await startDaemon({ directory, firstStart: true, ...(program === undefined ? {} : { program }) });
  const fixtures = await furnish(daemon);
  const code = await daemon.stop();
  if (code !== 0) throw new Error(`the daemon that prepares ended with ${code}:\n${daemon.output()}`);
  writeFileSync(join(at, 'fixtures.json'), JSON.stringify({ ...fixtures, objects: await keyObjectCount(directory) }));
}

/** Makes them in an appliance; the number of objects is counted later. */
export async function furnish(daemon: Daemon): Promise<Omit<Fixtures, 'objects'>> {
  const request = async (method: string, path: string, body?: object): Promise<Record<string, string>> =>
    (await daemon.request(method, `/v1/${path}`, body)) as Record<string, string>;
  const { uuid: tenantId = '' } = await request('GET', 'state/tenants/system');
  const est = { enabled: true, 'initial-enroll-secret': enrolSecret, 'allowed-domains': ['example.test'], 'allow-subdomains': true };
  await request('POST', 'config/keystore/tls/ca', { name: issuerName, ttl: '20y', est: { ...est, ttl: '30d' } });
  await request('POST', `config/${transit}`, { name: primaryName, cipher: 'ed25519', 'openpgp-user-id': 'Storm <storm@example.test>' });
  const approles = 'keystore/authentication/approles';
  await request('POST', `config/${approles}`, { name: 'storm', 'token-policies': ['root'] });
  const { 'role-id': roleId = '' } = await request('GET', `state/${approles}/storm`);
  const { 'secret-id': secretId = '' } = await request('POST', `state/${approles}/storm/generate-secret-id`, {});
  const names = Array.from({ length: ballastKeys }, (_, index) => `ballast-${index}`);
  await request('POST', `config/${transit}-batch`, { 'batch-input': names.map((name) => ({ name })) });
  const ballast: [string, string][] = [];
  for (const name of names) {
    const { ciphertext = '' } = await request('POST', `state/${transit}/${name}/encrypt`, { plaintext: ballastText });
    ballast.push([name, ciphertext]);
  }
  const csr = (await makeDeviceCsr(await makeKeys('P-256'), 'device.example.test')).toString('base64');
  return { tenantId, rootToken: daemon.rootToken, roleId, secretId, csr, ballast };
}
