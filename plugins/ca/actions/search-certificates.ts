// Search among the certificates of a CA: by subject, alternative name and the beginning of the serial number, by status, and by public key.
import { fail } from '../../../core/base/errors.ts';
import type { EndpointCall } from '../../../core/http/endpoint.ts';
import type { Search } from '../../../core/http/resource/list-answer.ts';
import type { IssuedCertificate } from '../records/records.ts';
import { certificateStatuses, statusOf, type CertificateStatus } from './issued-certificate.ts';

/** Reading a record takes some ten microseconds, in which nobody else is served. */
const mostExamined = 5_000;
const mostCharacters = 256;
const mostKeys = 50;

/** Query parameters of the list. */
export const searchQuery = {
  contains: {
    description:
      'Answer with those alone whose subject or alternative names contain this text, in any case, or whose serial number begins with it. ' +
      `An answer looks at ${mostExamined} certificates: it may be empty and have a \`Link\` to go on.`,
    schema: { type: 'string', maxLength: mostCharacters, examples: ['pump-7'] },
  },
  status: {
    description: 'Answer with those alone that are so now. Pages as with `contains`.',
    schema: { type: 'string', enum: certificateStatuses, examples: ['valid'] },
  },
  'public-key': {
    description:
      'Answer with those alone that are for one of these public keys, and with the certificates themselves: SHA-256 of each SubjectPublicKeyInfo in ' +
      `hexadecimal, up to ${mostKeys} with commas in between.`,
    schema: { type: 'string', maxLength: 65 * mostKeys, examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'] },
  },
} as const;

/** Reads the public keys that are asked for, as their SHA-256; undefined if the query names none. Throws `invalid-value`. */
export function readKeys({ query }: EndpointCall): readonly string[] | undefined {
  const digests = query.get('public-key')?.toLowerCase().split(',');
  if (digests === undefined || (digests.length <= mostKeys && digests.every((one) => /^[0-9a-f]{64}$/.test(one)))) return digests;
  const rule = `must be the SHA-256 of a SubjectPublicKeyInfo, 64 hexadecimal digits, or up to ${mostKeys} of them with commas in between`;
  throw fail('invalid-value', { detail: `The query parameter public-key ${rule}.`, items: [{ message: rule, info: 'public-key' }] });
}

/** Reads the search from the query; undefined if it asks for all. Throws `invalid-value`. */
export function readSearch({ query, access, now, params }: EndpointCall): Search<IssuedCertificate> | undefined {
  const [contains, status, byKey] = [query.get('contains'), readStatus(query.get('status')), query.has('public-key')];
  if (contains === undefined && status === undefined && !byKey) return undefined;
  if (contains !== undefined && contains.length > mostCharacters)
    throw fail('invalid-value', { detail: `The query parameter contains has at most ${mostCharacters} characters.` });
  const text = contains?.trim().toLowerCase() ?? '';
  // Fields that policies hide cannot be searched for either.
  const list = ['v1', 'state', 'keystore', 'tls', 'ca', params['name'] ?? '', 'certificates'];
  const digits = text.replaceAll(/[\s:]/g, '').replace(/^0x/, '');
  return {
    mostExamined,
    finds(serial, record) {
      const own = access.listedShows([...list, serial]);
      const sees = (field: string): boolean => access.shows(field) && own(field);
      if (byKey && !sees('certificate')) return false;
      if (status !== undefined && !(sees('status') && statusOf(record, now) === status)) return false;
      if (text === '' || (digits !== '' && serial.startsWith(digits))) return true;
      const shown = [...(sees('subject') ? [record.subject] : []), ...(sees('names') ? record.names : [])];
      return shown.some((one) => one.toLowerCase().includes(text));
    },
  };
}

function readStatus(text: string | undefined): CertificateStatus | undefined {
  const status = certificateStatuses.find((one) => one === text);
  if (text === undefined || status !== undefined) return status;
  throw fail('invalid-value', {
    detail: `The query parameter status must be one of ${certificateStatuses.join(', ')}.`,
    items: [{ message: `must be one of ${certificateStatuses.join(', ')}`, info: 'status' }],
  });
}
