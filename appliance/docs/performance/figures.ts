// The figures of the benchmark as its file has them: `npm run bench -- --json FILE` writes it, `npm run generate docs` draws and writes
// from it.
import { z } from 'zod';

const number = z.number();

/** Of one kind of request: rate, latencies, and processor time of all processes of the server. */
const load = z.strictObject({ perSecond: number, p50Ms: number, p99Ms: number, micros: number });

/** The same of the appliance: of `micros`, the share of the processes that hold the token. */
const ownLoad = z.strictObject({ ...load.shape, tokenMicros: number });

/** Measurements of OpenBao for comparison. */
const besideOpenBao = {
  openBao: load.optional(),
  /** appliance to OpenBao */
  rateToOpenBao: number.optional(),
  /** processor time: OpenBao's to the appliance's, so that above 1 is less */
  timeToOpenBao: number.optional(),
};

const diskLatency = z.strictObject({ p50Ms: number, p99Ms: number });

/** One operation at one number of connections. Ratios are medians of those of the rounds, each of neighbouring turns. */
const actionRow = z.strictObject({
  operation: z.string(),
  /** of one request; rates and times are those of requests */
  items: number,
  connections: number,
  workers: number,
  appliance: ownLoad,
  ...besideOpenBao,
  echo: load,
  /** bare PKCS#11 calls for one item, by one process */
  token: z.strictObject({ micros: number, p50Ms: number }),
  disk: diskLatency,
  /** processor time: that of the bare server, or of the bare calls, in that of the appliance */
  echoShare: number,
  tokenShare: number,
  /** p50 to that of the bare server, one durable append and the bare calls together */
  latencyToFloor: number,
});

/** Processor time of the guards of a request, in microseconds. */
const guard = z.strictObject({ token: number, policy: number, audit: number, kept: number, fresh: number });

const enrolmentRow = z.strictObject({
  /** a renewal shows the certificate that it renews; its load comes from another program than that of enrolments */
  operation: z.enum(['enrolment', 'renewal']).default('enrolment'),
  key: z.string(),
  mode: z.enum(['kept', 'fresh']),
  connections: number,
  appliance: ownLoad,
  /** a bare server that makes one signature */
  bare: load,
  rateToBare: number,
});

const keyUseRow = z.strictObject({
  /** keys that requests use, drawn at random */
  used: number,
  /** keys in the store */
  stored: number,
  /** one after another, and each for the first time since the start: nothing of it is loaded */
  first: z.literal(true).optional(),
  appliance: ownLoad,
  /** rate to that of one key, and processor time of one key to this; the same store */
  rateToOne: number,
  timeToOne: number,
});

/** Processor time of one step of the use of a key drawn at random out of so many, of the worker and of the token process. */
const keyStep = z.strictObject({ keys: number, step: z.string(), uses: number, micros: number, tokenMicros: number });

const largeRow = z.strictObject({
  large: z.string(),
  perSecond: number,
  small: z.strictObject({ p50Ms: number, p99Ms: number, maxMs: number }),
  workerHeldMs: z.strictObject({ median: number, worst: number }),
  hostHeldMs: z.strictObject({ median: number, worst: number }),
});

const creationRow = z.strictObject({
  way: z.string(),
  connections: number,
  /** keys, not requests */
  appliance: ownLoad,
  ...besideOpenBao,
  /** processor time of the token's bare calls in that of the appliance */
  tokenShare: number,
});

const loginRow = z.strictObject({
  connections: number,
  appliance: ownLoad,
  ...besideOpenBao,
});

/** One operation at our API and through that of Vault, in neighbouring turns of one appliance. */
const vaultRow = z.strictObject({
  operation: z.enum(['encrypt', 'encrypt x 100', 'sign ecdsa-p256', 'login']),
  connections: number,
  own: ownLoad,
  vault: ownLoad,
  rateToOwn: number,
  /** processor time: ours to Vault's, so that below 1 is more */
  timeToOwn: number,
});

const identityRow = z.strictObject({
  operation: z.enum([
    ...(['approle-login', "approle login through Vault's API", 'jwt-login (ES256)', 'certificate-login'] as const),
    ...(['encrypt, unbound token', 'encrypt, bound token'] as const),
    ...(['encrypt, tenant without approval rules', 'encrypt, tenant with approval rules'] as const),
  ]),
  micros: number,
  p50Ms: number,
  /** processor time: that of the first way of its kind to this one's, so that below 1 is more */
  timeToFirst: number,
});

/** Of one process, MiB (PSS): before a load, right after it, and when it has been idle for a while. */
const processMemory = z.strictObject({
  process: z.string(),
  idleMib: number,
  loadedMib: number,
  restMib: number,
  /** of `loadedMib`; pages of V8 and large buffers are `heap` */
  kinds: z.strictObject({ heap: number, malloc: number, store: number, code: number }),
});

/** One operation of a client of KMIP, one after another, over TLS. */
const kmipRow = z.strictObject({
  operation: z.enum(['create', 'locate by name', 'get', 'locate by name, a new connection each']),
  /** of the space */
  objects: number,
  perSecond: number,
  p50Ms: number,
  p99Ms: number,
});

