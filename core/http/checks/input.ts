// Check: the body is valid input of the endpoint, with values that the policies allow, and names only entries that the caller may use.
import { anyValue } from '../../access/policy/constraints.ts';
import { requestParameters } from '../audit-parameters.ts';
import type { ApiRequest } from '../context/api-request.ts';
import { requireNamed } from '../named-entries.ts';
import { largeTextOf, readInput } from '../request/input.ts';
import { authorizedCallOf } from './authorization.ts';
import { bodyOf } from './body.ts';

/** Parses the input; throws 400 with the code of the fault. From here on the audit record has the parameters. */
export function readValidInput(context: ApiRequest): void {
  const { endpoint, auditFields } = context.route;
  const body = bodyOf(context);
  const { caller, exchange } = context;
  context.input = readInput(endpoint, body, exchange.inputOf && ((document) => exchange.inputOf?.(document, caller) ?? document));
  context.largeText = largeTextOf(body);
  const parameters = requestParameters(auditFields, inputWith(context, context.largeText), endpoint.access === 'token');
  if (parameters !== undefined) context.note.requestParameters = parameters;
}

/** Throws 403 `policy-denied` for values that the policies do not allow. */
export function requireAllowedValues(context: ApiRequest): void {
  const { authorized, found, route } = context;
  if (authorized?.isConstrained !== true) return;
  const input = inputWith(context, anyValue);
  const { endpoint } = route;
  const meant =
    endpoint.access === 'token' && endpoint.complete !== undefined
      ? endpoint.complete(authorizedCallOf(context), input as never, found as never)
      : input;
  authorized.requireAllowedValues(route.constrainedInput(meant), route.constrainedShape);
}

/** Throws 403 `policy-denied` for named entries that the caller may not use. Resources check this for the document that a change makes. */
export function requireNamedEntries({ authorized, input, route: { namedFields } }: ApiRequest): void {
  if (authorized !== undefined && namedFields.length > 0) requireNamed(authorized, namedFields, input);
}

/** The input with `text` in place of a text that was taken out of a large body. */
function inputWith({ input, largeText, route: { endpoint } }: ApiRequest, text: unknown): unknown {
  return largeText === undefined ? input : { ...(input as object), [endpoint.largeField ?? '']: text };
}
