// An appliance with the EST listener open, for tests: real token, store, audit trail and TLS; the clock starts at the real time.
import { WrappingRotation } from '../../../appliance/wrapping-keys/rotation.ts';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { defined } from '../../../core/base/defined.ts';
import type { TlsIdentity } from '../../../core/http/listener/listeners.ts';
import type { Answered } from '../../../core/http/context/request-context.ts';
import { provide } from '../../../core/plugin/service.ts';
import { type Listeners, listenersService } from '../../../core/plugin/services/listeners.ts';
import { TestClock } from '../../harness/clock.ts';
import type { TokenConfig } from '../../../hsm/api.ts';
import { openCaContext } from '../../../plugins/ca/context.ts';
import ca from '../../../plugins/ca/index.ts';
import { certificateAuthorities } from '../../../plugins/ca/service.ts';
import { FailureLimit } from '../../../core/access/failure-limit.ts';
import est from '../../../plugins/est/index.ts';
import { startTestAppliance, type Answer, type TestAppliance } from '../../harness/appliance.ts';
import { freePort } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';
import { pkcs10, send, type Reply, type Sending } from './client.ts';
import { silentLog } from '../../harness/log.ts';

export type EstAppliance = TestAppliance & {
  /** origin of the EST listener */
  readonly est: string;
  readonly tenantId: string;
  /** what clients trust */
  readonly caPem: string;
  setIdentity(identity: TlsIdentity): void;
  setSealed(sealed: boolean): void;
  /** Creates a CA; returns its name. */
  makeCa(fields?: object): Promise<string>;
  patchCa(name: string, fields: object): Promise<void>;
  state(name: string): Promise<Answer['body']>;
  act(name: string, action: string, body?: object): Promise<Answer>;
  /** A request below the base path of a CA. */
  call(ca: string, operation: string, options?: Sending): Promise<Reply>;
  /** An enrolment of a request in DER. */
  enrol(ca: string, operation: 'simpleenroll' | 'simplereenroll', csr: Buffer, options?: Sending): Promise<Reply>;
  /** Sets the clock back to where it was before `seconds` passed, as a person does: then it counts again. */
  setBack(seconds: number): Promise<void>;
  /** What the EST listener told the metrics, oldest first. */
  readonly answered: readonly Answered[];
  /** Audit records of kind `est` and `request`, oldest first. */
  audited(): readonly Readonly<Record<string, unknown>>[];
};

export const secret = 'first:enrolment secret';

/** EST settings most tests start from: the shared secret, and names at and below example.test. */
export const openEst = {
  enabled: true,
  'initial-enroll-secret': secret,
  'allowed-domains': ['example.test'],
  'allow-subdomains': true,
  'allow-bare-domains': true,
};

/** Starts one for a test file and closes it afterwards, with every invariant checked. */
export async function startEstAppliance(
  options: {
    tokens?: (directory: string) => Promise<readonly TokenConfig[]>;
    publicUrl?: string;
    isUrlGiven?: boolean;
    configuration?: Readonly<Record<string, unknown>>;
  } = {},
): Promise<EstAppliance> {
  const path = temporaryDirectory();
  for (const name of ['est', 'appliance', 'tokens']) mkdirSync(path(name));
  const identity = selfSignedIdentity(path('est'));
  let current: TlsIdentity = identity;
  let sealed = false;
  let changed: ((identity: TlsIdentity) => void) | undefined;
  const port = await freePort();
  const answered: Answered[] = [];
  const listeners: Listeners = {
    serving: true,
    est: { host: '127.0.0.1', port },
    hosts: ['localhost', '127.0.0.1', '::1'],
    managementUrl: options.publicUrl ?? 'https://keystore.example:4646',
    isUrlGiven: options.isUrlGiven,
    onAnswered: (one) => answered.push(one),
    sealed: () => sealed,
    identity: () => current,
    onIdentityChange(callback) {
      changed = callback;
      return () => {
        changed = undefined;
      };
    },
  };
  const clock = new TestClock(Temporal.Now.instant().toString());
  const tokens = await options.tokens?.(path('tokens'));
  const appliance = await startTestAppliance({
    directory: path('appliance'),
    plugins: [ca, est],
    services: [provide(listenersService, listeners)],
    clock,
    ...defined({ tokens, configuration: options.configuration }),
  });
  afterAll(async () => {
    expect(await appliance.check()).toEqual([]);
    await appliance.close();
  });
  const { body: system } = await appliance.request('GET', '/v1/state/tenants/system');
  const tenantId: string = system.uuid;
  const origin = `https://127.0.0.1:${port}`;
  const tree = '/keystore/tls/ca';
  const ok = async (status: number, method: string, where: string, body?: unknown): Promise<Answer['body']> => {
    const answer = await appliance.request(method, where, body);
    expect({ status: answer.status, body: answer.body }).toMatchObject({ status });
    return answer.body;
  };
  const call: EstAppliance['call'] = (ca, operation, sending = {}) =>
    send(origin, `/.well-known/est/${tenantId}/${ca}/${operation}`, { ca: current.cert, ...sending });
  return {
    ...appliance,
    est: origin,
    tenantId,
    caPem: identity.cert,
    answered,
    setIdentity(next) {
      current = next;
      changed?.(next);
    },
    setSealed: (value) => {
      sealed = value;
    },
    async makeCa(fields = { est: openEst }) {
      const name = `ca-${randomUUID().slice(0, 8)}`;
      await ok(201, 'POST', `/v1/config${tree}`, { name, ...fields });
      return name;
    },
    patchCa: async (name, fields) => void (await ok(204, 'PATCH', `/v1/config${tree}/${name}`, fields)),
    state: (name) => ok(200, 'GET', `/v1/state${tree}/${name}`),
    act: (name, action, body = {}) => appliance.request('POST', `/v1/state${tree}/${name}/${action}`, body),
    call,
    enrol: (ca, operation, csr, sending = {}) => {
      const made = pkcs10(csr);
      return call(ca, operation, { ...made, ...sending, headers: { ...made.headers, ...sending.headers } });
    },
    async setBack(seconds) {
      clock.step(-seconds);
      await ok(204, 'POST', '/v1/state/system/accept-clock');
    },
    audited: () => readAudit(join(appliance.directory, 'audit')),
  };
}

/** What the EST app needs to serve the CAs of an appliance, beside audit trail and log. */
export function estParts({ hsm, clock, store }: Pick<EstAppliance, 'hsm' | 'clock' | 'store'>) {
  const kept = store.prefixed('est');
  const authorities = certificateAuthorities(
    openCaContext({
      hsm,
      store: kept,
      clock,
      log: silentLog,
      rotation: new WrappingRotation({ store, hsm, clock }),
      statusUrl: () => undefined,
    }),
    [],
  );
  return {
    authorities,
    clock,
    limit: new FailureLimit(kept, clock, kept.table('secret-failures')),
    sealed: () => false,
    refresh: () => store.refresh(),
  };
}

function readAudit(directory: string): Readonly<Record<string, unknown>>[] {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const lines = files.flatMap((file) => readFileSync(join(file.parentPath, file.name), 'utf8').split('\n'));
  return lines.flatMap((line) => {
    if (!line.startsWith('{')) return [];
    const record = JSON.parse(line) as Record<string, unknown>;
    return ['est', 'request'].includes(String(record['kind'])) ? [record] : [];
  });
}
