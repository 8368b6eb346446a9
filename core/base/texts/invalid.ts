// Refusals about one field or query parameter of a request, named for programs as well.
import { type coreErrors, fail, type ServiceError } from '../errors.ts';

type Code = keyof typeof coreErrors;

/** `place`: the field or parameter that the sentence is about. */
export function failAt(place: string, message: string, code: Code = 'invalid-value'): ServiceError {
  return fail(code, { detail: message, items: [{ message, info: place }] });
}

/** By the rule that the field breaks: `"ttl" must be …`. */
export function invalid(field: string, rule: string, code: Code = 'invalid-value'): ServiceError {
  return fail(code, { detail: `"${field}" ${rule}.`, items: [{ message: rule, info: field }] });
}

export function invalidParameter(name: string, rule: string): ServiceError {
  return failAt(name, `The query parameter ${name} ${rule}.`);
}
