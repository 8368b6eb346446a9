// Finding keys and choosing versions; every use of a key is judged here, whichever API it comes through.
import { fail as coreFail } from '../../../core/base/errors.ts';
import { ranged } from '../../../core/base/texts/counted.ts';
import type { EndpointCall } from '../../../core/http/endpoint.ts';
import { telling, type Telling } from '../../../core/http/response/telling.ts';
import type { KeyReference, StoredKey } from '../../../hsm/api.ts';
import { type AeadCipher, cipherOf, type EstablishingCipher, type OpeningCipher } from '../ciphers.ts';
import { fail } from '../errors.ts';
import { type KeyRecord, type Purpose, type Tables, type VersionRecord, bindingOf } from './records.ts';
import { type Bar, type Disabling, barForDecryption, barForEncryption, newestActive, versionExists } from './version-rules.ts';

/** A key with its tenant, its name, and its record when it was found. */
export type Key = { readonly tenantId: string; readonly name: string; readonly record: KeyRecord };

/** A version of a key. */
export type Version = { readonly number: number; readonly record: VersionRecord };

/** Counts a use that was refused because key or version are disabled. */
type NoteRefused = (key: Key, version: Version, now: number) => void;

/** Reads keys and versions; nothing here writes or calls the HSM. */
export class Keyring {
  readonly #tables: Tables;
  readonly #noteRefused: NoteRefused;

  constructor(tables: Tables, noteRefused: NoteRefused = () => undefined) {
    this.#tables = tables;
    this.#noteRefused = noteRefused;
  }

  /** The tenant's key of that name, or undefined. */
  find(tenantId: string, name: string): Key | undefined {
    const record = this.#tables.keys.get([tenantId, name]);
    return record === undefined ? undefined : { tenantId, name, record };
  }

  /** The key the call's path names; throws not-found. */
  require(call: EndpointCall): Key {
    const key = this.find(call.caller.tenantId, call.params['name'] as string);
    if (key === undefined) throw coreFail('not-found', { detail: 'No transit key of that name.' });
    return key;
  }

