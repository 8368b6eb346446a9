// Parsers of what programs send to keystorectl: conversations of p11-kit's protocol, and messages of Kubernetes' KMS.
import { createHash, generateKeyPairSync } from 'node:crypto';
import { readFields, writeFields } from '../../../appliance/cli/kms/protobuf.ts';
import { objectsOf } from '../../../appliance/cli/pkcs11/shown-keys.ts';
import { beginSigning, offeredMechanisms } from '../../../appliance/cli/pkcs11/signatures.ts';
import { CommandFailed, exitCodes } from '../../../appliance/cli/terminal/failure.ts';
import { answerFrame, FrameReader, number32, octet, octets, ulong } from '../../../hsm/p11-kit/frames.ts';
import { RemoteToken } from '../../../hsm/p11-kit/remote-token.ts';
import { call, pss, wanted } from '../../harness/p11-kit-client.ts';
import type { Parser } from './parser.ts';

const spki = { format: 'der', type: 'spki' } as const;
const publicKeys = [
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export(spki),
  generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey.export(spki),
];
const objects = publicKeys.flatMap((publicKey, place) =>
  objectsOf({ name: `key-${place}`, version: 1, label: `key-${place}`, publicKey, pssOnly: undefined }, []),
);
/** Handles of the private keys. */
const [ec, rsa] = [1, 3];
const session = ulong(1);
const digest = createHash('sha256').update('text').digest();
const data = (value: Buffer): Buffer => Buffer.concat([octet(1), octets(value)]);
const old = number32(0xffff_ffff);

type Call = readonly [number: number, ...values: Buffer[]];
const signed = (mechanism: number, parameters: Buffer, handle: number, value: Buffer): readonly Call[] => [
  [call.signInit, session, number32(mechanism), parameters, ulong(handle)],
  [call.sign, session, data(value), number32(0)],
  [call.sign, session, data(value), number32(512)],
];
const begin: readonly Call[] = [
  [call.initialize, octets(Buffer.from('handshake')), octet(0), octets(Buffer.of(0))],
  [call.slotList, octet(1), number32(10)],
  [call.tokenInfo, ulong(1)],
  [call.mechanismList, ulong(1), number32(20)],
  [call.openSession, ulong(1), ulong(4)],
  [call.findInit, session, number32(2), wanted.class(3), wanted.label('key-0')],
  [call.find, session, number32(10)],
  [call.findFinal, session],
  [call.attributes, session, ulong(ec), number32(2), number32(0x3), number32(0), number32(0x180), number32(100)],
];
const conversations: readonly (readonly Call[])[] = [
  [...begin, ...signed(0x1041, old, ec, digest), ...signed(0xd, pss(0x250, 2, 32), rsa, digest)],
  [...begin, ...signed(0x1041, Buffer.alloc(0), ec, digest), ...signed(0xd, Buffer.concat([octet(1), pss(0x250, 2, 32)]), rsa, digest)],
  [
    ...begin,
    ...signed(0x1, old, rsa, Buffer.concat([Buffer.from('3031300d060960864801650304020105000420', 'hex'), digest])),
    [call.signInit, session, number32(0x1044), old, ulong(ec)],
    [call.signUpdate, session, data(Buffer.from('te'))],
    [call.signUpdate, session, data(Buffer.from('xt'))],
    [call.signFinal, session, number32(512)],
  ],
];
const octetsOf = (calls: readonly Call[]): Buffer =>
  Buffer.concat([octet(0), ...calls.map(([number, ...values], place) => answerFrame(place, number, '', values))]);
/** Mechanisms whose input is a finished hash. */
const ofHashes: ReadonlySet<number> = new Set([0x1, 0xd, 0x1041]);

/** Answers every call of a connection. Throws when one fails unexpectedly, or when something is signed that nobody has sent. */
async function converse(sent: Buffer): Promise<void> {
  const finds: unknown[] = [];
  const token = new RemoteToken({
    texts: { label: 'keystored', model: 'model', library: 'library', slot: 'slot' },
    mechanisms: offeredMechanisms,
    objects: () => objects,
    begin: (key, mechanism) =>
      beginSigning(key, mechanism, async ({ signatureOctets }, _padding, prepared) => {
        if (ofHashes.has(mechanism.type) && !sent.includes(prepared.digest)) finds.push(new Error('a hash is signed that was not sent'));
        return Buffer.alloc(signatureOctets);
      }),
    fault: (error) => void finds.push(error),
  });
  const { calls } = new FrameReader(4 << 20).push(sent);
  for (const one of calls) await token.answer(one);
  if (finds.length > 0) throw finds[0];
}

/** A RangeError ends the connection, or the call. */
async function refusing(read: () => unknown): Promise<void> {
  try {
    await read();
  } catch (error) {
    throw error instanceof RangeError ? new CommandFailed(exitCodes.usage, error.message) : error;
  }
}

export function pkcs11Parsers(): readonly Parser[] {
  return [
    {
      ...{ name: 'calls of PKCS#11', samples: conversations.map(octetsOf), share: 10 },
      words: ['\u{0}\u{0}\u{0}\u{0}', '\u{FF}\u{FF}\u{FF}\u{FF}'],
      read: (sent) => refusing(() => converse(sent)),
    },
    {
      ...{ name: 'message of KMS', samples: [writeFields({ 1: digest, 2: 'uid', 3: 'etcd:1' })], words: [] },
      read: (message) => refusing(() => readFields(message)),
    },
  ];
}
