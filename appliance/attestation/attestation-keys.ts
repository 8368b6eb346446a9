// The keys that sign custody statements: objects in a token that cannot leave it. The newest signs, former ones are published for what they
// signed and destroyed in the token.
import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto';
import { inTurn } from '../../core/base/async/turns.ts';
import type { Clock, Job, Log } from '../../core/base/context.ts';
import { fail, isOvertaken } from '../../core/base/errors.ts';
import { defined } from '../../core/base/defined.ts';
import { thumbprintOf } from '../../core/base/public-keys/jwk.ts';
import { formatTimestamp } from '../../core/base/time.ts';
import { holderOfStored } from '../../core/plugin/key-holders.ts';
import { KeyLedger, type KeyLedgerRecord } from '../../core/plugin/key-ledger.ts';
import type { KeyHolder, WrappingKeyRotation } from '../../core/plugin/services/wrapping-keys.ts';
import type { TableKinds } from '../../core/store/records/table-kinds.ts';
import type { Store, Table, WriteTransaction } from '../../core/store/store.ts';
import { type Hsm, isKeyLost, type KeyBinding, type KeyReference, type StoredKey } from '../../hsm/api.ts';
import { formatStatement, statementInput } from './statement-jws.ts';

/** One key. `kid`: its thumbprint (RFC 7638); `since`: when it was made; `publicKey`: SubjectPublicKeyInfo in DER. */
type AttestationKey = { readonly kid: string; readonly since: string; readonly stored: StoredKey; readonly publicKey: Uint8Array };

type NumberedKey = { readonly number: number; readonly key: AttestationKey };

/** A key as it is published. */
export type PublishedKey = { readonly kid: string; readonly since: string; readonly key: KeyObject };

type Parts = {
  readonly store: Store;
  readonly hsm: Hsm;
  readonly clock: Clock;
  readonly log: Log;
  readonly rotation: WrappingKeyRotation;
};

export const attestationTableKinds: TableKinds = {
  'attestation-keys': { of: 'all', fills: true },
  // Keys that are being made name the appliance that makes them.
  'attestation-pending': { of: 'all', fills: true },
};

/** Attempts to sign or to make a key while other processes replace it. */
const attempts = 8;
const sweepSeconds = 600;

export class AttestationKeys {
  readonly #parts: Parts;
  /** [number], the newest last */
  readonly #table: Table<AttestationKey>;
  readonly #ledger: KeyLedger;

  constructor(parts: Parts) {
    const { store } = parts;
    this.#parts = parts;
    this.#table = store.table<AttestationKey>('attestation-keys');
    this.#ledger = new KeyLedger({ ...parts, table: store.table<KeyLedgerRecord>('attestation-pending') });
  }

