// A key pair that the service makes for somebody else, and a request for its certificate: the key leaves with the answer, and is not kept.
import { randomUUID } from 'node:crypto';
import type { KeyReference } from '../../../hsm/api.ts';
import { integer, objectIdentifier, sequence, setOf, explicit } from '../../../core/der/der.ts';
import { requestAttribute } from '../../../core/der/oids.ts';
import { formatPem } from '../../../core/base/texts/pem.ts';
import { signStructure } from '../authority/signer.ts';
import type { CaContext } from '../context.ts';
import { subjectAltName } from '../der/extensions.ts';
import type { MadeKeyType } from './making.ts';

export type MadeRequest = {
  /** PKCS#10, PEM */
  readonly csr: string;
  readonly key: KeyReference;
};

/** `subject`: DER Name; `names`: encoded GeneralNames. */
export async function makeRequest(
  { hsm }: CaContext,
  tenantId: string,
  wanted: { readonly type: MadeKeyType; readonly subject: Uint8Array; readonly names: readonly Uint8Array[] },
): Promise<MadeRequest> {
  const { type, subject, names } = wanted;
  const binding = { tenant: tenantId, keyId: randomUUID(), version: 1, purpose: 'issued' };
  const { stored, publicKey } = await hsm.generate(type, binding, { custody: 'wrapped' });
  if (publicKey === undefined) throw new Error('the token made an asymmetric key without a public key');
  const extensions = sequence(...(names.length === 0 ? [] : [subjectAltName(names, false)]));
  const attribute = sequence(objectIdentifier(requestAttribute.extensionRequest), setOf(extensions));
  const attributes = names.length === 0 ? explicit(0) : explicit(0, attribute);
  const info = sequence(integer(0), subject, publicKey, attributes);
  const der = await signStructure(hsm, { key: { type, stored, publicKey }, binding }, { kind: 'request' }, () => info);
  return { csr: formatPem('CERTIFICATE REQUEST', der), key: { stored, binding } };
}

/** The private key as PKCS#8 PEM; afterwards the token has no copy of it. */
export async function takeKey({ hsm }: CaContext, key: KeyReference): Promise<string> {
  const octets = await hsm.readKeyMaterialInClear(key);
  try {
    return formatPem('PRIVATE KEY', octets);
  } finally {
    octets.fill(0);
    await hsm.destroy(key).catch(() => undefined);
  }
}
