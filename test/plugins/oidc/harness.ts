// The harness of the sign-in tests: an appliance with the plugin, a provider it knows, and browsers that consist of a cookie jar.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { TestClock } from '../../harness/clock.ts';
import oidc from '../../../plugins/oidc/index.ts';
import transit from '../../../plugins/transit/index.ts';
import type { AnyPlugin } from '../../../core/plugin/plugin.ts';
import { provide } from '../../../core/plugin/service.ts';
import { listenersService } from '../../../core/plugin/services/listeners.ts';
import { notServing, startTestAppliance, type Answer, type TestAppliance } from '../../harness/appliance.ts';
import { startScriptedProvider, type ScriptedProvider } from './scripted-provider.ts';

export type OidcHarness = {
  readonly appliance: TestAppliance;
  readonly clock: TestClock;
  readonly provider: ScriptedProvider;
  readonly redirectUri: string;
  /** each from another address unless one is given, so that failures of one do not lock out the next */
  browser(from?: string): Browser;
  /** Creates or replaces the service `corp` of the system tenant, pointing to the provider. */
  setService(fields?: Readonly<Record<string, unknown>>, provider?: ScriptedProvider, name?: string): Promise<void>;
  setRole(name: string, fields?: Readonly<Record<string, unknown>>, service?: string): Promise<void>;
  /** The log since the last call. */
  takeLog(): readonly LogLine[];
  /** Audit records of logins since the start, oldest first. */
  loginRecords(): readonly Readonly<Record<string, unknown>>[];
  auditText(): string;
  close(): Promise<void>;
};

export type LogLine = { readonly level: string; readonly message: string; readonly fields: Readonly<Record<string, unknown>> };

/** One appliance and one provider for a test file. The clock starts now, because certificates and real providers use the real time. */
export async function startOidcHarness(
  directory: string,
  configuration: Readonly<Record<string, unknown>> = {},
  environment: { readonly publicUrl?: string; readonly tls?: boolean; readonly plugins?: readonly AnyPlugin[] } = {},
): Promise<OidcHarness> {
  const { publicUrl = 'https://keys.test', tls = true, plugins = [transit, oidc] } = environment;
  const clock = new TestClock(Temporal.Now.instant().toString());
  const appliance = await startTestAppliance({
    directory,
    clock,
    plugins,
    configuration: { oidc: configuration },
    services: [provide(listenersService, { ...notServing, managementUrl: publicUrl })],
  });
  const provider = await startScriptedProvider({ directory, clock, tls });
  const redirectUri = `${appliance.url}/oidc-callback`;
  let logRead = 0;
  let browsers = 256;
  const auditText = (): string =>
    readdirSync(join(directory, 'audit'))
      .sort()
      .map((file) => readFileSync(join(directory, 'audit', file), 'utf8'))
      .join('');
  return {
    appliance,
    clock,
    provider,
    redirectUri,
    browser: (from = `127.0.${++browsers >> 8}.${browsers & 255}`) =>
      new Browser((method, to, body, headers) => appliance.request(method, to, body, { token: undefined, headers, from })),
    async setService(fields = {}, other = provider, name = 'corp') {
      const answer = await appliance.request('PUT', `/v1/config/keystore/authentication/oidc/${name}`, {
        'display-name': 'Corp sign-in',
        'discovery-url': `${other.issuer}/.well-known/openid-configuration`,
        'use-root-ca-certs': false,
        'ca-certs': other.ca,
        'client-id': other.clientId,
        'client-secret': other.clientSecret,
        'role-select': { 'role-claim': 'groups' },
        'allowed-redirect-uris': [redirectUri],
        ...fields,
      });
      ok([201, 204].includes(answer.status), JSON.stringify(answer.body));
    },
    async setRole(role, fields = {}, service = 'corp') {
      const path = `/v1/config/keystore/authentication/oidc/${service}/roles/${encodeURIComponent(role)}`;
      const answer = await appliance.request('PUT', path, { 'token-policies': ['root'], 'oidc-scopes': ['profile', 'email'], ...fields });
      ok([201, 204].includes(answer.status), JSON.stringify(answer.body));
    },
    takeLog() {
      const lines = appliance.logged.slice(logRead) as readonly LogLine[];
      logRead = appliance.logged.length;
      return lines;
    },
    loginRecords: () =>
      auditText()
        .split('\n')
        .filter((line) => line.includes('"kind":"login"'))
        .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>),
    auditText,
    async close() {
      deepEqual(await appliance.check(), []);
      await provider.close();
      await appliance.close();
    },
  };
}

export type Sender = (method: string, path: string, body: string | undefined, headers: Readonly<Record<string, string>>) => Promise<Answer>;

/** A browser without scripts: keeps and sends cookies, follows no redirects. */
export class Browser {
  readonly cookies = new Map<string, string>();
  readonly #request: Sender;

  constructor(request: Sender) {
    this.#request = request;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.#send('GET', path, undefined, headers);
  }

  send(method: string, path: string, headers: Readonly<Record<string, string>> = {}, body?: string): Promise<Answer> {
    return this.#send(method, path, body, headers);
  }

  post(path: string, form: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    // A browser that sends Origin here is too old for Sec-Fetch-Site.
    const site: Readonly<Record<string, string>> = 'origin' in headers ? {} : { 'sec-fetch-site': 'same-origin' };
    return this.#send('POST', path, new URLSearchParams(form).toString(), { ...type, ...site, ...headers });
  }

  /** Opens the link of the login page and returns the provider's URL. */
  async start(tenant = 'system', service = 'corp', query = ''): Promise<string> {
    const answer = await this.get(`/login/${tenant}/${service}${query}`);
    equal(answer.status, 303, textOf(answer.body));
    return String(answer.headers['location']);
  }

  /** The whole sign-in, up to the answer of the callback. */
  async login(provider: ScriptedProvider, tenant = 'system', service = 'corp'): Promise<Answer> {
    return this.get(pathOf(provider.authorize(await this.start(tenant, service))));
  }

  async #send(method: string, path: string, body: string | undefined, headers: Readonly<Record<string, string>>): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await this.#request(method, path, body, { accept: 'text/html', ...(cookie === '' ? {} : { cookie }), ...headers });
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/Max-Age=0(?:;|$)/.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }
}

/** An API token of the signed-in browser; its cookie is none. */
export async function shownToken(browser: Browser): Promise<string> {
  const page = String((await browser.get('/ui')).body);
  const answer = await browser.post('/ui/token', { 'form-token': fieldOf(page, 'form-token') });
  const shown = answer.status === 303 ? await browser.get(String(answer.headers['location'])) : answer;
  return /([0-9a-f]{8}-[0-9a-f-]{27})<\/code/.exec(String(shown.body))?.[1] ?? '';
}

/** Path and query of an absolute URL. */
export function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** The value of a hidden field on a page. */
export function fieldOf(page: string, name: string): string {
  return new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? '';
}

/** A page's text without markup, white space collapsed. */
export function textOf(page: unknown): string {
  return String(page)
    .replace(/<style>[\s\S]*?<\/style>/, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

/** The reference a failure page shows. */
export function referenceOf(page: unknown): string {
  return /Reference<\/dt>\s*<dd[^>]*><code>([^<]+)</.exec(String(page))?.[1] ?? '';
}

/** A copy without some members. */
export function without(object: Readonly<Record<string, unknown>>, ...names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
