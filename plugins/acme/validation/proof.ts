// A proof of a name, as every challenge gets it.
import type { Identifier } from '../records/records.ts';

/** A name to prove. `signal`: ends the attempt. */
export type Proof = {
  readonly identifier: Identifier;
  readonly token: string;
  readonly keyAuthorization: string;
  readonly signal: AbortSignal;
};
