// The last lines of a run: what the appliance aims at, and what was measured now.
import type { ActionRow, Figures, KeyUseRow } from '../../appliance/docs/performance/figures.ts';
import { allWorkers } from './measure/bench.ts';
import { formatTable } from './measure/rounds.ts';
import { amongMany } from './parts/scale.ts';

/** One aim: `now` answers what a run found, undefined where it did not measure it. */
type Aim = {
  readonly where: string;
  readonly what: string;
  readonly aim: string;
  readonly now: (figures: Figures) => Now | undefined;
};

type Now = { readonly text: string; readonly isMet: boolean };

const compared = ['encrypt', 'decrypt', 'hmac', 'sign ecdsa-p256', 'sign ed25519'] as const;

/** A number with what it is compared with. */
const atLeast = (value: number | undefined, least: number, text = (one: number): string => one.toFixed(2)): Now | undefined =>
  value === undefined || Number.isNaN(value) ? undefined : { text: text(value), isMet: value >= least };
const atMost = (value: number | undefined, most: number, text = (one: number): string => one.toFixed(2)): Now | undefined =>
  value === undefined || Number.isNaN(value) ? undefined : { text: text(value), isMet: value <= most };
const micros = (value: number): string => `${value.toFixed(0)} µs`;

const row = (figures: Figures, operation: string, connections: number, workers = allWorkers): ActionRow | undefined =>
  figures.actions?.found.rows.find((one) => one.operation === operation && one.connections === connections && one.workers === workers);

const toOpenBao = (operation: string, connections: number, least: number): Aim => ({
  where: connections === 1 ? 'one connection' : 'batches',
  what: `${operation}: rate to OpenBao's${connections === 1 ? '' : ` at ${connections} connections`}`,
  aim: `${least === 1 ? 'above' : 'at least'} ${least}`,
  now: (figures) => atLeast(row(figures, operation, connections)?.rateToOpenBao, least),
});

const use = (name: 'keys' | 'scale', rows: (figures: Figures) => readonly KeyUseRow[] | undefined, count: number): Aim => ({
  where: 'many keys',
  what: `random use of ${count} keys: rate and processor time to one key's${name === 'scale' ? ' (-- scale)' : ''}`,
  aim: 'at least 0.85',
  now: (figures) => {
    const found = rows(figures)?.find((one) => one.used === count && one.first === undefined);
    return (
      found && {
        text: `${found.rateToOne.toFixed(2)}, ${found.timeToOne.toFixed(2)}`,
        isMet: Math.min(found.rateToOne, found.timeToOne) >= 0.85,
      }
    );
  },
});

