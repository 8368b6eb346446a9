// Names in a certificate by which its holder can be known.
import { extensionId, nameAttributes } from '../../../core/der/oids.ts';
import type { ClientNames } from '../../../core/plugin/services/certificate-authority.ts';
import type { Certificate } from '../der/certificate.ts';
import { readName } from '../../../core/der/name.ts';
import { type AlternativeNameKind, readAlternativeNames } from '../der/read-extensions.ts';

/** Every name of each kind, as it is written; throws DerError. */
export function namesOf({ subject, extensions }: Certificate): ClientNames {
  const alternatives = readAlternativeNames(extensions.get(extensionId.subjectAltName));
  const ofKind = (kind: AlternativeNameKind): readonly string[] =>
    alternatives.filter((one) => one.kind === kind).map(({ content }) => Buffer.from(content).toString('latin1'));
  return {
    cn: readName(subject).flatMap(({ type, value }) => (type === nameAttributes.CN ? [value] : [])),
    dns: ofKind('dns'),
    uri: ofKind('uri'),
    email: ofKind('email'),
  };
}
