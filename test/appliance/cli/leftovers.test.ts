// What a crash leaves half-written in a data directory is gone after the next start, and nothing else is.
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { holdDataDirectory } from '../../../appliance/data-directory/data-directory.ts';
import { finishRestore } from '../../../appliance/backup/restore.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();

test('files that were to take the place of others, and probes of the disk, are removed', async () => {
  const kept = ['root-token', 'store-key.json', 'notes.tmp', 'tls/ca.pem', 'audit/worker-1.000000000001.jsonl.torn'];
  const left = [`root-token.${randomUUID()}.tmp`, `.probe-${randomUUID()}`, `tls/ca.pem.${randomUUID()}.tmp`];
  for (const folder of ['tls', 'audit']) mkdirSync(path('held', folder), { recursive: true });
  for (const name of [...kept, ...left]) writeFileSync(path('held', name), 'x');
  await holdDataDirectory(path('held'));
  expect(new Set(readdirSync(path('held'), { recursive: true, encoding: 'utf8' }))).toEqual(new Set(['audit', 'tls', 'lock', ...kept]));
});

test('what a restore had unpacked when it was cut is removed, PINs included; what it had proven whole is moved in', () => {
  mkdirSync(path('cut', 'restoring'), { recursive: true });
  mkdirSync(path('cut', 'restored', 'audit'), { recursive: true });
  for (const name of ['restoring/pin', 'restored/store-key.json', 'restored/audit/restored']) writeFileSync(path('cut', name), 'x');
  finishRestore(path('cut'));
  expect(readdirSync(path('cut')).toSorted()).toEqual(['audit', 'store-key.json']);
});