  /** An existing version; throws version-unknown for one that was never made or was trimmed. */
  version(key: Key, number: number): Version {
    if (!versionExists(key.record, number)) throw unknownVersion(key.name, key.record);
    return { number, record: this.#record(key, number) };
  }

  /**
   * Yields all versions, oldest first. Records of removed ones may still be there. Throws `record-unreadable` after all others if one does
   * not open: a key without one of its versions is another key.
   */
  *versions({ tenantId, record: { id, floor } }: Key): Iterable<Version> {
    for (const [storeKey, record] of this.#tables.versions.allEntries([tenantId, id], { after: floor - 1 }))
      yield { number: storeKey[2] as number, record };
  }

  /** The newest version that is active. */
  inUse(key: Key, now: number): number {
    return newestActive(key.record, (one) => this.#record(key, one), now);
  }

  /** The version that encrypts, signs or makes HMACs: the one asked for, else the newest active. Throws version-unknown, version-not-allowed, key-disabled. */
  forEncryption(key: Key, requested: number | undefined, now: number): Version {
    const number = requested ?? this.inUse(key, now);
    const version = this.version(key, number);
    this.#refuse(key, version, requested, barForEncryption(key.record, number, version.record, now), now);
    return version;
  }

  /** The version that decrypts or verifies a value. Throws version-unknown, version-not-allowed, key-disabled. */
  forDecryption(key: Key, number: number, now: number): Version {
    const version = this.version(key, number);
    this.#refuse(key, version, number, barForDecryption(key.record, number, version.record, now), now);
    return version;
  }

  /** Throws not-found when the key was deleted or restored since it was found, version-unknown when it was trimmed. */
  requireUnchanged(key: Key): void {
    const current = this.#tables.keys.get([key.tenantId, key.name]);
    if (current?.id !== key.record.id) throw removedMeanwhile();
    if (current.floor > key.record.floor) throw unknownVersion(key.name, current);
  }

  /** `named`: the version of the request, undefined if that is the one in use, whose number is not told. */
  #refuse(key: Key, version: Version, named: number | undefined, bar: Bar | undefined, now: number): void {
    if (bar === undefined) return;
    if (isDisabling(bar)) this.#noteRefused(key, version, now);
    throw refusalOf(key.name, named, bar);
  }

  #record(key: Key, number: number): VersionRecord {
    const record = this.#tables.versions.get([key.tenantId, key.record.id, number]);
    if (record !== undefined) return record;
    // The key was looked up once per request, and a batch takes seconds.
    this.requireUnchanged(key);
    throw new Error(`version ${number} of transit key ${key.record.id} is missing from the store`);
  }
}

/** Error not-found, for a request whose key was deleted, or replaced by a restore, since it was found. */
export function removedMeanwhile(): Error {
  return coreFail('not-found', { detail: 'The key was removed meanwhile.' });
}

function unknownVersion(name: string, { floor, latest }: KeyRecord): Error {
  const unseen = fail('version-unknown', { detail: 'The key has no such version.' });
  return telling(unseen, toldOfKey(name, ['oldest-version', 'latest-version'], `The key has ${ranged(floor, latest, 'version')}.`));
}

/** A sentence about fields of a key, for callers who may read them. */
export function toldOfKey(name: string, fields: readonly string[], detail: string): Telling {
  return { detail, fields, paths: ['config', 'state'].map((tree) => ['v1', tree, 'keystore', 'transit-keys', name]) };
}

/** The cipher row of a key that encrypts, or whose public key does; throws operation-not-supported for any other. */
export function requireEncrypting(key: Key): AeadCipher | OpeningCipher {
  const cipher = cipherOf(key.record);
  if (cipher.kind === 'aead' || cipher.kind === 'opening') return cipher;
  throw fail('operation-not-supported', { detail: `This key ${otherJobs[cipher.kind]}; it does not encrypt.` });
}

const otherJobs = {
  cmac: 'authenticates by cmac',
  signing: 'signs and verifies',
  establishing: 'decrypts what others have sealed to its public key, by hpke, jwe or age',
} as const;

/** As requireEncrypting, for a key that decrypts: also one that establishes keys, to which others encrypt. */
export function requireDecrypting(key: Key): AeadCipher | OpeningCipher | EstablishingCipher {
  const cipher = cipherOf(key.record);
  return cipher.kind === 'establishing' ? cipher : requireEncrypting(key);
}

/** The stored key of a version for one purpose; throws operation-not-supported when the version has none. */
export function referenceTo(key: Key, version: Version, purpose: Purpose): KeyReference {
  const stored = storedFor(version.record, purpose);
  if (stored === undefined) {
    throw fail('operation-not-supported', { detail: 'This version has no private part: its public key verifies or encrypts, no more.' });
  }
  return { stored, binding: bindingOf(key.tenantId, key.record.id, version.number, purpose) };
}

/** Purpose of the main key of a version. */
export function mainPurpose(
  record: Parameters<typeof cipherOf>[0] & Pick<KeyRecord, 'derived'>,
): 'encrypt' | 'decrypt' | 'sign' | 'cmac' | 'agree' | 'decapsulate' | 'derive' {
  if (record.derived) return 'derive';
  const cipher = cipherOf(record);
  return cipher.kind === 'establishing' ? cipher.use : mainPurposes[cipher.kind];
}

const mainPurposes = { aead: 'encrypt', opening: 'decrypt', signing: 'sign', cmac: 'cmac' } as const;

/** Every stored key of a version. */
export function referencesOf(key: Key, version: Version): KeyReference[] {
  const purposes: readonly Purpose[] = [...privatePurposes(key, version), 'hmac', 'convergent'];
  return purposes
    .filter((purpose) => storedFor(version.record, purpose) !== undefined)
    .map((purpose) => referenceTo(key, version, purpose));
}

/** Main key of a version, and the second private key of one that has two. */
export function privatePurposes(key: Key, { record }: Version): readonly Purpose[] {
  return [mainPurpose(key.record), ...(record.agreement === undefined ? [] : (['agree'] as const))];
}

function storedFor(record: VersionRecord, purpose: Purpose): StoredKey | undefined {
  if (purpose === 'hmac') return record.hmac;
  if (purpose === 'agree') return record.agreement ?? record.stored;
  return purpose === 'convergent' ? record.convergent : record.stored;
}

/** Throws key-disabled for a key that nothing may use, and whose material may not leave, whatever the version. */
export function requireEnabled({ name, record: { disabled, deletesAt } }: Key): void {
  const bar = disabled === true ? 'disabled' : deletesAt === undefined ? undefined : 'deletion';
  if (bar !== undefined) throw refusalOf(name, undefined, bar);
}

/** Throws key-disabled as well for a key of which a version is disabled: for what takes out, or signs with, all of them. */
export function requireAllEnabled(key: Key): void {
  requireEnabled(key);
  const [version] = key.record.disabledVersions ?? [];
  if (version !== undefined) throw refusalOf(key.name, version, 'disabled-version');
}

/** Reasons, with the fields that they tell. */
const reasons: Readonly<Record<Exclude<Bar, Disabling>, readonly [field: string, reason: string]>> = {
  'min-decryption-version': ['min-decryption-version', 'is below min-decryption-version'],
  'min-encryption-version': ['min-encryption-version', 'is below min-encryption-version'],
  invalidated: ['auto-rotate', 'was invalidated by auto-rotate/invalidate-after'],
  deprecated: ['auto-rotate', 'was deprecated by auto-rotate/deprecate-after'],
  pending: ['auto-rotate', 'waits for auto-rotate/activate-after'],
};

const disablings: Readonly<Record<Disabling, (subject: string) => readonly [field: string, reason: string]>> = {
  disabled: () => ['disabled', 'The key is disabled: set disabled to false to use it again.'],
  deletion: () => ['delete-after', 'The key waits for its deletion: take delete-after out of its settings to use it again.'],
  'disabled-version': (subject) => [
    'disabled-versions',
    `${subject} is disabled: use another one, rotate the key, or take it out of disabled-versions.`,
  ],
};

function isDisabling(bar: Bar): bar is Disabling {
  return bar in disablings;
}

function refusalOf(name: string, named: number | undefined, bar: Bar): Error {
  const subject = named === undefined ? 'The version in use' : `Version ${named}`;
  if (isDisabling(bar)) {
    const [field, told] = disablings[bar](subject);
    const detail = 'The key, or this version of it, is disabled: ask who administers the key.';
    return telling(fail('key-disabled', { detail }), toldOfKey(name, [field], told));
  }
  const [field, reason] = reasons[bar];
  const unseen = fail('version-not-allowed', {
    detail: `${subject} is not in service for this: use another one, or ask who administers the key.`,
  });
  return telling(unseen, toldOfKey(name, [field], `${subject} ${reason}.`));
}
