// The state of a transit key as the API answers it, and what follows from it for people.

export type Status = 'pending' | 'active' | 'deprecated' | 'invalidated' | 'disabled';

export type VersionState = {
  readonly status: Status;
  readonly created: string;
  readonly activates?: string;
  readonly superseded?: string;
  readonly deprecates?: string;
  readonly invalidates?: string;
};

export type Usage = {
  readonly uses: number;
  readonly 'uses-at-most': number;
  readonly 'not-rewrapped'?: number;
  readonly 'last-used'?: string;
  /** uses while it was disabled */
  readonly refused?: number;
};

/** Fields are absent where policies hide them. */
export type KeyState = {
  readonly name: string;
  readonly cipher?: string;
  readonly use?: string;
  readonly custody?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly derived?: boolean;
  readonly disabled?: boolean;
  readonly 'latest-version'?: number;
  readonly 'oldest-version'?: number;
  readonly 'supports-encryption'?: boolean;
  readonly actions?: readonly string[];
  /** public keys of versions, PEM or base64; of symmetric keys the time of each, microseconds since 1970 */
  readonly keys?: Readonly<Record<string, string>>;
  readonly rotates?: string;
  readonly deletes?: string;
  readonly versions?: Readonly<Record<string, VersionState>>;
  readonly usage?: Readonly<Record<string, Usage>>;
};

/** Tells whether the key can do an action as it is; true if policies hide its actions. */
export function can({ actions }: KeyState, action: string): boolean {
  return actions === undefined || actions.includes(action);
}

/** Ways in which a key signs files. `hash`: the browser hashes. `whole`: the key signs the file itself (RFC 8032, FIPS 204). */
export type FileWay = 'openpgp' | 'hash' | 'whole';

/** The way of a key; undefined for one that neither signs nor verifies. */
export function wayOf(state: KeyState): FileWay | undefined {
  if (can(state, 'openpgp-sign-digest') && state.actions !== undefined) return 'openpgp';
  if (!canBeTried(state) || state['supports-encryption'] === true) return undefined;
  if (!can(state, 'sign') && !can(state, 'verify')) return undefined;
  return /^(?:rsa|ecdsa)/.test(state.cipher ?? '') ? 'hash' : 'whole';
}

/** Tells whether text and result of the key fit two fields: it encrypts here, or signs. */
export function canBeTried({ use }: KeyState): boolean {
  return use !== 'agree' && use !== 'decapsulate' && use !== 'mac';
}

/** Uses of all versions that were refused because the key, or the version, is disabled. */
export function refusedUsesOf({ usage = {} }: KeyState): number {
  return Object.values(usage).reduce((sum, { refused = 0 }) => sum + refused, 0);
}

/** NIST SP 800-38D, section 8.3. */
export const mostEncryptions = 2 ** 32;

/** Numbers of the versions, newest first. */
export function numbersOf({ versions = {} }: KeyState): readonly number[] {
  return Object.keys(versions)
    .map(Number)
    .toSorted((left, right) => right - left);
}

export type Span = { readonly status: Status; readonly fromMs: number; readonly toMs: number };

/** Spans of time with the status of a version in each, past and future, up to an end of time. */
export function spansOf(version: VersionState, endMs: number): readonly Span[] {
  const { status, created, activates = created, superseded, deprecates, invalidates } = version;
  const at = (text: string | undefined): number | undefined => (text === undefined ? undefined : Date.parse(text));
  // A version that a minimum of the key has ended has no time for it: it is drawn from when there was a newer one.
  const ended = at(superseded) ?? Date.parse(activates);
  const changes: readonly (readonly [Status, number | undefined])[] = [
    ['pending', Date.parse(created)],
    ['active', Date.parse(activates)],
    [
      'deprecated',
      status === 'deprecated' || status === 'invalidated' ? Math.min(at(deprecates) ?? ended, at(invalidates) ?? Infinity) : at(deprecates),
    ],
    ['invalidated', status === 'invalidated' ? (at(invalidates) ?? ended) : at(invalidates)],
  ];
  const known = changes.flatMap(([one, fromMs]) => (fromMs === undefined ? [] : [{ status: one, fromMs }]));
  return known
    .map(({ status: one, fromMs }, index) => ({ status: one, fromMs, toMs: Math.min(known[index + 1]?.fromMs ?? endMs, endMs) }))
    .filter(({ fromMs, toMs }) => toMs > fromMs);
}

export type Coming = { readonly atMs: number; readonly at: string; readonly what: string };

/** Coming events of the timers, the nearest first. */
export function comingOf(key: KeyState, nowMs: number): readonly Coming[] {
  const { versions = {}, rotates, deletes, 'latest-version': latest = 0 } = key;
  const ofVersions = Object.entries(versions).flatMap(([number, { activates, deprecates, invalidates }]) => [
    { at: activates, what: `version ${number} begins to encrypt and sign` },
    { at: deprecates, what: `version ${number} stops encrypting and signing` },
    { at: invalidates, what: `version ${number} stops decrypting and verifying` },
  ]);
  return [{ at: deletes, what: 'the key is deleted' }, { at: rotates, what: `version ${latest + 1} is made` }, ...ofVersions]
    .flatMap(({ at, what }) => (at === undefined ? [] : [{ at, what, atMs: Date.parse(at) }]))
    .filter(({ atMs }) => atMs > nowMs)
    .toSorted((left, right) => left.atMs - right.atMs);
}

/** Values made with the versions below one that nothing has moved to a newer version, as far as they are counted. */
export function lostBelow(
  { usage = {}, versions = {} }: KeyState,
  oldest: number,
): { readonly ended: readonly number[]; readonly values: number } {
  const ended = Object.keys(versions)
    .map(Number)
    .filter((number) => number < oldest)
    .toSorted((left, right) => left - right);
  return { ended, values: ended.reduce((sum, number) => sum + (usage[number]?.['not-rewrapped'] ?? 0), 0) };
}
