// What is no backup is refused as such, whatever its payload is.
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { parseBackup } from '../../../../plugins/transit/backup/format.ts';
import type { Attachments } from '../../../../plugins/transit/records/attachments.ts';

const none = { keptShape: {}, extend: (schema: unknown) => schema } as unknown as Attachments;

function backupOf(payload: string): Uint8Array {
  const checksum = createHash('sha256').update(payload).digest();
  return Buffer.concat([Buffer.from('keystore-transit'), Buffer.of(1), checksum, Buffer.from(payload)]);
}

test.each([
  ['lists', '['.repeat(20_000) + ']'.repeat(20_000)],
  ['objects', '{"a":'.repeat(20_000) + '1' + '}'.repeat(20_000)],
])('a payload of 20,000 %s within each other', (_, payload) => {
  expect(() => parseBackup(backupOf(payload), none)).toThrow(/nested more deeply/);
});
