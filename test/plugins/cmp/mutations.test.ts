// Changed messages: each is read or refused with CmpRefusal, and a protection that still holds is over what was protected.
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sequence } from '../../../core/der/der.ts';
import { readCertificateRequest } from '../../../plugins/cmp/message/body.ts';
import { isMacOf, readMacScheme } from '../../../plugins/cmp/message/mac.ts';
import { readMessage, requireSender, requireSound } from '../../../plugins/cmp/message/message.ts';
import { CmpRefusal } from '../../../plugins/cmp/message/refusal.ts';
import { Dice } from '../../fuzz/cases.ts';
import { drawInput } from '../../fuzz/parsers/mutations.ts';
import { bodies, byMac, implicitConfirm, newKeys, requestOf, writeMessage } from '../../harness/cmp/messages.ts';

const seed = Number(process.env['FUZZ_SEED'] ?? 42);
const secret = 'a secret of a device';
const octets = writeMessage({
  ...{ type: bodies.ir, body: sequence(requestOf({ keys: newKeys() })), protect: byMac(secret, { iterations: 100 }) },
  info: [implicitConfirm],
});
const part = (read: ReturnType<typeof readMessage>): string => createHash('sha256').update(read.protectedPart).digest('hex');
const protectedPart = part(readMessage(octets));

type Outcome = 'refused' | 'read' | 'verified';

/** Reads it as the service does. Throws at a find: an error other than a refusal, or a MAC that holds over something else. */
async function outcomeOf(changed: Buffer): Promise<Outcome> {
  try {
    const read = readMessage(changed);
    const { header, protection } = read;
    requireSender(header);
    requireSound(header);
    const scheme = readMacScheme(header.protectionAlgorithm);
    // A few thousand rounds say nothing that a hundred do not.
    if (scheme === undefined || protection === undefined || scheme.iterations > 1_000) return 'read';
    if (!(await isMacOf(scheme, secret, read.protectedPart, protection))) return 'read';
    if (part(read) !== protectedPart) throw new Error(`a MAC over something else holds: ${changed.toString('base64')}`);
    return 'verified';
  } catch (error) {
    if (error instanceof CmpRefusal) return 'refused';
    throw error;
  }
}

async function countOutcomes(inputs: Iterable<Buffer>): Promise<Readonly<Record<Outcome, number>>> {
  const counts = { refused: 0, read: 0, verified: 0 };
  for (const input of inputs) counts[await outcomeOf(input)]++;
  return counts;
}

const drawn = (count: number, sample: Buffer): Buffer[] =>
  Array.from({ length: count }, (_, number) =>
    drawInput(new Dice(seed ^ Math.imul(number, 0x9e37_79b1)), { samples: [sample], words: [] }),
  );

describe('a message is read or refused', () => {
  test('with any octet changed', async () => {
    const changed = Array.from(octets, (octet, at) => [octet ^ 1, 0x80].map((other) => [at, octet, other] as const))
      .flat()
      .filter(([, octet, other]) => octet !== other)
      .map(([at, , other]) => Buffer.concat([octets.subarray(0, at), Buffer.of(other), octets.subarray(at + 1)]));
    const counts = await countOutcomes(changed);
    // Nonces, the key, signatures and most of the body may have any octets here, where none is used; nothing that is changed is still protected.
    expect([counts.read > octets.length, counts.refused > octets.length / 3, counts.verified]).toEqual([true, true, 0]);
  });

  test('cut off anywhere', async () => {
    expect(await countOutcomes(Array.from(octets, (_, length) => octets.subarray(0, length)))).toEqual({
      ...{ refused: octets.length, read: 0, verified: 0 },
    });
  });

  test('changed at random', async () => {
    const counts = await countOutcomes(drawn(3_000, octets));
    expect([counts.refused > 1_000, counts.read > 50]).toEqual([true, true]);
  });
});

test('a request that was changed before the message is protected is read as the service reads it, or refused', () => {
  let refused = 0;
  for (const body of drawn(3_000, Buffer.from(sequence(requestOf({ keys: newKeys() }))))) {
    try {
      readCertificateRequest(body, false);
    } catch (error) {
      if (!(error instanceof CmpRefusal)) throw error;
      refused++;
    }
  }
  expect(refused).toBeGreaterThan(1_500);
});
