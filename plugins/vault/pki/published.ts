// Publications of a CA: its certificate, its chain and its revocation list, for everyone, where the path has a tenant and a CA.
import { fail } from '../../../core/base/errors.ts';
import type { Alias, Answered, Asked } from '../../../core/http/alias.ts';
import type { Answer } from '../../../core/http/response/answer.ts';
import { type Facade, json } from '../facade.ts';
import { certificatesIn, pemOf } from './formats.ts';
import type { PkiMount } from './mount.ts';

const certificates = 'GET /v1/ca/{tenant}/{ca}/ca.pem';
const list = 'GET /v1/ca/{tenant}/{ca}/crl';

export function publishedAliases(facade: Facade, mount: PkiMount): readonly Alias[] {
  const { tenant, ca } = mount;
  if (tenant === undefined || ca === undefined || facade.settingsOf(tenant) === undefined) return [];
  const published = (path: string, of: string, answer: (answered: Answered, asked: Asked) => Answer): readonly Alias[] =>
    facade.aliases({
      ...{ methods: ['GET'], missing: 'read', path: `/v1/${mount.path}/${path}`, of, answer },
      target: () => {
        const found = facade.findTenant(tenant);
        if (found === undefined) throw fail('not-found');
        return { params: { tenant: found.id, ca } };
      },
    });
  const chainOf = ({ document }: Answered): readonly Uint8Array[] => certificatesIn(String(document));
  const first = (answered: Answered): Uint8Array => chainOf(answered)[0] ?? new Uint8Array(0);
  const chainPem = (answered: Answered): string =>
    chainOf(answered)
      .map((der) => pemOf(der))
      .join('\n');
  const inData = ({ requestId }: Answered, asked: Asked, data: object): Answer =>
    facade.enveloped(asked, requestId, { data: { ...data, revocation_time: 0, revocation_time_rfc3339: '' } });
  return [
    ...published('ca', certificates, (answered) => file('application/pkix-cert', first(answered))),
    ...published('ca/pem', certificates, (answered) => file('application/pem-certificate-chain', pemOf(first(answered)))),
    ...published('ca_chain', certificates, (answered) => file('application/pem-certificate-chain', chainPem(answered))),
    ...published('crl', list, ({ document }) => file('application/pkix-crl', document as Uint8Array)),
    ...published('crl/pem', list, ({ document }) => file('application/x-pem-file', pemOf(document as Uint8Array, 'X509 CRL'))),
    ...published('cert/ca', certificates, (answered, asked) => inData(answered, asked, { certificate: pemOf(first(answered)) })),
    ...published('cert/ca_chain', certificates, (answered, asked) =>
      inData(answered, asked, { certificate: chainPem(answered), ca_chain: chainPem(answered) }),
    ),
    ...published('cert/crl', list, (answered, asked) =>
      inData(answered, asked, { certificate: pemOf(answered.document as Uint8Array, 'X509 CRL') }),
    ),
  ];
}

function file(mediaType: string, body: string | Uint8Array): Answer {
  return { ...json(200, {}), mediaType, body };
}
