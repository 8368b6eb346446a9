// Where the time of an enrolment goes: its steps one after another in one process, without TLS and HTTP.
import { WrappingRotation } from '../../../appliance/wrapping-keys/rotation.ts';
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openAuditTrail } from '../../../core/audit/trail.ts';
import { Secret } from '../../../core/base/secret.ts';
import { openStore } from '../../../core/store/open.ts';
import { formatTimestamp, systemClock } from '../../../core/base/time.ts';
import type { KeyType, TokenConfig } from '../../../hsm/api.ts';
import { openHsm } from '../../../hsm/client/open.ts';
import { approveByPolicy } from '../../../plugins/ca/issuing/approval.ts';
import { makeCaGeneration } from '../../../plugins/ca/life.ts';
import { encodeCertsOnly } from '../../../core/cms/certs-only.ts';
import { familiesUnder, verifyCsr } from '../../../plugins/ca/issuing/csr.ts';
import { openCaContext } from '../../../plugins/ca/context.ts';
import { issueCertificate } from '../../../plugins/ca/issuing/issue.ts';
import { type CaRecord, disabledEnrolment } from '../../../plugins/ca/records/records.ts';
import { answerDer, readRequestBody } from '../../../plugins/est/listener/transport.ts';
import { testHsmConfig } from '../../harness/token/softhsm.ts';
import { silentLog } from '../../harness/log.ts';

export type Step = { readonly key: string; readonly step: string; readonly ms: number };

const repetitions = 200;
const policy = { allowedDomains: ['example.test'], allowSubdomains: true, allowBareDomains: false, allowIpSans: false };

/** Milliseconds of each step, mean of 200, one enrolment at a time. */
export async function measureSteps(
  directory: string,
  tokens: readonly TokenConfig[],
  type: KeyType,
  csr: Buffer,
): Promise<readonly Step[]> {
  const place = join(directory, `steps-${type}`);
  mkdirSync(place, { recursive: true });
  const hsm = await openHsm(testHsmConfig(...tokens));
  const store = await openStore({ directory: join(place, 'store'), dataKey: new Secret(new Uint8Array(32)) });
  const audit = await openAuditTrail({ directory: join(place, 'audit'), chain: 'bench', clock: systemClock, log: silentLog });
  const spent = new Map<string, number>();
  /** The times of inner steps are taken off the outer one. */
  let inner = 0;
  const timed = async <T>(step: string, run: () => T | Promise<T>): Promise<T> => {
    const before = inner;
    const started = performance.now();
    const result = await run();
    const took = performance.now() - started;
    spent.set(step, (spent.get(step) ?? 0) + took - (inner - before));
    inner = before + took;
    return result;
  };
  const context = openCaContext({
    hsm: observed(hsm, 'sign', (sign) => timed('signature in the token', sign)),
    store: observed(store, 'write', (write) => timed('record on the disk', write)),
    clock: systemClock,
    log: silentLog,
    rotation: new WrappingRotation({ store, hsm, clock: systemClock }),
    statusUrl: () => 'https://keystore.example:4646',
  });
  const record = await makeRecord(context, type);
  spent.clear();
  const body = Buffer.from(csr.toString('base64'));
  for (let n = 0; n < repetitions; n += 1) {
    const verified = await timed('request read, self-signature verified', () =>
      verifyCsr(readRequestBody('application/pkcs10', body), familiesUnder(type)),
    );
    const approved = await timed('identity policy', () => approveByPolicy(verified, policy));
    const issued = await timed('certificate encoded, signature verified, read again', () =>
      issueCertificate(context, { tenantId: 'bench', record }, approved, { ttlSeconds: 86_400, via: 'est-secret' }),
    );
    await timed('audit record on the disk', () =>
      audit.write({ kind: 'est', occurredAt: formatTimestamp(systemClock.now()), requestId: randomUUID() }),
    );
    await timed('answer encoded', () => answerDer('certificates', encodeCertsOnly([issued.record.certificate])));
  }
  await audit.close();
  await store.close();
  await hsm.close();
  return [...spent].toSorted(([, left], [, right]) => right - left).map(([step, total]) => ({ key: type, step, ms: total / repetitions }));
}

async function makeRecord(context: ReturnType<typeof openCaContext>, keyType: KeyType): Promise<CaRecord> {
  const wish = { tenantId: 'bench', caId: randomUUID(), keyType, subject: 'CN=bench', ttl: '10y', issuingCa: undefined };
  const { generation } = await makeCaGeneration(context, wish);
  const record: CaRecord = {
    id: wish.caId,
    name: 'bench',
    createdAt: formatTimestamp(systemClock.now()),
    keyType,
    subject: wish.subject,
    ttl: wish.ttl,
    issuingCa: undefined,
    trustCertificate: undefined,
    generations: [generation],
    est: disabledEnrolment,
  };
  await context.store.write((transaction) => transaction.put(context.tables.cas, ['bench', 'bench'], record));
  return record;
}

/** The same object, one of its asynchronous methods run by `around`. */
function observed<T extends object>(target: T, method: keyof T, around: (call: () => Promise<unknown>) => Promise<unknown>): T {
  return new Proxy(target, {
    get(_target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const run = (...parameters: unknown[]): unknown => Reflect.apply(value, target, parameters);
      return name === method ? (...parameters: unknown[]) => around(() => run(...parameters) as Promise<unknown>) : run;
    },
  });
}
