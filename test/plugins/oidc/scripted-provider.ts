// A scripted provider over TLS: correct by default, and each test overrides one behaviour.
import { createHash, createHmac, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { createServer as createPlainServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../core/base/context.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';

type Json = Record<string, unknown>;
export type SeenRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
};
export type Responder = (request: SeenRequest, response: ServerResponse) => void | Promise<void>;
export type SigningKey = { readonly kid: string; readonly alg: Algorithm; readonly privateKey: KeyObject; readonly publicJwk: Json };
export type Algorithm = 'RS256' | 'PS256' | 'ES256' | 'ES384' | 'EdDSA';

/** What a test may change. Functions get the correct value and return the one to use. */
export type Script = {
  metadata?: (metadata: Json) => Json;
  claims?: (claims: Json) => Json;
  /** the text of the claims, for what JSON.stringify cannot write */
  rawClaims?: (text: string) => string;
  header?: (header: Json) => Json;
  /** the whole compact token, from the correct one */
  idToken?: (compact: string) => unknown;
  tokenResponse?: (body: Json) => Json;
  userinfo?: (claims: Json) => Json;
  jwks?: (keys: Json[]) => Json[];
  /** parameters of the redirect back */
  callback?: (parameters: URLSearchParams) => void;
  /** answers in place of a path: /token, /jwks, /userinfo, /metadata, /v1.0/me/transitiveMemberOf … */
  respond?: Readonly<Record<string, Responder>>;
  /** answers other grants than that of a code; false for what it does not answer */
  respondToToken?: (form: URLSearchParams, response: ServerResponse) => boolean;
  /** claims of the person, beyond the protocol's own */
  person?: Json;
  /** the access token; default opaque */
  accessToken?: string;
  key?: SigningKey;
};

export type ScriptedProvider = {
  readonly issuer: string;
  readonly origin: string;
  /** PEM of what its certificate chains to */
  readonly ca: string;
  readonly clientId: string;
  readonly clientSecret: string;
  script: Script;
  readonly requests: SeenRequest[];
  /** Plays the person signing in: takes the authorization URL, answers the callback URL. */
  authorize(url: string): string;
  /** A new signing key; the old one is gone from the key list. */
  rotate(algorithm?: Algorithm): SigningKey;
  requestsTo(path: string): readonly SeenRequest[];
  close(): Promise<void>;
};

type Grant = { readonly nonce: string | null; readonly challenge: string | null; readonly redirectUri: string };

export async function startScriptedProvider(options: {
  directory: string;
  clock: Clock;
  name?: string;
  tls?: boolean;
}): Promise<ScriptedProvider> {
  const { clock, name = 'provider', tls = true } = options;
  const directory = join(options.directory, name);
  mkdirSync(directory, { recursive: true });
  const identity = selfSignedIdentity(directory);
  const grants = new Map<string, Grant>();
  const requests: SeenRequest[] = [];
  const clientId = `client-${name}`;
  // Characters that show whether Basic credentials are form-encoded (RFC 6749 section 2.3.1).
  const clientSecret = `s3cret-${name}-%:+ /`;
  let current = makeKey('RS256', 'first');
  let origin = '';

  const provider: ScriptedProvider = {
    get issuer() {
      return origin;
    },
    get origin() {
      return origin;
    },
    ca: identity.cert,
    clientId,
    clientSecret,
    script: {},
    requests,
    authorize(url) {
      const asked = new URL(url).searchParams;
      const code = randomBytes(16).toString('hex');
      const redirectUri = asked.get('redirect_uri') ?? '';
      grants.set(code, { nonce: asked.get('nonce'), challenge: asked.get('code_challenge'), redirectUri });
      const back = new URL(redirectUri);
      back.search = new URLSearchParams({ code, state: asked.get('state') ?? '', iss: origin }).toString();
      provider.script.callback?.(back.searchParams);
      return back.href;
    },
    rotate(algorithm = 'RS256') {
      current = makeKey(algorithm, randomBytes(4).toString('hex'));
      return current;
    },
    requestsTo: (path) => requests.filter((request) => request.path === path),
    close: () => closeServer(server),
  };

  const receive = (request: IncomingMessage, response: ServerResponse): void => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      const { pathname: path, search: query } = new URL(request.url ?? '/', origin);
      const seen = { method: request.method ?? '', path, query, headers: request.headers, body };
      requests.push(seen);
      void answer(seen, response);
    });
  };
  const server = tls ? createServer({ key: identity.key, cert: identity.cert }, receive) : createPlainServer(receive);

  async function answer(request: SeenRequest, response: ServerResponse): Promise<void> {
    const { script } = provider;
    const custom = script.respond?.[request.path] ?? script.respond?.[aliases[request.path] ?? ''];
    if (custom !== undefined) return custom(request, response);
    if (request.path === '/.well-known/openid-configuration') {
      const metadata = correctMetadata(origin);
      return sendJson(response, script.metadata?.(metadata) ?? metadata);
    }
    if (request.path === '/jwks') {
      const list = [current.publicJwk];
      return sendJson(response, { keys: script.jwks?.(list) ?? list });
    }
    if (request.path === '/token') return answerToken(request, response);
    if (request.path === '/userinfo') {
      const claims = { sub: 'subject-1', ...script.person };
      return sendJson(response, script.userinfo?.(claims) ?? claims);
    }
    response.writeHead(404).end();
  }

  function answerToken(request: SeenRequest, response: ServerResponse): void {
    const { script } = provider;
    const form = new URLSearchParams(request.body);
    if (script.respondToToken?.(form, response) === true) return;
    if (!isAuthenticated(request, form, clientId, clientSecret)) {
      return sendJson(
        response,
        { error: 'invalid_client' },
        401,
        request.headers.authorization === undefined ? {} : { 'www-authenticate': 'Basic' },
      );
    }
    const code = form.get('code') ?? '';
    const grant = grants.get(code);
    grants.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (grant === undefined || grant.challenge !== challenge || grant.redirectUri !== form.get('redirect_uri')) {
      return sendJson(response, { error: 'invalid_grant' }, 400);
    }
    const key = script.key ?? current;
    const accessToken = script.accessToken ?? `at-${randomBytes(16).toString('hex')}`;
    const nowSeconds = Math.floor(clock.now().epochMilliseconds / 1000);
    const own = { iss: origin, sub: 'subject-1', aud: clientId, nonce: grant.nonce, iat: nowSeconds, exp: nowSeconds + 300 };
    const claims = { ...own, ...script.person };
    const header = { alg: key.alg, kid: key.kid, typ: 'JWT' };
    const compact = signText(
      script.header?.(header) ?? header,
      script.rawClaims?.(JSON.stringify(claims)) ?? JSON.stringify(script.claims?.(claims) ?? claims),
      key,
    );
    const body = { access_token: accessToken, token_type: 'Bearer', expires_in: 300, id_token: script.idToken?.(compact) ?? compact };
    sendJson(response, script.tokenResponse?.(body) ?? body);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return provider;
}

