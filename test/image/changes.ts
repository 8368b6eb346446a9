// Changes of every kind to an appliance, and how each is seen to be there still: what a power cut right after the answer must not take.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import { makeCsr, makeKeys } from '../plugins/ca/pki.ts';

/** How a request is sent now; machines come and go. Without a token it is that of the root of `system`. */
export type Connection = {
  exchange(method: string, path: string, body?: unknown, token?: string): Promise<{ readonly status: number; readonly body: unknown }>;
};

/** Throws unless what was acknowledged is there. */
export type Kept = () => Promise<void>;

/** Makes something of this name; the last request before it resolves is the change itself. */
export type Change = (connection: Connection, name: string) => Promise<Kept>;

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
  async (connection, name) => {
    await ask(connection, 'POST', keys, { name, cipher, ...more });
    return () => works(connection, name, cipher);
  };

/** By name, which the drill shows; creations of keys are `creationOf`. */
export const changes: Readonly<Record<string, Change>> = {
  rotate: async (connection, name) => {
    await ask(connection, 'POST', keys, { name });
    const first = await ask(connection, 'POST', `${actions}/${name}/encrypt`, { plaintext: payload });
    await ask(connection, 'POST', `${actions}/${name}/rotate`);
    return async () => {
      expect(await ask(connection, 'GET', `${actions}/${name}`)).toMatchObject({ 'latest-version': 2 });
      expect(await ask(connection, 'POST', `${actions}/${name}/decrypt`, { ciphertext: first['ciphertext'] })).toMatchObject({
        plaintext: payload,
      });
      await works(connection, name, 'aes256-gcm96');
    };
  },
  'rotate in the token': async (connection, name) => {
    await ask(connection, 'POST', keys, { name, cipher: 'ecdsa-p256', custody: 'token' });
    const first = await ask(connection, 'POST', `${actions}/${name}/sign`, { text: payload });
    await ask(connection, 'POST', `${actions}/${name}/rotate`);
    return async () => {
      expect(await ask(connection, 'GET', `${actions}/${name}`)).toMatchObject({ 'latest-version': 2 });
      const question = { text: payload, signature: first['signature'] };
      expect(await ask(connection, 'POST', `${actions}/${name}/verify`, question)).toMatchObject({ valid: true });
      await works(connection, name, 'ecdsa-p256');
    };
  },
  trim: async (connection, name) => {
    await ask(connection, 'POST', keys, { name });
    await ask(connection, 'POST', `${actions}/${name}/rotate`);
    await ask(connection, 'POST', `${actions}/${name}/trim`, { version: 2 });
    return async () => {
      expect(await ask(connection, 'GET', `${actions}/${name}`)).toMatchObject({ 'oldest-version': 2, 'latest-version': 2 });
      await works(connection, name, 'aes256-gcm96');
    };
  },
  'import of a secret key': async (connection, name) => {
    const data = randomBytes(32).toString('base64');
    await ask(connection, 'POST', keys, { name, exportable: true });
    await ask(connection, 'POST', `${actions}/${name}/import`, { data });
    return async () => {
      expect(await ask(connection, 'POST', `${actions}/${name}/export`, { version: 'latest' })).toMatchObject({ keys: { 2: data } });
    };
  },
  'import of a private key': async (connection, name) => {
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' });
    await ask(connection, 'POST', keys, { name, cipher: 'ecdsa-p256', custody: 'token' });
    await ask(connection, 'POST', `${actions}/${name}/import`, { data: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }) });
    return async () => {
      const { keys: versions } = (await ask(connection, 'GET', `${actions}/${name}`)) as { keys: Readonly<Record<string, string>> };
      expect(versions['2']?.trim()).toBe(publicKey.trim());
      await works(connection, name, 'ecdsa-p256');
    };
  },
  restore: async (connection, name) => {
    await ask(connection, 'POST', keys, { name: `${name}-old`, 'allow-plaintext-backup': true });
    const { ciphertext } = await ask(connection, 'POST', `${actions}/${name}-old/encrypt`, { plaintext: payload });
    const { key } = await ask(connection, 'POST', `${actions}/${name}-old/backup`);
    await ask(connection, 'POST', keys, { name });
    await ask(connection, 'POST', `${actions}/${name}/restore`, { key });
    return async () => {
      expect(await ask(connection, 'POST', `${actions}/${name}/decrypt`, { ciphertext })).toMatchObject({ plaintext: payload });
    };
  },
  'delete a key': (connection, name) => deletion(connection, keys, name, { name, 'deletion-allowed': true }),
  'delete a key of the token': (connection, name) => deletion(connection, keys, name, { name, custody: 'token', 'deletion-allowed': true }),
  'settings of a key': async (connection, name) => {
    const settings = { exportable: true, 'deletion-allowed': true, 'auto-rotate': { 'rotate-after': '90d' } };
    await ask(connection, 'POST', keys, { name });
    await ask(connection, 'PATCH', `${keys}/${name}`, settings);
    return async () => expect(await ask(connection, 'GET', `${keys}/${name}`)).toMatchObject(settings);
  },
  'an OpenPGP key': async (connection, name) => {
    await ask(connection, 'POST', keys, { name, cipher: 'ed25519', 'openpgp-user-id': 'Archive <archive@example.com>' });
    return async () => {
      const { signature } = await ask(connection, 'POST', `${actions}/${name}/openpgp-sign`, { text: payload });
      expect(await ask(connection, 'POST', `${actions}/${name}/openpgp-verify`, { text: payload, signature })).toMatchObject({
        valid: true,
      });
    };
  },
  'settings of a policy': async (connection, name) => {
    const rules = [{ path: '/v1/state/keystore/transit-keys/*', operations: { read: 'allow' } }];
    await ask(connection, 'POST', '/v1/config/policy/policies', { name });
    await ask(connection, 'PUT', `/v1/config/policy/policies/${name}`, { 'rest-api': { rules } });
    return async () => expect(await ask(connection, 'GET', `/v1/config/policy/policies/${name}`)).toMatchObject({ 'rest-api': { rules } });
  },
  'a tenant and its root token': async (connection, name) => {
    await ask(connection, 'POST', '/v1/config/tenants', { name });
    const { token } = await ask(connection, 'POST', `${tokens}/create-root`, { name });
    return async () => expect(await ask(connection, 'GET', keys, undefined, String(token))).toEqual([]);
  },
  'delete an approle': (connection, name) => deletion(connection, approles, name, { name }),
  'a secret-id': async (connection, name) => {
    await ask(connection, 'POST', approles, { name, 'token-policies': ['default'] });
    const { 'role-id': roleId } = await ask(connection, 'GET', `/v1/state/keystore/authentication/approles/${name}`);
    const made = await ask(connection, 'POST', `/v1/state/keystore/authentication/approles/${name}/generate-secret-id`, {});
    const credential = { 'role-id': roleId, 'secret-id': made['secret-id'] };
    return async () => void (await ask(connection, 'POST', '/v1/approle-login', credential));
  },
  'a token': async (connection) => {
    const { token } = await ask(connection, 'POST', `${tokens}/create`, { policies: ['default'], ttl: '1d' });
    return async () => void (await ask(connection, 'POST', `${tokens}/info`, {}, String(token)));
  },
  'disable a token': async (connection) => {
    const { token, accessor } = await ask(connection, 'POST', `${tokens}/create`, { policies: ['default'], ttl: '1d' });
    await ask(connection, 'POST', `${tokens}/disable`, { accessor });
    return async () => expect((await connection.exchange('POST', `${tokens}/info`, {}, String(token))).status).toBe(401);
  },
  'a CA': async (connection, name) => {
    await ask(connection, 'POST', `${keystore}/tls/ca`, { name, subject: `CN=${name}` });
    return async () => void (await issue(connection, name));
  },
  'settings of a CA': async (connection, name) => {
    const est = { enabled: true, 'allowed-domains': ['example.com'], ttl: '7d' };
    await ask(connection, 'POST', `${keystore}/tls/ca`, { name, subject: `CN=${name}` });
    await ask(connection, 'PATCH', `${keystore}/tls/ca/${name}`, { est });
    return async () => expect(await ask(connection, 'GET', `${keystore}/tls/ca/${name}`)).toMatchObject({ est });
  },
  'a certificate': async (connection, name) => {
    await ask(connection, 'POST', `${keystore}/tls/ca`, { name, subject: `CN=${name}` });
    const serial = await issue(connection, name);
    return async () => expect(await ask(connection, 'GET', `${cas}/${name}/certificates/${serial}`)).toMatchObject({ status: 'valid' });
  },
  'a revocation': async (connection, name) => {
    await ask(connection, 'POST', `${keystore}/tls/ca`, { name, subject: `CN=${name}` });
    const serial = await issue(connection, name);
    await ask(connection, 'POST', `${cas}/${name}/revoke`, { serial, reason: 'key-compromise' });
    return async () => expect(await ask(connection, 'GET', `${cas}/${name}/certificates/${serial}`)).toMatchObject({ status: 'revoked' });
  },
};

