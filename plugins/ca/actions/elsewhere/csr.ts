// csr: a certification request for the key of a CA, to be signed by a root elsewhere.
import { z } from 'zod';
import { type AnyEndpoint, defineEndpoint } from '../../../../core/http/endpoint.ts';
import { pemExample } from '../../../../core/wire/fields.ts';
import { formatPem } from '../../../../core/base/texts/pem.ts';
import type { CaContext } from '../../context.ts';
import { makeCaRequest } from '../../life.ts';
import { caPath, findCaOf } from '../action.ts';
import { caTag } from '../../tags.ts';

export function makeCsr(context: CaContext): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${caPath}/csr`,
    summary: "A certification request for the CA's key, to be signed by a root outside",
    description:
      'For a CA that a root elsewhere signs: a key is made in the token, and import-cert takes in the certificate for it. The present certificate works until then.',
    named: 'CaCsr',
    tag: caTag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    act: 'none',
    errors: ['built-in', 'ca-has-no-key'],
    output: z.object({
      csr: z.string().meta({ description: 'PKCS#10 certification request, PEM.', example: pemExample('CERTIFICATE REQUEST') }),
    }),
    commandLine: { output: 'csr' },
    find: findCaOf(context, 'act'),
    run: async (_call, _input, ca) => ({ csr: formatPem('CERTIFICATE REQUEST', await makeCaRequest(context, ca)) }),
  });
}
