// The import wrapping key of the appliance: an RSA-4096 key in the token, under which callers wrap the keys they import (api 2, 39).
import { drawUuid } from '../../../core/base/uuid.ts';
import { z } from 'zod';
import { isOvertaken } from '../../../core/base/errors.ts';
import { pemExample } from '../../../core/wire/fields.ts';
import { type AnyEndpoint, defineEndpoint } from '../../../core/http/endpoint.ts';
import { HsmError, type KeyBinding, type KeyReference } from '../../../hsm/api.ts';
import { formatPublicKey } from '../formats/public-keys.ts';
import type { ImportWrappingKeyRecord } from '../records/records.ts';
import type { Transit } from '../context.ts';
import { unopened, unwrapMaterial } from '../formats/wrapped-material.ts';
import { keyActionsTag } from '../tags.ts';

const keyType = 'rsa-4096';
const modulusBytes = 512;
/** Attempts to make the key while the wrapping key of the token is being rotated. */
const attempts = 8;

/** Makes the import wrapping key when it is first read, and opens what was wrapped under it. */
export class ImportWrappingKey {
  readonly #transit: Transit;
  #making: Promise<ImportWrappingKeyRecord> | undefined;

  constructor(transit: Transit) {
    this.#transit = transit;
  }

  /** The public key as PEM; makes the key on first use. When several processes make one at once, the first one committed is kept. */
  async publicKey(): Promise<string> {
    const record =
      this.#transit.tables.importWrappingKeys.get([keyType]) ??
      (await (this.#making ??= this.#make().finally(() => (this.#making = undefined))));
    return formatPublicKey(record.publicKey);
  }

  /** Unwraps material in the layout of wrapped-material.ts. Throws invalid-key-data, with the same message for every cause. */
  async open(wrapped: Uint8Array): Promise<Uint8Array> {
    const record = this.#transit.tables.importWrappingKeys.get([keyType]);
    if (record === undefined || wrapped.length <= modulusBytes) throw unopened();
    const transportKey = await this.#openTransportKey(record, wrapped.subarray(0, modulusBytes));
    try {
      return unwrapMaterial(transportKey, wrapped.subarray(modulusBytes));
    } finally {
      transportKey.fill(0);
    }
  }

  async #make(): Promise<ImportWrappingKeyRecord> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#makeOnce();
      } catch (error) {
        if (!isOvertaken(error) || attempt >= attempts) throw error;
        this.#transit.store.refresh();
      }
    }
  }

  async #makeOnce(): Promise<ImportWrappingKeyRecord> {
    const { hsm, store, tables, rotation } = this.#transit;
    const id = await drawUuid(hsm);
    const { stored, publicKey } = await hsm.generate(keyType, bindingOf(id), { custody: 'wrapped' });
    const made: ImportWrappingKeyRecord = { id, stored, publicKey: publicKey as Uint8Array };
    return store.write((transaction) => {
      const present = transaction.get(tables.importWrappingKeys, [keyType]);
      if (present !== undefined) return present;
      rotation.admit(transaction, [stored]);
      transaction.put(tables.importWrappingKeys, [keyType], made);
      return made;
    });
  }

  async #openTransportKey(record: ImportWrappingKeyRecord, sealed: Uint8Array): Promise<Uint8Array> {
    try {
      return await this.#transit.hsm.decryptOaep(importWrappingKeyReference(record), 'sha256', sealed);
    } catch (error) {
      throw error instanceof HsmError && error.kind === 'decryption-failed' ? unopened() : error;
    }
  }
}

/** GET /v1/state/keystore/wrapping-key */
export function importWrappingKeyEndpoint(importWrappingKey: ImportWrappingKey): AnyEndpoint {
  return defineEndpoint<unknown, { wrappingKey: string }>({
    method: 'GET',
    path: '/v1/state/keystore/wrapping-key',
    summary: 'The public key under which keys are wrapped for import',
    named: 'ImportWrappingKey',
    description: 'Wrap as RSA-OAEP (SHA-256, MGF1 with SHA-256) of a fresh AES key, followed by AES key wrap with padding of the material.',
    tag: keyActionsTag,
    access: 'token',
    operation: 'read',
    audit: 'required',
    output: z.object({
      wrappingKey: z.string().meta({ description: 'SubjectPublicKeyInfo PEM, RSA-4096.', example: pemExample('PUBLIC KEY') }),
    }),
    run: async () => ({ wrappingKey: await importWrappingKey.publicKey() }),
  });
}

/** The stored key of a record with its binding. */
export function importWrappingKeyReference({ id, stored }: ImportWrappingKeyRecord): KeyReference {
  return { stored, binding: bindingOf(id) };
}

function bindingOf(keyId: string): KeyBinding {
  return { tenant: 'system', keyId, version: 1, purpose: 'unwrap' };
}
