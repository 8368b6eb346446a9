// The token that OpenSSL sees, by the octets of p11-kit's protocol: what it answers, what it refuses, and what it does with nonsense.
import { generateKeyPairSync } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { answerFrame, FrameReader, number32, octet, octets, type RemoteCall, ulong } from '../../../hsm/p11-kit/frames.ts';
import { RemoteToken } from '../../../hsm/p11-kit/remote-token.ts';
import { listenerToken, type SignDigest } from '../../../hsm/tls-keys/listener-token.ts';
import { shownObjects, tlsKeyId, tlsKeyUri } from '../../../hsm/tls-keys/shown-keys.ts';

const publicKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'der', type: 'spki' });
const binding = { tenant: 'system', keyId: 'listener', version: 1, purpose: 'tls' };
const stored = { type: 'ecdsa-p256', custody: 'token', token: 'main', blob: Buffer.of(1), mac: Buffer.of(2) } as const;
const objects = shownObjects({ reference: { stored, binding }, publicKey });
const signature = Buffer.alloc(64, 7);
const tokenOf = (sign: SignDigest) => new RemoteToken(listenerToken(objects, sign));

const rv = {
  functionNotSupported: 0x54,
  mechanismInvalid: 0x70,
  parameterInvalid: 0x71,
  keyHandleInvalid: 0x60,
  keyNotPermitted: 0x68,
  notInitialized: 0x91,
  sessionInvalid: 0xb3,
  sensitive: 0x11,
  device: 0x30,
};
const call = { createObject: 20, attributes: 24, findInit: 26, find: 27, findFinal: 28, openSession: 10, signInit: 42, sign: 43 };
const [privateHandle, publicHandle] = [1, 2];
const ecdsa = 0x1041;

type Calls = readonly (readonly [call: number, ...values: Buffer[]])[];
type Answered = readonly { readonly call: number; readonly rest: Buffer }[];

/** Sends calls over one connection; answers number of the call and arguments of each answer. */
const talk = (...calls: Calls): Promise<Answered> => talkAs(1, ...calls);

/** The same of a client that offers this version of the protocol. */
async function talkAs(offered: number, ...calls: Calls): Promise<Answered> {
  const token = tokenOf(async (_reference, digest) => {
    if (digest.length !== 32) throw new Error('the token is away');
    return signature;
  });
  const sent = [...opened, ...calls].map(([number, ...values]) => answerFrame(9, number, '', values));
  const answers = new FrameReader();
  answers.push(Buffer.of(0));
  const answered: RemoteCall[] = [];
  for (const one of new FrameReader().push(Buffer.concat([Buffer.of(offered), ...sent])).calls) {
    answered.push(...answers.push(await token.answer(one)).calls);
  }
  return answered.slice(opened.length).map(({ call: number, arguments: values }) => ({ call: number, rest: values.rest() }));
}

const error = (code: number) => ({ call: 0, rest: ulong(code) });
const open = [call.openSession, ulong(1), ulong(4)] as const;
/** Opens a session and looks for everything, by which the connection learns of the objects. */
const opened: Calls = [open, [call.findInit, ulong(1), number32(0)], [call.findFinal, ulong(1)]];
const digest = Buffer.concat([octet(1), octets(Buffer.alloc(32))]);
const begin = (handle: number, mechanism = ecdsa) =>
  [call.signInit, ulong(1), number32(mechanism), number32(0xffff_ffff), ulong(handle)] as const;

/** How clients write a mechanism that has no parameters, whatever version they offer. */
const withoutParameters = {
  'p11-kit to 0.25.5': [number32(ecdsa), number32(0xffff_ffff)],
  'p11-kit from 0.25.6': [number32(ecdsa)],
  'p11-kit from 0.25.6, of a mechanism that may have some': [number32(ecdsa), octet(0)],
} as const;

test('signs with the private key: only its length when that is asked, then the signature, once', async () => {
  const [, length, signed, again] = await talk(
    begin(privateHandle),
    [call.sign, ulong(1), digest, number32(0)],
    [call.sign, ulong(1), digest, number32(64)],
    [call.sign, ulong(1), digest, number32(64)],
  );
  expect(length?.rest).toEqual(Buffer.concat([octet(0), number32(64)]));
  expect(signed?.rest).toEqual(Buffer.concat([octet(1), octets(signature)]));
  expect(again).toEqual(error(rv.notInitialized));
});

