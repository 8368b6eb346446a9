// Subjects that people write, as DER.
import { fail } from '../../../core/base/errors.ts';
import { parseName, ruleOfName } from '../../../core/der/name.ts';
import { findNameProblem } from '../lints/name-lints.ts';

/** DER of a subject text; throws `invalid-value`. */
export function requireSubject(text: string): Uint8Array {
  const subject = parseName(text);
  const problem = subject === undefined ? undefined : findNameProblem(subject);
  if (problem !== undefined) throw fail('invalid-value', { detail: `"subject" breaks a rule of RFC 5280: ${problem}.` });
  if (subject !== undefined) return subject;
  throw fail('invalid-value', { detail: `"subject" ${ruleOfName(text)}.` });
}
