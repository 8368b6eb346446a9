// Subjects that people write, as DER.
import { fail } from '../../../core/base/errors.ts';
import { nameAttributes } from '../../../core/der/oids.ts';
import { findUnseen } from '../../../core/wire/unseen-text.ts';
import { findUnknownType, parseName } from '../der/name.ts';
import { findNameProblem } from '../lints/name-lints.ts';

/** DER of a subject text; throws `invalid-value`. */
export function requireSubject(text: string): Uint8Array {
  const subject = parseName(text);
  const problem = subject === undefined ? undefined : findNameProblem(subject);
  if (problem !== undefined) throw fail('invalid-value', { detail: `"subject" breaks a rule of RFC 5280: ${problem}.` });
  if (subject !== undefined) return subject;
  throw fail('invalid-value', { detail: `"subject" ${ruleOfSubject(text)}.` });
}

function ruleOfSubject(text: string): string {
  const unseen = findUnseen(text);
  if (unseen !== undefined) return `must not contain ${unseen}, which nobody can see`;
  const unknown = findUnknownType(text);
  if (unknown === undefined) return 'must be a name such as "CN=Device CA, O=Example", with commas between its attributes';
  const known = Object.keys(nameAttributes).join(', ');
  return `has the attribute ${unknown}, which is not known: there are ${known}, and numbers such as 2.5.4.17`;
}
