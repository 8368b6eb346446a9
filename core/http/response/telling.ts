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

const tellings = new WeakMap<ServiceError, Telling>();

/** Adds to a refusal, which alone tells nothing hidden, the detail for those who see the fields. */
export function telling(error: ServiceError, told: Telling): ServiceError {
  tellings.set(error, told);
  return error;
}

/** The refusal in the words for this caller. `access`: undefined for an unauthenticated one. */
export function toldTo(access: Pick<FieldAccess, 'shownAt'> | undefined, error: ServiceError): ServiceError {
  const told = tellings.get(error);
  if (told === undefined || access === undefined) return error;
  const trees = told.paths.map((path) => access.shownAt(path));
  if (!told.fields.every((field) => trees.some((shows) => shows(field)))) return error;
  const { code, status, title, advice, details } = error;
  return new ServiceError(code, { status, title, when: '', detail: advice }, { ...details, detail: told.detail });
}
