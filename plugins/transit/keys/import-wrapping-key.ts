// Import wrapping keys: RSA-4096 keys in the token, under which callers wrap the keys they import. Each tenant has one for any
// import; one that is made for a single import takes one key, once, until it ends.
import { drawUuid } from '../../../core/base/uuid.ts';
import { isOvertaken } from '../../../core/base/errors.ts';
import type { Job } from '../../../core/base/context.ts';
import { writeInPieces } from '../../../core/store/records/pieces.ts';
import type { StoreKey } from '../../../core/store/store.ts';
import { HsmError, type KeyBinding, type KeyReference } from '../../../hsm/api.ts';
import { microseconds } from '../instants.ts';
import type { Key } from '../records/keyring.ts';
import type { ImportWrappingKeyRecord } from '../records/records.ts';
import type { Transit } from '../context.ts';
import type { OaepScheme } from '../formats/oaep.ts';
import { unopened, unwrapMaterial } from '../formats/wrapped-material.ts';

const keyType = 'rsa-4096';
const modulusBytes = 512;
/** Attempts to make a key while the wrapping key of the token is being rotated. */
const attempts = 8;
/** Store key of the one that a tenant has for any import. */
const ofTenant = 'tenant';

/** A wrapped import: under the key of the tenant, or under the one that was made for it. */
export type WrappedImport = { readonly ciphertext: Uint8Array; readonly importId: string | undefined } & Pick<
  OaepScheme,
  'hash' | 'mgf1Hash'
>;

/** Makes import wrapping keys, and opens what was wrapped under them. */
export class ImportWrappingKeys {
  readonly #transit: Transit;
  readonly #making = new Map<string, Promise<ImportWrappingKeyRecord>>();

  constructor(transit: Transit) {
    this.#transit = transit;
  }

  /** The key of a tenant; makes it on first use. When several processes make one at once, the first one committed is kept. */
  async keyOf(tenantId: string): Promise<ImportWrappingKeyRecord> {
    return this.presentOf(tenantId) ?? (await this.#makeOfTenant(tenantId));
  }

  /** The key of a tenant; undefined before its first use. */
  presentOf(tenantId: string): ImportWrappingKeyRecord | undefined {
    return this.#transit.tables.importWrappingKeys.get([tenantId, ofTenant]);
  }

  /** A key for one import into a transit key, in place of the one that was made for it before. */
  makeFor({ tenantId, record }: Key, expiresAt: number): Promise<ImportWrappingKeyRecord> {
    return this.#make(tenantId, record.id, { expiresAt });
  }

  /** Unwraps material in the layout of wrapped-material.ts, for a transit key. Throws invalid-key-data, with the same message for every cause. */
  async open(key: Key, { ciphertext, importId, ...oaep }: WrappedImport, now: number): Promise<Uint8Array> {
    const { tables } = this.#transit;
    const place: StoreKey = [key.tenantId, importId === undefined ? ofTenant : key.record.id];
    const record = tables.importWrappingKeys.get(place);
    if (record === undefined || ciphertext.length <= modulusBytes) throw unopened();
    if (importId !== undefined && (record.id !== importId || now >= (record.expiresAt ?? 0))) throw unopened();
    const transportKey = await this.#openTransportKey(referenceOf(key.tenantId, record), ciphertext.subarray(0, modulusBytes), oaep);
    try {
      const material = unwrapMaterial(transportKey, ciphertext.subarray(modulusBytes));
      if (importId !== undefined && !(await this.#useUp(place, importId))) {
        material.fill(0);
        throw unopened();
      }
      return material;
    } finally {
      transportKey.fill(0);
    }
  }

  /** Removes a key that takes one import. Resolves with true for one of several concurrent imports. */
  #useUp(place: StoreKey, importId: string): Promise<boolean> {
    const { store, tables } = this.#transit;
    return store.write((transaction) => {
      if (transaction.get(tables.importWrappingKeys, place)?.id !== importId) return false;
      transaction.delete(tables.importWrappingKeys, place);
      return true;
    });
  }

  #makeOfTenant(tenantId: string): Promise<ImportWrappingKeyRecord> {
    let making = this.#making.get(tenantId);
    if (making === undefined) {
      making = this.#make(tenantId, ofTenant, {}).finally(() => this.#making.delete(tenantId));
      this.#making.set(tenantId, making);
    }
    return making;
  }

  async #make(tenantId: string, place: string, fields: Pick<ImportWrappingKeyRecord, 'expiresAt'>): Promise<ImportWrappingKeyRecord> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#makeOnce(tenantId, place, fields);
      } catch (error) {
        if (!isOvertaken(error) || attempt >= attempts) throw error;
        this.#transit.store.refresh();
      }
    }
  }

  async #makeOnce(tenantId: string, place: string, fields: Pick<ImportWrappingKeyRecord, 'expiresAt'>): Promise<ImportWrappingKeyRecord> {
    const { hsm, store, tables, rotation } = this.#transit;
    const id = await drawUuid(hsm);
    const { stored, publicKey } = await hsm.generate(keyType, bindingOf(tenantId, id), { custody: 'wrapped' });
    const made: ImportWrappingKeyRecord = { id, stored, publicKey: publicKey as Uint8Array, ...fields };
    return store.write((transaction) => {
      const present = transaction.get(tables.importWrappingKeys, [tenantId, place]);
      if (present !== undefined && place === ofTenant) return present;
      rotation.admit(transaction, [stored]);
      transaction.put(tables.importWrappingKeys, [tenantId, place], made);
      // The wrapping key for all tenants of version 0.1.0: any tenant could import keys that were wrapped under it.
      transaction.delete(tables.formerImportWrappingKeys, [keyType]);
      return made;
    });
  }

  async #openTransportKey(
    key: KeyReference,
    octets: Uint8Array,
    { hash, mgf1Hash }: Pick<OaepScheme, 'hash' | 'mgf1Hash'>,
  ): Promise<Uint8Array> {
    try {
      return await this.#transit.hsm.use({ use: 'decryptOaep', key, hash, mgf1Hash, octets });
    } catch (error) {
      throw error instanceof HsmError && error.kind === 'decryption-failed' ? unopened() : error;
    }
  }
}

/** Removes the keys of imports that never came. */
export function endedImportKeysJob({ store, tables, clock }: Transit): Job {
  return {
    name: 'ended-import-wrapping-keys',
    everySeconds: 600,
    async run(signal) {
      store.refresh();
      const now = microseconds(clock.now());
      const isOver = (record: ImportWrappingKeyRecord | undefined): boolean => record?.expiresAt !== undefined && now >= record.expiresAt;
      const over = [...tables.importWrappingKeys.entries([])].filter(([, record]) => isOver(record)).map(([key]) => key);
      await writeInPieces(
        store,
        over,
        (transaction, key) => {
          if (isOver(transaction.get(tables.importWrappingKeys, key))) transaction.delete(tables.importWrappingKeys, key);
        },
        signal,
      );
    },
  };
}

/** The stored key of a record with its binding. */
export function referenceOf(tenantId: string, { id, stored }: ImportWrappingKeyRecord): KeyReference {
  return { stored, binding: bindingOf(tenantId, id) };
}

/** The tenant in the binding of the key that version 0.1.0 had for all. */
export const formerTenant = 'system';

function bindingOf(tenant: string, keyId: string): KeyBinding {
  return { tenant, keyId, version: 1, purpose: 'unwrap' };
}
