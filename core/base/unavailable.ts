// Refusal by an appliance that cannot decide together with the others.
import { coreErrors, ServiceError } from './errors.ts';

/** Known outcome of the refused request. */
const details = {
  'cut-off':
    'This appliance cannot reach the majority of its cluster, and nothing was done: ask another one, or see that the network works.',
  unchanged: 'Nothing is changed: this appliance cannot reach the majority of its cluster. Ask another one.',
  unknown: 'The change may have been made or not: the appliances that decide it do not answer. Read the state before you repeat it.',
  'not-everywhere': 'The change has been made, but not every appliance has confirmed it yet. Read the state before you repeat it.',
  late: 'This appliance was cut off while it worked, so its answer is not given. A change may have been made: read the state before you repeat it.',
} as const;
export type Unavailable = keyof typeof details;

/** Reasons with which the request may safely be repeated. */
const nothingDone: ReadonlySet<string> = new Set([details['cut-off'], details.unchanged]);

const retryAfterSeconds = 2;

/**
 * Makes the error, with a text that says whether the change may have happened: one of the table, or the given one. Callers get it although the status
 * is above 500, because it tells whether they may repeat the request. Programs recognise that by Retry-After, which says that nothing was done.
 */
export function clusterUnavailable(reason: Unavailable | (string & {}), cause?: unknown): ServiceError {
  const detail = Object.hasOwn(details, reason) ? details[reason as Unavailable] : reason;
  const row = { ...coreErrors['cluster-unavailable'], detail };
  const again = nothingDone.has(detail) ? { retryAfterSeconds } : { mayBeDone: true as const };
  return new ServiceError('cluster-unavailable', row, { ...again, detail, ...(cause === undefined ? {} : { cause }) });
}
