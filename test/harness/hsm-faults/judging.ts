// What the drill of HSM faults accepts: a right answer, or a refusal that fits the fault; a wrong answer only where nobody could know.
import { plugins } from '../../../appliance/plugins.ts';
import { createProblems } from '../../../core/http/response/problem.ts';
import { HsmError, isKeyLost } from '../../../hsm/api.ts';
import type { Fault } from '../token/faulty-module.ts';

const problems = createProblems(plugins.map(({ errors }) => errors ?? {}));

/** Why an error is no fitting refusal; undefined when it is one. */
export function findMisfit(error: unknown, work: string, { name, kind, times = 1 }: Fault): string | undefined {
  if (!(error instanceof HsmError)) return `an error that is no HsmError: ${String(error)}`;
  const { code } = problems.serviceError(error);
  // Wrapping keys are destroyed by a rotation, of which no caller hears.
  const isHeard = work !== 'destroy-wrapping-key' || times === 1;
  // A token whose every MAC is wrong in the same way says of every key that it is bound to nothing.
  if (error.kind === 'key-not-usable' && name === 'C_Sign' && times > 1) return undefined;
  if (code === 'internal-error' && isHeard) return `callers would get internal-error: ${error.kind}, ${error.message}`;
  if (code === 'decryption-failed' && (times === 1 || !opens.has(work))) return 'callers would be told that a good ciphertext is damaged';
  if (code === 'invalid-key-data' && (work !== 'import' || silent.has(kind)))
    return `callers would be told that their key material is bad: ${error.message}`;
  if (error.kind === 'pin-refused' && !mayLatch({ name, times }))
    return 'the service would wait for a person to correct a PIN that is right';
  if (error.kind === 'unsupported' && error.rv === undefined) return `the token is taken for one that cannot do it: ${error.message}`;
  if (isKeyLost(error) && times === 1) return `one fault made a key count as lost: ${error.message}`;
  return undefined;
}

/** Whether a fault says what only a person can correct: that the PIN is refused, or, each time it is asked, that it is locked. */
export function mayLatch({ name, times = 1 }: Pick<Fault, 'name' | 'times'>): boolean {
  return name === 'C_Login' || (name === 'C_GetTokenInfo' && times > 1);
}

/** Of key material these say nothing. */
const silent: ReadonlySet<string> = new Set(['delay', 'crash', 'lose-sessions']);
const opens: ReadonlySet<string> = new Set(['decrypt', 'decrypt-oaep']);

/**
 * Whether wrong answers may strike again and again. Where keys are made or moved, what is wrong twice in the same way proves itself, and
 * nothing is left to hold it against.
 */
export function canLie(work: string): boolean {
  return uses.has(work) || work === 'export' || work === 'decrypt-oaep';
}

/** Works of which nothing shows that an answer is wrong, unless it is asked for again. Whatever is kept or given out as a key is proven. */
const uses: ReadonlySet<string> = new Set(['encrypt', 'encrypt-many', 'decrypt', 'hmac', 'sign', 'derive', 'restart', 'reopen']);
/** Of these a second answer can be as wrong as the first. */
const repeatable: ReadonlySet<string> = new Set(['decrypt', 'hmac', 'derive']);
const sources: ReadonlySet<string> = new Set(['C_Encrypt', 'C_Decrypt', 'C_Sign']);

/**
 * Whether a wrong answer could not be known: without `check-answers` what a use gives, with it what is wrong each time. A handle that leads
 * to another key of the same type gives what that key gives, always.
 */
export function couldNotBeKnown(work: string, { name, kind, times = 1 }: Fault, checksAnswers: boolean): boolean {
  if (!uses.has(work) && work !== 'decrypt-oaep') return false;
  if (kind === 'other-handle') return !checksAnswers || (work !== 'sign' && times > 1);
  if (kind !== 'flip' && kind !== 'zero') return false;
  if (name === 'C_GetAttributeValue') return work === 'sign' && !checksAnswers && times > 1;
  if (work === 'decrypt-oaep') return name === 'C_Decrypt' && times > 1;
  return sources.has(name) && (!checksAnswers || (repeatable.has(work) && times > 1));
}
