// GET /v1/state/topics/<topic>: the audit trail and the logs as streams of JSON lines.
import { z } from 'zod';
import { defined } from '../../base/defined.ts';
import type { AccessControl } from '../../access/access-control.ts';
import type { Caller } from '../../access/caller.ts';
import { fail } from '../../base/errors.ts';
import { failAt } from '../../base/texts/invalid.ts';
import type { Store } from '../../store/store.ts';
import { systemTenantName } from '../../access/tenants.ts';
import { decodeDuration, decodeTimestamp, formatTimestamp } from '../../base/time.ts';
import { Shares } from '../../base/async/shares.ts';
import { readTopic, type RecordFilter, type TopicOptions, type TopicRecord } from '../../log/topic.ts';
import { defineEndpoint, Reply, type AnyEndpoint, type EndpointCall } from '../../http/endpoint.ts';
import { answerList, listOf } from '../../http/resource/list-answer.ts';
import { listQuery, readFlag, readListQuery } from '../../http/resource/list-query.ts';
import { tags } from '../../http/tags.ts';
import { linkHeader, nextLink, partOf } from './topic-part.ts';
import { readTrailFilter, trailQuery, type TrailFilter } from './trail-filter.ts';

/** Directories of the topics. */
export type TopicDirectories = { readonly audit: string; readonly logs: string };

export type TopicEndpoints = {
  readonly endpoints: readonly AnyEndpoint[];
  /** Ends the streams that are being followed, so that a stop does not wait for them. */
  endStreams(): void;
};

const auditTopic = 'system:audit-trail-log';
export const auditTopicPath = `/v1/state/topics/${auditTopic}`;
const logTopic = 'system:logs';

/** Answers that one process has under way at a time, in shares: each that is followed polls the files four times a second. */
const mostAnswers = 32;
/** Interval at which an idle stream checks that its reader is still authorized. */
const lookEveryMs = 1_000;

type Options = { readonly directories: TopicDirectories; readonly access: AccessControl; readonly store: Store };

/**
 * The system tenant sees all records, other tenants their own audit records, without the fields of the chain.
 * Long because it is a list, of which each entry is read by itself.
 */
export function topicEndpoints(options: Options): TopicEndpoints {
  const { directories } = options;
  const stopping = new AbortController();
  const places = new Shares(mostAnswers);

  /** Takes a place before any wait, so that concurrent requests count each other. */
  function takePlace({ caller: { origin, tenantId }, signal }: EndpointCall): void {
    const owner = { origin, tenant: tenantId };
    const gone = signal;
    if (gone.aborted) return;
    if (!places.fits(owner, 1))
      throw fail('rate-limited', { detail: 'Too many topics are being read: end one of yours, or wait.', retryAfterSeconds: 5 });
    places.count(owner, 1);
    gone.addEventListener('abort', () => places.count(owner, -1), { once: true });
  }

  function directoryOf(call: EndpointCall): string {
    const topic = call.params['topic'];
    if (topic === auditTopic) return directories.audit;
    if (topic === logTopic && call.caller.tenantName === systemTenantName) return directories.logs;
    throw fail('not-found', { detail: 'There is no topic of this name.' });
  }

  async function* follow(call: EndpointCall, topic: Omit<TopicOptions, 'signal'>, filter: TrailFilter | undefined): AsyncGenerator<string> {
    const ended = new AbortController();
    const watch = setInterval(() => (isReader(options, call) ? undefined : ended.abort()), lookEveryMs).unref();
    try {
      for await (const line of readTopic({ ...topic, signal: AbortSignal.any([call.signal, ended.signal, stopping.signal]) })) {
        const reader = readerOf(options, call);
        if (reader === undefined) return;
        if (filter === undefined || filter(reader.seen(line.record))) yield reader.show(line);
      }
    } finally {
      clearInterval(watch);
    }
  }

  const shared = { method: 'GET', access: 'token', operation: 'read', tag: tags.topics, audit: 'reads-go-on' } as const;
  return {
    endStreams: () => stopping.abort(),
    endpoints: [
      defineEndpoint<undefined, { name: string }[]>({
        ...shared,
        named: 'Topic',
        nameField: 'name',
        path: '/v1/state/topics',
        summary: 'List the topics one can read',
        description: 'The audit trail for every tenant, and for the tenant `system` the log of the appliance.',
        output: z.array(topicState),
        query: listQuery,
        run(call) {
          const names = [auditTopic, ...(call.caller.tenantName === systemTenantName ? [logTopic] : [])];
          const all = names.map((name) => [name, name] as const);
          return answerList(call, { path: '/v1/state/topics', nameField: 'name' }, topicState, listOf(all), (name) => ({ name }));
        },
      }),
      defineEndpoint<undefined, Reply, string>({
        ...shared,
        path: '/v1/state/topics/{topic}',
        summary: 'Read a topic as JSON lines',
        description:
          'Records in the order of time, one JSON object a line; without parameters all there are. A stream that follows ends when the ' +
          'token does. What finds little is searched a part at a time: where an answer has a `Link`, it was not all, and that is where to go on.',
        documented: { headers: { Link: linkHeader }, names: { topic: { description: 'Name of the topic.', example: auditTopic } } },
        produces: 'application/x-ndjson',
        query: topicQuery,
        errors: ['not-found', 'rate-limited'],
        find: directoryOf,
        async run(call, _, directory) {
          const { limit } = readListQuery(call.query);
          const filter = readTrailFilter(call.query);
          if (filter !== undefined && directory !== directories.audit) throw onlyOfTrail();
          const topic = {
            directory,
            follow: readFlag(call.query, 'follow'),
            ...defined({ limit }),
            ...defined({ since: timeOf(call, 'since'), before: timeOf(call, 'before') }),
            ...filterOf(options, call, filter),
          };
          if (topic.follow && topic.before !== undefined) throw notBoth();
          takePlace(call);
          const part = await partOf(topic, call.signal);
          const link = part.next === undefined ? {} : { link: nextLink(call, part.next) };
          return new Reply(200, follow(call, part.topic, filter), { 'content-type': 'application/x-ndjson', ...link });
        },
      }),
    ],
  };
}

