// Claims of this plugin about a key version in a custody statement, in wire form (appliance/docs/understand/custody.md).
import { defined } from '../../../core/base/defined.ts';
import { formatTimestamp } from '../../../core/base/time.ts';
import type { JsonObject } from '../../../core/wire/json.ts';
import { defaultUse } from '../ciphers.ts';
import { instantOf } from '../instants.ts';
import type { Key, Version } from '../records/keyring.ts';
import type { KeyExport, KeyRecord } from '../records/records.ts';
import { lifeOf } from '../records/version-rules.ts';

const keyType = ['custody/object', 'custody/vendor', 'custody/wrapping-key/content', 'key/thumbprint', 'key/check-value', 'second-key'];
const exports = ['history/exports', 'history/exports-not-listed'];

/** Fields of a key, each with the claims from which it follows. */
export const toldOfKeys = {
  cipher: ['key/cipher', ...keyType],
  use: ['key/use', 'key/other-uses'],
  'allow-shared-secret': ['key/allow-shared-secret'],
  derived: ['key/derived', 'key/check-value'],
  custody: ['custody', 'second-key/custody'],
  keys: ['key/created', 'key/thumbprint', 'second-key/thumbprint'],
  'creation-time': ['key/created'],
  'latest-version': ['key/version', 'key/status'],
  versions: ['key/created', 'key/status'],
  exportable: ['history/exportable', 'history/exportable-since', ...exports],
  'allow-plaintext-backup': ['history/plaintext-backup-allowed', 'history/plaintext-backup-allowed-since', ...exports],
} as const;

/** The claim `key`; `now` in microseconds since 1970. `otherUses`: those that other keys have for the same private key. */
export function keyClaims({ name, record }: Key, { number, record: made }: Version, otherUses: readonly string[], now: number): JsonObject {
  const { id, cipher, derived } = record;
  return {
    ...{ name, id, version: number, cipher, ...defined({ use: record.use ?? defaultUse(cipher) }), derived },
    ...(otherUses.length === 0 ? {} : { 'other-uses': [...otherUses] }),
    ...defined({ 'allow-shared-secret': record.allowSharedSecret }),
    created: timestampOf(made.createdAt),
    status: lifeOf(record, number, made, now).status,
    origin: made.origin ?? 'unknown',
  };
}

/**
 * The claim `history`. `recordedSince`: time from which the store has every export of its keys, in microseconds since 1970. Only recorded
 * facts are stated: unknown ones are absent.
 */
export function historyClaims(
  record: KeyRecord,
  { number, record: { createdAt } }: Version,
  recordedSince: number | undefined,
): JsonObject {
  const { exportable, allowPlaintextBackup, history = {} } = record;
  const { exportableAt, backupAllowedAt, restoredAt, exportCount = 0, exports = [] } = history;
  const since = recordedSince === undefined ? undefined : Math.max(recordedSince, restoredAt ?? 0);
  return {
    // The version has been here since its creation, or since the restore that brought it.
    complete: since !== undefined && since <= Math.max(createdAt, restoredAt ?? 0),
    exportable,
    'plaintext-backup-allowed': allowPlaintextBackup,
    ...timestamps({
      'recorded-since': since,
      'exportable-since': exportableAt,
      'plaintext-backup-allowed-since': backupAllowedAt,
      restored: restoredAt,
    }),
    exports: exports.filter(({ oldest, newest }) => oldest <= number && number <= newest).map(shownExport),
    // Exports of the key: their versions are not kept.
    'exports-not-listed': exportCount - exports.length,
  };
}

function shownExport({ kind, format, oldest, newest, at, requestId }: KeyExport): JsonObject {
  return { kind, format, versions: [oldest, newest], at: timestampOf(at), 'request-id': requestId };
}

/** Formats the times that are present. */
function timestamps(times: Readonly<Record<string, number | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(defined(times)).map(([name, micros]) => [name, timestampOf(micros as number)]));
}

function timestampOf(micros: number): string {
  return formatTimestamp(instantOf(micros));
}
