// Changed messages: each is read or refused with ScepMalformed, and a signature that still holds is over what was signed.
import { beforeAll, describe, expect, test } from 'vitest';
import { readCertificate } from '../../../../plugins/scep/message/certificate.ts';
import { readCertificationRequest } from '../../../../plugins/scep/message/content.ts';
import { findRecipient } from '../../../../plugins/scep/message/envelope.ts';
import { ScepMalformed } from '../../../../plugins/scep/message/malformed.ts';
import { readRequest, type ScepRequest } from '../../../../plugins/scep/message/request.ts';
import { Dice } from '../../../fuzz/cases.ts';
import { drawInput } from '../../../fuzz/parsers/mutations.ts';
import { takeOpensslErrors } from '../../../harness/openssl-queue.ts';
import { likeJscep, toBer } from '../../../harness/scep/ber.ts';
import { makeEnvelope, makeRequest, type RequestParts } from '../../../harness/scep/messages.ts';
import { decryptKey, makeDeviceRequest, makeParty, type Party } from './parties.ts';

const seed = Number(process.env['FUZZ_SEED'] ?? 42);
const drawn = 20_000;
const senderNonce = Buffer.alloc(16, 3);
/** ECDSA, whose keys are judged in no time: RSA would make the tests ten times slower. */
let device: Party;
let authority: Party;
let envelope: Uint8Array;
let csr: Buffer;
beforeAll(async () => {
  device = await makeParty({ key: 'P-256', subject: 'CN=device' });
  authority = await makeParty({ key: 'RSA-2048', subject: 'CN=RA' });
  csr = await makeDeviceRequest(device);
  envelope = makeEnvelope({ content: csr, recipients: [authority.certificate] });
});

const request = (parts: Partial<RequestParts> = {}): Buffer =>
  Buffer.from(makeRequest({ signer: device, envelope, senderNonce, ...parts }));

type Outcome = { readonly kind: 'refused' | 'read' | 'verified'; readonly find?: string };

/** Reads it as a server does. A find is an error other than a refusal, or a signature that holds over something else. */
function outcomeOf(octets: Uint8Array, signed: ScepRequest): Outcome {
  try {
    const read = readRequest(octets);
    if (!read.verifySignature()) return { kind: 'read' };
    return { kind: 'verified', ...(isSame(read, signed) ? {} : { find: 'a signature over something else holds' }) };
  } catch (error) {
    return { kind: 'refused', ...(error instanceof ScepMalformed ? {} : { find: String(error) }) };
  }
}

/** Tells whether two requests say the same; their certificates are not signed. */
function isSame(one: ScepRequest, other: ScepRequest): boolean {
  const texts = [one, other].map(
    ({ messageType, transactionId, senderNonce: nonce, signer, envelope: { ciphertext, iv, recipients, contentCipher } }) =>
      JSON.stringify([
        messageType,
        transactionId,
        hex(nonce),
        hex(signer.publicKey),
        hex(ciphertext),
        hex(iv),
        contentCipher,
        recipients.map(({ encryptedKey }) => hex(encryptedKey)),
      ]),
  );
  return texts[0] === texts[1];
}

const hex = (octets: Uint8Array): string => Buffer.from(octets).toString('hex');

/** How many of each kind there were. Throws at the first find. */
function countOutcomes(inputs: Iterable<Buffer>, signed: ScepRequest): Readonly<Record<Outcome['kind'], number>> {
  const counts = { refused: 0, read: 0, verified: 0 };
  for (const input of inputs) {
    const { kind, find } = outcomeOf(input, signed);
    if (find !== undefined) throw new Error(`${find}: ${input.toString('base64')}`);
    counts[kind]++;
  }
  expect(takeOpensslErrors()).toEqual([]);
  return counts;
}

/** Each octet, replaced by others: a bit changed, and values at which lengths and tags change their meaning. */
function* changedOctets(octets: Buffer): Generator<Buffer> {
  for (const [at, octet] of octets.entries())
    for (const other of new Set([octet ^ 1, octet ^ 0x20, 0x00, 0x80, 0xff])) {
      if (other === octet) continue;
      const changed = Buffer.from(octets);
      changed[at] = other;
      yield changed;
    }
}

