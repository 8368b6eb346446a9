// Changes of every kind to an appliance, and how each is seen to be there still: what a power cut right after the answer must not take.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import { makeCsr, makeKeys } from '../plugins/ca/pki.ts';

/** How a request is sent now; machines come and go. Without a token it is that of the root of `system`. */
export type Door = {
  exchange(method: string, path: string, body?: unknown, token?: string): Promise<{ readonly status: number; readonly body: unknown }>;
};

/** Throws unless what was acknowledged is there. */
export type Kept = () => Promise<void>;

/** Makes something of this name; the last request before it resolves is the change itself. */
export type Change = (door: Door, name: string) => Promise<Kept>;

type Fields = Readonly<Record<string, unknown>>;

const keystore = '/v1/config/keystore';
const keys = `${keystore}/transit-keys`;
const actions = '/v1/state/keystore/transit-keys';
const approles = `${keystore}/authentication/approles`;
const cas = '/v1/state/keystore/tls/ca';
const tokens = '/v1/state/keystore/token';
const payload = Buffer.from('kept over a power cut').toString('base64');

/** A key of a cipher; a fresh one each time it is asked. */
export const creationOf =
  (cipher: string, more: Fields = {}): Change =>
  async (door, name) => {
    await ask(door, 'POST', keys, { name, cipher, ...more });
    return () => works(door, name, cipher);
  };

/** By name, which the drill shows; creations of keys are `creationOf`. */
export const changes: Readonly<Record<string, Change>> = {
  rotate: async (door, name) => {
    await ask(door, 'POST', keys, { name });
    const first = await ask(door, 'POST', `${actions}/${name}/encrypt`, { plaintext: payload });
    await ask(door, 'POST', `${actions}/${name}/rotate`);
    return async () => {
      expect(await ask(door, 'GET', `${actions}/${name}`)).toMatchObject({ 'latest-version': 2 });
      expect(await ask(door, 'POST', `${actions}/${name}/decrypt`, { ciphertext: first['ciphertext'] })).toMatchObject({
        plaintext: payload,
      });
      await works(door, name, 'aes256-gcm96');
    };
  },
  'rotate in the token': async (door, name) => {
    await ask(door, 'POST', keys, { name, cipher: 'ecdsa-p256', custody: 'token' });
    const first = await ask(door, 'POST', `${actions}/${name}/sign`, { text: payload });
    await ask(door, 'POST', `${actions}/${name}/rotate`);
    return async () => {
      expect(await ask(door, 'GET', `${actions}/${name}`)).toMatchObject({ 'latest-version': 2 });
      const question = { text: payload, signature: first['signature'] };
      expect(await ask(door, 'POST', `${actions}/${name}/verify`, question)).toMatchObject({ valid: true });
      await works(door, name, 'ecdsa-p256');
    };
  },
  trim: async (door, name) => {
    await ask(door, 'POST', keys, { name });
    await ask(door, 'POST', `${actions}/${name}/rotate`);
    await ask(door, 'POST', `${actions}/${name}/trim`, { version: 2 });
    return async () => {
      expect(await ask(door, 'GET', `${actions}/${name}`)).toMatchObject({ 'oldest-version': 2, 'latest-version': 2 });
      await works(door, name, 'aes256-gcm96');
    };
  },
  'import of a secret key': async (door, name) => {
    const data = randomBytes(32).toString('base64');
    await ask(door, 'POST', keys, { name, exportable: true });
    await ask(door, 'POST', `${actions}/${name}/import`, { data });
    return async () => {
      expect(await ask(door, 'POST', `${actions}/${name}/export`, { version: 'latest' })).toMatchObject({ keys: { 2: data } });
    };
  },
  'import of a private key': async (door, name) => {
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' });
    await ask(door, 'POST', keys, { name, cipher: 'ecdsa-p256', custody: 'token' });
    await ask(door, 'POST', `${actions}/${name}/import`, { data: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }) });
    return async () => {
      const { keys: versions } = (await ask(door, 'GET', `${actions}/${name}`)) as { keys: Readonly<Record<string, string>> };
      expect(versions['2']?.trim()).toBe(publicKey.trim());
      await works(door, name, 'ecdsa-p256');
    };
  },
  restore: async (door, name) => {
    await ask(door, 'POST', keys, { name: `${name}-old`, 'allow-plaintext-backup': true });
    const { ciphertext } = await ask(door, 'POST', `${actions}/${name}-old/encrypt`, { plaintext: payload });
    const { key } = await ask(door, 'POST', `${actions}/${name}-old/backup`);
    await ask(door, 'POST', keys, { name });
    await ask(door, 'POST', `${actions}/${name}/restore`, { key });
    return async () => {
      expect(await ask(door, 'POST', `${actions}/${name}/decrypt`, { ciphertext })).toMatchObject({ plaintext: payload });
    };
  },
  'delete a key': (door, name) => deletion(door, keys, name, { name, 'deletion-allowed': true }),
  'delete a key of the token': (door, name) => deletion(door, keys, name, { name, custody: 'token', 'deletion-allowed': true }),
  'settings of a key': async (door, name) => {
    const settings = { exportable: true, 'deletion-allowed': true, 'auto-rotate': { 'rotate-after': '90d' } };
    await ask(door, 'POST', keys, { name });
    await ask(door, 'PATCH', `${keys}/${name}`, settings);
    return async () => expect(await ask(door, 'GET', `${keys}/${name}`)).toMatchObject(settings);
  },
  'an OpenPGP key': async (door, name) => {
    await ask(door, 'POST', keys, { name, cipher: 'ed25519', 'openpgp-user-id': 'Archive <archive@example.com>' });
    return async () => {
      const { signature } = await ask(door, 'POST', `${actions}/${name}/openpgp-sign`, { text: payload });
      expect(await ask(door, 'POST', `${actions}/${name}/openpgp-verify`, { text: payload, signature })).toMatchObject({ valid: true });
    };
  },
  'settings of a policy': async (door, name) => {
    const rules = [{ path: '/v1/state/keystore/transit-keys/*', operations: { read: 'allow' } }];
    await ask(door, 'POST', '/v1/config/policy/policies', { name });
    await ask(door, 'PUT', `/v1/config/policy/policies/${name}`, { 'rest-api': { rules } });
    return async () => expect(await ask(door, 'GET', `/v1/config/policy/policies/${name}`)).toMatchObject({ 'rest-api': { rules } });
  },
  'a tenant and its root token': async (door, name) => {
    await ask(door, 'POST', '/v1/config/tenants', { name });
    const { token } = await ask(door, 'POST', `${tokens}/create-root`, { name });
    return async () => expect(await ask(door, 'GET', keys, undefined, String(token))).toEqual([]);
  },
  'delete an approle': (door, name) => deletion(door, approles, name, { name }),
  'a secret-id': async (door, name) => {
    await ask(door, 'POST', approles, { name, 'token-policies': ['default'] });
    const { 'role-id': roleId } = await ask(door, 'GET', `/v1/state/keystore/authentication/approles/${name}`);
    const made = await ask(door, 'POST', `/v1/state/keystore/authentication/approles/${name}/generate-secret-id`, {});
    const credential = { 'role-id': roleId, 'secret-id': made['secret-id'] };
    return async () => void (await ask(door, 'POST', '/v1/approle-login', credential));
  },
  'a token': async (door) => {
    const { token } = await ask(door, 'POST', `${tokens}/create`, { policies: ['default'], ttl: '1d' });
    return async () => void (await ask(door, 'POST', `${tokens}/info`, {}, String(token)));
  },
  'disable a token': async (door) => {
    const { token, accessor } = await ask(door, 'POST', `${tokens}/create`, { policies: ['default'], ttl: '1d' });
    await ask(door, 'POST', `${tokens}/disable`, { accessor });
    return async () => expect((await door.exchange('POST', `${tokens}/info`, {}, String(token))).status).toBe(401);
  },
  'a CA': async (door, name) => {
    await ask(door, 'POST', `${keystore}/tls/ca`, { name, subject: `CN=${name}` });
    return async () => void (await issue(door, name));
  },
  'settings of a CA': async (door, name) => {
    const est = { enabled: true, 'allowed-domains': ['example.com'], ttl: '7d' };
    await ask(door, 'POST', `${keystore}/tls/ca`, { name, subject: `CN=${name}` });
    await ask(door, 'PATCH', `${keystore}/tls/ca/${name}`, { est });
    return async () => expect(await ask(door, 'GET', `${keystore}/tls/ca/${name}`)).toMatchObject({ est });
  },
  'a certificate': async (door, name) => {
    await ask(door, 'POST', `${keystore}/tls/ca`, { name, subject: `CN=${name}` });
    const serial = await issue(door, name);
    return async () => expect(await ask(door, 'GET', `${cas}/${name}/certificates/${serial}`)).toMatchObject({ status: 'valid' });
  },
  'a revocation': async (door, name) => {
    await ask(door, 'POST', `${keystore}/tls/ca`, { name, subject: `CN=${name}` });
    const serial = await issue(door, name);
    await ask(door, 'POST', `${cas}/${name}/revoke`, { serial, reason: 'key-compromise' });
    return async () => expect(await ask(door, 'GET', `${cas}/${name}/certificates/${serial}`)).toMatchObject({ status: 'revoked' });
  },
};