const aliases: Readonly<Record<string, string>> = { '/.well-known/openid-configuration': '/metadata' };

function correctMetadata(origin: string): Json {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    jwks_uri: `${origin}/jwks`,
    userinfo_endpoint: `${origin}/userinfo`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA', 'HS256', 'none'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    authorization_response_iss_parameter_supported: true,
  };
}

const makeRsaKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
const rsaKeys: ReturnType<typeof makeRsaKey>[] = [];
let rsaKeysGiven = 0;

/** RSA keys take a tenth of a second each: five in turn, so that keys of one test differ. */
function nextRsaKey(): ReturnType<typeof makeRsaKey> {
  const at = rsaKeysGiven++ % 5;
  return (rsaKeys[at] ??= makeRsaKey());
}

export function makeKey(alg: Algorithm, kid: string): SigningKey {
  const { privateKey, publicKey } =
    alg === 'EdDSA'
      ? generateKeyPairSync('ed25519')
      : alg === 'ES256' || alg === 'ES384'
        ? generateKeyPairSync('ec', { namedCurve: alg === 'ES256' ? 'P-256' : 'P-384' })
        : nextRsaKey();
  return { kid, alg, privateKey, publicJwk: { ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' } };
}

/** A compact JWS of these parts, whatever the header says. `none` and HS256 are made as attackers make them. */
export function signToken(header: Json, claims: Json, key: SigningKey, hmacSecret = 'public knowledge'): string {
  return signText(header, JSON.stringify(claims), key, hmacSecret);
}

function signText(header: Json, claims: string, key: SigningKey, hmacSecret = 'public knowledge'): string {
  const input = [JSON.stringify(header), claims].map((part) => Buffer.from(part).toString('base64url')).join('.');
  if (header['alg'] === 'none') return `${input}.`;
  if (header['alg'] === 'HS256') return `${input}.${createHmac('sha256', hmacSecret).update(input).digest('base64url')}`;
  return `${input}.${signatureOf(input, key).toString('base64url')}`;
}

function signatureOf(input: string, { alg, privateKey }: SigningKey): Buffer {
  const data = Buffer.from(input);
  if (alg === 'EdDSA') return sign(null, data, privateKey);
  if (alg === 'ES256' || alg === 'ES384') return sign(`sha${alg.slice(2)}`, data, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  // 6: RSA_PKCS1_PSS_PADDING; 1: RSA_PKCS1_PADDING
  return sign('sha256', data, { key: privateKey, padding: alg === 'PS256' ? 6 : 1, ...(alg === 'PS256' ? { saltLength: 32 } : {}) });
}

function isAuthenticated(request: SeenRequest, form: URLSearchParams, clientId: string, clientSecret: string): boolean {
  const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  if (basic === undefined) return form.get('client_id') === clientId && form.get('client_secret') === clientSecret;
  const [id = '', secret = ''] = Buffer.from(basic, 'base64').toString().split(':').map(formDecode);
  return id === clientId && secret === clientSecret;
}

function formDecode(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

export function sendJson(response: ServerResponse, body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
