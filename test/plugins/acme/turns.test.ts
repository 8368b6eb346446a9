// Turns for proofs of names: how many run at a time, of whom.
import { expect, test } from 'vitest';
import type { Acme, Site } from '../../../plugins/acme/context.ts';
import { limits } from '../../../plugins/acme/limits.ts';
import { takeTurn } from '../../../plugins/acme/operations/validation.ts';

const failures: number[] = [];

/** Takes turns until one is refused, at most 200; returns how many. Each is of another address and account, unless named. */
function fill(
  acme: Acme,
  {
    tenantId = 'a',
    isProven = true,
    account,
    clientIp,
  }: Partial<Record<'tenantId' | 'account' | 'clientIp', string>> & { isProven?: boolean },
): number {
  const ca = { tenantId, id: `ca of ${tenantId}`, requireFewFailures: (_address: string, running: number) => void failures.push(running) };
  for (let count = 0; count < 200; count++) {
    const number = acme.validating.size;
    const who = {
      account: account ?? `account ${number}`,
      clientIp: clientIp ?? `10.0.${number}.1`,
      order: `order ${number}`,
      index: 0,
      isProven,
    };
    try {
      takeTurn(acme, { site: { ca } as unknown as Site, thumbprint: '', ...who });
    } catch {
      return count;
    }
  }
  return Infinity;
}
const empty = (): Acme => ({ validating: new Map() }) as unknown as Acme;

test('an account and an address have their part, and those that run are named to the limit of failures', () => {
  expect(fill(empty(), { account: 'one' })).toBe(limits.validations.ofAccount);
  failures.length = 0;
  expect(fill(empty(), { clientIp: '2001:db8::1' })).toBe(limits.validations.ofSubscriber);
  expect(failures).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test('accounts that have proved nothing leave room for the others, and a tenant for other tenants', () => {
  const acme = empty();
  expect(['a', 'b', 'c'].map((tenantId) => fill(acme, { tenantId, isProven: false }))).toEqual([16, 16, 0]);
  expect(['a', 'b', 'c', 'd'].map((tenantId) => fill(acme, { tenantId }))).toEqual([32, 32, 32, 0]);
});

test('a challenge has one turn, which ends', () => {
  const acme = empty();
  const site = { ca: { tenantId: 'a', id: 'c', requireFewFailures: () => undefined } } as unknown as Site;
  const target = { site, account: 'a', thumbprint: '', order: 'o', index: 0, clientIp: '10.0.0.1', isProven: true };
  const turn = takeTurn(acme, target);
  expect(takeTurn(acme, target)).toBe(undefined);
  turn?.end();
  expect(acme.validating.size).toBe(0);
});
