// The table of messages that a server of ACME has to refuse, and what is in doubt (plugins/acme/DIVERGENCES.md): for us and for any other server.
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { type AcmeClient, type AcmeReply, encode, makeAccountKeys, signJws } from './client.ts';

export type Probe = readonly [title: string, ask: (client: AcmeClient) => Promise<AcmeReply>];

/** URLs of the directory of a server. */
type Directory = { readonly newAccount: string; readonly newOrder: string; readonly newNonce: string };
const directories = new WeakMap<AcmeClient, Promise<Directory>>();
function directoryOf(client: AcmeClient): Promise<Directory> {
  let known = directories.get(client);
  if (known === undefined) directories.set(client, (known = client.fetch(client.directory).then(({ body }) => body as Directory)));
  return known;
}

const freshNonce = async (client: AcmeClient): Promise<string> =>
  (await client.fetch((await directoryOf(client)).newNonce, { method: 'HEAD' })).headers['replay-nonce'] ?? '';

/** A message of the account to newOrder, changed. */
async function changed(
  client: AcmeClient,
  header: object,
  change: (jws: Record<string, unknown>) => unknown = (jws) => jws,
): Promise<AcmeReply> {
  const url = (await directoryOf(client)).newOrder;
  const named = { nonce: await freshNonce(client), url, kid: client.kid, ...header };
  return client.send(url, change(signJws(client.keys, named, { identifiers: [{ type: 'dns', value: 'a.example.test' }] })));
}

const withHeader = (title: string, header: object): Probe => [title, (client) => changed(client, header)];
const withJws = (title: string, change: (jws: Record<string, unknown>) => unknown): Probe => [
  title,
  (client) => changed(client, {}, change),
];

export const messageProbes: readonly Probe[] = [
  withHeader('url absent', { url: undefined }),
  withHeader('url of another resource', { url: 'https://127.0.0.1/other' }),
  withHeader('kid and jwk together', { jwk: makeAccountKeys().jwk }),
  withHeader('neither kid nor jwk', { kid: undefined }),
  ['jwk where kid is due', (client) => changed(client, { kid: undefined, jwk: client.keys.jwk })],
  withHeader('crit', { crit: ['exp'], exp: 1 }),
  withHeader('alg none', { alg: 'none' }),
  withHeader('alg HS256', { alg: 'HS256' }),
  withHeader('alg of another key', { alg: 'RS256' }),
  withHeader('unknown kid', { kid: 'https://127.0.0.1/account/unknown' }),
  withHeader('no nonce', { nonce: undefined }),
  withHeader('nonce of somebody else', { nonce: encode(Buffer.alloc(32, 7)) }),
  withHeader('nonce that is no base64url', { nonce: 'a nonce!' }),
  withJws('unprotected header', (jws) => ({ ...jws, header: { kid: 'x' } })),
  withJws('signatures', ({ payload, ...one }) => ({ payload, signatures: [one] })),
  withJws('padded base64', (jws) => ({ ...jws, payload: `${String(jws['payload'])}==` })),
  withJws('another payload', (jws) => ({ ...jws, payload: encode({ identifiers: [{ type: 'dns', value: 'b.example.test' }] }) })),
  withJws('no JSON', () => 'protected'),
  withJws('a list', (jws) => [jws]),
  [
    'another Content-Type',
    async (client) => {
      const url = (await directoryOf(client)).newOrder;
      const jws = signJws(
        client.keys,
        { nonce: await freshNonce(client), url, kid: client.kid },
        { identifiers: [{ type: 'dns', value: 'a.example.test' }] },
      );
      return client.send(url, jws, { 'content-type': 'application/json' });
    },
  ],
  [
    'nonce used twice',
    async (client) => {
      const url = (await directoryOf(client)).newOrder;
      const jws = signJws(
        client.keys,
        { nonce: await freshNonce(client), url, kid: client.kid },
        { identifiers: [{ type: 'dns', value: 'a.example.test' }] },
      );
      await client.send(url, jws);
      return client.send(url, jws);
    },
  ],
  ['GET of newOrder', async (client) => client.fetch((await directoryOf(client)).newOrder)],
  [
    'key of the account as the secret of HS256',
    async (client) => {
      const url = (await directoryOf(client)).newAccount;
      const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      const head = encode({ alg: 'HS256', nonce: await freshNonce(client), url, jwk: publicKey.export({ format: 'jwk' }) });
      const payload = encode({});
      const mac = createHmac('sha256', publicKey.export({ format: 'pem', type: 'spki' }))
        .update(`${head}.${payload}`)
        .digest('base64url');
      return client.send(url, { protected: head, payload, signature: mac });
    },
  ],
];

