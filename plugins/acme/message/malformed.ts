// The most frequent refusal.
import { type AcmeError, failAcme } from '../errors.ts';

/** Makes the refusal of a message that breaks a rule. `detail`: a sentence for people. */
export function malformed(detail: string): AcmeError {
  return failAcme('acme-malformed', detail);
}
