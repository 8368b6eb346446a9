// The public endpoints of a CA, for relying parties without a token: its certificate, its CRLs and OCSP answers.
import { fail } from '../../../core/base/errors.ts';
import { decodeBase64 } from '../../../core/base/bytes.ts';
import { type AnyEndpoint, definePublicEndpoint, type PublicCall, Reply } from '../../../core/http/endpoint.ts';
import { formatCertificatePem } from '../der/certificate.ts';
import { currentCrl, currentDeltaCrl } from './crl.ts';
import { sharedReply } from './caching.ts';
import { documentedCopies } from '../../../core/http/description/published.ts';
import type { CaContext } from '../context.ts';
import { findLastCrl } from './last-crl.ts';
import { findCa, findGeneration, type FoundCa, hasKey, newestCertificate } from '../authority/lookup.ts';
import { OcspResponder } from './ocsp.ts';
import { type LastCrl, newestGeneration } from '../records/records.ts';
import { caTag } from '../tags.ts';

const base = '/v1/ca/{tenant}/{ca}';

/** Room for some fifty certificates; most requests name one, in about 100 octets. */
const ocspLimitBytes = 4_096;

/**
 * The public endpoints. Signatures for unauthenticated callers are cached and shared, or limited, so that repeated requests cost the token little.
 * Long because it is a list, of which each entry is read by itself.
 */
export function publicEndpoints(context: CaContext): readonly AnyEndpoint[] {
  const responder = new OcspResponder(context);
  const shared = { access: 'public', tag: caTag, audit: 'none', documented: { names } } as const;
  const signed = { ...shared, errors: ['key-object-missing', 'token-not-configured'] } as const;

  const answerCrl = async (call: PublicCall): Promise<Reply> => {
    const asked = call.params['version'];
    const number = asked === undefined ? undefined : /^[1-9]\d{0,8}$/.test(asked) ? Number(asked) : 0;
    const ca = findCa(context, call.params['tenant'] ?? '', call.params['ca'] ?? '');
    const generation =
      ca === undefined ? undefined : number === undefined ? newestGeneration(ca.record) : findGeneration(ca.record, number);
    const crl =
      ca === undefined || generation === undefined
        ? requireLast(context, call, number).crl
        : await currentCrl(context, ca, generation, { askedBy: 'anybody' });
    return sharedReply(call, crl, 'application/pkix-crl');
  };
  const answerDelta = async (call: PublicCall): Promise<Reply> => {
    const ca = requireCa(context, call);
    const version = call.params['version'] ?? '';
    const generation = /^[1-9]\d{0,8}$/.test(version) ? findGeneration(ca.record, Number(version)) : undefined;
    if (generation === undefined || ca.record.deltaCrl !== true) throw fail('not-found');
    return sharedReply(call, await currentDeltaCrl(context, ca, generation, 'anybody'), 'application/pkix-crl');
  };
  const answerOcsp = async (call: PublicCall, request: Uint8Array, isCacheable: boolean): Promise<Reply> => {
    const ca = requireCa(context, call);
    if (!hasKey(ca.record)) throw fail('not-found');
    const { response, isShared } = await responder.respond(ca, request, call.clientIp);
    const contentType = 'application/ocsp-response';
    return isShared && isCacheable ? sharedReply(call, response, contentType) : new Reply(200, response, { 'content-type': contentType });
  };
  const cacheable = { names, ...documentedCopies } as const;

  return [
    definePublicEndpoint({
      ...shared,
      method: 'GET',
      path: `${base}/ca.pem`,
      summary: 'The certificate of a CA, and its issuers up to the root',
      description: 'Needs no token: relying parties and devices fetch it. In PEM, the certificate of the CA first.',
      operationId: 'caDownloadCertificates',
      produces: 'application/x-pem-file',
      run(call) {
        const record = findCa(context, call.params['tenant'] ?? '', call.params['ca'] ?? '')?.record;
        const { certificate, chain: above } =
          record === undefined
            ? requireLast(context, call)
            : { certificate: newestCertificate(record), chain: newestGeneration(record)?.chain ?? [] };
        const chain = [certificate, ...above];
        return new Reply(200, chain.map(formatCertificatePem).join(''), { 'content-type': 'application/x-pem-file' });
      },
    }),
    definePublicEndpoint({
      ...signed,
      method: 'GET',
      path: `${base}/crl`,
      summary: 'The revocation list of the newest key of a CA, DER',
      description: 'Needs no token. Also of a deleted CA, until its last list ends.',
      operationId: 'caDownloadCrl',
      produces: 'application/pkix-crl',
      documented: cacheable,
      run: answerCrl,
    }),
    definePublicEndpoint({
      ...signed,
      method: 'GET',
      path: `${base}/crl/{version}`,
      summary: 'The revocation list of one key of a CA, DER: what its certificates point to',
      description: 'Needs no token. A CA that was renewed has a list for each of its keys.',
      operationId: 'caDownloadCrlOfVersion',
      produces: 'application/pkix-crl',
      documented: cacheable,
      run: answerCrl,
    }),
    definePublicEndpoint({
      ...signed,
      method: 'GET',
      path: `${base}/crl/{version}/delta`,
      summary: 'The delta CRL of one key of a CA, DER (RFC 5280 5.2.4), where the CA has them',
      description:
        'Needs no token. What was revoked since the oldest list that has not ended; signed again after a revocation, and every hour.',
      operationId: 'caDownloadDeltaCrl',
      produces: 'application/pkix-crl',
      documented: cacheable,
      run: answerDelta,
    }),
    definePublicEndpoint<Uint8Array, Reply>({
      ...signed,
      method: 'POST',
      path: `${base}/ocsp`,
      summary: 'The status of a certificate (RFC 6960, RFC 5019)',
      description:
        'Needs no token. The answer is signed by the key that issued the certificate; answers are kept and shared for some time.',
      operationId: 'caAskOcsp',
      idempotent: true,
      consumes: 'application/ocsp-request',
      produces: 'application/ocsp-response',
      bodyLimit: ocspLimitBytes,
      run: (call, request) => answerOcsp(call, request, false),
    }),
    definePublicEndpoint({
      ...signed,
      method: 'GET',
      path: `${base}/ocsp/{request}`,
      summary: 'The same with the request in the path, base64 (RFC 6960 appendix A.1)',
      description: 'Needs no token. For clients and caches that ask by GET.',
      operationId: 'caAskOcspByPath',
      produces: 'application/ocsp-response',
      documented: cacheable,
      run: (call) => answerOcsp(call, decodeBase64(call.params['request'] ?? '') ?? new Uint8Array(0), true),
    }),
  ];
}

const names = {
  tenant: { description: 'UUID of the tenant.', example: 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' },
  ca: { description: 'Name of the TLS CA.', example: 'my-tls-ca' },
  version: { description: 'Which key of the CA.', example: '1' },
  request: { description: 'The OCSP request in base64, percent-encoded.', example: 'MEkwRzBFMEMwQTAJBgUrDgMCGgUABBQ' },
};

function requireCa(context: CaContext, call: PublicCall): FoundCa {
  const found = findCa(context, call.params['tenant'] ?? '', call.params['ca'] ?? '');
  if (found === undefined) throw fail('not-found');
  return found;
}

/** The last CRL of a deleted CA. */
function requireLast(context: CaContext, call: PublicCall, generation?: number): LastCrl {
  const last = findLastCrl(context, call.params['tenant'] ?? '', call.params['ca'] ?? '', generation);
  if (last === undefined) throw fail('not-found');
  return last;
}
