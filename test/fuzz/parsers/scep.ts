// Parsers of SCEP: messages in DER and BER, what is inside of them, and the query of a GET.
import { readCertificate } from '../../../plugins/scep/message/certificate.ts';
import { readCertificationRequest, readIssuerAndSerial } from '../../../plugins/scep/message/content.ts';
import { findRecipient, readEnvelope } from '../../../plugins/scep/message/envelope.ts';
import { messageLimits } from '../../../plugins/scep/message/limits.ts';
import { decodeMessage, readQuery } from '../../../plugins/scep/message/query.ts';
import { readRequest } from '../../../plugins/scep/message/request.ts';
import { likeJscep, toBer } from '../../harness/scep/ber.ts';
import { issuerAndSerial, makeEnvelope, makeRequest } from '../../harness/scep/messages.ts';
import { makeDeviceRequest, makeParty } from '../../plugins/scep/message/parties.ts';
import type { Parser } from './parser.ts';

export async function scepParsers(): Promise<readonly Parser[]> {
  // ECDSA: an RSA key takes ten times the time of everything else to be judged.
  const device = await makeParty({ key: 'P-256', subject: 'CN=device' });
  const authority = await makeParty({ key: 'RSA-2048', subject: 'CN=RA' });
  const recipients = [authority.certificate];
  const content = await makeDeviceRequest(device);
  const envelopes: Buffer[] = [
    makeEnvelope({ content, recipients }),
    makeEnvelope({ content, recipients, cipher: 'des-ede3-cbc', transport: 'oaep-sha256' }),
  ].map((der) => Buffer.from(der));
  envelopes.push(...envelopes.map((der) => toBer(der, likeJscep)));
  const messages: Buffer[] = envelopes.map((envelope) => Buffer.from(makeRequest({ signer: device, envelope })));
  messages.push(Buffer.from(makeRequest({ signer: { ...authority }, envelope: envelopes[0], signature: 'pss' })));
  messages.push(...messages.map((der) => toBer(der, likeJscep)));
  const queries = messages.map((der) => Buffer.from(`operation=PKIOperation&message=${encodeURIComponent(der.toString('base64'))}`));
  return [
    {
      ...{ name: 'SCEP message', samples: messages, words: [] },
      read: (octets) => readRequest(octets).verifySignature(),
    },
    {
      ...{ name: 'SCEP envelope', samples: envelopes, words: [] },
      read(octets) {
        const envelope = readEnvelope(octets, messageLimits);
        findRecipient(envelope, readCertificate(authority.certificate));
        return envelope.open(new Uint8Array(envelope.keyLength));
      },
    },
    {
      ...{ name: 'content of a SCEP message', samples: [content, Buffer.from(issuerAndSerial(device.certificate))], words: [] },
      read: (octets) => readAny(octets, [readCertificationRequest, readIssuerAndSerial]),
    },
    {
      ...{ name: 'query of SCEP', samples: queries, words: ['%', '%2B', '&', '=', 'message=', '+', '\n'] },
      read: (octets) => decodeMessage(readQuery(octets.toString('latin1'))?.message ?? ''),
    },
  ];
}

/** The answer of the first reader that takes it; throws what the last one throws. */
function readAny(octets: Uint8Array, readers: readonly ((octets: Uint8Array) => unknown)[]): unknown {
  const [reader, ...others] = readers;
  try {
    return reader?.(octets);
  } catch (error) {
    if (others.length === 0) throw error;
    return readAny(octets, others);
  }
}
