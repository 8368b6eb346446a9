// The refusal of an appliance that cannot decide together with the others.
import { errorsOf, type ServiceError } from '../base/errors.ts';

const fail = errorsOf({
  'cluster-unavailable': {
    status: 503,
    title: 'Most appliances of the cluster cannot be reached',
    when: 'this appliance is cut off from the majority of its cluster, or the outcome of a change is not known yet',
    detail: 'This appliance cannot reach the majority of its cluster: ask another one, or see that the network between them works.',
  },
});

/** What is known of the change that is refused. */
const details = {
  unchanged: 'Nothing is changed: this appliance cannot reach the majority of its cluster. Ask another one.',
  unknown: 'The change may have been made or not: the appliances that decide it do not answer. Read the state before you repeat it.',
  'not-everywhere': 'The change has been made, but not every appliance has confirmed it yet. Read the state before you repeat it.',
} as const;
export type Unavailable = keyof typeof details;

const retryAfterSeconds = 2;

/** With a text that says whether the change may have happened: one of the table, or one that was given. */
export function clusterUnavailable(reason: Unavailable | (string & {}), cause?: unknown): ServiceError {
  const detail = Object.hasOwn(details, reason) ? details[reason as Unavailable] : reason;
  return fail('cluster-unavailable', { retryAfterSeconds, detail, ...(cause === undefined ? {} : { cause }) });
}
