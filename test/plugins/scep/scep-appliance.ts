// An appliance with the listeners of enrolment open, HTTPS and plain, for tests: real token, store and audit trail; the clock starts at the real time.
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { defined } from '../../../core/base/defined.ts';
import { TestClock } from '../../harness/clock.ts';
import type { AnyPlugin } from '../../../core/plugin/plugin.ts';
import { provide } from '../../../core/plugin/service.ts';
import {
  type ListenerName,
  type Listeners,
  listenersService,
  type OpenListener,
  type OpenListeners,
} from '../../../core/plugin/services/listeners.ts';
import type { TokenConfig } from '../../../hsm/api.ts';
import ca from '../../../plugins/ca/index.ts';
import enrolment from '../../../plugins/enrolment/index.ts';
import scep from '../../../plugins/scep/index.ts';
import { type Answer, startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { freePort } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';

export type ScepAppliance = TestAppliance & {
  readonly clock: TestClock;
  readonly tenantId: string;
  /** origins of the listeners */
  readonly secure: string;
  readonly plain: string;
  /** where EST is served, if its plugin is among them */
  readonly est: string;
  /** what clients of the HTTPS listener trust */
  readonly caPem: string;
  setSealed(sealed: boolean): void;
  /** Creates a CA; returns its name. */
  makeCa(fields?: object): Promise<string>;
  patchCa(name: string, fields: object): Promise<void>;
  state(name: string): Promise<Answer['body']>;
  act(name: string, action: string, body?: object): Promise<Answer>;
  list(name: string, what: string): Promise<Answer['body']>;
  /** The URL of a CA on the plain listener. */
  urlOf(name: string): string;
  /** tenants whose quota was charged a request, oldest first */
  readonly admitted: readonly string[];
  /** the open listeners, as metrics and checks from outside see them */
  readonly open: OpenListeners;
  /** Audit records of kind `scep`, oldest first. */
  audited(): readonly ScepRecord[];
  /** Those of another protocol. */
  records(kind: string): readonly ScepRecord[];
};

export type ScepRecord = {
  readonly code?: string;
  readonly status: number;
  readonly 'request-parameters': Readonly<Record<string, unknown>>;
};

export const secret = 'first:enrolment secret';

/** Settings most tests start from: the shared secret, and names at and below example.test. */
export const openScep = {
  scep: { enabled: true, 'initial-enroll-secret': secret },
  est: { 'allowed-domains': ['example.test'], 'allow-subdomains': true, 'allow-bare-domains': true },
};

/** Another protocol on the same listener, sections of its configuration, and tokens in a directory in place of the usual one. */
type More = {
  readonly plugins?: readonly AnyPlugin[];
  readonly configuration?: Readonly<Record<string, unknown>>;
  readonly tokens?: (directory: string) => Promise<readonly TokenConfig[]>;
};

/** Starts one for a test file and closes it afterwards, with every invariant checked. */
export async function startScepAppliance({ plugins = [], configuration = {}, tokens }: More = {}): Promise<ScepAppliance> {
  const path = temporaryDirectory();
  for (const name of ['tls', 'appliance']) mkdirSync(path(name));
  const identity = selfSignedIdentity(path('tls'));
  const [port, plainPort] = [await freePort(), await freePort()];
  const estPort = await freePort();
  let sealed = false;
  const admitted: string[] = [];
  const open = new Map<ListenerName, OpenListener>();
  const listeners: Listeners = {
    serving: true,
    est: { host: '127.0.0.1', port: estPort },
    admit: (tenant) => void admitted.push(tenant),
    onOpen: (name, listener) => void open.set(name, listener),
    hosts: ['localhost', '127.0.0.1'],
    managementUrl: 'https://keystore.example:4646',
    sealed: () => sealed,
    identity: () => identity,
    onIdentityChange: () => () => undefined,
  };
  const clock = new TestClock(Temporal.Now.instant().toString());
  const appliance = await startTestAppliance({
    directory: path('appliance'),
    plugins: [ca, enrolment, scep, ...plugins],
    services: [provide(listenersService, listeners)],
    ...defined({ tokens: await tokens?.(path('appliance')) }),
    configuration: { enrolment: { listen: `127.0.0.1:${port}`, plainListen: `127.0.0.1:${plainPort}` }, ...configuration },
    clock,
  });
  afterAll(async () => {
    expect(await appliance.check()).toEqual([]);
    await appliance.close();
  });
  const { body: system } = await appliance.request('GET', '/v1/state/tenants/system');
  const tenantId: string = system.uuid;
  const tree = '/keystore/tls/ca';
  const ok = async (status: number, method: string, where: string, body?: unknown): Promise<Answer['body']> => {
    const answer = await appliance.request(method, where, body);
    expect({ status: answer.status, body: answer.body }).toMatchObject({ status });
    return answer.body;
  };
  const plain = `http://127.0.0.1:${plainPort}`;
  return {
    ...appliance,
    clock,
    tenantId,
    ...{ admitted, open },
    secure: `https://127.0.0.1:${port}`,
    est: `https://127.0.0.1:${estPort}`,
    plain,
    caPem: identity.cert,
    setSealed: (value) => {
      sealed = value;
    },
    async makeCa(fields = openScep) {
      const name = `ca-${randomUUID().slice(0, 8)}`;
      await ok(201, 'POST', `/v1/config${tree}`, { name, ...fields });
      return name;
    },
    patchCa: async (name, fields) => void (await ok(204, 'PATCH', `/v1/config${tree}/${name}`, fields)),
    state: (name) => ok(200, 'GET', `/v1/state${tree}/${name}`),
    act: (name, action, body = {}) => appliance.request('POST', `/v1/state${tree}/${name}/${action}`, body),
    list: (name, what) => ok(200, 'GET', `/v1/state${tree}/${name}/${what}`),
    urlOf: (name) => `${plain}/scep/${tenantId}/${name}`,
    audited: () => readAudit(join(appliance.directory, 'audit'), 'scep'),
    records: (kind) => readAudit(join(appliance.directory, 'audit'), kind),
  };
}

function readAudit(directory: string, wanted: string): readonly ScepRecord[] {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const lines = files.flatMap((file) => readFileSync(join(file.parentPath, file.name), 'utf8').split('\n'));
  return lines
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as ScepRecord & { readonly kind: string })
    .filter(({ kind }) => kind === wanted);
}
