// Parsers of DER and PEM: certificates and paths, requests, and OCSP questions.
import { readDer } from '../../../core/base/texts/pem.ts';
import { systemClock } from '../../../core/base/time.ts';
import { bitString, explicit, integer, octetString, objectIdentifier, readOnly, sequence, tag } from '../../../core/der/der.ts';
import { extensionId, ocspId } from '../../../core/der/oids.ts';
import type { FoundCa } from '../../../plugins/ca/authority/lookup.ts';
import type { CaContext } from '../../../plugins/ca/context.ts';
import { parseCertificate } from '../../../plugins/ca/der/certificate.ts';
import { formatName, readName } from '../../../core/der/name.ts';
import { readAlternativeNames, readBasicConstraints, readExtKeyUsage } from '../../../plugins/ca/der/read-extensions.ts';
import { findPath } from '../../../plugins/ca/issuing/chain.ts';
import { verifyCsr } from '../../../plugins/ca/issuing/csr.ts';
import { requireCaCertificate } from '../../../plugins/ca/life.ts';
import { findBrokenLints } from '../../../plugins/ca/lints/lint.ts';
import { OcspResponder } from '../../../plugins/ca/status/ocsp.ts';
import { type Identity, makeCsr, makeDeviceCsr, makeIdentity, makeKeys, x509 } from '../../plugins/ca/pki.ts';
import type { Parser } from './parser.ts';

const context = { clock: systemClock } as CaContext;
const certified = ['ec', 'rsa', 'ed25519'] as const;
const pemWords = ['-----BEGIN CERTIFICATE-----\n', '\n-----END CERTIFICATE-----\n', '-----BEGIN ', '-----', '\\n', '\n', '='];
const purposes = new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.2', '2.25.329800735698586629295641978511506172918']);

/** Parsers of certificates and their texts. */
export async function certificateParsers(): Promise<readonly Parser[]> {
  const anchor = await makeIdentity({ subject: 'CN=anchor, O=Drill, C=DE', ca: 2 });
  const leaf = await makeLeaf(anchor);
  const others = await Promise.all((['RSA-2048', 'Ed25519'] as const).map((key) => makeIdentity({ key, ca: true, subject: 'CN=other' })));
  const certificates = [anchor, leaf, ...others].map(({ certificate }) => certificate);
  const issuer = { publicKey: parseCertificate(anchor.certificate).publicKey, algorithm: partsOf(anchor.certificate)[1] };
  return [
    {
      ...{ name: 'certificate', samples: certificates, words: [] },
      read(octets) {
        const { issuer: by, subject, extensions } = parseCertificate(octets);
        for (const name of [by, subject]) formatName(readName(name));
        readBasicConstraints(extensions.get(extensionId.basicConstraints));
        readAlternativeNames(extensions.get(extensionId.subjectAltName));
        readExtKeyUsage(extensions.get(extensionId.extKeyUsage));
        requireCaCertificate(context, octets);
      },
    },
    {
      ...{ name: 'path of certificates', samples: certificates, words: [] },
      read(octets) {
        findPath(octets, [anchor.certificate], [anchor.certificate], context.clock.now());
        findPath(leaf.certificate, [octets, octets], [octets], context.clock.now());
      },
    },
    {
      ...{ name: 'content of a certificate', samples: certificates.map((der) => Buffer.from(partsOf(der)[0])), words: [] },
      read: (octets) => findBrokenLints({ kind: 'certificate', issuer: anchor.certificate }, octets, issuer),
    },
    {
      ...{ name: 'PEM of certificates', samples: [leaf, anchor].map(({ pem }) => Buffer.from(`${pem}\n${anchor.pem}`)), words: pemWords },
      read: (octets) => readDer(octets.toString('utf8'), 'CERTIFICATE')?.map((der) => requireCaCertificate(context, der)),
    },
  ];
}

function makeLeaf(issuer: Identity): Promise<Identity> {
  const names = new x509.SubjectAlternativeNameExtension([
    { type: 'dns', value: 'device.example.test' },
    { type: 'ip', value: '192.0.2.1' },
    { type: 'url', value: 'https://example.test/' },
  ]);
  return makeIdentity({ subject: 'CN=device', issuer, extensions: [names, purposes] });
}

/** Parsers of what is asked of a CA. */
export async function requestParsers(): Promise<readonly Parser[]> {
  const keys = await makeKeys('Ed25519');
  const own = await makeCsr({ keys, subject: 'CN=ed, DC=example', extensions: [purposes], names: [{ type: 'dns', value: 'a.test' }] });
  const samples = [
    await makeDeviceCsr(await makeKeys('P-256'), 'device.example.test'),
    await makeCsr({ keys: await makeKeys('RSA-2048'), subject: 'CN=rsa', extensions: [purposes] }),
    own,
  ];
  const [info, algorithm] = partsOf(own);
  return [
    { name: 'request', samples, words: [], read: (octets) => verifyCsr(octets, certified) },
    {
      // Whatever the content is, it is signed: so it is read to its end.
      ...{ name: 'content of a request', samples: [Buffer.from(info)], words: [] },
      async read(octets) {
        const signature = new Uint8Array(await crypto.subtle.sign('Ed25519', keys.privateKey, new Uint8Array(octets)));
        verifyCsr(sequence(octets, algorithm, bitString(signature)), certified);
      },
    },
    {
      ...{ name: 'OCSP request', samples: [ocspRequest(1), ocspRequest(20)], words: [] },
      read: (octets) => new OcspResponder(context).respond({ record: { generations: [] } } as unknown as FoundCa, octets, ''),
    },
  ];
}

/** The parts of what is signed: content, AlgorithmIdentifier. */
function partsOf(der: Uint8Array): readonly [Uint8Array, Uint8Array] {
  const fields = readOnly(der, tag.sequence);
  return [fields.next(tag.sequence).whole, fields.next(tag.sequence).whole];
}

/** With a nonce (RFC 6960 4.1.1). */
function ocspRequest(certificates: number): Buffer {
  const sha1 = sequence(objectIdentifier('1.3.14.3.2.26'));
  const asked = Array.from({ length: certificates }, (_, serial) =>
    sequence(sequence(sha1, octetString(Buffer.alloc(20, 1)), octetString(Buffer.alloc(20, 2)), integer(serial + 1))),
  );
  const nonce = sequence(objectIdentifier(ocspId.nonce), octetString(octetString(Buffer.alloc(16, 7))));
  const extensions = explicit(2, sequence(nonce));
  return Buffer.from(sequence(sequence(sequence(...asked), extensions)));
}
