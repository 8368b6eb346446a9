// Filter of records of the audit trail: by user, action, place and result.
import { invalidParameter } from '../../base/texts/invalid.ts';

type TrailRecord = Readonly<Record<string, unknown>>;

/** Tells whether a record matches. */
export type TrailFilter = (record: TrailRecord) => boolean;

const longestText = 256;
const results = ['done', 'refused', 'failed'] as const;

const textOf = (what: string, example: string) =>
  ({
    description: `Of the audit trail: the records alone of which ${what} contains this, in upper or lower case.`,
    schema: { type: 'string', maxLength: longestText, examples: [example] },
  }) as const;

/** The parameters, for the description. */
export const trailQuery = {
  who: textOf('the user, the tenant, the accessor or the address', 'ada'),
  what: textOf('the method, the action, the kind, the code or the request id', 'encrypt'),
  where: textOf('the path', 'config/tenants'),
  result: {
    description: 'Of the audit trail: the records alone of requests that were `done`, `refused` (4xx) or `failed` (5xx).',
    schema: { type: 'string', enum: results, examples: ['refused'] },
  },
  reads: {
    description: 'Of the audit trail: `false` leaves out what only reads, and what the trail says of itself.',
    schema: { type: 'boolean', default: true, examples: [false] },
  },
} as const;

/** Reads the filter of the query; undefined without one. Throws `invalid-value`. */
export function readTrailFilter(query: ReadonlyMap<string, string>): TrailFilter | undefined {
  const { who = '', what = '', where = '', result = '', reads = 'true' } = Object.fromEntries(query) as Partial<Record<string, string>>;
  for (const [name, text] of Object.entries({ who, what, where }))
    if (text.length > longestText) throw invalidParameter(name, `must have at most ${longestText} characters`);
  if (result !== '' && !results.some((one) => one === result)) throw invalidParameter('result', `must be ${results.join(', ')}`);
  if (reads !== 'true' && reads !== 'false') throw invalidParameter('reads', 'must be true or false');
  if (who + what + where + result === '' && reads === 'true') return undefined;
  return (record) =>
    holds([record['user'], record['tenant'], record['accessor'], record['client-ip']], who) &&
    holds([record['method'], record['kind'], record['code'], record['request-id'], actionOf(record)], what) &&
    holds([record['path']], where) &&
    (result === '' || resultOf(record) === result) &&
    (reads === 'true' || (resultOf(record) !== undefined && !isRead(record)));
}

function holds(values: readonly unknown[], wanted: string): boolean {
  return wanted === '' || values.some((value) => typeof value === 'string' && value.toLowerCase().includes(wanted.toLowerCase()));
}

/** The last segment of the path. */
function actionOf({ path }: TrailRecord): string | undefined {
  return typeof path === 'string' ? path.split('/').at(-1) : undefined;
}

/** Result of a record; undefined for records of the trail about itself, which have no status. */
function resultOf({ status }: TrailRecord): (typeof results)[number] | undefined {
  if (typeof status !== 'number') return undefined;
  return status < 400 ? 'done' : status < 500 ? 'refused' : 'failed';
}

/** Requests by POST that only ask and change nothing. */
const questions = /\/(?:policy\/check(?:-many)?|token\/info)$/;

function isRead({ method, path }: TrailRecord): boolean {
  return method === 'GET' || method === 'HEAD' || (typeof path === 'string' && questions.test(path));
}