async function deletion(door: Door, list: string, name: string, document: Fields): Promise<Kept> {
  await ask(door, 'POST', list, document);
  await ask(door, 'DELETE', `${list}/${name}`);
  return async () => expect((await door.exchange('GET', `${list}/${name}`)).status).toBe(404);
}

async function issue(door: Door, ca: string): Promise<string> {
  const name = 'device.example.com';
  const der = await makeCsr({ keys: await makeKeys('P-256'), subject: `CN=${name}`, names: [{ type: 'dns', value: name }] });
  const csr = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
  const { serial } = await ask(door, 'POST', `${cas}/${ca}/sign-csr`, { csr, ttl: '30d', usages: ['client-auth'] });
  return String(serial);
}

async function works(door: Door, name: string, cipher: string): Promise<void> {
  if (cipher.startsWith('aes')) {
    const { ciphertext } = await ask(door, 'POST', `${actions}/${name}/encrypt`, { plaintext: payload });
    expect(await ask(door, 'POST', `${actions}/${name}/decrypt`, { ciphertext })).toMatchObject({ plaintext: payload });
  } else {
    const { signature } = await ask(door, 'POST', `${actions}/${name}/sign`, { text: payload });
    expect(await ask(door, 'POST', `${actions}/${name}/verify`, { text: payload, signature })).toMatchObject({ valid: true });
  }
}

/** Throws on refusals; comes again when the token of a very busy machine is not there for a moment (503). */
async function ask(door: Door, method: string, path: string, body?: unknown, token?: string): Promise<Fields> {
  for (let tries = 1; ; tries++) {
    const answer = await door.exchange(method, path, body, token);
    if (answer.status < 400) return answer.body as Fields;
    if (answer.status !== 503 || tries === 30) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    await setTimeout(1000);
  }
}
