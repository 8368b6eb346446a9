// A certified provider (npm oidc-provider) over TLS, with people who sign in by name, and a client that walks through its pages.
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { request as httpsRequest, createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Provider } from 'oidc-provider';
import { selfSignedIdentity } from '../../harness/tls.ts';

export type CertifiedProvider = {
  readonly issuer: string;
  readonly ca: string;
  readonly clientId: string;
  readonly clientSecret: string;
  close(): Promise<void>;
};

/** By login name: the claims of a person. */
export type People = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export async function startCertifiedProvider(options: {
  readonly directory: string;
  readonly redirectUris: readonly string[];
  readonly people: People;
  readonly host?: string;
  /** whether the claims of scopes are also in the ID token, or in UserInfo only */
  readonly claimsIn?: 'id-token' | 'userinfo';
  readonly authMethod?: 'client_secret_basic' | 'client_secret_post';
}): Promise<CertifiedProvider> {
  const { people, host = 'localhost', claimsIn = 'id-token', authMethod = 'client_secret_basic' } = options;
  const directory = join(options.directory, 'certified');
  mkdirSync(directory, { recursive: true });
  const identity = selfSignedIdentity(directory);
  const [clientId, clientSecret] = ['keystore', 'a-secret-of-the-provider-0123456789'];
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const configuration = {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [...options.redirectUris],
        token_endpoint_auth_method: authMethod,
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'key-1', use: 'sig', alg: 'RS256' }] },
    cookies: { keys: ['only-for-tests'] },
    conformIdTokenClaims: claimsIn === 'userinfo',
    claims: { openid: ['sub'], profile: ['name', 'groups'], email: ['email'] },
    findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
    features: { devInteractions: { enabled: true }, rpInitiatedLogout: { enabled: true } },
    ttl: { Session: 600, Grant: 600, Interaction: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 60 },
  };
  let handler: ReturnType<Provider['callback']> | undefined;
  const server = createServer({ key: identity.key, cert: identity.cert }, (request, response) => void handler?.(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `https://${host}:${(server.address() as AddressInfo).port}`;
  handler = new Provider(issuer, configuration).callback();
  return {
    issuer,
    ca: identity.cert,
    clientId,
    clientSecret,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

/** Signs in at the provider without a browser: follows redirects, fills in forms, stops at the callback of keystored. */
export class Walker {
  readonly #cookies = new Map<string, string>();
  readonly #ca: string;

  constructor(provider: CertifiedProvider) {
    this.#ca = provider.ca;
  }

  /** From the authorization URL to the callback URL. */
  async authorize(url: string, login: string, callback: string): Promise<string> {
    let answer = await this.#fetch('GET', url);
    for (let step = 0; step < 20; step += 1) {
      const { location } = answer;
      if (location?.startsWith(callback) === true) return location;
      if (location !== undefined) answer = await this.#fetch('GET', location);
      else {
        const action = /<form[^>]+action="([^"]+)"/.exec(answer.body)?.[1];
        if (action === undefined)
          throw new Error(`no form and no redirect (${answer.status}) at ${answer.url}: ${answer.body.slice(0, 400)}`);
        const fields = new URLSearchParams(
          [...answer.body.matchAll(/<input[^>]+name="([^"]+)"[^>]*value="([^"]*)"/g)].map(([, name, value]) => [name ?? '', value ?? '']),
        );
        if (answer.body.includes('name="login"')) fields.set('login', login);
        if (answer.body.includes('name="password"')) fields.set('password', 'x');
        answer = await this.#fetch('POST', new URL(action, answer.url).href, fields.toString());
      }
    }
    throw new Error('the provider sends in circles');
  }

  #fetch(method: string, url: string, body?: string): Promise<{ status: number; url: string; location: string | undefined; body: string }> {
    return new Promise((resolve, reject) => {
      const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const headers = {
        accept: 'text/html',
        ...(cookie === '' ? {} : { cookie }),
        ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded', 'content-length': String(body.length) }),
      };
      const request = httpsRequest(url, { method, headers, ca: this.#ca, agent: false }, (response) => {
        for (const line of response.headers['set-cookie'] ?? []) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          if (value === '') this.#cookies.delete(name);
          else this.#cookies.set(name, value);
        }
        let text = '';
        response.on('data', (part: Buffer) => (text += part.toString()));
        response.on('end', () => {
          const { location } = response.headers;
          resolve({
            status: response.statusCode ?? 0,
            url,
            location: location === undefined ? undefined : new URL(location, url).href,
            body: text,
          });
        });
      });
      request.on('error', reject);
      request.end(body);
    });
  }
}
