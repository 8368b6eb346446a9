// Shared by the tests of the audit trail: a silent log, records, a signing key, a memory, and a trail with short intervals.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { SignHead } from '../../../core/audit/heads.ts';
import { auditKeyId } from '../../../core/audit/keys.ts';
import type { ChainHead } from '../../../core/audit/line.ts';
import type { RememberedChain, TrailMemory } from '../../../core/audit/chains.ts';
import { openChains } from '../../../core/audit/opening.ts';
import { type AuditTrail, type AuditTrailOptions, openAuditTrail } from '../../../core/audit/trail.ts';
import type { AuditRecord } from '../../../core/audit/record.ts';
import type { Log } from '../../../core/base/context.ts';
import { systemClock } from '../../../core/base/time.ts';

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

/** A new key that signs heads, and its public key for the verifier. */
export function makeSigner(): { readonly signHead: SignHead; readonly keys: ReadonlyMap<string, KeyObject>; readonly pem: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keyId = auditKeyId(publicKey);
  return {
    keys: new Map([[keyId, publicKey]]),
    pem: publicKey.export({ format: 'pem', type: 'spki' }),
    signHead: (octets) => Promise.resolve({ keyId, signature: sign('sha256', octets, { key: privateKey, dsaEncoding: 'ieee-p1363' }) }),
  };
}

/** A memory like that in the store of the appliance. While `isAlive` is false, as in a killed process, changes are lost. */
export class TestMemory implements TrailMemory {
  chains = new Map<string, RememberedChain>();
  isAlive = (): boolean => true;

  recall(): ReadonlyMap<string, RememberedChain> {
    return this.chains;
  }

  /** Those of other appliances. */
  others: (ChainHead & { chain: string })[] = [];

  recallOthers(): readonly (ChainHead & { chain: string })[] {
    return this.others;
  }

  async update(changes: Parameters<TrailMemory['update']>[0]): Promise<void> {
    if (!this.isAlive()) throw new Error('killed');
    for (const { chain, part, head } of changes) {
      const { [part]: _, ...rest } = this.chains.get(chain) ?? {};
      this.chains.set(chain, head === undefined ? rest : { ...rest, [part]: head });
    }
  }

  /** As in the answer of GET /v1/state/system/audit. */
  heads(): (ChainHead & { chain: string })[] {
    return [...this.chains].flatMap(([chain, { signed }]) => (signed === undefined || signed.sequence === 0 ? [] : [{ chain, ...signed }]));
  }
}

/** The opening of an appliance with two workers. */
export function openAll(directory: string, memory: TrailMemory, signHead: SignHead): Promise<void> {
  return openChains({ directory, chains: ['one', 'two'], memory, signHead, clock: systemClock, log: quiet });
}
