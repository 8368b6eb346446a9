// The harness of JWT logins: an appliance with the plugin, and an issuer over TLS that tests script.
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { TestClock } from '../../harness/clock.ts';
import { provide } from '../../../core/plugin/service.ts';
import { listenersService } from '../../../core/plugin/services/listeners.ts';
import jwt from '../../../plugins/jwt/index.ts';
import { notServing, startTestAppliance, type Answer, type TestAppliance } from '../../harness/appliance.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';
import { jwks, makeSigner, type Json, type Signer } from './tokens.ts';

export const base = '/v1/config/keystore/authentication/jwt';
export const state = '/v1/state/keystore/authentication/jwt';

export type JwtHarness = {
  readonly appliance: TestAppliance;
  readonly clock: TestClock;
  /** seconds since 1970 */
  now(): number;
  /** Logs in from an address of its own unless one is given, so that refusals of one do not limit the next. */
  login(role: string, token: string, more?: Json, from?: string): Promise<Answer>;
  /** Makes or replaces an issuer; fails the test if it is refused. */
  setIssuer(name: string, fields: Json): Promise<void>;
  setRole(issuer: string, name: string, fields: Json): Promise<void>;
  send(method: string, path: string, body?: unknown, token?: string): Promise<Answer>;
  explain(issuer: string, body: Json): Promise<Json>;
  /** Runs the job of that name, as the appliance does by itself. */
  runJob(name: string): Promise<void>;
  records(): readonly Json[];
  close(): Promise<void>;
};

export async function startJwtHarness(directory: string, configuration: Json = {}): Promise<JwtHarness> {
  const clock = new TestClock(Temporal.Now.instant().toString());
  const appliance = await startTestAppliance({
    directory,
    clock,
    plugins: [jwt],
    configuration: { jwt: configuration },
    services: [provide(listenersService, { ...notServing, managementUrl: 'https://keys.test' })],
  });
  let callers = 256;
  const send: JwtHarness['send'] = (method, path, body, token) =>
    appliance.request(method, path, body, token === undefined ? {} : { token });
  const put = async (path: string, fields: Json): Promise<void> => {
    const answer = await send('PUT', path, fields);
    if (![200, 201, 204].includes(answer.status)) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  };
  return {
    appliance,
    clock,
    now: () => Math.floor(clock.now().epochMilliseconds / 1_000),
    login: (role, token, more = {}, from = `127.0.${++callers >> 8}.${callers & 255}`) =>
      appliance.request('POST', '/v1/jwt-login', { tenant: 'system', role, jwt: token, ...more }, { token: null as never, from }),
    setIssuer: (name, fields) => put(`${base}/${name}`, fields),
    setRole: (issuer, name, fields) =>
      put(`${base}/${issuer}/roles/${name}`, { audience: 'keystore', 'token-policies': ['root'], ...fields }),
    send,
    async explain(issuer, body) {
      const answer = await send('POST', `${state}/${issuer}/explain`, body);
      return answer.body as Json;
    },
    async runJob(name) {
      const job = appliance.jobs.find((one) => one.name === name);
      if (job === undefined) throw new Error(`there is no job "${name}"`);
      await job.run(AbortSignal.timeout(60_000));
    },
    records: () =>
      readdirSync(join(directory, 'audit'))
        .sort()
        .flatMap((file) =>
          readFileSync(join(directory, 'audit', file), 'utf8')
            .split('\n')
            .filter(Boolean),
        )
        .map((line) => JSON.parse(line) as Json),
    async close() {
      const findings = await appliance.check();
      if (findings.length > 0) throw new Error(JSON.stringify(findings));
      await appliance.close();
    },
  };
}

export type IssuerServer = {
  readonly origin: string;
  /** PEM of what its certificate chains to */
  readonly ca: string;
  /** paths that were asked for, in order */
  readonly asked: string[];
  signer: Signer;
  /** answers in place of the metadata and the key set */
  respond?: ((path: string, response: ServerResponse) => boolean) | undefined;
  /** text of the key set; default: the key of the signer */
  keys?: string | undefined;
  close(): Promise<void>;
};

/** Key, certificate with its chain, and what it chains to unless that is the certificate itself, PEM. */
export type IssuerIdentity = { readonly key: string; readonly cert: string; readonly ca?: string };

/** An issuer with metadata and key set. */
export async function startIssuer(directory: string, identity: IssuerIdentity = selfSignedIdentity(directory)): Promise<IssuerServer> {
  const server: Server = createServer({ cert: identity.cert, key: identity.key }, (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? '';
    issuer.asked.push(path);
    if (issuer.respond?.(path, response) === true) return;
    if (path === '/.well-known/openid-configuration') {
      response.end(JSON.stringify({ issuer: issuer.origin, jwks_uri: `${issuer.origin}/jwks` }));
    } else if (path === '/jwks') response.end(issuer.keys ?? jwks(issuer.signer));
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer: IssuerServer = {
    origin: `https://localhost:${(server.address() as AddressInfo).port}`,
    ca: identity.ca ?? identity.cert,
    asked: [],
    signer: makeSigner(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return issuer;
}
