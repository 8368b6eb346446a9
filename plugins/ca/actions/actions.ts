// What can be done with a TLS CA: sign a request, renew, have it certified outside, list what it issued, revoke.
import { hash } from 'node:crypto';
import { z } from 'zod';
import { defined } from '../../../core/base/defined.ts';
import { fail, isOvertaken } from '../../../core/base/errors.ts';
import { type AnyEndpoint, type EndpointCall, defineEndpoint } from '../../../core/http/endpoint.ts';
import { answerList } from '../../../core/http/resource/list-answer.ts';
import { listQuery } from '../../../core/http/resource/list-query.ts';
import { durationField, timestamp, pemExample, timestampText } from '../../../core/wire/fields.ts';
import { parseDuration } from '../../../core/base/time.ts';
import { inTurn } from '../../../core/base/async/turns.ts';
import { approveByAdministrator, type Purpose } from '../issuing/approval.ts';
import { discardGeneration, isSignedOutside, keepGeneration, makeCaGeneration, makeCaRequest, withImportedCertificate } from '../life.ts';
import { formatCertificatePem, formatPem, parsePemBlocks, readCertificate } from '../der/certificate.ts';
import { familiesUnder, verifyCsr } from '../issuing/csr.ts';
import { failCa } from '../errors.ts';
import type { CaContext } from '../context.ts';
import { issueCertificate } from '../issuing/issue.ts';
import { findCa, type FoundCa } from '../authority/lookup.ts';
import { type CaGeneration, type CaRecord, type IssuedCertificate, revocationReasons, type RevocationReason } from '../records/records.ts';
import { revokeCertificate } from '../status/revocation.ts';
import { parseSerial } from '../records/serial.ts';

const base = '/v1/state/keystore/tls/ca/{name}';
const tag = 'TLS CAs';
/** Of a renewal; each time another process has renewed the CA. */
const attempts = 64;

/** The actions of `/v1/state/keystore/tls/ca/<name>` and its list of certificates. */
export function caActions(context: CaContext): readonly AnyEndpoint[] {
  const find = (call: EndpointCall): FoundCa => {
    const found = findCa(context, call.caller.tenantId, call.params['name'] ?? '');
    if (found === undefined) throw fail('not-found', { detail: 'There is no TLS CA of this name.' });
    return found;
  };
  return [
    signCsr(context, find),
    renew(context, find),
    makeCsr(context, find),
    importCert(context, find),
    revoke(context, find),
    list(context, find),
    read(context, find),
  ];
}

type Find = (call: EndpointCall) => FoundCa;

const purposes = { 'client-auth': 'clientAuth', 'server-auth': 'serverAuth' } as const satisfies Record<string, Purpose>;

/** The names are the caller's to decide, who may do this is the policy's; the profile is the CA's (R57 to R64). */
function signCsr(context: CaContext, find: Find): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${base}/sign-csr`,
    summary: 'Issue a certificate for a certification request',
    tag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    auditFields: ['ttl', 'usages'],
    errors: ['invalid-csr', 'ca-has-no-key', 'ca-expired', 'clock-implausible'],
    input: z.object({
      csr: z
        .string()
        .max(65_536)
        .meta({ description: 'PKCS#10 certification request, PEM.', example: pemExample('CERTIFICATE REQUEST') }),
      ttl: durationField({ minSeconds: 60 }).optional().describe('Life of the certificate; default est/ttl of the CA.'),
      usages: z
        .array(z.enum(['client-auth', 'server-auth']))
        .min(1)
        .default(['client-auth', 'server-auth'])
        .describe('What the certificate is for.'),
    }),
    output: z.object({
      certificate: z.string().meta({ description: 'The certificate.', example: pemExample('CERTIFICATE') }),
      chain: z.string().meta({ description: 'Those of the CA and of what is above it.', example: pemExample('CERTIFICATE') }),
      serial: z.string().meta({ description: 'Its serial number.', example: '4f9a2c51d07b83e6' }),
      notAfter: timestamp().describe('When it ends.'),
    }),
    commandLine: { input: 'csr', output: 'certificate' },
    find,
    async run(call, { csr, ttl, usages }, ca) {
      if (ca.record.keyType === undefined) throw noKey(ca);
      const verified = verifyCsr(readCsrPem(csr), familiesUnder(ca.record.keyType));
      const approved = approveByAdministrator(
        verified,
        [...new Set(usages)].map((usage) => purposes[usage]),
      );
      const ttlSeconds = (ttl ?? parseDuration(ca.record.est.ttl, 'ttl')).seconds;
      const { serial, record, issuer } = await issueCertificate(context, ca, approved, { ttlSeconds, via: 'sign-csr' });
      const issued = { subject: record.subject, names: record.names, serial, 'certificate-sha256': hash('sha256', record.certificate) };
      call.noteAudit({ requestParameters: issued });
      const certificate = formatCertificatePem(record.certificate);
      const chain = [issuer.certificate, ...issuer.chain].map(formatCertificatePem).join('');
      return { certificate, chain, serial, notAfter: readCertificate(record.certificate).notAfter };
    },
  });
}

function readCsrPem(pem: string): Uint8Array {
  const blocks = parsePemBlocks('CERTIFICATE REQUEST', pem)?.concat(parsePemBlocks('NEW CERTIFICATE REQUEST', pem) ?? []);
  const [der] = blocks ?? [];
  if (der === undefined || blocks?.length !== 1)
    throw failCa('invalid-csr', { detail: '"csr" must be the PEM of one certification request.' });
  return der;
}

function renew(context: CaContext, find: Find): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${base}/renew`,
    summary: 'Give the CA a new key and certificate; a root also gets roll-over certificates',
    tag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    errors: ['ca-has-no-key', 'ca-expired', 'signed-outside', 'conflict', 'clock-implausible'],
    output: z.object({
      caCert: z.string().meta({ description: 'The new certificate of the CA.', example: pemExample('CERTIFICATE') }),
      keyVersion: z.int().describe('How often it got a key.'),
      notAfter: timestamp().describe('When the certificate ends.'),
    }),
    commandLine: { output: 'caCert' },
    find,
    run: (call, _input, ca) =>
      inTurn(`est/ca/${ca.record.id}`, async () => {
        for (let attempt = 1; attempt <= attempts; attempt++) {
          context.store.refresh();
          const present = find(call);
          if (present.record.id !== ca.record.id) throw deleted();
          const made = await renewOnce(context, present);
          if (made === undefined) continue;
          const { certificate, generation } = made;
          call.noteAudit({ keyVersion: generation });
          return { caCert: formatCertificatePem(certificate), keyVersion: generation, notAfter: readCertificate(certificate).notAfter };
        }
        throw fail('conflict');
      }),
  });
}

