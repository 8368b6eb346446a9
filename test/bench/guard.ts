// What guarding a request costs: token check, policy decision and audit record, in processor time, against a bare HTTPS request in the same run.
import { join } from 'node:path';
import { measureProcess } from '../../appliance/operations/metrics.ts';
import { limitUnauthenticated } from '../../core/audit/unauthenticated-limit.ts';
import { withTenants } from '../../core/platform/tenants/audit-tenants.ts';
import { openAuditTrail } from '../../core/audit/trail.ts';
import type { Audit, AuditRecord } from '../../core/audit/record.ts';
import { type AccessControl, createAccessControl } from '../../core/access/access-control.ts';
import { drawToken, issueToken } from '../../core/access/tokens/tokens.ts';
import type { Log } from '../../core/base/context.ts';
import { openPolicies } from '../../core/access/policy/policies.ts';
import { Secret, revealSecret } from '../../core/base/secret.ts';
import { openStore, type OpenStore } from '../../core/store/open.ts';
import { createSystemTenant } from '../../core/access/system-tenant.ts';
import { openTenants, type Tenants } from '../../core/access/tenants.ts';
import { formatTimestamp, systemClock } from '../../core/base/time.ts';
import type { Hsm } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { makeSoftToken, testHsmConfig } from '../harness/token/softhsm.ts';
import { drive } from './load.ts';
import { processorMicros } from './processor-time.ts';

export type GuardOptions = {
  readonly directory: string;
  /** the bare server, and its process */
  readonly echo: { readonly url: string; readonly pid: number };
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
};

/** Requests decided in one turn of the event loop, as under load. */
const turn = 64;
const turns = 1_000;
const path = '/v1/state/keystore/transit-keys/orders/encrypt';
const segments = path.slice(1).split('/');

type Part = 'token' | 'policy' | 'audit' | 'kept' | 'fresh';

/**
 * The table, in microseconds of processor time for each request, over all threads of a process; the least of rounds that measure
 * everything once, because other work on the machine can only add to it. A bare request on a connection that is kept is the harder yardstick; one that brings its own handshake is the other.
 */
export async function benchGuard({ directory, echo, rounds, seconds, connections }: GuardOptions): Promise<string> {
  const hsm = await openHsm(testHsmConfig(await makeSoftToken(join(directory, 'guard'))));
  const store = await openStore({ directory: join(directory, 'guard/store'), dataKey: new Secret(new Uint8Array(32).fill(7)) });
  const trail = await openAuditTrail({ directory: join(directory, 'guard/audit'), chain: 'bench', clock: systemClock, log: quiet });
  const metrics = measureProcess(hsm);
  try {
    await createSystemTenant(store, hsm, systemClock);
    const tenants = openTenants(store);
    const access = createAccessControl(store, tenants, openPolicies(store));
    const audit = withTenants(limitUnauthenticated(metrics.measured(trail), systemClock), tenants);
    const header = await issueHeader(store, hsm, tenants);
    const found: Record<Part, number[]> = { token: [], policy: [], audit: [], kept: [], fresh: [] };
    // The first round warms up.
    for (let round = 0; round <= rounds; round += 1) {
      const measured: Record<Part, number> = {
        ...(await measureAccess(store, access, header)),
        audit: await measureAudit(audit, tenants),
        kept: await measureBare(echo, {}, { seconds, connections, directory }),
        fresh: await measureBare(echo, { Connection: 'close' }, { seconds, connections, directory }),
      };
      if (round > 0) for (const part of Object.keys(found) as Part[]) found[part].push(measured[part]);
    }
    return table(found, rounds);
  } finally {
    metrics.stop();
    await trail.close();
    await store.close();
    await hsm.close();
  }
}

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => quiet };

function table(found: Record<Part, number[]>, rounds: number): string {
  const [token, policy, audit, kept, fresh] = [found.token, found.policy, found.audit, found.kept, found.fresh].map((values) =>
    Math.min(...values),
  );
  const sum = (token ?? 0) + (policy ?? 0) + (audit ?? 0);
  const micros = [token, policy, audit, sum, kept, fresh].map((value) => (value ?? 0).toFixed(1));
  const ratios = [sum / (kept ?? 1), sum / (fresh ?? 1)].map((ratio) => ratio.toFixed(2));
  return [
    `What guarding a request costs, in microseconds of processor time, the least of ${rounds} rounds:`,
    '',
    '| token check | policy decision | audit record | together | bare request, connection kept | with a new connection | together/kept | together/new |',
    '|---|---|---|---|---|---|---|---|',
    `| ${[...micros, ...ratios].join(' | ')} |`,
  ].join('\n');
}

async function issueHeader(store: OpenStore, hsm: Hsm, tenants: Tenants): Promise<string> {
  const tenantId = tenants.findByName('system')?.uuid ?? '';
  const drawn = await drawToken(hsm);
  const grant = { tenantId, user: 'bench', policies: ['user', 'rewrap-only'], ttlSeconds: 86_400 };
  await store.write((transaction) => issueToken(transaction, store, systemClock, drawn, grant));
  return `Bearer ${revealSecret(drawn)}`;
}

async function measureAccess(store: OpenStore, access: AccessControl, header: string): Promise<{ token: number; policy: number }> {
  // As in the pipeline, the requests of a turn have one instant.
  let now = systemClock.now();
  const authenticate = () => access.authenticate(header, now, '127.0.0.1');
  const inTurns = (work: () => unknown) => async (): Promise<void> => {
    for (let round = 0; round < turns; round++) {
      store.refresh();
      now = systemClock.now();
      for (let request = 0; request < turn; request++) work();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  store.refresh();
  const caller = authenticate();
  if (caller === undefined || !access.decide(caller, segments, 'execute').allowed) throw new Error('the measured caller is refused');
  const idle = await microsEach(inTurns(() => undefined));
  const token = await microsEach(inTurns(authenticate));
  const policy = await microsEach(inTurns(() => access.decide(caller, segments, 'execute')));
  return { token: token - idle, policy: policy - idle };
}

async function measureAudit(audit: Audit, tenants: Tenants): Promise<number> {
  const tenantId = tenants.findByName('system')?.uuid ?? '';
  const record = (occurredAt: string): AuditRecord => ({
    kind: 'request',
    occurredAt,
    requestId: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6',
    ...{ tenant: 'system', tenantId, user: 'bench' },
    ...{ accessor: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6', path, method: 'POST', status: 200, requestTimeMs: 1.234 },
    ...{ clientIp: '127.0.0.1', userAgent: 'bench', keyVersion: 1, requestParameters: { plaintext: { bytes: 88 } } },
  });
  const inTurns = (write: (record: AuditRecord) => Promise<void>) => async (): Promise<void> => {
    for (let round = 0; round < turns; round++) {
      const occurredAt = formatTimestamp(systemClock.now());
      await Promise.all(Array.from({ length: turn }, () => write(record(occurredAt))));
    }
  };
  return (await microsEach(inTurns((one) => audit.write(one)))) - (await microsEach(inTurns(() => Promise.resolve())));
}

async function measureBare(
  { url, pid }: GuardOptions['echo'],
  headers: Readonly<Record<string, string>>,
  options: Parameters<typeof drive>[1],
): Promise<number> {
  const before = processorMicros([pid]);
  const { requests } = await drive({ url, body: '{"plaintext":"aGVsbG8="}', headers }, options);
  return (processorMicros([pid]) - before) / requests;
}

/** Processor time of this process for each of the requests of a run. */
async function microsEach(run: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (turn * turns);
}