const names: Readonly<Record<string, unknown>> = {
  'empty name': '',
  'trailing dot': 'a.example.test.',
  underscore: 'a_b.example.test',
  'IP as dns': '127.0.0.1',
  'octal IP': '0177.0.0.1',
  'wildcard inside': 'a.*.example.test',
  'two wildcards': '*.*.example.test',
  wildcard: '*.example.test',
  'U-label': 'bücher.example.test',
  'name with a port': 'a.example.test:80',
  'name with NUL': 'a.example.test\u0000.example.com',
  'single label': 'localhost',
  'upper case': 'A.EXAMPLE.TEST',
  'number as value': 7,
};

export const orderProbes: readonly Probe[] = [
  ...Object.entries(names).map(([title, value]): Probe => [title, (client) => order(client, { identifiers: [{ type: 'dns', value }] })]),
  ['type email', (client) => order(client, { identifiers: [{ type: 'email', value: 'a@example.test' }] })],
  ['no identifiers', (client) => order(client, { identifiers: [] })],
  [
    '101 names',
    (client) =>
      order(client, { identifiers: Array.from({ length: 101 }, (_, index) => ({ type: 'dns', value: `n${index}.example.test` })) }),
  ],
  ['a name twice', (client) => order(client, { identifiers: [1, 2].map(() => ({ type: 'dns', value: 'a.example.test' })) })],
  ['unknown profile', (client) => order(client, { ...one, profile: 'unknown' })],
  ['garbage as replaces', (client) => order(client, { ...one, replaces: 'garbage' })],
  ['unknown members', (client) => order(client, { ...one, expires: '0001-01-01T00:00:00Z', more: {} })],
  ['notAfter in the past', (client) => order(client, { ...one, notAfter: '2020-01-01T00:00:00Z' })],
  ['notBefore', (client) => order(client, { ...one, notBefore: '2030-01-01T00:00:00Z' })],
];

const one = { identifiers: [{ type: 'dns', value: 'a.example.test' }] };

async function order(client: AcmeClient, payload: object): Promise<AcmeReply> {
  return client.post((await directoryOf(client)).newOrder, payload, { nonce: await freshNonce(client) });
}

export const accountProbes: readonly Probe[] = [
  ['contact tel:', (client) => account(client, { termsOfServiceAgreed: true, contact: ['tel:+1'] })],
  ['contact that is no address', (client) => account(client, { termsOfServiceAgreed: true, contact: ['mailto:nobody'] })],
  ['contact with header fields', (client) => account(client, { termsOfServiceAgreed: true, contact: ['mailto:a@example.com?subject=x'] })],
  [
    'two addresses in a contact',
    (client) => account(client, { termsOfServiceAgreed: true, contact: ['mailto:a@example.com,b@example.com'] }),
  ],
  ['without terms', (client) => account(client, {})],
  [
    'RSA key of 1024 bits',
    (client) =>
      account(
        client,
        { termsOfServiceAgreed: true },
        generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' }),
      ),
  ],
  [
    'key on secp256k1',
    (client) =>
      account(
        client,
        { termsOfServiceAgreed: true },
        generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey.export({ format: 'jwk' }),
      ),
  ],
  [
    'private key in jwk',
    (client) =>
      account(
        client,
        { termsOfServiceAgreed: true },
        generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
      ),
  ],
];

/** newAccount with a new key, or with this one, which then has not signed. */
async function account(client: AcmeClient, payload: object, jwk?: object): Promise<AcmeReply> {
  const url = (await directoryOf(client)).newAccount;
  const keys = makeAccountKeys();
  return client.send(url, signJws(keys, { nonce: await freshNonce(client), url, jwk: jwk ?? keys.jwk }, payload));
}

/** Status and type of an answer, as a line of a table. */
export function lineOf({ status, body }: AcmeReply): string {
  const type = String(body?.type ?? '').replace('urn:ietf:params:acme:error:', '');
  return type === '' ? String(status) : `${status} ${type}`;
}
