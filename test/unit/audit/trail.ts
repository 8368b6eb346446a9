// What the tests of the audit trail share: a quiet log, records, and opening a trail that notices things quickly.
import { type AuditTrail, type AuditTrailOptions, openAuditTrail } from '../../../core/audit-trail.ts';
import type { AuditRecord } from '../../../core/audit.ts';
import type { Log } from '../../../core/context.ts';
import { systemClock } from '../../../core/time.ts';

export const quiet: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => quiet };

export function record(n: number, more: Partial<AuditRecord> = {}): AuditRecord {
  return {
    kind: 'request',
    occurredAt: '2026-11-21T10:00:00.000000Z',
    requestId: `request-${n}`,
    path: '/v1/x',
    method: 'POST',
    status: 200,
    ...more,
  };
}

export function openTrail(directory: string, options: Partial<AuditTrailOptions> = {}): Promise<AuditTrail> {
  return openAuditTrail({ directory, chain: 'main', clock: systemClock, log: quiet, retrySeconds: 0.02, ...options });
}
