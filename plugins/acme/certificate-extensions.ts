// Extensions of certificates, as far as ACME needs them.
import { DerError, type Reader, readObjectIdentifier, readOnly, tag } from '../../core/der/der.ts';

export type FoundExtension = { readonly isCritical: boolean; readonly value: Uint8Array };

/** The extensions of a DER certificate by their object identifier. Throws DerError, also for one that is there twice. */
export function extensionsOf(certificate: Uint8Array): ReadonlyMap<string, FoundExtension> {
  const fields = readOnly(certificate, tag.sequence).enter(tag.sequence);
  let list: Reader | undefined;
  for (const { tag: found, content } of fields.rest()) if (found === tag.constructed(3)) list = readOnly(content, tag.sequence);
  const all = new Map<string, FoundExtension>();
  for (const { whole } of list?.rest() ?? []) {
    const parts = readOnly(whole, tag.sequence);
    const id = readObjectIdentifier(parts.next(tag.oid).content);
    const isCritical = (parts.optional(tag.boolean)?.content[0] ?? 0) !== 0;
    if (all.has(id)) throw new DerError('a certificate with an extension twice');
    all.set(id, { isCritical, value: parts.next(tag.octetString).content });
    parts.end();
  }
  return all;
}
