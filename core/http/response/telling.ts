// Refusals with a sentence about fields that policies may hide: it is told only to callers who may read these fields.
import type { FieldAccess } from '../../access/access-control.ts';
import { ServiceError } from '../../base/errors.ts';

/** The sentence, and the fields (wire form) that it tells, all of them to be seen at one of the paths. */
export type Telling = {
  readonly detail: string;
  readonly fields: readonly string[];
  /** paths of the entry, in segments */
  readonly paths: readonly (readonly string[])[];
};

type Readers = Pick<FieldAccess, 'shownAt'>;

/** The sentence for a caller with this access; undefined where he sees nothing of it. */
const sentences = new WeakMap<ServiceError, (access: Readers) => string | undefined>();

/** Adds to a refusal, which alone tells nothing hidden, the detail for those who see the fields. */
export function telling(error: ServiceError, told: Telling): ServiceError {
  sentences.set(error, (access) => (isShown(access, told) ? told.detail : undefined));
  return error;
}

/** The same of several entries: `sentence` makes it of the details of those whose fields the caller sees. */
export function tellingEach(
  error: ServiceError,
  entries: readonly Telling[],
  sentence: (details: readonly [string, ...string[]]) => string,
): ServiceError {
  sentences.set(error, (access) => {
    const [first, ...more] = entries.flatMap((one) => (isShown(access, one) ? [one.detail] : []));
    return first === undefined ? undefined : sentence([first, ...more]);
  });
  return error;
}

function isShown(access: Readers, { fields, paths }: Telling): boolean {
  const trees = paths.map((path) => access.shownAt(path));
  return fields.every((field) => trees.some((shows) => shows(field)));
}

/** The refusal in the words for this caller. `access`: undefined for an unauthenticated one. */
export function toldTo(access: Readers | undefined, error: ServiceError): ServiceError {
  const detail = access && sentences.get(error)?.(access);
  if (detail === undefined) return error;
  const { code, status, title, advice, details } = error;
  return new ServiceError(code, { status, title, when: '', detail: advice }, { ...details, detail });
}
