// CAA (RFC 8659): what the owner of a domain says in the name service about who may issue for it, by which account and proof (RFC 8657).
import type { CaaRecord } from 'node:dns';
import type { Identifier } from '../records/records.ts';
import { NotProved } from './refusal.ts';

/** A name in a certificate that is wanted. `way`: challenge that has proved the name; undefined where nothing was proved. */
type Wish = { readonly identifier: Identifier; readonly way: string | undefined };

export type CaaRules = {
  /** names that this CA has in such records, in lower case */
  readonly identities: readonly string[];
  readonly accountUrl: string;
  /** records of one name; none if it has none. Rejects with the error of the name service */
  readonly find: (name: string) => Promise<readonly CaaRecord[]>;
};

/** Questions of an order: each name asks for itself and all names above it. */
const mostQuestions = 400;
/** Property tags that say nothing of certificates of servers, or that are judged here. */
const knownTags = new Set(['issue', 'issuewild', 'iodef', 'issuemail', 'issuevmc', 'contactemail', 'contactphone']);
const isCritical = 0x80;

/** Rejects with NotProved for the first name whose records do not let this CA issue, and with the error of the name service where nobody knows. */
export async function requireAllowedByCaa(wishes: readonly Wish[], { identities, accountUrl, find }: CaaRules): Promise<void> {
  const asked = new Map<string, Promise<readonly CaaRecord[]>>();
  const findOnce = (name: string): Promise<readonly CaaRecord[]> => {
    const known = asked.get(name);
    if (known !== undefined) return known;
    if (asked.size === mostQuestions)
      throw new NotProved('caa', `The names of the order have more than ${mostQuestions} names above them: ask for fewer at a time.`);
    const answer = find(name);
    asked.set(name, answer);
    return answer;
  };
  for (const { identifier, way } of wishes) {
    if (identifier.type !== 'dns') continue;
    const isWildcard = identifier.value.startsWith('*.');
    const name = isWildcard ? identifier.value.slice(2) : identifier.value;
    const records = await climb(name, findOnce);
    const problem = findProblem(records, isWildcard, { identities, accountUrl, way });
    if (problem !== undefined) throw new NotProved('caa', `The CAA records for ${identifier.value} do not allow it: ${problem}.`);
  }
}

/** The records of the name, or of the nearest one above it that has some (RFC 8659 section 3). */
async function climb(name: string, find: (name: string) => Promise<readonly CaaRecord[]>): Promise<readonly CaaRecord[]> {
  const labels = name.split('.');
  for (let from = 0; from < labels.length; from++) {
    const records = await find(labels.slice(from).join('.'));
    if (records.length > 0) return records;
  }
  return [];
}

type Asker = Pick<CaaRules, 'identities' | 'accountUrl'> & { readonly way: string | undefined };

/** Reason, as a clause, for which records forbid an issue; undefined if they allow it. */
function findProblem(records: readonly CaaRecord[], isWildcard: boolean, asker: Asker): string | undefined {
  if (records.some(({ critical, ...record }) => mayBeCritical(critical) && !knownTags.has(tagOf(record))))
    return 'one is critical and of a kind that is not known here';
  const valuesOf = (tag: string): readonly string[] => records.filter((record) => tagOf(record) === tag).map(valueOf);
  const wild = isWildcard ? valuesOf('issuewild') : [];
  const values = wild.length > 0 ? wild : valuesOf('issue');
  if (values.length === 0) return undefined;
  const reasons = values.map((value) => refusalOf(value, asker));
  // The reason of one that names this CA says most.
  return reasons.includes(undefined) ? undefined : (reasons.find((reason) => reason !== anotherCa) ?? anotherCa);
}

const anotherCa = 'they name other CAs';

/** A parameter (RFC 8659 section 4.2): its name, and its value, which has no blank. */
const parameterForm = /^([a-z\d](?:[a-z\d-]*[a-z\d])?)[ \t]*=[ \t]*([!-:<-~]*)$/i;

function refusalOf(value: string, { identities, accountUrl, way }: Asker): string | undefined {
  const [issuer = '', ...written] = value.split(';').map((part) => part.trim());
  if (!identities.includes(issuer.toLowerCase())) return anotherCa;
  const parameters = new Map<string, string>();
  // A semicolon alone may follow the name of the CA, and nothing else.
  for (const one of written.length === 1 && written[0] === '' ? [] : written) {
    const [, name, text] = parameterForm.exec(one) ?? [];
    // A property that is not well-formed lets nobody issue: a typing error does not open what it was to close.
    if (name === undefined || text === undefined) return 'a parameter in them is not of the form name=value, without blanks in the value';
    const known = name.toLowerCase();
    if (parameters.has(known)) return `they state ${known.slice(0, 64)} twice`;
    parameters.set(known, text);
  }
  if ((parameters.get('accounturi') ?? accountUrl) !== accountUrl) return 'they name another account of this CA';
  const methods = parameters.get('validationmethods')?.split(',');
  return methods === undefined || methods.some((one) => one === way) ? undefined : 'they ask for another proof of the name';
}

/** Node has the property of a record as a member of its name, and one of the name "critical" in place of the flags, which nobody knows then. */
function mayBeCritical(flags: unknown): boolean {
  return typeof flags !== 'number' || (flags & isCritical) !== 0;
}

function tagOf(record: object): string {
  return (Object.keys(record).find((key) => key !== 'critical' && key !== 'type') ?? '').toLowerCase();
}

function valueOf(record: CaaRecord): string {
  const [, value = ''] = Object.entries(record).find(([key]) => key !== 'critical' && key !== 'type') ?? [];
  return String(value);
}
