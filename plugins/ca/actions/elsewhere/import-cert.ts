// import-cert: takes the certificate of a CA that was signed elsewhere, with its issuers up to the root.
import { z } from 'zod';
import { certificateLabels, readDer, seenInPem } from '../../../../core/base/texts/pem.ts';
import { type AnyEndpoint, defineEndpoint } from '../../../../core/http/endpoint.ts';
import { pemExample } from '../../../../core/wire/fields.ts';
import type { CaContext } from '../../context.ts';
import { failCa } from '../../errors.ts';
import { withImportedCertificate } from '../../life.ts';
import { caPath, changeCa, findCaOf } from '../action.ts';
import { caTag } from '../../tags.ts';

export function importCert(context: CaContext): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${caPath}/import-cert`,
    summary: "Take in the CA's certificate signed outside, with its issuers up to the root",
    description: 'The certificate must be for the key of the last request and lead to the root that is given with it.',
    tag: caTag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    act: 'none',
    auditFields: ['certificate'],
    errors: ['built-in', 'ca-has-no-key', 'invalid-certificate'],
    input: z.object({
      certificate: z
        .string()
        .max(262_144)
        .meta({ description: 'PEM: the certificate of the CA first, then those above it.', example: pemExample('CERTIFICATE') }),
    }),
    commandLine: { input: 'certificate' },
    find: findCaOf(context, 'act'),
    async run(_call, { certificate }, ca) {
      const chain = readDer(certificate, ...certificateLabels);
      if (chain === undefined)
        throw failCa('invalid-certificate', { detail: `"certificate" must be certificates in PEM; this is ${seenInPem(certificate)}.` });
      await changeCa(context, ca, (record) => withImportedCertificate(context, { ...ca, record }, chain));
      return undefined;
    },
  });
}