test.each(Object.entries(withoutParameters))('takes a mechanism without parameters as %s writes it', async (_client, mechanism) => {
  for (const offered of [0, 1, 2]) {
    const calls = [
      [call.signInit, ulong(1), ...mechanism, ulong(privateHandle)],
      [call.sign, ulong(1), digest, number32(64)],
    ] as const;
    const [begun, signed] = await talkAs(offered, ...calls);
    expect(begun).toEqual({ call: call.signInit, rest: Buffer.alloc(0) });
    expect(signed?.rest).toEqual(Buffer.concat([octet(1), octets(signature)]));
  }
});

test.each([
  ['octets in the old form', [number32(ecdsa), octets(Buffer.of(1, 2, 3))]],
  ['octets in the new form', [number32(ecdsa), octet(1), Buffer.of(1, 2, 3)]],
])('refuses ECDSA with parameters: %s', async (_form, mechanism) => {
  expect((await talk([call.signInit, ulong(1), ...mechanism, ulong(privateHandle)])).at(-1)).toEqual(error(rv.parameterInvalid));
});

test('a token that is away is a device error', async () => {
  const short = Buffer.concat([octet(1), octets(Buffer.alloc(20))]);
  expect((await talk(begin(privateHandle), [call.sign, ulong(1), short, number32(64)])).at(-1)).toEqual(error(rv.device));
});

test.each([
  ['the public key', begin(publicHandle), rv.keyNotPermitted],
  ['a key that is not there', begin(77), rv.keyHandleInvalid],
  ['another mechanism', begin(privateHandle, 0x1), rv.mechanismInvalid],
  ['another session', [call.signInit, ulong(5)] as const, rv.sessionInvalid],
  ['making an object', [call.createObject, ulong(1)] as const, rv.functionNotSupported],
  ['a call that ends within an argument', [call.signInit, octet(0)] as const, rv.device],
])('refuses to use %s', async (_what, asked, code) => {
  expect((await talk(asked)).at(-1)).toEqual(error(code));
});

test('finds a key by its id, nothing by what no object has, and shows no value of it', async () => {
  const byId = (type: number, value: Buffer) =>
    [call.findInit, ulong(1), number32(1), number32(type), octet(1), number32(value.length), octets(value)] as const;
  const found = [call.find, ulong(1), number32(10)] as const;
  const [, both, , , none] = await talk(
    ...[byId(0x102, tlsKeyId(publicKey)), found, [call.findFinal, ulong(1)] as const],
    ...[byId(0x12, Buffer.of(1)), found],
  );
  expect(both?.rest).toEqual(Buffer.concat([octet(1), number32(2), ulong(privateHandle), ulong(publicHandle)]));
  expect(none?.rest).toEqual(Buffer.concat([octet(1), number32(0)]));
  const value = [call.attributes, ulong(1), ulong(privateHandle), number32(1), number32(0x11), number32(100)] as const;
  expect((await talk(value)).at(-1)?.rest).toEqual(Buffer.concat([number32(1), number32(0x11), octet(0), ulong(rv.sensitive)]));
});

test('the URI names the private key by the first half of the SHA-256 of its public key', () => {
  expect(tlsKeyUri(publicKey)).toBe(`pkcs11:id=${tlsKeyId(publicKey).toString('hex').replaceAll(/../g, '%$&')};type=private`);
});

test('frames come out whole however they are cut; what is no frame is refused, and no octets are more than that', async () => {
  const sent = Buffer.concat([
    Buffer.of(1),
    ...[open, begin(privateHandle)].map(([number, ...values]) => answerFrame(3, number, 'u', values)),
  ]);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: sent.length })), (cuts) => {
      const reader = new FrameReader();
      const at = [0, ...cuts.toSorted((left, right) => left - right), sent.length];
      return at.slice(1).flatMap((end, place) => reader.push(sent.subarray(at[place], end)).calls).length === 2;
    }),
  );
  const token = tokenOf(async () => signature);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 100 }), fc.uint8Array({ maxLength: 200 }), async (number, values) => {
      const { calls } = new FrameReader().push(Buffer.concat([Buffer.of(0), answerFrame(1, number, '', [Buffer.from(values)])]));
      for (const one of calls) await token.answer(one);
      return calls.length === 1;
    }),
  );
  expect(() => new FrameReader().push(Buffer.concat([Buffer.of(0), number32(1), number32(0), number32(0x7fff_ffff)]))).toThrow(RangeError);
});