const aims: readonly Aim[] = [
  ...compared.map((operation) => toOpenBao(operation, 1, 1)),
  {
    ...{
      where: 'one connection',
      what: 'encrypt: p50 to bare echo, one durable append and the raw token call together',
      aim: 'at most 1.3',
    },
    now: (figures) => atMost(row(figures, 'encrypt', 1)?.latencyToFloor, 1.3),
  },
  {
    ...{ where: 'one connection', what: "encrypt: p99 to p50, beside the disk's own", aim: "at most 3, or the disk's" },
    now: (figures) => {
      const found = row(figures, 'encrypt', 1);
      if (found === undefined) return undefined;
      const [ours, disk] = [found.appliance.p99Ms / found.appliance.p50Ms, found.disk.p99Ms / found.disk.p50Ms];
      return { text: `${ours.toFixed(1)} (disk ${disk.toFixed(1)})`, isMet: ours <= Math.max(3, disk) };
    },
  },
  {
    ...{ where: 'one connection', what: 'encrypt: processor time', aim: '-' },
    now: (figures) => atMost(row(figures, 'encrypt', 1)?.appliance.micros, Infinity, micros),
  },
  {
    ...{ where: 'batches', what: 'encrypt x 100: raw token in it, by processor time', aim: 'at least 0.85' },
    now: (figures) => atLeast(row(figures, 'encrypt x 100', 64)?.tokenShare, 0.85),
  },
  ...[1, 16, 64].map((connections) => ({ ...toOpenBao('encrypt x 100', connections, 3), where: 'batches' })),
  use('keys', (figures) => figures.keys?.found.rows, 100_000),
  use('scale', (figures) => figures.scale?.found.use, 1_000_000),
  {
    ...{ where: 'many keys', what: 'encrypt with one key among 1,000,000: rate to one among 10 (-- scale)', aim: 'at least 0.95' },
    now: (figures) => atLeast(figures.scale?.found.rows.find((one) => one.stream === amongMany && one.verb === 'encrypt')?.ratio, 0.95),
  },
  {
    ...{ where: 'many keys', what: 'creation: the token in it, by processor time, best way', aim: 'at least 0.5' },
    now: (figures) => atLeast(greatest(figures.creation?.found.rows.map((one) => one.tokenShare)), 0.5),
  },
  {
    ...{ where: 'many keys', what: 'start to first signature with 1,000,000 keys (-- scale)', aim: 'below 2,000 ms' },
    now: (figures) => atMost(figures.scale?.found.startToSignatureMs, 2_000, (ms) => `${ms.toFixed(0)} ms`),
  },
  ...compared.map((operation) => ({
    ...{ where: 'single calls', what: `${operation}, one worker, 64 connections: processor time over the bare echo's, and echo in it` },
    aim: operation === 'encrypt' ? '35 µs, 0.45' : '-',
    now: (figures: Figures): Now | undefined => {
      const found = row(figures, operation, 64, 1);
      if (found === undefined) return undefined;
      const over = found.appliance.micros - found.echo.micros;
      return {
        text: `${micros(over)}, ${found.echoShare.toFixed(2)}`,
        isMet: operation !== 'encrypt' || (over <= 35 && found.echoShare >= 0.45),
      };
    },
  })),
  {
    ...{ where: 'login', what: 'approle login, 64 connections: processor time', aim: 'at most 200 µs' },
    now: (figures) => atMost(figures.login?.found.rows.find((one) => one.connections === 64)?.appliance.micros, 200, micros),
  },
  ...(['encrypt', 'encrypt x 100', 'sign ecdsa-p256', 'login'] as const).map((operation) => ({
    ...{ where: "Vault's API", what: `${operation}, 64 connections: rate and processor time to the same at our API` },
    aim: 'at least 0.90',
    now: (figures: Figures): Now | undefined => {
      const found = figures.vault?.found.rows.find((one) => one.operation === operation && one.connections === 64);
      return (
        found && {
          text: `${found.rateToOwn.toFixed(2)}, ${found.timeToOwn.toFixed(2)}`,
          isMet: Math.min(found.rateToOwn, found.timeToOwn) >= 0.9,
        }
      );
    },
  })),
  ...(
    [
      ["approle login through Vault's API", 0.9],
      ['encrypt, bound token', 0.98],
      ['encrypt, tenant with approval rules', 0.98],
    ] as const
  ).map(([operation, least]) => ({
    ...{ where: 'identities', what: `${operation}: processor time of the same without it to it`, aim: `at least ${least}` },
    now: (figures: Figures) => atLeast(figures.identity?.found.rows.find((one) => one.operation === operation)?.timeToFirst, least),
  })),
  ...(['enrolment', 'renewal'] as const).flatMap((operation) =>
    (['kept', 'fresh'] as const).map((mode) => ({
      ...{ where: 'EST', what: `${operation} (ECDSA P-256) on ${mode} connections: rate to https with one signature, and processor time` },
      aim: 'at least 0.40',
      now: (figures: Figures): Now | undefined => {
        const rows = figures.est?.found.rows ?? [];
        const found = rows.find((one) => one.operation === operation && one.mode === mode && one.key === 'ECDSA P-256');
        return found && { text: `${found.rateToBare.toFixed(2)}, ${micros(found.appliance.micros)}`, isMet: found.rateToBare >= 0.4 };
      },
    })),
  ),
  {
    ...{ where: 'memory', what: "PSS of all processes after a load, and OpenBao's", aim: 'at most 300 MiB' },
    now: (figures) => {
      const found = figures.memory?.found;
      const sum = (processes: readonly { readonly loadedMib: number }[]): number => processes.reduce((all, one) => all + one.loadedMib, 0);
      const beside = found?.openBao === undefined ? '' : ` (${sum(found.openBao).toFixed(0)})`;
      return atMost(found && sum(found.appliance), 300, (mib) => `${mib.toFixed(0)}${beside} MiB`);
    },
  },
  {
    ...{ where: 'start', what: 'npm start to first signature, everything set up', aim: 'at most 1,000 ms' },
    now: (figures) => atMost(figures.start?.found.npm.toSignatureMs, 1_000, (ms) => `${ms.toFixed(0)} ms`),
  },
  ...[1, 64].map((connections) => ({
    where: 'cluster',
    what: `encrypt on one of three, ${counted(connections)}: rate and processor time to one alone's (-- cluster)`,
    aim: 'at least 0.98',
    now: (figures: Figures): Now | undefined => {
      const found = figures.cluster?.found.uses.find((one) => one.operation === 'encrypt' && one.connections === connections);
      return (
        found && {
          text: `${found.rateToAlone.toFixed(2)}, ${found.timeToAlone.toFixed(2)}`,
          isMet: Math.min(found.rateToAlone, found.timeToAlone) >= 0.98,
        }
      );
    },
  })),
  {
    ...{ where: 'cluster', what: 'requests accepted after the answer to a revocation (-- cluster)', aim: '0' },
    now: (figures) => atMost(figures.cluster?.found.revocations.accepted, 0, String),
  },
  {
    ...{ where: 'cluster', what: 'time without changes when the leader is killed, at worst (-- cluster)', aim: 'below 2,000 ms' },
    now: (figures) => atMost(figures.cluster?.found.deaths.worstMs, 2_000, (ms) => `${ms.toFixed(0)} ms`),
  },
  {
    ...{ where: 'guard', what: 'token check, policy decision and audit record: processor time', aim: 'below 8 µs' },
    now: (figures) => {
      const found = figures.guard?.found;
      return atMost(found && found.token + found.policy + found.audit, 8, (sum) => `${sum.toFixed(1)} µs`);
    },
  },
];

/** The table of all aims, with what these figures say; `-` where they say nothing. */
export function formatAims(figures: Figures): readonly string[] {
  return formatTable(
    ['where', 'what', 'aim', 'now', 'met'],
    aims.map(({ where, what, aim, now }) => {
      const found = now(figures);
      return [where, what, aim, found?.text ?? '-', found === undefined || aim === '-' ? '' : found.isMet ? 'yes' : 'no'];
    }),
  );
}

function counted(connections: number): string {
  return `${connections} connection${connections === 1 ? '' : 's'}`;
}

function greatest(values: readonly number[] | undefined): number | undefined {
  return values === undefined || values.length === 0 ? undefined : Math.max(...values);
}
