// The transit part of an OpenBao, as far as keys are moved out of it, written from its documents and recorded answers: names, shapes, octets.
import {
  constants,
  createCipheriv,
  createDecipheriv,
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  publicEncrypt,
  randomBytes,
} from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { selfSignedIdentity } from '../../harness/tls.ts';

type Material = Buffer | KeyObject;
type SimulatedKey = {
  readonly type: string;
  readonly versions: Map<number, Material>;
  /** keys of HMACs */
  readonly macs: Map<number, Buffer>;
  exportable: boolean;
  readonly derived?: boolean;
  readonly fields: Record<string, unknown>;
};
type Body = Readonly<Record<string, unknown>>;
type Reply = readonly [status: number, body: object | undefined];

export type SimulatedVault = {
  readonly url: string;
  readonly ca: string;
  /** every request: method and path */
  readonly requests: readonly string[];
  readonly keys: Map<string, SimulatedKey>;
  /** Makes a key with versions of these numbers. */
  make(name: string, type: string, numbers: readonly number[], fields?: Record<string, unknown>): SimulatedKey;
  /** `vault:vN:…` */
  encrypt(this: void, name: string, plaintext: string, version: number): string;
  /** no byok-export, as an earlier version has none */
  isOld: boolean;
  /** deletes nothing */
  keepsLent: boolean;
  close(): void;
};

export async function startSimulatedVault(directory: string, token: string): Promise<SimulatedVault> {
  const identity = selfSignedIdentity(directory);
  const keys = new Map<string, SimulatedKey>();
  const requests: string[] = [];
  const server = createServer(identity, (request, response) => {
    respond(request, response).catch((error: unknown) => response.writeHead(500).end(JSON.stringify({ errors: [String(error)] })));
  });
  const vault = {
    ...{ url: '', ca: identity.cert, requests, keys, isOld: false, keepsLent: false },
    make(name: string, type: string, numbers: readonly number[], fields: Record<string, unknown> = {}): SimulatedKey {
      const { exportable = true, derived = false, ...others } = fields;
      const versions = new Map(numbers.map((number) => [number, materialOf(type)]));
      const macs = new Map(numbers.map((number) => [number, randomBytes(32)]));
      const key = { type, versions, macs, exportable: exportable === true, derived: derived === true, fields: others };
      keys.set(name, key);
      return key;
    },
    encrypt: (name: string, plaintext: string, version: number) =>
      sealed(keys.get(name)?.versions.get(version) as Buffer, plaintext, version),
    close: () => void server.close(),
  };

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    const body = method === 'PUT' ? ((await json(request)) as Body) : {};
    requests.push(`${method} ${url}`);
    const isKnown = request.headers['x-vault-token'] === token && url.startsWith('/v1/transit/');
    const [status, document] = isKnown ? answer(method, url.slice('/v1/transit/'.length), body) : [403, { errors: ['permission denied'] }];
    response.writeHead(status, { 'content-type': 'application/json' }).end(document === undefined ? '' : JSON.stringify(document));
  }

  function answer(method: string, target: string, body: Body): Reply {
    const [path = '', query] = target.split('?');
    const [act = '', first = '', second = ''] = path.split('/').map(decodeURIComponent);
    if (path === 'keys' && query === 'list=true') return data({ keys: [...keys.keys(), 'import/'] });
    const key = keys.get(['keys', 'encrypt', 'decrypt', 'hmac'].includes(act) ? first : second);
    if (act === 'keys' && method === 'PUT' && second === 'import') {
      const publicKey = createPublicKey(String(body['public_key']));
      keys.set(first, { type: 'rsa-4096', versions: new Map([[1, publicKey]]), macs: new Map(), exportable: false, fields: {} });
      return [204, undefined];
    }
    if (key === undefined) return [act === 'encrypt' ? 400 : 404, { errors: [] }];
    if (act === 'keys' && method === 'GET') return data(read(first, key));
    if (act === 'keys' && method === 'DELETE')
      return key.fields['deletion_allowed'] === true && !vault.keepsLent ? (keys.delete(first), [204, undefined]) : refusal('deletion');
    if (act === 'keys' && second === 'config') return (Object.assign(key.fields, body), data(read(first, key)));
    if (act === 'encrypt')
      return data({
        ciphertext: vault.encrypt(first, Buffer.from(String(body['plaintext']), 'base64').toString('latin1'), Number(body['key_version'])),
      });
    if (act === 'hmac') return data({ hmac: macOf(key, body) });
    if (act === 'decrypt') return decrypted(key, body);
    if (!key.exportable) return refusal('private key material is not exportable');
    if (act === 'export' && first === 'hmac-key')
      return data({ keys: Object.fromEntries([...key.macs].map(([number, mac]) => [number, mac.toString('base64')])) });
    if (act === 'export') return data({ name: second, type: key.type, keys: exported(key, clearOf) });
    const lent = keys.get(first)?.versions.get(1) as KeyObject;
    return vault.isOld
      ? [404, { errors: ['unsupported path'] }]
      : data({ name: second, type: key.type, keys: exported(key, (one) => wrapped(lent, one)) });
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  vault.url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return vault;
}

