// Lists of calls in one job: quick calls of one operation under one key share its reference and its parameters, and are answered together.
//
// job:    the two parts that all calls share ‖ the other parts of the first call ‖ those of the second ‖ …
// result: one octet for each call, resultOk or resultError ‖ the octets or the error of the first call ‖ …
import type { UseOutcome } from '../api.ts';
import { decodeError } from './error-coding.ts';
import { flagDerived, flagList, flagSlow, type Call } from './operations.ts';
import { resultOk, type ReceivedMessage } from './wire.ts';

/** Operations that lists are made of: their individual arguments are all in their other parts. */
const listed: ReadonlySet<string> = new Set(['encrypt', 'decrypt', 'sign', 'hmac']);
/** Parts that all calls of a list share: the reference of the key, and the parameters. */
export const sharedParts = 2;
/** Calls in a list: a call of a quick operation takes a tenth of a millisecond at most, so a list delays other jobs by ten. */
const longestList = 100;
const largestListBytes = 1_048_576;

/** A call that joins some of the given calls, with their places among those. */
export type JoinedCall = { readonly call: Call; readonly places: readonly number[] };

type OpenList = { readonly first: Call; readonly calls: Call[]; readonly places: number[]; bytes: number };

/**
 * Joins calls of one operation under one key. Slow calls stay alone, so that the token's host can spread them over its threads, and no
 * list takes much longer than a slow call.
 */
export function joinCalls(calls: readonly Call[]): readonly JoinedCall[] {
  const lists: OpenList[] = [];
  let latest: OpenList | undefined;
  for (let place = 0; place < calls.length; place++) {
    const call = calls[place] as Call;
    const bytes = ownBytes(call);
    if (latest === undefined || !takes(latest, call, bytes)) latest = lists.findLast((list) => takes(list, call, bytes));
    if (latest === undefined) lists.push((latest = { first: call, calls: [], places: [], bytes: 0 }));
    latest.calls.push(call);
    latest.places.push(place);
    latest.bytes += bytes;
  }
  return lists.map(({ first, calls: joined, places }) => ({ call: joined.length === 1 ? first : listOf(first, joined), places }));
}

function takes({ first, calls, bytes }: OpenList, call: Call, more: number): boolean {
  const fits = calls.length < longestList && bytes + more <= largestListBytes;
  return fits && first.name === call.name && listed.has(call.name) && isQuick(first) && isQuick(call) && haveSameShared(first, call);
}

function isQuick({ flags }: Call): boolean {
  return (flags & flagSlow) === 0;
}

/** Compares shared parts. References and parameters of one key are mostly the same buffers; only those of derived keys are made for each call. */
function haveSameShared({ parts: [key, parameters] }: Call, { parts: [otherKey, otherParameters] }: Call): boolean {
  if (key !== otherKey) return false;
  if (parameters === otherParameters) return true;
  return parameters !== undefined && otherParameters !== undefined && Buffer.compare(parameters, otherParameters) === 0;
}

function ownBytes({ parts }: Call): number {
  let bytes = 0;
  for (let at = sharedParts; at < parts.length; at++) bytes += parts[at]?.length ?? 0;
  return bytes;
}

function listOf({ name, flags, parts, owner }: Call, calls: readonly Call[]): Call {
  const joined = parts.slice(0, sharedParts);
  for (const call of calls) for (let at = sharedParts; at < call.parts.length; at++) joined.push(call.parts[at]);
  return { name, flags: (flags & flagDerived) | flagList, parts: joined, calls: calls.length, ...(owner === undefined ? {} : { owner }) };
}

/** Reads the outcomes in the result of a list, as views of it. Throws RangeError unless there are as many as calls. */
export function readOutcomes(result: ReceivedMessage, calls: number): readonly UseOutcome[] {
  const [codes, ...outcomes] = result.parts();
  if (codes?.length !== calls || outcomes.length !== calls) throw new RangeError('the result of a list has other calls');
  return outcomes.map((outcome, at) => {
    if (outcome === undefined) throw new RangeError(`outcome ${at} of a list is missing`);
    return codes[at] === resultOk ? outcome : decodeError(outcome);
  });
}