async function deletion(connection: Connection, list: string, name: string, document: Fields): Promise<Kept> {
  await ask(connection, 'POST', list, document);
  await ask(connection, 'DELETE', `${list}/${name}`);
  return async () => expect((await connection.exchange('GET', `${list}/${name}`)).status).toBe(404);
}

async function issue(connection: Connection, ca: string): Promise<string> {
  const name = 'device.example.com';
  const der = await makeCsr({ keys: await makeKeys('P-256'), subject: `CN=${name}`, names: [{ type: 'dns', value: name }] });
  const csr = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
  const { serial } = await ask(connection, 'POST', `${cas}/${ca}/sign-csr`, { csr, ttl: '30d', usages: ['client-auth'] });
  return String(serial);
}

async function works(connection: Connection, name: string, cipher: string): Promise<void> {
  if (cipher.startsWith('aes')) {
    const { ciphertext } = await ask(connection, 'POST', `${actions}/${name}/encrypt`, { plaintext: payload });
    expect(await ask(connection, 'POST', `${actions}/${name}/decrypt`, { ciphertext })).toMatchObject({ plaintext: payload });
  } else {
    const { signature } = await ask(connection, 'POST', `${actions}/${name}/sign`, { text: payload });
    expect(await ask(connection, 'POST', `${actions}/${name}/verify`, { text: payload, signature })).toMatchObject({ valid: true });
  }
}

/** Throws on refusals; comes again when the token of a very busy machine is not there for a moment (503). */
async function ask(connection: Connection, method: string, path: string, body?: unknown, token?: string): Promise<Fields> {
  for (let tries = 1; ; tries++) {
    const answer = await connection.exchange(method, path, body, token);
    if (answer.status < 400) return answer.body as Fields;
    if (answer.status !== 503 || tries === 30) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    await setTimeout(1000);
  }
}
