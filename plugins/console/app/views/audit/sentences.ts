// Records of the trail as sentences: what somebody did, or was refused, and with which thing.
import { nameOf, titleOf } from '../../description/catalog.ts';
import type { Entry } from '../../description/catalog.ts';
import { oneOf } from '../../description/purposes.ts';
import { language, locale, said } from '../../language/language.ts';
import { resultOf, type TrailRecord } from './records.ts';

/** Actions with a word between them and what they are about: done, and the infinitive. */
const actions: Readonly<Record<string, readonly [done: string, infinitive: string]>> = {
  encrypt: ['encrypted {size}with', 'encrypt with'],
  decrypt: ['decrypted {size}with', 'decrypt with'],
  rewrap: ['rewrapped {size}with', 'rewrap with'],
  sign: ['signed {size}with', 'sign with'],
  verify: ['verified with', 'verify with'],
  hmac: ['made an HMAC with', 'make an HMAC with'],
  'generate-data-key': ['made a data key with', 'make a data key with'],
  encapsulate: ['encapsulated a secret with', 'encapsulate a secret with'],
  decapsulate: ['decapsulated a secret with', 'decapsulate a secret with'],
  rotate: [said('rotated'), said('rotate')],
  trim: [said('trimmed'), said('trim')],
  export: [said('exported'), said('export')],
  backup: ['backed up', 'back up'],
  restore: [said('restored'), said('restore')],
  import: ['imported into', 'import into'],
  'sign-csr': ['issued a certificate of', 'issue a certificate of'],
  'generate-secret-id': ['made a secret-id of', 'make a secret-id of'],
  'disable-secret-id': ['ended a secret-id of', 'end a secret-id of'],
  'check-many': ['asked what is allowed', 'ask what is allowed'],
  check: ['asked what is allowed', 'ask what is allowed'],
};

/** Actions whose path names nothing. */
const wholes: Readonly<Record<string, readonly [done: string, infinitive: string]>> = {
  info: ['asked about a token', 'ask about a token'],
  'create-root': ['made a root token', 'make a root token'],
  create: ['made a token', 'make a token'],
  refresh: ['prolonged a token', 'prolong a token'],
  disable: ['ended a token', 'end a token'],
  seal: ['sealed the appliance', 'seal the appliance'],
  unseal: ['unsealed the appliance', 'unseal the appliance'],
  backup: ['made a backup', 'make a backup'],
};

const verbs: Readonly<Record<string, readonly [done: string, infinitive: string]>> = {
  list: [said('listed'), said('list')],
  show: ['looked at', 'look at'],
  create: [said('made'), said('make')],
  replace: [said('set'), said('set')],
  merge: [said('changed'), said('change')],
  delete: [said('deleted'), said('delete')],
};

/** `encrypted 8 octets with orders, version 2`; undefined for a record that no operation of the description explains. */
export function sentenceOf(record: TrailRecord, entry: Entry | undefined, names: readonly string[]): string | undefined {
  if (entry === undefined) return undefined;
  const { command } = entry;
  const name = names.at(-1);
  const words = command.verb === 'do' ? wordsOfAction(command.action ?? '', name) : verbs[command.verb];
  if (words === undefined) return undefined;
  const [done, infinitive] = words;
  const result = resultOf(record);
  const what = command.verb === 'do' ? (name ?? '') : whatIn(record, entry, name);
  const begun =
    result === 'done' ? done.replace('{size}', sizeOf(record)) : `${result === 'failed' ? 'failed to' : 'was refused to'} ${infinitive}`;
  const version = record['key-version'];
  return [`${begun} ${what}`.trim(), typeof version === 'number' ? `version ${version}` : ''].filter((part) => part !== '').join(', ');
}

function wordsOfAction(action: string, name: string | undefined): readonly [done: string, infinitive: string] {
  const plain = action.replace(/-batch$/, '');
  const known = name === undefined ? (wholes[plain] ?? actions[plain]) : actions[plain];
  if (known !== undefined) return known;
  const title = titleOf(plain);
  return name === undefined ? [`did “${title}”`, `do “${title}”`] : [`did “${title}” with`, `do “${title}” with`];
}

/** `key orders`: the name of a new entry is in what was sent. */
function whatIn(record: TrailRecord, entry: Entry, known: string | undefined): string {
  const sent = (record['request-parameters'] as { readonly name?: unknown } | null | undefined)?.name;
  const name = known !== undefined || entry.command.verb !== 'create' || typeof sent !== 'string' ? known : sent;
  if (name !== undefined) return [oneOf(entry.path), name].filter((part) => part !== undefined).join(' ');
  return entry.command.verb === 'create' ? `one of ${thingsOf(entry)}` : thingsOf(entry);
}

function thingsOf(entry: Entry): string {
  if (language !== 'en') return nameOf(entry);
  return (
    entry.path
      .split('/')
      .findLast((segment) => !segment.startsWith('{'))
      ?.replaceAll('-', ' ') ?? ''
  );
}

/** Octets of the payload, which the trail counts in the form in which they were sent. */
function sizeOf(record: TrailRecord): string {
  const parameters = record['request-parameters'];
  if (typeof parameters !== 'object' || parameters === null) return '';
  for (const value of Object.values(parameters)) {
    const bytes = typeof value === 'object' && value !== null ? (value as { readonly bytes?: unknown }).bytes : undefined;
    if (typeof bytes === 'number') return `${bytes.toLocaleString(locale)} characters `;
  }
  return '';
}