/** Undefined when another process renewed the CA meanwhile; then nothing of this stays behind. */
async function renewOnce(context: CaContext, ca: FoundCa): Promise<CaGeneration | undefined> {
  const { keyType, ...record } = ca.record;
  if (keyType === undefined) throw noKey(ca);
  if (isSignedOutside(ca.record)) {
    throw failCa('signed-outside', { detail: 'Have the output of csr signed again by the CA outside, and use import-cert.' });
  }
  const made = await makeCaGeneration(context, { ...record, tenantId: ca.tenantId, caId: record.id, keyType }, ca.record);
  try {
    await change(context, ca, (present, transaction) => {
      if (present.generations.length !== ca.record.generations.length) throw fail('conflict', { overtaken: true });
      keepGeneration(context, transaction, made);
      return { ...present, generations: [...present.generations, made.generation] };
    });
    return made.generation;
  } catch (error) {
    await discardGeneration(context, made);
    if (isOvertaken(error)) return undefined;
    throw error;
  }
}

function makeCsr(context: CaContext, find: Find): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${base}/csr`,
    summary: "A certification request for the CA's key, to be signed by a root outside",
    tag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    errors: ['ca-has-no-key'],
    output: z.object({
      csr: z.string().meta({ description: 'PKCS#10 certification request, PEM.', example: pemExample('CERTIFICATE REQUEST') }),
    }),
    commandLine: { output: 'csr' },
    find,
    run: async (_call, _input, ca) => ({ csr: formatPem('CERTIFICATE REQUEST', await makeCaRequest(context, ca)) }),
  });
}

function importCert(context: CaContext, find: Find): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${base}/import-cert`,
    summary: "Take in the CA's certificate signed outside, with its issuers up to the root",
    tag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    errors: ['ca-has-no-key', 'invalid-certificate'],
    input: z.object({
      certificate: z
        .string()
        .max(262_144)
        .meta({ description: 'PEM: the certificate of the CA first, then those above it.', example: pemExample('CERTIFICATE') }),
    }),
    commandLine: { input: 'certificate' },
    find,
    async run(_call, { certificate }, ca) {
      const chain = parsePemBlocks('CERTIFICATE', certificate);
      if (chain === undefined) throw failCa('invalid-certificate', { detail: '"certificate" must be PEM.' });
      await change(context, ca, (record) => withImportedCertificate(context, { ...ca, record }, chain));
      return undefined;
    },
  });
}

function revoke(context: CaContext, find: Find): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    path: `${base}/revoke`,
    summary: 'Revoke a certificate this CA issued',
    tag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    auditFields: ['serial', 'reason'],
    commandLine: { positional: ['serial'] },
    input: z.object({
      serial: serialField(),
      reason: z
        .enum(Object.keys(revocationReasons) as [RevocationReason, ...RevocationReason[]])
        .default('unspecified')
        .describe('Why (RFC 5280 section 5.3.1).'),
    }),
    find,
    async run(_call, { serial, reason }, ca) {
      await revokeCertificate(context, ca, serial, reason);
      return undefined;
    },
  });
}

