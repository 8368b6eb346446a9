// The appliance's import wrapping key: RSA-4096, made in the token when it is first asked for; others wrap keys under it (api 2, 39).
import { z } from 'zod';
import { isOvertaken } from '../../../core/base/errors.ts';
import { pemExample } from '../../../core/wire/fields.ts';
import { type AnyEndpoint, defineEndpoint } from '../../../core/http/endpoint.ts';
import { HsmError, type KeyBinding, type KeyReference } from '../../../hsm/api.ts';
import { newKeyId } from '../key-id.ts';
import { formatPublicKey } from '../formats/public-keys.ts';
import type { WrappingKeyRecord } from '../records/records.ts';
import type { Transit } from '../context.ts';
import { unopened, unwrapMaterial } from '../formats/wrapped-material.ts';

const keyType = 'rsa-4096';
const modulusBytes = 512;
/** How often it is made when the wrapping key of the token is rotated meanwhile. */
const attempts = 8;

/** Reads, makes and uses the wrapping key. */
export class WrappingKey {
  readonly #transit: Transit;
  #making: Promise<WrappingKeyRecord> | undefined;

  constructor(transit: Transit) {
    this.#transit = transit;
  }

  /** The public half as PEM; makes the key the first time. Of several processes that make one at once, the first committed stays. */
  async publicKey(): Promise<string> {
    const record =
      this.#transit.tables.wrapping.get([keyType]) ?? (await (this.#making ??= this.#make().finally(() => (this.#making = undefined))));
    return formatPublicKey(record.publicKey);
  }

  /** Opens material wrapped as wrapped-material.ts draws it. Throws invalid-key-data, one answer whatever the reason. */
  async open(wrapped: Uint8Array): Promise<Uint8Array> {
    const record = this.#transit.tables.wrapping.get([keyType]);
    if (record === undefined || wrapped.length <= modulusBytes) throw unopened();
    const transportKey = await this.#openTransportKey(record, wrapped.subarray(0, modulusBytes));
    try {
      return unwrapMaterial(transportKey, wrapped.subarray(modulusBytes));
    } finally {
      transportKey.fill(0);
    }
  }

  async #make(): Promise<WrappingKeyRecord> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#makeOnce();
      } catch (error) {
        if (!isOvertaken(error) || attempt >= attempts) throw error;
        this.#transit.store.refresh();
      }
    }
  }

  async #makeOnce(): Promise<WrappingKeyRecord> {
    const { hsm, store, tables, rotation } = this.#transit;
    const id = await newKeyId(hsm);
    const { stored, publicKey } = await hsm.generate(keyType, bindingOf(id), { custody: 'wrapped' });
    const made: WrappingKeyRecord = { id, stored, publicKey: publicKey as Uint8Array };
    return store.write((transaction) => {
      const present = transaction.get(tables.wrapping, [keyType]);
      if (present !== undefined) return present;
      rotation.admit(transaction, [stored]);
      transaction.put(tables.wrapping, [keyType], made);
      return made;
    });
  }

  async #openTransportKey(record: WrappingKeyRecord, sealed: Uint8Array): Promise<Uint8Array> {
    try {
      return await this.#transit.hsm.decryptOaep(importKeyReference(record), 'sha256', sealed);
    } catch (error) {
      throw error instanceof HsmError && error.kind === 'decryption-failed' ? unopened() : error;
    }
  }
}

/** GET /v1/state/keystore/wrapping-key */
export function wrappingKeyEndpoint(wrappingKey: WrappingKey): AnyEndpoint {
  return defineEndpoint<unknown, { wrappingKey: string }>({
    method: 'GET',
    path: '/v1/state/keystore/wrapping-key',
    summary: 'The public key under which keys are wrapped for import',
    description: 'Wrap as RSA-OAEP (SHA-256, MGF1 with SHA-256) of a fresh AES key, followed by AES key wrap with padding of the material.',
    tag: 'key actions',
    access: 'token',
    operation: 'read',
    audit: 'required',
    output: z.object({
      wrappingKey: z.string().meta({ description: 'SubjectPublicKeyInfo PEM, RSA-4096.', example: pemExample('PUBLIC KEY') }),
    }),
    run: async () => ({ wrappingKey: await wrappingKey.publicKey() }),
  });
}

/** The key of a record, as the token is asked for it. */
export function importKeyReference({ id, stored }: WrappingKeyRecord): KeyReference {
  return { stored, binding: bindingOf(id) };
}

function bindingOf(keyId: string): KeyBinding {
  return { tenant: 'system', keyId, version: 1, purpose: 'unwrap' };
}
