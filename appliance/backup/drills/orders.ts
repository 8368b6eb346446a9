// Orders to the process of a drill, and what it says: the process gets them on standard input, because they have secrets.
import { z } from 'zod';

const opening = z.object({
  /** exactly one of them; lines of identities */
  passphrase: z.string().optional(),
  identity: z.string().optional(),
});

/**
 * `list`: names the backups in directories. `look`: opens a backup and says what is in it, without a token and without a store. `prove`: a
 * look, and then a drill of what this appliance has signed.
 */
export const drillOrders = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('list'), directories: z.array(z.string()) }),
  opening.extend({
    kind: z.enum(['look', 'prove']),
    file: z.string(),
    /** public keys of the audit trail of this appliance, PEM */
    ownKeys: z.string(),
    /** empty directory of the drill, which holds PINs meanwhile */
    scratch: z.string(),
    /** of a token whose PIN is neither in the backup nor in the configuration */
    pin: z.string().optional(),
  }),
]);
export type DrillOrders = z.output<typeof drillOrders>;

const storedFile = z.object({ file: z.string(), bytes: z.int(), modifiedAt: z.string() });
export type StoredFile = z.output<typeof storedFile>;

const said = z.object({ where: z.string(), problem: z.string() });

/** Findings of a look; what is unknown of a backup of format 1 is absent. */
const looked = z.object({
  signedBy: z.enum(['this-appliance', 'another', 'nobody']),
  keyId: z.string().optional(),
  madeAt: z.string().optional(),
  madeBy: z.string().optional(),
  version: z.string().optional(),
  records: z.int().optional(),
  manifest: z.string().optional(),
  embedded: z.boolean(),
  tokens: z.array(z.string()),
  files: z.int(),
  bytes: z.int(),
  /** reason for which the tokens of the configuration do not open it */
  unfit: z.string().optional(),
});
export type Looked = z.output<typeof looked>;

const proven = z.object({
  keys: z.record(z.string(), z.int()),
  findings: z.array(said),
  findingCount: z.int(),
  notes: z.array(said),
});
export type Proven = z.output<typeof proven>;

/** `stage`, `looked` and `proven` come while it works; the others end it. */
export const drillSays = z.object({
  stage: z.enum(['reading', 'proving']).optional(),
  looked: looked.optional(),
  proven: proven.optional(),
  files: z.array(storedFile).optional(),
  /** one sentence for people */
  problem: z.string().optional(),
  done: z.literal(true).optional(),
});
export type DrillSays = z.output<typeof drillSays>;

/** Names of backups in a directory; whatever else is there is not shown. */
export const backupName = /^\w[\w.-]{0,200}\.age$/;
