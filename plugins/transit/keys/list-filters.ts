// Filters of lists of keys: name, cipher, custody, use, whether somebody has disabled it, and whether a key needs a person.
import type { ListFilters } from '../../../core/http/resource/resource.ts';
import { cipherNames, cipherOf, defaultCipher, useOf } from '../ciphers.ts';
import { microseconds, microsecondsOf } from '../instants.ts';
import type { KeyRecord } from '../records/records.ts';
import { warnEncryptions } from '../records/usage.ts';
import type { Transit } from '../context.ts';

/** Uses of a key. A key that signs verifies as well. */
const uses: Readonly<Record<string, (record: KeyRecord) => boolean>> = {
  encrypt: (record) => ['aead', 'opening'].includes(cipherOf(record).kind),
  sign: (record) => cipherOf(record).kind === 'signing' && !record.verificationOnly,
  verify: (record) => cipherOf(record).kind === 'signing',
  agree: (record) => useOf(record) === 'agree',
  decapsulate: (record) => useOf(record) === 'decapsulate',
  mac: (record) => cipherOf(record).kind === 'cmac',
};

/** A rotation that is due is done within a minute; after this time something hinders it. */
const lateSeconds = 3_600;

export function listFilters(transit: Transit): ListFilters<KeyRecord> {
  return {
    contains: {
      description: 'Answer with the entries alone that have this in their names. Upper and lower case count.',
      schema: { type: 'string', examples: ['orders'] },
      tellsAbout: [],
      fitsName: (name, text) => name.includes(text),
    },
    cipher: {
      description: 'Answer with the keys of this cipher alone.',
      schema: { type: 'string', enum: cipherNames, examples: [defaultCipher] },
      tellsAbout: ['cipher'],
      fits: ({ record }, cipher) => record.cipher === cipher,
    },
    custody: {
      description: 'Answer with the keys in this custody alone.',
      schema: { type: 'string', enum: ['wrapped', 'token'], examples: ['token'] },
      tellsAbout: ['custody'],
      fits: ({ record }, custody) => record.custody === custody,
    },
    use: {
      description: 'Answer with the keys alone that do this. A key made from a public key verifies and does not sign.',
      schema: { type: 'string', enum: Object.keys(uses), examples: ['sign'] },
      tellsAbout: ['cipher', 'use', 'public-key', 'supports-encryption', 'supports-signing'],
      fits: ({ record }, use) => uses[use]?.(record) === true,
    },
    disabled: {
      description: '`true`: answer with the keys alone that are disabled, have disabled versions or wait for their deletion.',
      schema: { type: 'boolean', examples: [true] },
      tellsAbout: ['disabled', 'disabled-versions', 'delete-after', 'deletes'],
      fits: ({ record }, asked) => String(isDisabled(record)) === asked,
    },
    attention: {
      description:
        '`true`: answer with the keys alone that need a person, because a rotation by auto-rotate is overdue, or because the newest version has made half of the 2^32 encryptions that it may make.',
      schema: { type: 'boolean', examples: [true] },
      tellsAbout: ['usage', 'rotates', 'auto-rotate', 'cipher', 'use', 'latest-version'],
      fits: ({ name, record }, asked, { caller, now }) =>
        String(needsAttention(transit, { tenantId: caller.tenantId, name, record }, now)) === asked,
    },
  };
}

function isDisabled({ disabled, disabledVersions = [], deletesAt }: KeyRecord): boolean {
  return disabled === true || disabledVersions.length > 0 || deletesAt !== undefined;
}

/** Tells whether a key needs a person: the filter `attention` says when. */
export function needsAttention(transit: Transit, key: Parameters<Transit['usage']['view']>[0], now: Temporal.Instant): boolean {
  const { record } = key;
  if (record.rotatesAt !== undefined && record.rotatesAt + microsecondsOf(lateSeconds) < microseconds(now)) return true;
  if (cipherOf(record).kind !== 'aead') return false;
  return transit.usage.view(key, record.latest).usesAtMost >= warnEncryptions;
}
