// Refusals in the words of protocols with messages of their own: SCEP and CMP.
import { ServiceError } from '../base/errors.ts';
import type { EnrolmentCall } from './text-request.ts';

/** A reason as a sentence; most are clauses. */
export function sentence(reason: string): string {
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}${reason.endsWith('.') ? '' : '.'}`;
}

export const isLimit = (error: unknown): boolean => error instanceof ServiceError && error.status === 429;

/** Lists the failure for the people who look after the devices. */
export function noteFailure(call: EnrolmentCall, protocol: string, reason: string): Promise<void> {
  const { subject } = call.noted();
  return call.ca.noteFailure({ protocol, clientIp: call.clientIp, reason, subject: typeof subject === 'string' ? subject : undefined });
}
