// Versions of the structures of CMS, which say nothing that their other fields do not say.
import { type Reader, tag } from '../../../core/der/der.ts';
import { ScepMalformed } from './malformed.ts';

/** Reads a CMSVersion, 0 to 5 (RFC 5652 section 10.2.5). Throws ScepMalformed `badRequest` for another number. */
export function readVersion(fields: Reader): void {
  const { content } = fields.next(tag.integer);
  if (content.length !== 1 || (content[0] as number) > 5)
    throw new ScepMalformed('badRequest', 'a version of the message is none of CMS, which has 0 to 5');
}