const certificateFields = z.object({
  serial: z.string().meta({ description: 'Serial number.', example: '4f9a2c51d07b83e6' }),
  subject: z.string().meta({ description: 'Subject.', example: 'CN=device-1.example.com' }),
  names: z.array(z.string()).describe('Subject alternative names.'),
  notBefore: timestampText().describe('When it begins.'),
  notAfter: timestampText().describe('When it ends.'),
  via: z.string().meta({ description: 'How it came about.', example: 'simpleenroll' }),
  keyVersion: z.int().describe('Key of the CA that signed it.'),
  status: z.enum(['valid', 'expired', 'revoked']).describe('What it is worth now.'),
  revokedAt: timestampText().optional().describe('When it was revoked.'),
  revocationReason: z.string().optional().meta({ description: 'Why it was revoked.', example: 'key-compromise' }),
  certificate: z
    .string()
    .optional()
    .meta({ description: 'The certificate; only where one is asked for.', example: pemExample('CERTIFICATE') }),
});

function list(context: CaContext, find: Find): AnyEndpoint {
  return defineEndpoint({
    method: 'GET',
    path: `${base}/certificates`,
    summary: 'Certificates this CA issued, by serial number',
    tag,
    access: 'token',
    operation: 'read',
    audit: 'reads-go-on',
    query: {
      ...listQuery,
      after: 'Start behind this serial number.',
      limit: {
        description: 'Answer with at most so many entries.',
        schema: { type: 'integer', minimum: 1, maximum: pageLimits.most, default: pageLimits.usual, examples: [pageLimits.usual] },
      },
    },
    output: z.array(certificateFields),
    find,
    run(call, _input, ca) {
      const { certificates } = context.tables;
      const prefix = [ca.tenantId, ca.record.id];
      function* entries(after: string | undefined): Iterable<readonly [string, IssuedCertificate]> {
        const issued = certificates.entries(prefix, after === undefined ? {} : { after: readAfter(after) });
        for (const [key, record] of issued) yield [String(key.at(-1)), record];
      }
      const listed = { entries, count: () => certificates.count(prefix), limits: pageLimits };
      return answerList(call.query, certificateFields, listed, (serial, record) => describe(serial, record, call.now));
    },
  });
}

/** A CA may have issued any number. */
const pageLimits = { usual: 100, most: 1_000 };

function readAfter(text: string): string {
  const serial = parseSerial(text);
  if (serial === undefined) throw fail('invalid-value', { detail: 'The query parameter after must be a serial number in hexadecimal.' });
  return serial;
}

function read(context: CaContext, find: Find): AnyEndpoint {
  return defineEndpoint({
    method: 'GET',
    path: `${base}/certificates/{serial}`,
    documented: { names: { serial: { description: 'Serial number, hexadecimal.', example: '4f9a2c51d07b83e6' } } },
    summary: 'One certificate this CA issued',
    tag,
    access: 'token',
    operation: 'read',
    audit: 'reads-go-on',
    output: certificateFields,
    find,
    run(call, _input, ca) {
      const serial = requireSerial(call.params['serial'] ?? '');
      const record = context.tables.certificates.get([ca.tenantId, ca.record.id, serial]);
      if (record === undefined) throw fail('not-found');
      return { ...describe(serial, record, call.now), certificate: formatCertificatePem(record.certificate) };
    },
  });
}

function describe(serial: string, record: IssuedCertificate, now: Temporal.Instant): z.infer<typeof certificateFields> {
  const isOver = Temporal.Instant.compare(record.notAfter, now) < 0;
  return {
    serial,
    subject: record.subject,
    names: [...record.names],
    notBefore: record.notBefore,
    notAfter: record.notAfter,
    via: record.via,
    keyVersion: record.generation,
    status: record.revoked !== undefined ? 'revoked' : isOver ? 'expired' : 'valid',
    ...defined({ revokedAt: record.revoked?.at, revocationReason: record.revoked?.reason }),
  };
}

type Transaction = Parameters<Parameters<CaContext['store']['write']>[0]>[0];

/** Commits a change of the CA as it is now; throws `not-found` when it was deleted meanwhile. */
async function change(context: CaContext, ca: FoundCa, build: (present: CaRecord, transaction: Transaction) => CaRecord): Promise<void> {
  const key = [ca.tenantId, ca.record.name];
  await context.store.write((transaction) => {
    const present = transaction.get(context.tables.cas, key);
    if (present?.id !== ca.record.id) throw deleted();
    transaction.put(context.tables.cas, key, build(present, transaction));
  });
}

const deleted = () => fail('not-found', { detail: 'The CA was deleted meanwhile.' });

function serialField() {
  return z
    .string()
    .max(128)
    .transform((text, context) => {
      const serial = parseSerial(text);
      if (serial !== undefined) return serial;
      context.issues.push({ code: 'custom', input: text, message: 'must be a serial number in hexadecimal' });
      return z.NEVER;
    })
    .meta({ description: 'Serial number of the certificate, hexadecimal.', example: '4f9a2c51d07b83e6' });
}

function requireSerial(text: string): string {
  const serial = parseSerial(text);
  if (serial === undefined) throw fail('not-found');
  return serial;
}

function noKey(ca: FoundCa) {
  return failCa('ca-has-no-key', { detail: `CA "${ca.record.name}" is trust-only: it has a certificate but no key.` });
}