const topicState = z.object({ name: z.string().meta({ description: 'Name of the topic.', example: auditTopic }) });

const topicQuery = {
  since: {
    description: 'Start with records of this time: a timestamp, or a duration such as `1h` before now.',
    schema: { type: 'string', examples: ['1h'] },
  },
  before: {
    description: 'Only records before this time: a timestamp, or a duration such as `1h` before now.',
    schema: { type: 'string', examples: ['2026-01-31T12:00:00Z'] },
  },
  limit: {
    description: 'Answer with at most so many records: from `since` on, or the newest.',
    schema: { type: 'integer', minimum: 1, maximum: 999_999_999, examples: [100] },
  },
  follow: {
    description: 'Go on with what is written later, until the client goes away.',
    schema: { type: 'boolean', default: false, examples: [true] },
  },
  ...trailQuery,
} as const;

/** A time of the query, as records have it. Throws `invalid-value`. */
function timeOf({ query, now }: EndpointCall, name: 'since' | 'before'): string | undefined {
  const text = query.get(name);
  if (text === undefined) return undefined;
  const duration = decodeDuration(text);
  // In a query, a plus sign means a space.
  const time = duration === undefined ? decodeTimestamp(text.replace(' ', '+')) : now.subtract({ seconds: duration.seconds });
  if (time !== undefined) return formatTimestamp(time);
  throw fail('invalid-value', {
    detail: `The query parameter ${name} must be a timestamp such as 2026-01-31T12:00:00Z or a duration such as 1h.`,
    items: [{ message: 'must be a timestamp or a duration', info: name }],
  });
}

function notBoth(): Error {
  return failAt('before', 'The query parameters before and follow are not given together.');
}

/** Filter of records that a tenant may see and that match the query, applied to the visible fields, so that queries cannot reveal hidden ones. */
function filterOf(options: Options, call: EndpointCall, filter: TrailFilter | undefined): { only?: RecordFilter } {
  const own = ownRecords(call.caller);
  const reader = filter === undefined ? undefined : readerOf(options, call);
  if (filter === undefined || reader === undefined) return defined({ only: own });
  const passes = (record: TopicRecord['record']): boolean => own?.passes(record) !== false && filter(reader.seen(record));
  return { only: { text: own?.text ?? '', passes } };
}

/** Filter of the tenant's own records; undefined for the system tenant, which sees all. */
function ownRecords({ tenantName, tenantId }: Caller): RecordFilter | undefined {
  if (tenantName === systemTenantName) return undefined;
  return { text: `"tenant-id":"${tenantId}"`, passes: (record) => record['tenant-id'] === tenantId };
}

function onlyOfTrail(): Error {
  return fail('invalid-value', { detail: `Only ${auditTopic} is asked for by who, what, where, result and reads.` });
}

type Reader = {
  /** Removes fields hidden from this reader. */
  seen(record: TopicRecord['record']): TopicRecord['record'];
  show(line: TopicRecord): string;
};

/** Tells whether the stream may continue. It ends if that cannot be determined: the reader reconnects. */
function isReader(options: Options, call: EndpointCall): boolean {
  try {
    return readerOf(options, call) !== undefined;
  } catch {
    return false;
  }
}

/** Formats lines for the caller under its current token and policies; undefined if they no longer allow it. */
function readerOf({ access, store }: Options, call: EndpointCall): Reader | undefined {
  store.refresh();
  const caller = call.callerNow();
  if (caller === undefined) return undefined;
  const { allowed, constraints } = access.decide(caller, ['v1', 'state', 'topics', call.params['topic'] ?? ''], 'read');
  if (!allowed) return undefined;
  const seen = (record: TopicRecord['record']): TopicRecord['record'] => {
    const own = caller.tenantName === systemTenantName ? record : withoutOthers(record);
    return constraints === undefined ? own : (constraints.withoutHidden(own) as TopicRecord['record']);
  };
  return {
    seen,
    show({ text, record }) {
      const shown = seen(record);
      return `${shown === record ? text : JSON.stringify(shown)}\n`;
    },
  };
}

/**
 * Numbers and hashes of the chain, and the counter of the store, would tell a tenant how much others do. Where several tenants have chosen one
 * role-id, address and program of a failed login may be those of another tenant.
 */
function withoutOthers(record: TopicRecord['record']): TopicRecord['record'] {
  const mayBeOfOthers = record['possible-tenants'] !== undefined;
  return Object.fromEntries(Object.entries(record).filter(([name]) => !ofAppliance.has(name) && !(mayBeOfOthers && ofSender.has(name))));
}

const ofAppliance = new Set(['chain', 'sequence', 'previous', 'hash', 'store-revision', 'possible-tenants']);
const ofSender = new Set(['client-ip', 'user-agent']);
