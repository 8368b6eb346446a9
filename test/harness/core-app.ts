// The platform alone, in this process: real token, real store, real audit trail, a few plugin entries, and a client to talk to it.
import { readFileSync, readdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { defined } from '../../core/base/defined.ts';
import type { Hsm } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { openAuditTrail, type AuditTrail } from '../../core/audit/trail.ts';
import type { Log } from '../../core/base/context.ts';
import type { ErrorTable } from '../../core/base/errors.ts';
import { createApp, type App } from '../../core/platform/app.ts';
import type { Alias } from '../../core/http/alias.ts';
import type { Answered, Replica } from '../../core/http/context/request-context.ts';
import type { BodyRoom } from '../../core/http/request/body-room.ts';
import type { AnyEndpoint } from '../../core/http/endpoint.ts';
import type { Health } from '../../core/platform/system/health-endpoint.ts';
import type { AnyResource } from '../../core/http/resource/resource.ts';
import { Secret, revealSecret } from '../../core/base/secret.ts';
import { openStore, type OpenStore } from '../../core/store/open.ts';
import { createSystemTenant } from '../../core/access/system-tenant.ts';
import { TestClock } from './clock.ts';
import { type Answer, ask, type Asking } from './client.ts';
import { makeSoftToken, testHsmConfig } from './token/softhsm.ts';

export type CoreParts = { readonly store: OpenStore; readonly hsm: Hsm; readonly clock: TestClock; readonly log: TestLog };

export type CoreAppOptions = {
  /** for everything it keeps; see temporaryDirectory() */
  readonly directory: string;
  /** entries of a plugin under test */
  plugin?(parts: CoreParts): {
    endpoints?: readonly AnyEndpoint[];
    resources?: readonly AnyResource[];
    errors?: ErrorTable;
    aliases?: readonly Alias[];
  };
  readonly health?: () => Health;
  /** where large bodies wait for memory */
  readonly bodyRoom?: BodyRoom;
  /** as of an appliance in a cluster */
  readonly replica?: Replica;
  readonly onAnswered?: (answered: Answered) => void;
};

export type Sent = Pick<Asking, 'token' | 'headers' | 'from'>;

export type CoreApp = CoreParts & {
  readonly app: App;
  readonly audit: AuditTrail;
  readonly server: Server;
  readonly url: string;
  readonly rootToken: string;
  /** what sealed() answers */
  seal(sealed: boolean): void;
  /** Sends a request; an object goes as JSON, a string or Buffer as it is. The root token unless another, or null, is given. */
  send(method: string, path: string, body?: unknown, options?: Sent): Promise<Answer>;
  /** Makes a tenant with its root token. */
  makeTenant(name: string, policies?: readonly string[]): Promise<string>;
  /** Everything in the audit files so far. */
  auditText(): string;
  stop(): Promise<void>;
};

/** Keeps what is logged, so that tests can look for what must not be there. */
export class TestLog implements Log {
  readonly lines: string[] = [];
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.lines.push(`debug ${message} ${JSON.stringify(fields ?? {})}`);
  }
  info(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.lines.push(`info ${message} ${JSON.stringify(fields ?? {})}`);
  }
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.lines.push(`warn ${message} ${JSON.stringify(fields ?? {})}`);
  }
  error(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.lines.push(`error ${message} ${JSON.stringify(fields ?? {})}`);
  }
  with(): Log {
    return this;
  }
}

/** Opens everything and listens on a loopback port without TLS. */
export async function startCoreApp(options: CoreAppOptions): Promise<CoreApp> {
  const log = new TestLog();
  const clock = new TestClock();
  const hsm = await openHsm(testHsmConfig(await makeSoftToken(options.directory)));
  const store = await openStore({ directory: join(options.directory, 'store'), dataKey: new Secret(new Uint8Array(32).fill(7)), log });
  const auditDirectory = join(options.directory, 'audit');
  const audit = await openAuditTrail({ directory: auditDirectory, chain: 'test', clock, log });
  const first = await createSystemTenant(store, hsm, clock);
  const rootToken = first === undefined ? '' : revealSecret(first.rootToken.token);
  const { endpoints = [], resources = [], errors = {}, aliases = [] } = options.plugin?.({ store, hsm, clock, log }) ?? {};
  let sealed = false;
  const health = options.health ?? ((): Health => ({ healthy: true, report: { status: 'ok' } }));
  const { bodyRoom, replica, onAnswered } = options;
  const held = defined({ bodyRoom, replica, onAnswered });
  const app = createApp({
    ...held,
    endpoints,
    resources,
    aliases,
    errors: [errors],
    store,
    audit,
    log,
    clock,
    hsm,
    health,
    sealed: () => sealed,
  });
  const server = createServer(app.handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const send: CoreApp['send'] = (method, path, body, options = {}) =>
    ask(url, path, {
      ...{ method, body, token: rootToken, from: '127.0.0.1', ...options },
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...options.headers },
    });

  return {
    store,
    hsm,
    clock,
    log,
    app,
    audit,
    server,
    url,
    rootToken,
    seal: (next) => void (sealed = next),
    send,
    async makeTenant(name, policies) {
      await send('POST', '/v1/config/tenants', { name, ...defined({ policies }) });
      const { body } = await send('POST', '/v1/state/keystore/token/create-root', { name });
      return String(body.token);
    },
    auditText: () =>
      readdirSync(auditDirectory)
        .map((file) => readFileSync(join(auditDirectory, file), 'utf8'))
        .join(''),
    async stop() {
      server.close();
      server.closeAllConnections();
      await audit.close();
      await store.close();
      await hsm.close();
    },
  };
}
