// The mark that `keystored break-glass` leaves in the data directory: the rules of which tenant are to go, proven with the key of the store.
import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { digestOf } from '../../core/approvals/digest.ts';
import { ruleTable } from '../../core/approvals/rules.ts';
import { readWhole, syncDirectory, writeDurably } from '../../core/base/durable-files.ts';
import { type Store, Unreadable } from '../../core/store/store.ts';

const content = z.object({
  id: z.uuid(),
  tenantId: z.uuid(),
  /** the rules as they were shown to the person, with a digest of each */
  rules: z.array(z.object({ name: z.string(), digest: z.string() })),
  reason: z.string(),
  madeAt: z.string(),
});
export type Wanted = z.output<typeof content>;

const mark = content.extend({ proof: z.string() });

/** Applied by the next start of the appliance, once it is unsealed. */
export const markFile = (data: string): string => join(data, 'break-glass.json');

/** In the place of the digest of a rule that does not open. */
export const unreadable = 'unreadable';

/** The rules of a tenant as a mark names them. */
export function rulesOf(store: Store, tenantId: string): Wanted['rules'] {
  return Array.from(ruleTable(store).entriesFound([tenantId]), ([key, rule]) => ({
    name: String(key.at(-1)),
    // One that does not open refuses every act, and has to go as well.
    digest: rule instanceof Unreadable ? unreadable : digestOf(store, ['break-glass-rule', tenantId, key, rule]),
  }));
}

/** Only who opens the store, and for that has the PIN of its token, can compute it. */
function proofOf(store: Store, { id, tenantId, rules, reason, madeAt }: Wanted): string {
  return digestOf(store, ['break-glass', id, tenantId, rules, reason, madeAt]);
}

export function writeMark(data: string, store: Store, wanted: Wanted): void {
  writeDurably(markFile(data), `${JSON.stringify({ ...wanted, proof: proofOf(store, wanted) })}\n`);
}

/** Undefined without a mark; `forged` for one that nobody with the key of this store has made. */
export function readMark(data: string, store: Store): Wanted | 'forged' | undefined {
  const file = markFile(data);
  if (!existsSync(file)) return undefined;
  try {
    const { proof, ...wanted } = mark.parse(JSON.parse(readWhole(file).toString()));
    return proof === proofOf(store, wanted) ? wanted : 'forged';
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError) return 'forged';
    throw error;
  }
}

export function removeMark(data: string): void {
  rmSync(markFile(data), { force: true });
  syncDirectory(dirname(markFile(data)));
}
