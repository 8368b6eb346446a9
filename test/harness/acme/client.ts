// A client of ACME that sends what a test wants, also what no client would: messages are signed by node:crypto alone.
import { createHmac, generateKeyPairSync, hash, type KeyObject, sign } from 'node:crypto';
import https from 'node:https';

export type AccountKeys = { readonly privateKey: KeyObject; readonly jwk: Readonly<Record<string, string>>; readonly alg: string };

export function makeAccountKeys(kind: 'ES256' | 'ES384' | 'RS256' | 'EdDSA' = 'ES256'): AccountKeys {
  const { privateKey, publicKey } =
    kind === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : kind === 'EdDSA'
        ? generateKeyPairSync('ed25519')
        : generateKeyPairSync('ec', { namedCurve: kind === 'ES256' ? 'P-256' : 'P-384' });
  return { privateKey, jwk: publicKey.export({ format: 'jwk' }) as Record<string, string>, alg: kind };
}

export function thumbprint({ jwk }: AccountKeys): string {
  const members = { EC: ['crv', 'kty', 'x', 'y'], RSA: ['e', 'kty', 'n'], OKP: ['crv', 'kty', 'x'] }[jwk['kty'] ?? ''] ?? [];
  return hash('sha256', JSON.stringify(Object.fromEntries(members.map((name) => [name, jwk[name]]))), 'base64url');
}

export type AcmeReply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read documents freely
  readonly body: any;
  readonly text: string;
};

export const encode = (value: unknown): string =>
  Buffer.from(typeof value === 'string' || value instanceof Uint8Array ? value : JSON.stringify(value)).toString('base64url');

/** A flattened JWS. `payload`: '' for a question. */
export function signJws(keys: AccountKeys, header: Readonly<Record<string, unknown>>, payload: unknown): Record<string, string> {
  const parts = { protected: encode({ alg: keys.alg, ...header }), payload: payload === '' ? '' : encode(payload) };
  const octets = Buffer.from(`${parts.protected}.${parts.payload}`);
  const digest = keys.alg === 'EdDSA' ? null : keys.alg === 'ES384' ? 'sha384' : 'sha256';
  const signature = sign(digest, octets, { key: keys.privateKey, dsaEncoding: 'ieee-p1363' });
  return { ...parts, signature: signature.toString('base64url') };
}

/** The binding to a key of an administrator. */
export function bindExternally(
  keys: AccountKeys,
  { id, key, url }: { readonly id: string; readonly key: string; readonly url: string },
): object {
  const parts = { protected: encode({ alg: 'HS256', kid: id, url }), payload: encode(keys.jwk) };
  const mac = createHmac('sha256', Buffer.from(key, 'base64url')).update(`${parts.protected}.${parts.payload}`).digest();
  return { ...parts, signature: mac.toString('base64url') };
}

export class AcmeClient {
  readonly directory: string;
  readonly base: string;
  keys: AccountKeys;
  kid: string | undefined;
  readonly #ca: string;
  readonly #agent: https.Agent | false;
  #nonce: string | undefined;

  /** `agent`: keeps connections; without one, each request has a connection of its own. */
  constructor(directory: string, ca: string, keys: AccountKeys = makeAccountKeys(), agent: https.Agent | false = false) {
    this.directory = directory;
    this.base = directory.replace(/\/directory$/, '');
    this.keys = keys;
    this.#ca = ca;
    this.#agent = agent;
  }

  fetch(
    url: string,
    options: { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string } = {},
  ): Promise<AcmeReply> {
    const { method = 'GET', headers = {}, body } = options;
    return new Promise((resolve, reject) => {
      // Node takes the name of the server from the header.
      const identity = headers['host'] === undefined ? {} : { checkServerIdentity: () => undefined };
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const sent = https.request(
        url,
        { method, ca: this.#ca, headers: { 'user-agent': 'test', ...headers, ...length }, agent: this.#agent, ...identity },
        (answer) => {
          const parts: Buffer[] = [];
          answer.on('data', (part: Buffer) => parts.push(part));
          // Of a server that ends while it answers; without it nothing comes.
          answer.on('error', reject);
          answer.on('end', () => {
            const text = Buffer.concat(parts).toString();
            const isJson = answer.headers['content-type']?.includes('json') === true;
            const named = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]));
            this.#nonce = named['replay-nonce'] ?? this.#nonce;
            try {
              // Answers to HEAD have the type of their body, and no body.
              const document = isJson && text !== '' ? JSON.parse(text) : undefined;
              resolve({ status: answer.statusCode ?? 0, headers: named, body: document, text });
            } catch (error) {
              reject(error);
            }
          });
        },
      );
      sent.on('error', reject).end(body);
    });
  }

  async nonce(): Promise<string> {
    const { headers } = await this.#askForNonce();
    return headers['replay-nonce'] ?? '';
  }

  #askForNonce(): Promise<AcmeReply> {
    return this.fetch(`${this.base}/new-nonce`, { method: 'HEAD' });
  }

  /** Sends a signed message. `header` replaces members of the protected header; undefined ones are left out. */
  async post(url: string, payload: unknown, header: Readonly<Record<string, unknown>> = {}): Promise<AcmeReply> {
    let nonce = this.#nonce;
    if (nonce === undefined) {
      const asked = await this.#askForNonce();
      // Of a server that is busy or has none: its answer says when to come again.
      if (asked.status >= 400) return asked;
      nonce = asked.headers['replay-nonce'] ?? '';
    }
    this.#nonce = undefined;
    const who = this.kid === undefined ? { jwk: this.keys.jwk } : { kid: this.kid };
    return this.send(url, signJws(this.keys, { nonce, url, ...who, ...header }, payload));
  }

  send(url: string, jws: unknown, headers: Record<string, string> = { 'content-type': 'application/jose+json' }): Promise<AcmeReply> {
    return this.fetch(url, { method: 'POST', headers, body: typeof jws === 'string' ? jws : JSON.stringify(jws) });
  }

  async register(payload: object = { termsOfServiceAgreed: true }): Promise<AcmeReply> {
    const made = await this.post(`${this.base}/new-account`, payload);
    this.kid = made.headers['location'];
    return made;
  }

  order(...names: readonly string[]): Promise<AcmeReply> {
    return this.post(`${this.base}/new-order`, {
      identifiers: names.map((value) => ({ type: /^[\d.]+$|:/.test(value) ? 'ip' : 'dns', value })),
    });
  }

  /** Asks again until a document has another status than those. */
  async until(url: string, ...waiting: readonly string[]): Promise<AcmeReply> {
    for (let left = 400; left > 0; left--) {
      const reply = await this.post(url, '');
      if (!waiting.includes(String(reply.body?.status))) return reply;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(`${url} stays ${waiting.join(' or ')}`);
  }

  keyAuthorization(token: string): string {
    return `${token}.${thumbprint(this.keys)}`;
  }
}
