// Records of the audit trail as the console shows them: what they are about in words, and the filters.
import type { TopicQuery, TopicRecord } from '../../topics/read-topic.ts';

/** A record of the trail. */
export type TrailRecord = TopicRecord & {
  readonly kind?: string;
  readonly 'occurred-at'?: string;
  readonly 'request-id'?: string;
  readonly chain?: string;
  /** the chain that a finding is about */
  readonly 'of-chain'?: string;
  readonly sequence?: number;
  readonly tenant?: string;
  readonly user?: string;
  readonly 'user-kind'?: string;
  /** the approle or the sign-in service that gave the name */
  readonly 'user-source'?: string;
  readonly accessor?: string;
  readonly via?: string;
  readonly path?: string;
  readonly method?: string;
  readonly status?: number;
  readonly code?: string;
  readonly 'client-ip'?: string;
};

/** Id of a record in addresses. */
export function idOf(record: TrailRecord): string {
  return record.chain === undefined ? (record['request-id'] ?? '') : `${record.chain}-${record.sequence ?? ''}`;
}

export type Result = 'done' | 'refused' | 'failed' | 'note';

/** Result of a request: 4xx is refused, 5xx failed; records of the trail about itself have no status. */
export function resultOf({ status }: TrailRecord): Result {
  if (status === undefined) return 'note';
  return status < 400 ? 'done' : status < 500 ? 'refused' : 'failed';
}

/** Filters in the address; the appliance searches for the records, however many there are. */
export type Filters = {
  readonly who: string;
  readonly what: string;
  readonly where: string;
  readonly result: string;
  /** `all`: also what only reads, as the console itself does all the time, and the trail’s records about itself */
  readonly only: string;
};

export const noFilters: Filters = { who: '', what: '', where: '', result: '', only: '' };

/** The same as the API takes it. */
export function queryOf({ only, ...texts }: Filters): TopicQuery {
  const wanted = { ...texts, reads: only === 'all' ? '' : 'false' };
  return Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== ''));
}

/** Records of the trail about itself, in words. */
const aboutItself: Readonly<Record<string, string>> = {
  head: 'The chains were signed',
  opened: 'All chains were compared at a start',
  started: 'A process went on with its chain',
  stopped: 'A process ended in order',
  resumed: 'The trail could be written again',
  retired: 'The oldest file will be removed',
  'cut-off': 'Finding: records are gone or were replaced',
  added: 'Finding: records were added',
  changed: 'Finding: a file was changed while the appliance ran',
  'set-aside': 'Finding: a chain that the appliance never began',
  copied: 'Finding: copies of files of a chain beside them',
  unremembered: 'Finding: heads that the store knows nothing about',
  'store-behind': 'Finding: the store lacks changes that are on record',
};

export function wordsOf(record: TrailRecord): string | undefined {
  return aboutItself[record.kind === 'trail' ? String(record['event']) : (record.kind ?? '')];
}
