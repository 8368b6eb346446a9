// Search among the certificates of a CA: by subject, alternative name and the beginning of the serial number, and by status.
import { fail } from '../../../core/base/errors.ts';
import type { EndpointCall } from '../../../core/http/endpoint.ts';
import type { Search } from '../../../core/http/resource/list-answer.ts';
import type { IssuedCertificate } from '../records/records.ts';
import { certificateStatuses, statusOf, type CertificateStatus } from './issued-certificate.ts';

/** Reading a record takes some ten microseconds, in which nobody else is served. */
const mostExamined = 5_000;
const mostCharacters = 256;

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
} as const;

/** Reads the search from the query; undefined if it asks for all. Throws `invalid-value`. */
export function readSearch({ query, access, now, params }: EndpointCall): Search<IssuedCertificate> | undefined {
  const [contains, status] = [query.get('contains'), readStatus(query.get('status'))];
  if (contains === undefined && status === undefined) return undefined;
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
