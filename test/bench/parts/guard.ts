// What guarding a request costs: token check, policy decision and audit record, in processor time, against a bare HTTPS request in the same run.
import { join } from 'node:path';
import { measureProcess } from '../../../appliance/monitoring/metrics/process.ts';
import { limitUnauthenticated } from '../../../core/audit/unauthenticated-limit.ts';
import { withTenants } from '../../../core/platform/tenants/audit-tenants.ts';
import { openAuditTrail } from '../../../core/audit/trail.ts';
import type { Audit, AuditRecord } from '../../../core/audit/record.ts';
import { type AccessControl, createAccessControl } from '../../../core/access/access-control.ts';
import { drawToken, issueToken } from '../../../core/access/tokens/tokens.ts';
import { openPolicies } from '../../../core/access/policy/policies.ts';
import { Secret, revealSecret } from '../../../core/base/secret.ts';
import { openStore, type OpenStore } from '../../../core/store/open.ts';
import { createSystemTenant } from '../../../core/access/system-tenant.ts';
import { openTenants, type Tenants } from '../../../core/access/tenants.ts';
import { formatTimestamp, systemClock } from '../../../core/base/time.ts';
import type { Hsm } from '../../../hsm/api.ts';
import { openHsm } from '../../../hsm/client/open.ts';
import { makeSoftToken, testHsmConfig } from '../../harness/token/softhsm.ts';
import { silentLog } from '../../harness/log.ts';
import type { Part } from '../measure/bench.ts';
import { microsOf } from '../measure/formats.ts';
import { measureLoad, type LoadOptions } from '../measure/load.ts';
import { formatTable, inRounds } from '../measure/rounds.ts';
import { type BareServer, startEcho } from '../neighbours/bare-servers.ts';

/** Requests decided in one turn of the event loop, as under load. */
const turn = 64;
const turns = 1_000;
const path = '/v1/state/keystore/transit-keys/orders/encrypt';
const segments = path.slice(1).split('/');

const connections = 64;

/** In microseconds of processor time for each request, over all threads of a process. */
type Measured = {
  readonly token: number;
  readonly policy: number;
  readonly audit: number;
  /** a bare request on a connection that is kept, and one that brings its own handshake */
  readonly kept: number;
  readonly fresh: number;
};

export const guard: Part<'guard'> = {
  measures: 'token check, policy decision and audit record against a bare HTTPS request, in processor time',
  seconds: ({ rounds, seconds }) => 5 + (rounds + 1) * (2 * (seconds + 0.15) + 4),
  async run({ directory, rounds, seconds }) {
    const hsm = await openHsm(testHsmConfig(await makeSoftToken(join(directory, 'token'))));
    const store = await openStore({ directory: join(directory, 'store'), dataKey: new Secret(new Uint8Array(32).fill(7)) });
    const trail = await openAuditTrail({ directory: join(directory, 'audit'), chain: 'bench', clock: systemClock, log: silentLog });
    const metrics = measureProcess(hsm);
    const echo = await startEcho(directory);
    try {
      await createSystemTenant(store, hsm, systemClock);
      const tenants = openTenants(store);
      const access = createAccessControl(store, tenants, openPolicies(store));
      const audit = withTenants(limitUnauthenticated(metrics.measured(trail), systemClock), tenants);
      const header = await issueHeader(store, hsm, tenants);
      const options = { seconds, connections, directory };
      const found = await inRounds(rounds, async (): Promise<Measured> => ({
        ...(await measureAccess(store, access, header)),
        audit: await measureAudit(audit, tenants),
        kept: await measureBare(echo, {}, options),
        fresh: await measureBare(echo, { Connection: 'close' }, options),
      }));
      // Other work on the machine can only add to processor time.
      const least = (field: keyof Measured): number => Math.min(...found.map((one) => one[field]));
      return { token: least('token'), policy: least('policy'), audit: least('audit'), kept: least('kept'), fresh: least('fresh') };
    } finally {
      echo.stop();
      metrics.stop();
      await trail.close();
      await store.close();
      await hsm.close();
    }
  },
  format: ({ token, policy, audit, kept, fresh }) => {
    const together = token + policy + audit;
    return [
      'What guarding a request costs, in microseconds of processor time, the least of the rounds.',
      '',
      ...formatTable(
        [
          'token check',
          'policy decision',
          'audit record',
          'together',
          'bare request, connection kept',
          'with a new connection',
          'together/kept',
          'together/new',
        ],
        [
          [
            ...[token, policy, audit, together, kept, fresh].map((micros) => micros.toFixed(1)),
            (together / kept).toFixed(2),
            (together / fresh).toFixed(2),
          ],
        ],
      ),
    ];
  },
};

async function issueHeader(store: OpenStore, hsm: Hsm, tenants: Tenants): Promise<string> {
  const tenantId = tenants.findByName('system')?.uuid ?? '';
  const drawn = await drawToken(hsm);
  const identity = { kind: 'approle', source: tenantId, subject: 'bench' } as const;
  const grant = { tenantId, user: 'bench', identity, policies: ['user', 'rewrap-only'], ttlSeconds: 86_400 };
  await store.write((transaction) => issueToken(transaction, store, systemClock, drawn, grant));
  return `Bearer ${revealSecret(drawn)}`;
}

async function measureAccess(store: OpenStore, access: AccessControl, header: string): Promise<{ token: number; policy: number }> {
  // As in the pipeline, the requests of a turn have one instant.
  let now = systemClock.now();
  const authenticate = () => access.authenticate(header, now, { clientIp: '127.0.0.1' });
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

async function measureBare(echo: BareServer, headers: Readonly<Record<string, string>>, options: LoadOptions): Promise<number> {
  return microsOf(await measureLoad(echo, { url: echo.url, body: '{"plaintext":"aGVsbG8="}', headers }, options));
}

/** Processor time of this process for each of the requests of a run. */
async function microsEach(run: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (turn * turns);
}