  /** All public keys, the newest last. None before the first statement. */
  published(): readonly PublishedKey[] {
    return Array.from(this.#table.entries([]), ([, { kid, since, publicKey }]) => ({ kid, since, key: keyObjectOf(publicKey) }));
  }

  /** Those that are wrapped. */
  *holders(): Iterable<KeyHolder> {
    for (const [[number], key] of this.#table.allEntries([]))
      yield* holderOfStored(this.#table, [number as number], key, bindingOf(Number(number)));
  }

  /**
   * Signs a statement with the newest key; the first statement makes one, and so does one after the token has lost it. Rejects with
   * HsmError.
   */
  async sign(payload: object): Promise<string> {
    const { store, log } = this.#parts;
    let present = this.#newest() ?? (await this.#replace(undefined));
    for (let attempt = 1; ; attempt++) {
      const { key } = present;
      const input = statementInput(key.kid, payload);
      try {
        return formatStatement(input, await this.#signText(present, input));
      } catch (error) {
        if (!isKeyLost(error) || attempt >= attempts) throw error;
        store.refresh();
        const newest = this.#newest();
        const wasReplaced = newest !== undefined && newest.key.kid !== key.kid;
        if (!wasReplaced) log.warn('the attestation key is no longer in its token: a new one is made', { key: key.kid, kind: error.kind });
        present = wasReplaced ? newest : await this.#replace(present);
      }
    }
  }

  /** The signature is verified before it is given out: a verifier could not tell a wrong one from a forgery. */
  #signText(by: NumberedKey, text: string): Promise<Uint8Array> {
    const key = keyObjectOf(by.key.publicKey);
    const digest = hash('sha256', text, 'buffer');
    const holds = (signature: Uint8Array): boolean => verify('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }, signature);
    return this.#parts.hsm.sign(referenceTo(by), { scheme: 'ecdsa', digest }, holds);
  }

  /** Makes another key and destroys the present one in the token. Returns the new `kid`. Throws `conflict`, HsmError. */
  async rotate(): Promise<string> {
    this.#parts.store.refresh();
    return (await this.#replace(this.#newest())).key.kid;
  }

  /** Destroys the leftovers of a crash while a key was made or replaced. */
  get job(): Job {
    return { name: 'attestation-keys', everySeconds: sweepSeconds, run: () => this.#ledger.sweep() };
  }

  /** The key after `former`. Of several processes that replace the same key one succeeds, and the others take its key. */
  #replace(former: NumberedKey | undefined): Promise<NumberedKey> {
    return inTurn('attestation-keys', async () => {
      for (let attempt = 1; attempt <= attempts; attempt++) {
        this.#parts.store.refresh();
        const newest = this.#newest();
        if (newest !== undefined && newest.key.kid !== former?.key.kid) return newest;
        const made = await this.#makeAfter(newest);
        if (made !== undefined) return made;
      }
      throw fail('conflict');
    });
  }

  /** Undefined when another process has made one meanwhile. */
  async #makeAfter(former: NumberedKey | undefined): Promise<NumberedKey | undefined> {
    const { store, hsm, clock, log } = this.#parts;
    const number = (former?.number ?? 0) + 1;
    const binding = bindingOf(number);
    const custody = hsm.ownCustody('ecdsa-p256');
    const { stored, publicKey } = await this.#ledger.make('ecdsa-p256', binding, custody, (reserved) =>
      hsm.generate('ecdsa-p256', binding, { custody, extractable: false, ...defined({ reserved }) }),
    );
    if (publicKey === undefined) throw new Error('a key pair has a public key');
    const kid = thumbprintOf(keyObjectOf(publicKey));
    const made: NumberedKey = { number, key: { kid, since: formatTimestamp(clock.now()), stored, publicKey } };
    let isCommitted = false;
    try {
      isCommitted = await store.write((transaction) => this.#commit(transaction, made, former));
    } catch (error) {
      if (!isOvertaken(error)) throw error;
    } finally {
      if (!isCommitted) await this.#ledger.destroy([referenceTo(made)]);
    }
    if (!isCommitted) return undefined;
    log.info('an attestation key was made', { key: made.key.kid });
    if (former !== undefined) await this.#ledger.destroy([referenceTo(former)]);
    return made;
  }

  #commit(transaction: WriteTransaction, { number, key }: NumberedKey, former: NumberedKey | undefined): boolean {
    if (transaction.has(this.#table, [number])) return false;
    this.#ledger.claim(transaction, [referenceTo({ number, key })]);
    if (former !== undefined) this.#ledger.disown(transaction, [referenceTo(former)]);
    transaction.put(this.#table, [number], key);
    return true;
  }

  #newest(): NumberedKey | undefined {
    for (const [[number], key] of this.#table.entries([], { reverse: true, limit: 1 })) return { number: Number(number), key };
    return undefined;
  }
}

function referenceTo({ number, key }: NumberedKey): KeyReference {
  return { stored: key.stored, binding: bindingOf(number) };
}

function bindingOf(version: number): KeyBinding {
  return { tenant: 'system', keyId: 'attestation', version, purpose: 'attest' };
}

function keyObjectOf(publicKey: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' });
}
