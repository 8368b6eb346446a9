// Private keys that were OpenPGP keys elsewhere: from a private key block, or with the time of their creation, which their fingerprint needs.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { openInTurn } from '../../../core/base/async/opening.ts';
import { coreErrors, type ErrorTable, fail as failCore, ServiceError } from '../../../core/base/errors.ts';
import { integer } from '../../../core/wire/fields.ts';
import type { BroughtKey, ImportForm } from '../../../core/plugin/services/transit-keys.ts';
import { transitKeyErrors } from '../../../core/plugin/services/transit-key-errors.ts';
import { z } from 'zod';
import { fail } from '../errors.ts';
import { formatFingerprint } from '../format/packets.ts';
import { openpgpSeconds, type PublicKeyBody } from '../format/signer.ts';
import { hasRole, type OpenpgpFields, type OpenpgpRecord } from '../records.ts';
import type { EarlierBinding } from './certificate.ts';
import type { PastPrimary, PastSubkey } from './past.ts';
import type { SecretBlockOrder } from './secret-block.ts';
import type { SecretBlockReading, SecretBlockRefusal } from './secret-block-thread.ts';

/** Past of a key from elsewhere, for its certification. */
type Origin = {
  readonly created: number;
  readonly fingerprint?: string;
  readonly primary?: PastPrimary;
  readonly subkey?: PastSubkey;
};

/** Self-signatures of a key from elsewhere that stay with it. */
export type Brought = Pick<OpenpgpRecord, 'certificate' | 'brought'> & {
  /** those of a subkey, if the primary key with that fingerprint has made them */
  binding(primaryFingerprint: string): EarlierBinding | undefined;
};

/** The past of a key of a block; undefined for any other, and where nothing of it verifies. */
export function broughtBy(origin: unknown, { fingerprint }: PublicKeyBody): Brought | undefined {
  const { fingerprint: wanted, primary, subkey } = (origin ?? {}) as Partial<Origin>;
  if (wanted !== formatFingerprint(fingerprint)) return undefined;
  const binding = (by: string): EarlierBinding | undefined => (subkey?.primaryFingerprint === by ? { packets: subkey.packets } : undefined);
  const { certificate = new Uint8Array(0), userIds = [], subkeys = new Uint8Array(0) } = primary ?? {};
  return { certificate, brought: { userIds, subkeys }, binding };
}

/** Creation time of a key from elsewhere, in seconds; undefined for any other. */
export function createdElsewhere(origin: unknown): number | undefined {
  return (origin as Origin | undefined)?.created;
}

/** Throws invalid-key-data when a key of a block would be written with another fingerprint: RSA under the number 3, for example. */
export function requireKeptFingerprint(origin: unknown, { fingerprint }: PublicKeyBody): void {
  const { fingerprint: wanted } = (origin ?? {}) as Partial<Origin>;
  if (wanted === undefined || wanted === formatFingerprint(fingerprint)) return;
  throw refused(`The key ${wanted} is in a form that is not written here, so it cannot keep its fingerprint.`);
}

/** See ImportForm. */
export const secretKeyImport: ImportForm<OpenpgpFields> = {
  parameters: {
    openpgpCreated: integer(0, 0xffff_ffff).optional().meta({
      description:
        'When an OpenPGP key was made, in seconds since 1970: with the same time it keeps its fingerprint. A private key block has it.',
      example: 1_700_000_000,
    }),
    openpgpFingerprint: z
      .string()
      .regex(/^[0-9A-Fa-f]{40}$/, 'must be 40 hexadecimal digits')
      .optional()
      .meta({
        description: 'Which key of an OpenPGP private key block; default: the primary key, for a subkey the one that signs.',
        example: '8F2D6B6E0A4C1D3E5F708192A3B4C5D6E7F80912',
      }),
  },
  async read(definition, text, passphrase, { openpgpCreated, openpgpFingerprint }, now) {
    const created = openpgpCreated as number | undefined;
    const fingerprint = (openpgpFingerprint as string | undefined)?.toUpperCase();
    if (text?.includes('-----BEGIN PGP ') === true) {
      if (created !== undefined) throw misplaced('openpgp-created', 'a private key block has the time itself');
      const isSubkey = definition.fields.openpgpPrimary !== undefined;
      const order: SecretBlockOrder = { text, passphrase, fingerprint, isSubkey };
      return openInTurn(definition.tenantId, () => readInThread(order));
    }
    if (fingerprint !== undefined) throw misplaced('openpgp-fingerprint', 'it goes with an OpenPGP private key block');
    if (created === undefined) return {};
    if (!hasRole(definition.fields)) throw misplaced('openpgp-created', 'the key is not an OpenPGP key');
    if (created > openpgpSeconds(now)) throw misplaced('openpgp-created', 'it is in the future');
    return { origin: { created } satisfies Origin };
  },
};

/** Longest time for a block: seconds are enough for what is allowed, and a thread may be at work for other reasons. */
const threadMs = 30_000;

/** A thread of its own, which ends with what it knew. */
async function readInThread(order: SecretBlockOrder): Promise<BroughtKey> {
  const worker = new Worker(new URL('./secret-block-thread.ts', import.meta.url), { workerData: order });
  try {
    const [reading] = (await once(worker, 'message', { signal: AbortSignal.timeout(threadMs) }).catch((error: unknown) => {
      throw refused('The private key block cannot be read in reasonable time or memory. Export a minimal block.', error);
    })) as [SecretBlockReading];
    if ('refusal' in reading) throw errorOf(reading.refusal);
    const { pkcs8, ...origin } = reading;
    return { pkcs8: Buffer.from(pkcs8), origin: origin satisfies Origin };
  } finally {
    await worker.terminate();
  }
}

/** Restores an error that the thread sent as plain values. */
function errorOf({ code, details }: SecretBlockRefusal): ServiceError {
  return new ServiceError(code, rows[code] ?? coreErrors['internal-error'], details);
}
const rows: ErrorTable = { ...coreErrors, ...transitKeyErrors };

function misplaced(field: string, why: string): Error {
  return failCore('invalid-value', { detail: `"${field}": ${why}.`, items: [{ message: why, info: field }] });
}

function refused(detail: string, cause?: unknown): Error {
  return fail('invalid-key-data', { detail, cause });
}
