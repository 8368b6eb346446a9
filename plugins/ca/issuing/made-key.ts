// A key pair that the service makes for somebody else, and a request for its certificate: the key leaves with the answer, and is not kept.
import { randomUUID } from 'node:crypto';
import type { KeyReference } from '../../../hsm/api.ts';
import { integer, objectIdentifier, sequence, setOf, explicit } from '../../../core/der/der.ts';
import { requestAttribute } from '../../../core/der/oids.ts';
import { formatPem } from '../../../core/base/texts/pem.ts';
import { signStructure } from '../authority/signer.ts';
import type { CaContext } from '../context.ts';
import { extKeyUsage, subjectAltName } from '../der/extensions.ts';
import { keyTypes, type MadeKeyType } from './making.ts';

export type MadeRequest = {
  /** PKCS#10, PEM */
  readonly csr: string;
  readonly key: KeyReference;
};

/** `subject`: DER Name; `names`: encoded GeneralNames. */
export async function makeRequest(
  { hsm }: CaContext,
  tenantId: string,
  wanted: {
    readonly type: MadeKeyType;
    readonly subject: Uint8Array;
    readonly names: readonly Uint8Array[];
    /** for a server too: asks for that usage */
    readonly isForServers?: boolean;
  },
): Promise<MadeRequest> {
  const { type, subject, names, isForServers = false } = wanted;
  const binding = { tenant: tenantId, keyId: randomUUID(), version: 1, purpose: 'issued' };
  const { stored, publicKey } = await hsm.generate(type, binding, { custody: 'wrapped' });
  if (publicKey === undefined) throw new Error('the token made an asymmetric key without a public key');
  const extensions = [
    ...(names.length === 0 ? [] : [subjectAltName(names, false)]),
    ...(isForServers ? [extKeyUsage('clientAuth', 'serverAuth')] : []),
  ];
  const attribute = sequence(objectIdentifier(requestAttribute.extensionRequest), setOf(sequence(...extensions)));
  const attributes = extensions.length === 0 ? explicit(0) : explicit(0, attribute);
  const info = sequence(integer(0), subject, publicKey, attributes);
  const der = await signStructure(hsm, { key: { type, stored, publicKey }, binding }, { kind: 'request' }, () => info);
  return { csr: formatPem('CERTIFICATE REQUEST', der), key: { stored, binding } };
}

/** Answer of `use`, which gets the private key, PKCS#8, in memory; afterwards the token has no copy of it. */
export async function takeKey<T>({ hsm }: CaContext, key: KeyReference, use: (privateKey: Uint8Array) => T | Promise<T>): Promise<T> {
  const octets = await hsm.readKeyMaterialInClear(key);
  try {
    return await use(octets);
  } finally {
    octets.fill(0);
    await dropKey({ hsm }, key);
  }
}

/** Destroys a key that nobody gets. */
export async function dropKey({ hsm }: Pick<CaContext, 'hsm'>, key: KeyReference): Promise<void> {
  await hsm.destroy(key).catch(() => undefined);
}

/** The kind of key that a request of a device has, for one that is made in its place; undefined if such keys are not made here. */
export function typeLike({ keyName }: { readonly keyName: string }): MadeKeyType | undefined {
  return keyTypes.find((type) => type === keyName.toLowerCase().replace(' ', '-').replace('p-', 'p'));
}