function* drawnInputs(samples: readonly Buffer[]): Generator<Buffer> {
  for (let number = 0; number < drawn; number++) yield drawInput(new Dice(seed ^ Math.imul(number, 0x9e37_79b1)), { samples, words: [] });
}

describe('a message is read or refused', () => {
  test('with any octet changed', () => {
    const octets = request();
    const counts = countOutcomes(changedOctets(octets), readRequest(octets));
    // The signature, the encrypted content and much of the certificate have any octets.
    expect(counts.read).toBeGreaterThan(octets.length);
    expect(counts.refused).toBeGreaterThan(octets.length);
  });

  test('cut off anywhere', () => {
    const octets = request();
    const cut = Array.from({ length: octets.length }, (_, length) => octets.subarray(0, length));
    expect(countOutcomes(cut, readRequest(octets))).toEqual({ refused: octets.length, read: 0, verified: 0 });
  });

  test('changed at random, in DER and in BER', () => {
    const octets = request();
    const samples = [octets, toBer(octets, likeJscep), request({ envelope: toBer(envelope, likeJscep) })];
    const counts = countOutcomes(drawnInputs(samples), readRequest(octets));
    expect(counts.refused + counts.read + counts.verified).toBe(drawn);
    expect(counts.refused).toBeGreaterThan(drawn / 4);
  });
});

describe('a message with a signature that holds is read or refused', () => {
  test('with any attribute changed before it is signed', () => {
    const parts = Array.from({ length: 3_000 }, (_, number) => {
      const dice = new Dice(seed ^ Math.imul(number, 0x9e37_79b1));
      const attributes: RequestParts['attributes'] = (all) =>
        all.map((one) => (dice.chance(0.3) ? drawInput(dice, { samples: [Buffer.from(one)], words: [] }) : one));
      return { attributes };
    });
    let refused = 0;
    for (const part of parts) {
      try {
        const { transactionId, senderNonce: nonce } = readRequest(request(part));
        if (!/^[ -~]{1,128}$/.test(transactionId) || nonce.length !== 16) throw new Error(JSON.stringify(transactionId));
      } catch (error) {
        if (!(error instanceof ScepMalformed)) throw error;
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(1_000);
  });

  /** Opens an envelope that was changed before it was signed; the answer to everything that does not open is one. */
  function open(changed: Buffer): 'refused' | 'silent' | 'opened' {
    try {
      const read = readRequest(request({ envelope: changed }));
      const recipient = findRecipient(read.envelope, readCertificate(authority.certificate));
      if (recipient === undefined) return 'refused';
      let key: Uint8Array = Buffer.alloc(read.envelope.keyLength, 1);
      try {
        key = decryptKey(authority, recipient);
      } catch {
        // Implicit rejection: any key.
      }
      const content = readCertificationRequest(read.envelope.open(key), read.signer);
      if (hex(content.der) !== hex(csr)) throw new Error(`other content: ${changed.toString('base64')}`);
      return 'opened';
    } catch (error) {
      if (!(error instanceof ScepMalformed)) throw error;
      return error.failInfo === 'badMessageCheck' ? 'silent' : 'refused';
    }
  }

  test('with any octet of its envelope changed', () => {
    const octets = Buffer.from(envelope);
    const counts = { refused: 0, silent: 0, opened: 0 };
    for (const [at] of octets.entries()) {
      const changed = Buffer.from(octets);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      counts[open(changed)]++;
    }
    // The encrypted key, the initialisation vector and the content.
    expect(counts.silent).toBeGreaterThan(256 + 16 + csr.length);
    expect(counts.opened).toBeLessThan(8);
  });

  test('with an envelope changed at random', () => {
    const samples = [Buffer.from(envelope), toBer(envelope, likeJscep)];
    const counts = { refused: 0, silent: 0, opened: 0 };
    for (let number = 0; number < 2_000; number++)
      counts[open(drawInput(new Dice(seed ^ Math.imul(number, 0x9e37_79b1)), { samples, words: [] }))]++;
    expect([counts.refused > 500, counts.silent > 50]).toEqual([true, true]);
  });
});
