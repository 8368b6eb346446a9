// Everything that can be said of an appliance that does not run: every invariant holds, and its audit trail verifies and has every request
// that was acknowledged.
import { execFile } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { auditKeyId, splitPublicKeys } from '../../../core/audit/keys.ts';
import { verifyTrails } from '../../../core/audit/verify.ts';
import { type Acknowledged, Find } from './connection.ts';

const run = promisify(execFile);
const program = resolve(import.meta.dirname, '../../../appliance/check.ts');

/** Throws Find. `acknowledged` is emptied: a later check asks for later requests. Tokens beside the embedded one are not known here. */
export async function requireWhole(directory: string, acknowledged: Acknowledged = new Map()): Promise<void> {
  requireNone(await findUnsound(directory));
  await requireTrails([directory], acknowledged);
}

/** The trails of the appliances that share a store, or of one: they verify together, and have every acknowledged request. Throws Find. */
export async function requireTrails(directories: readonly string[], acknowledged: Acknowledged): Promise<void> {
  const trails = directories.map((directory) => join(directory, 'audit'));
  requireNone(await findUnverified(trails));
  requireNone(findLacking(trails, acknowledged));
}

function requireNone([first]: readonly string[]): void {
  if (first !== undefined) throw new Find(first);
}

/** What the check of a stopped appliance finds. `args`: of one with a configuration. */
export async function findUnsound(directory: string, args: readonly string[] = []): Promise<readonly string[]> {
  return run(process.execPath, [program, '--data', directory, ...args]).then(
    () => [],
    (error: { stdout?: string; stderr?: string }) => [
      `the check of the stopped appliance found:\n${error.stdout ?? ''}${error.stderr ?? ''}`,
    ],
  );
}

/** What a verification of trails finds. */
export async function findUnverified(trails: readonly string[]): Promise<readonly string[]> {
  const published = trails.map((trail) => readFileSync(join(trail, 'audit-keys.pem'), 'utf8')).join('');
  const keys = splitPublicKeys(published).map((pem) => createPublicKey(pem));
  const { findings } = await verifyTrails(trails, new Map(keys.map((key) => [auditKeyId(key), key])), []);
  return findings.length > 0 ? [`the audit trail: ${JSON.stringify(findings)}`] : [];
}

/** Whether acknowledged requests are not in the trails. `acknowledged` keeps those. */
export function findLacking(trails: readonly string[], acknowledged: Acknowledged): readonly string[] {
  const asked = acknowledged.size;
  for (const file of trails.flatMap((trail) => readdirSync(trail).map((name) => join(trail, name)))) {
    if (!file.endsWith('.jsonl')) continue;
    for (const [, id = ''] of readFileSync(file, 'utf8').matchAll(/"request-id":"([^"]+)"/g)) acknowledged.delete(id);
  }
  const [first] = acknowledged;
  if (first === undefined) return [];
  return [`the audit trail lacks ${acknowledged.size} of ${asked} acknowledged requests: ${first.join(', ')} is one`];
}
