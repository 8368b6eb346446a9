// Calls for what a CA elsewhere has signed: lists and answers. Who serves them does not matter, and is told nothing.
import { defined } from '../../core/base/defined.ts';
import { inCourseOf } from '../../core/base/async/last-resort.ts';
import { DerError } from '../../core/der/der.ts';
import type { Destinations } from '../../core/outbound/destinations.ts';
import { aboutRedirects, OutboundError } from '../../core/outbound/outbound-error.ts';
import { perform } from '../../core/outbound/outbound.ts';

const callMs = 5_000;

export type Call = {
  readonly accept: string;
  readonly maxBytes: number;
  readonly body?: { readonly type: string; readonly octets: Uint8Array };
};

/** Fetches octets from any server, whatever certificate it shows: a CA has signed them. Rejects with OutboundError. */
export async function fetchOctets(destinations: Destinations, url: URL, { accept, maxBytes, body }: Call): Promise<Uint8Array> {
  const { lookup } = destinations.wayTo(url);
  const headers = { accept, ...(body === undefined ? {} : { 'content-type': body.type }) };
  const request = { headers, ...defined({ body: body?.octets }) };
  const limits = { lookup, signal: AbortSignal.timeout(callMs), maxBytes, isUnverified: true };
  const answer = await perform(url, body === undefined ? 'GET' : 'POST', request, limits);
  const { status } = answer;
  if (status !== 200)
    throw new OutboundError('malformed', `the answer has the status ${status}${aboutRedirects(status)}`, undefined, status);
  return new Uint8Array(await answer.arrayBuffer());
}

/** Reason for which a call has failed, as a clause, and the status of an answer that came nevertheless. */
export type Failed = { readonly problem: string; readonly status?: number };

/** Runs a call. An error of it that nobody catches ends the call, and not the process. `malformed`: a clause for an answer that is not DER. */
export async function safely<T extends object>(malformed: string, run: () => Promise<T>): Promise<T | Failed> {
  try {
    return await new Promise<T>((resolve, reject) => {
      inCourseOf(reject, () => void run().then(resolve, reject));
    });
  } catch (error) {
    if (error instanceof OutboundError) return { problem: error.message, ...defined({ status: error.status }) };
    return { problem: error instanceof DerError ? malformed : 'a fault of this appliance happened' };
  }
}
