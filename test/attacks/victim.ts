// What attacks start from: the composed appliance with every plugin, tenants and tokens in it, and a look at everything it wrote.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { defined } from '../../core/base/defined.ts';
import {
  startTestAppliance,
  type Answer,
  type RequestOptions,
  type TestAppliance,
  type TestApplianceOptions,
} from '../harness/appliance.ts';
import { ask } from '../harness/client.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

export type Victim = TestAppliance & {
  /** `403 policy-denied`, `200 done` */
  verdict(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<string>;
  /** Makes a tenant with these policies; answers its root token. */
  makeTenant(name: string, policies?: readonly string[]): Promise<string>;
  /** A token with these policies, of the system tenant or of the one of the given token. */
  makeToken(policies: readonly string[], parent?: string): Promise<string>;
  /** Creates a policy with these rules. */
  makePolicy(name: string, rules: readonly unknown[], token?: string): Promise<void>;
  /** A request whose line and headers go out octet by octet as given; answers status and body. */
  raw(method: string, target: string, options?: RequestOptions): Promise<Answer>;
  /** Audit trail, log and store, as they are on the disk. */
  written(): string;
};

export const verdictOf = ({ status, body }: Answer): string => `${status} ${String(body?.code ?? 'done')}`;

/** Starts one for a test file; closes it afterwards, with every invariant checked and no fault of the appliance in its log. */
export async function startVictim(options: Pick<TestApplianceOptions, 'unauthenticatedLimit' | 'configuration'> = {}): Promise<Victim> {
  const at = temporaryDirectory();
  const appliance = await startTestAppliance({ directory: at('appliance'), ...options });
  afterAll(async () => {
    expect(appliance.logged.filter(({ level }) => level === 'error')).toEqual([]);
    expect((await appliance.request('GET', '/v1/state/system/health', undefined, { token: undefined })).status).toBe(200);
    appliance.store.refresh();
    expect(await appliance.check()).toEqual([]);
    await appliance.close();
  });
  const must = async (
    status: number,
    method: string,
    path: string,
    body: unknown,
    token = appliance.rootToken,
  ): Promise<Answer['body']> => {
    const answer = await appliance.request(method, path, body, { token });
    if (answer.status !== status) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  return {
    ...appliance,
    verdict: async (...args) => verdictOf(await appliance.request(...args)),
    async makeTenant(name, policies) {
      await must(201, 'POST', '/v1/config/tenants', { name, ...defined({ policies }) });
      return String((await must(200, 'POST', '/v1/state/keystore/token/create-root', { name })).token);
    },
    makeToken: async (policies, parent) => String((await must(200, 'POST', '/v1/state/keystore/token/create', { policies }, parent)).token),
    makePolicy: (name, rules, token) => must(201, 'POST', '/v1/config/policy/policies', { name, 'rest-api': { rules } }, token),
    raw: (method, target, options = {}) => ask(appliance.url, target, { method, token: appliance.rootToken, ...options }),
    written: () =>
      ['audit', 'store', 'logs'].flatMap((folder) => filesIn(at('appliance', folder))).join('\n') + JSON.stringify(appliance.logged),
  };
}

/** The files of a folder, which may lack, or lose a file meanwhile. */
function filesIn(directory: string): string[] {
  const entries = unlessGone(() => readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isFile())) ?? [];
  return entries.map(({ name }) => unlessGone(() => readFileSync(join(directory, name), 'latin1')) ?? '');
}

function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