/** Whole enrolments as clients see them, so many at a time. */
const enrolmentsRow = z.strictObject({
  protocol: z.enum(['EST', 'SCEP', 'CMP', 'ACME']),
  server: z.enum(['keystored', 'step-ca']),
  connections: number,
  perSecond: number,
  p50Ms: number,
  p99Ms: number,
});

const starts = z.strictObject({ toReadyMs: number, toSignatureMs: number });

const scaleRow = z.strictObject({
  stream: z.string(),
  verb: z.string(),
  perSecond: number,
  /** to the same stream with ten keys, in the same round */
  ratio: number,
  quartiles: z.tuple([number, number]),
});

/**
 * Of an appliance alone and of one of three with the same store, in neighbouring turns. Processor time is that over what is taken at rest.
 */
const clusterUse = z.strictObject({
  operation: z.string(),
  connections: number,
  alone: ownLoad,
  /** its etcd with it */
  member: ownLoad,
  rateToAlone: number,
  /** processor time: that of the appliance alone to the member's, so that below 1 is more */
  timeToAlone: number,
});

/** Logins, all at one appliance; processor time of three is that of all of them. */
const clusterChange = z.strictObject({ callers: number, alone: load, three: load, rateToAlone: number });

const cluster = z.strictObject({
  /** in each store */
  keys: number,
  /** from `init` until the first serves as a member, and from the start of each other until it serves */
  foundMs: number,
  joinMs: z.array(number),
  /** shares of a core */
  rest: z.strictObject({ alone: number, member: number }),
  uses: z.array(clusterUse),
  changes: z.array(clusterChange),
  /** `accepted`: of the requests sent to all three after the answer to the revocation */
  revocations: z.strictObject({ made: number, asked: number, accepted: number, p50Ms: number, worstMs: number }),
  /** of the appliance whose etcd leads: the time without an acknowledged change at the others */
  deaths: z.strictObject({ times: number, medianMs: number, worstMs: number }),
  /** after the uses, all processes of a kind together */
  memory: z.strictObject({
    alone: z.array(z.strictObject({ process: z.string(), mib: number })),
    member: z.array(z.strictObject({ process: z.string(), mib: number })),
  }),
});

/** Results of each part of the benchmark. */
export const partSchemas = {
  actions: z.strictObject({ auditRecordOctets: number, rows: z.array(actionRow) }),
  guard,
  keys: z.strictObject({ rows: z.array(keyUseRow), steps: z.array(keyStep).default([]) }),
  creation: z.strictObject({ token: z.strictObject({ micros: number }), rows: z.array(creationRow) }),
  login: z.strictObject({ rows: z.array(loginRow) }),
  vault: z.strictObject({ rows: z.array(vaultRow) }),
  identity: z.strictObject({ rows: z.array(identityRow) }),
  est: z.strictObject({
    rows: z.array(enrolmentRow),
    steps: z.array(z.strictObject({ key: z.string(), step: z.string(), ms: number })),
    /** reason for which ML-DSA was not measured */
    missing: z.string().optional(),
  }),
  /** `stepCa`: its version */
  enrolment: z.strictObject({ rows: z.array(enrolmentsRow), stepCa: z.string().optional() }),
  large: z.strictObject({ rows: z.array(largeRow) }),
  kmip: z.strictObject({ rows: z.array(kmipRow) }),
  memory: z.strictObject({ appliance: z.array(processMemory), openBao: z.array(processMemory).optional() }),
  start: z.strictObject({ appliance: starts, npm: starts, openBao: starts.optional() }),
  scale: z.strictObject({ keys: number, startToSignatureMs: number, rows: z.array(scaleRow), use: z.array(keyUseRow) }),
  cluster,
} as const;

export type PartName = keyof typeof partSchemas;
export type Parts = { readonly [Name in PartName]: z.output<(typeof partSchemas)[Name]> };
/** The figures of one operation at one number of connections. */
export type ActionRow = Parts['actions']['rows'][number];
/**
 * The figures of keys used at random.
 *
 * @public
 */
export type KeyUseRow = z.output<typeof keyUseRow>;

const machine = z.strictObject({
  processor: z.string(),
  cores: number,
  memoryGib: number,
  kernel: z.string(),
  fileSystem: z.string(),
  node: z.string(),
  module: z.string(),
  openBao: z.string().optional(),
  /** processes that waited for a core before the part began: above a half, something else was running */
  loadBefore: number,
});

/** When, where and how long a part was measured. */
const circumstances = z.strictObject({ measuredOn: z.iso.date(), rounds: number, seconds: number, machine });
export type Circumstances = z.output<typeof circumstances>;

const measured = <Schema extends z.ZodType>(found: Schema) => z.strictObject({ ...circumstances.shape, found });

const figures = z.strictObject(
  Object.fromEntries(Object.entries(partSchemas).map(([name, schema]) => [name, measured(schema).optional()])),
);

/** A file of figures: each part as it was measured last. */
export type Figures = { readonly [Name in PartName]?: Circumstances & { readonly found: Parts[Name] } };

/** Reads the text of a file of figures. Throws ZodError when it is another one. */
export function parseFigures(text: string): Figures {
  return figures.parse(JSON.parse(text));
}
