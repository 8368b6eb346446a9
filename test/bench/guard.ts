// What guarding a request costs: token check, policy decision and audit record, in processor time, against a bare HTTPS request in the same run.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openAuditTrail } from '../../core/audit-trail.ts';
import type { AuditRecord } from '../../core/audit.ts';
import { createAccessControl } from '../../core/auth/access.ts';
import { drawToken, issueToken } from '../../core/auth/tokens.ts';
import type { Log } from '../../core/context.ts';
import { openPolicies } from '../../core/policy/policies.ts';
import { Secret, revealSecret } from '../../core/secret.ts';
import { openStore, type OpenStore } from '../../core/store/open.ts';
import { createSystemTenant, openTenants } from '../../core/tenants.ts';
import { formatTimestamp, systemClock } from '../../core/time.ts';
import type { Hsm } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/open.ts';
import { makeSoftToken, testHsmConfig } from '../setup/softhsm.ts';
import { drive } from './load.ts';

export type GuardOptions = {
  readonly directory: string;
  /** the bare server, and its process */
  readonly echo: { readonly url: string; readonly pid: number };
  readonly seconds: number;
  readonly connections: number;
};

/** Requests decided in one turn of the event loop, as under load. */
const turn = 64;
const turns = 2_000;
const path = '/v1/state/keystore/transit-keys/orders/encrypt';
const segments = path.slice(1).split('/');

/** The table, in microseconds of processor time for each request, over all threads of a process. */
export async function benchGuard({ directory, echo, seconds, connections }: GuardOptions): Promise<string> {
  const bareBefore = processorMicros(echo.pid);
  const { perSecond } = await drive({ url: echo.url, body: '{"plaintext":"aGVsbG8="}' }, { seconds, connections, directory });
  const bare = (processorMicros(echo.pid) - bareBefore) / (perSecond * seconds);

  const hsm = await openHsm(testHsmConfig(await makeSoftToken(join(directory, 'guard'))));
  const store = await openStore({ directory: join(directory, 'guard/store'), dataKey: new Secret(new Uint8Array(32).fill(7)) });
  try {
    const { token, policy } = await measureAccess(store, hsm);
    const audit = await measureAudit(join(directory, 'guard/audit'));
    const sum = token + policy + audit;
    const cells = [token, policy, audit, sum, bare].map((micros) => micros.toFixed(1));
    return [
      '| token check µs | policy decision µs | audit record µs | together µs | bare HTTPS request µs | together/bare |',
      '|---|---|---|---|---|---|',
      `| ${cells.join(' | ')} | ${(sum / bare).toFixed(2)} |`,
    ].join('\n');
  } finally {
    await store.close();
    await hsm.close();
  }
}

async function measureAccess(store: OpenStore, hsm: Hsm): Promise<{ token: number; policy: number }> {
  await createSystemTenant(store, hsm, systemClock);
  const tenants = openTenants(store);
  const access = createAccessControl(store, tenants, openPolicies(store));
  const tenantId = tenants.findByName('system')?.uuid ?? '';
  const drawn = await drawToken(hsm);
  const grant = { tenantId, user: 'bench', policies: ['user', 'rewrap-only'], ttlSeconds: 86_400 };
  await store.write((transaction) => issueToken(transaction, store, systemClock, drawn, grant));
  const header = `Bearer ${revealSecret(drawn)}`;
  // As in the pipeline, the requests of a turn have one instant.
  let now = systemClock.now();
  const authenticate = () => access.authenticate(header, now, '127.0.0.1');
  const caller = authenticate();
  if (caller === undefined || !access.decide(caller, segments, 'execute').allowed) throw new Error('the measured caller is refused');
  const inTurns = (work: () => unknown) => async (): Promise<void> => {
    for (let round = 0; round < turns; round++) {
      store.refresh();
      now = systemClock.now();
      for (let request = 0; request < turn; request++) work();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const idle = await microsEach(inTurns(() => undefined));
  return {
    token: (await microsEach(inTurns(authenticate))) - idle,
    policy: (await microsEach(inTurns(() => access.decide(caller, segments, 'execute')))) - idle,
  };
}

async function measureAudit(directory: string): Promise<number> {
  const quiet: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => quiet };
  const audit = await openAuditTrail({ directory, chain: 'bench', clock: systemClock, log: quiet });
  const record = (occurredAt: string): AuditRecord => ({
    kind: 'request',
    occurredAt,
    requestId: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6',
    ...{ tenant: 'system', tenantId: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6', user: 'bench' },
    ...{ accessor: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6', path, method: 'POST', status: 200, requestTimeMs: 1.234 },
    ...{ clientIp: '127.0.0.1', userAgent: 'bench', keyVersion: 1, requestParameters: { plaintext: { bytes: 88 } } },
  });
  const inTurns = (write: (record: AuditRecord) => Promise<void>) => async (): Promise<void> => {
    for (let round = 0; round < turns; round++) {
      const occurredAt = formatTimestamp(systemClock.now());
      await Promise.all(Array.from({ length: turn }, () => write(record(occurredAt))));
    }
  };
  try {
    return (await microsEach(inTurns((one) => audit.write(one)))) - (await microsEach(inTurns(() => Promise.resolve())));
  } finally {
    await audit.close();
  }
}

/** Processor time of this process for each of the requests of a run, after one that warms up. */
async function microsEach(run: () => Promise<void>): Promise<number> {
  await run();
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (turn * turns);
}

/** Processor time of another process so far, user and system; the kernel counts it in hundredths of a second. */
function processorMicros(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}
