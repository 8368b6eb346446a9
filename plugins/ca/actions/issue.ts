// issue: makes a key pair and its certificate for a caller who has none; the key leaves with the answer.
import { z } from 'zod';
import { type AnyEndpoint, defineEndpoint } from '../../../core/http/endpoint.ts';
import { parseDuration } from '../../../core/base/time.ts';
import { formatPem } from '../../../core/base/texts/pem.ts';
import { pemExample } from '../../../core/wire/fields.ts';
import type { CaContext } from '../context.ts';
import { failCa } from '../errors.ts';
import { makeRequest, takeKey } from '../issuing/made-key.ts';
import { makingInput, namesOf } from '../issuing/making.ts';
import { signing } from '../issuing/signing.ts';
import { caTag } from '../tags.ts';
import { caPath, findCaOf, noKey } from './action.ts';
import { freely, issuedOutput, signRequest } from './sign-csr.ts';

const freelyPath = `${caPath}/${freely}`;

export function issueWithKey(context: CaContext): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${caPath}/issue`,
    summary: 'Make a key and issue a certificate for it',
    description:
      'For programs that cannot make a key of their own: it is made in the token, leaves with the answer, and is kept nowhere. Names and life as for `sign-csr`, which must be allowed as well. Where a program can make its key itself, `sign-csr` is better: nobody else ever has the key.',
    tag: caTag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    act: 'none',
    fieldRights: [
      { field: 'usages', operation: 'execute', path: `${caPath}/sign-csr` },
      ...['subject', 'dns-names', 'ip-addresses', 'uris', 'emails', 'other-names', 'ttl'].map(
        (field) => ({ field, operation: 'execute', path: freelyPath }) as const,
      ),
    ],
    auditFields: ['subject', 'dnsNames', 'ipAddresses', 'uris', 'emails', 'otherNames', 'keyType', 'ttl', 'usages'],
    secretOutput: ['privateKey'],
    errors: ['built-in', 'identity-not-allowed', 'invalid-csr', 'unsupported-key-type', 'ca-has-no-key', 'ca-expired', 'clock-implausible'],
    input: makingInput,
    output: issuedOutput.extend({
      privateKey: z.string().meta({ description: 'The private key, PKCS#8.', example: pemExample('PRIVATE KEY') }),
    }),
    find: findCaOf(context, 'act'),
    complete: (_call, given, ca) => ({ ...given, ttl: given.ttl ?? parseDuration(ca.record.est.ttl, 'ttl') }),
    async run(call, input, ca) {
      if (ca.record.keyType === undefined) throw noKey(ca);
      if (!context.hsm.offers(input.keyType))
        throw failCa('unsupported-key-type', {
          detail: `No configured token makes keys of the type ${input.keyType}: choose another key-type.`,
        });
      const { csr, key } = await makeRequest(context, ca.tenantId, { type: input.keyType, ...namesOf(input) });
      const { ttl, usages } = input;
      const meant = signing({ csr, ttl: ttl ?? parseDuration(ca.record.est.ttl, 'ttl'), usages });
      call.access.requireEffectAt(['v1', 'state', 'keystore', 'tls', 'ca', ca.record.name, 'sign-csr'], 'execute', meant);
      const privateKey = await takeKey(context, key, (octets) => formatPem('PRIVATE KEY', octets));
      return { ...(await signRequest(context, call, ca, { csr, ttl, usages })), privateKey };
    },
  });
}
