// Verifies the audit trail of one appliance.
import type { KeyObject } from 'node:crypto';
import type { HeadEntry } from '../../core/audit/line.ts';
import { type Verification, verifyTrails } from '../../core/audit/verify.ts';

export function verifyTrail(
  directory: string,
  publicKeys: ReadonlyMap<string, KeyObject>,
  kept: readonly HeadEntry[] = [],
): Promise<Verification> {
  return verifyTrails([directory], publicKeys, kept);
}
