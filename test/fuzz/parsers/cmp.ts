// Parsers of CMP: messages, their bodies, the parameters of a MAC, and requests of CRMF.
import { randomBytes } from 'node:crypto';
import { sequence } from '../../../core/der/der.ts';
import { verifyTemplate } from '../../../plugins/ca/enrolment/crmf.ts';
import {
  readCertificateRequest,
  readConfirmation,
  readNested,
  readPollRequest,
  readRevocation,
} from '../../../plugins/cmp/message/body.ts';
import { readMacScheme } from '../../../plugins/cmp/message/mac.ts';
import { readMessage, requireSender, requireSound } from '../../../plugins/cmp/message/message.ts';
import {
  bodies,
  byMac,
  confirmationOf,
  implicitConfirm,
  nameOf,
  newKeys,
  oldCertificate,
  pollOf,
  raVerified,
  requestOf,
  revocationOf,
  writeMessage,
} from '../../harness/cmp/messages.ts';
import type { Parser } from './parser.ts';

export function cmpParsers(): readonly Parser[] {
  const keys = newKeys();
  const serial = Uint8Array.of(1, 2);
  const protect = byMac('a secret of a device');
  const requests = [requestOf({ keys }), requestOf({ keys, controls: [oldCertificate(nameOf('CA'), serial)], names: [] })];
  const messages = [
    writeMessage({ type: bodies.ir, body: sequence(requests[0] as Uint8Array), protect, info: [implicitConfirm] }),
    writeMessage({ type: bodies.certConf, body: confirmationOf(randomBytes(64)), protect, recipientNonce: randomBytes(16) }),
    writeMessage({ type: bodies.genm, body: sequence(implicitConfirm), protect, certificates: [randomBytes(3)] }),
  ];
  const one = (name: string, samples: readonly Uint8Array[], read: Parser['read']): Parser => ({
    ...{ name, samples: samples.map((sample) => Buffer.from(sample)), words: [] },
    read,
  });
  return [
    one('CMP message', messages, (octets) => {
      const { header } = readMessage(octets);
      requireSender(header);
      requireSound(header);
      return readMacScheme(header.protectionAlgorithm);
    }),
    one(
      'request of CMP',
      requests.map((request) => sequence(request)),
      (octets) => readCertificateRequest(octets, true),
    ),
    one('CertReqMsg', requests, (octets) => verifyTemplate(octets, ['ec', 'rsa'])),
    one('CertReqMsg of a registration authority', [requestOf({ keys: newKeys(), proof: raVerified })], (octets) =>
      verifyTemplate(octets, ['ec', 'rsa'], true),
    ),
    one('nested messages', [sequence(...messages)], (octets) => readNested(octets)),
    one('confirmation of CMP', [confirmationOf(randomBytes(64)), confirmationOf(randomBytes(64), undefined, 2)], (octets) =>
      readConfirmation(octets),
    ),
    one('question of CMP', [pollOf(), pollOf(-1)], (octets) => readPollRequest(octets)),
    one('revocation of CMP', [revocationOf(nameOf('CA'), serial, 1), revocationOf(nameOf('CA'), serial)], (octets) =>
      readRevocation(octets),
    ),
    one('MAC of CMP', [protect.algorithm, byMac('x', { owf: 'sha1' }).algorithm], (octets) => readMacScheme(octets)),
  ];
}