const data = (of: object): Reply => [
  200,
  { request_id: 'a', lease_id: '', renewable: false, lease_duration: 0, data: of, wrap_info: null, warnings: null, auth: null },
];
const refusal = (text: string): Reply => [400, { errors: [text] }];
const curves: Readonly<Record<string, string>> = { 'ecdsa-p256': 'P-256', 'ecdsa-p384': 'P-384', 'ecdsa-p521': 'P-521' };

function materialOf(type: string): Material {
  if (type === 'ed25519') return generateKeyPairSync('ed25519').privateKey;
  if (type === 'rsa-2048') return generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
  const namedCurve = curves[type];
  return namedCurve === undefined ? randomBytes(type === 'aes128-gcm96' ? 16 : 32) : generateKeyPairSync('ec', { namedCurve }).privateKey;
}

function read(name: string, { type, versions, exportable, derived = false, fields }: SimulatedKey): object {
  const least = { min_decryption_version: 1, min_encryption_version: 0, min_available_version: 0 };
  const shown = [...versions].map(([number, one]) => [number, Buffer.isBuffer(one) ? 1_795_725_971 : publicOf(one)]);
  const flags = { exportable, derived, deletion_allowed: false, auto_rotate_period: 0 };
  return { name, type, ...least, ...flags, ...fields, latest_version: Math.max(...versions.keys()), keys: Object.fromEntries(shown) };
}

function publicOf(key: KeyObject): object {
  const publicKey = key.type === 'public' ? key : createPublicKey(key);
  const isEd25519 = publicKey.asymmetricKeyType === 'ed25519';
  const text = isEd25519
    ? Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64')
    : publicKey.export({ type: 'spki', format: 'pem' });
  return { name: publicKey.asymmetricKeyType, public_key: text, creation_time: '2026-11-27T10:00:00.123456789Z', certificate_chain: '' };
}

function exported({ versions }: SimulatedKey, format: (material: Material) => string): object {
  return Object.fromEntries([...versions].map(([number, material]) => [number, format(material)]));
}

/** As export has it: base64, SEC1, PKCS#1, and of Ed25519 seed and public key. */
function clearOf(material: Material): string {
  if (Buffer.isBuffer(material)) return material.toString('base64');
  if (material.asymmetricKeyType === 'rsa') return material.export({ type: 'pkcs1', format: 'pem' });
  if (material.asymmetricKeyType === 'ec') return material.export({ type: 'sec1', format: 'pem' });
  const { d = '', x = '' } = material.export({ format: 'jwk' });
  return Buffer.concat([Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')]).toString('base64');
}

/** As byok-export has it: OAEP with SHA-256 of an AES key, and AES-KWP under that: raw secrets, PKCS#8. */
function wrapped(lent: KeyObject, material: Material): string {
  const octets = Buffer.isBuffer(material) ? material : material.export({ type: 'pkcs8', format: 'der' });
  const transport = randomBytes(32);
  const cipher = createCipheriv('id-aes256-wrap-pad', transport, Buffer.from('a65959a6', 'hex'));
  const oaep = { key: lent, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };
  return Buffer.concat([publicEncrypt(oaep, transport), cipher.update(octets), cipher.final()]).toString('base64');
}

function sealed(material: Buffer, plaintext: string, version: number): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv(material.length === 16 ? 'aes-128-gcm' : 'aes-256-gcm', material, nonce);
  const octets = Buffer.concat([nonce, cipher.update(plaintext, 'latin1'), cipher.final(), cipher.getAuthTag()]);
  return `vault:v${version}:${octets.toString('base64')}`;
}

function macOf({ macs }: SimulatedKey, body: Body): string {
  const version = Number(body['key_version']);
  const mac = createHmac('sha256', macs.get(version) as Buffer).update(Buffer.from(String(body['input']), 'base64'));
  return `vault:v${version}:${mac.digest('base64')}`;
}

/** A batch with an item that does not open is answered 400, with the results. */
function decrypted({ versions }: SimulatedKey, body: Body): Reply {
  const items = body['batch_input'] as readonly { readonly ciphertext: string }[];
  const results = items.map(({ ciphertext }) => {
    const [, version = '', text = ''] = /^vault:v(\d+):(.*)$/.exec(ciphertext) ?? [];
    const octets = Buffer.from(text, 'base64');
    try {
      const decipher = createDecipheriv('aes-256-gcm', versions.get(Number(version)) as Buffer, octets.subarray(0, 12));
      decipher.setAuthTag(octets.subarray(-16));
      const plaintext = Buffer.concat([decipher.update(octets.subarray(12, -16)), decipher.final()]);
      return { plaintext: plaintext.toString('base64'), reference: '' };
    } catch {
      return { error: 'cipher: message authentication failed', plaintext: '', reference: '' };
    }
  });
  const [, whole] = data({ batch_results: results });
  return [results.some((one) => 'error' in one) ? 400 : 200, whole];
}
