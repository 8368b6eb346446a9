// Identity of this appliance among the members of a cluster: drawn once, because its name can change, and another can have had it.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { z } from 'zod';
import { writeDurably } from '../../../core/base/durable-files.ts';
import { paths } from '../../data-directory/paths.ts';
import { parseFile } from '../../start-refused.ts';

const identity = z.object({ id: z.uuid() });

/** Draws it on first use. Throws StartRefused for a damaged file. */
export function provideIdentity(data: string): string {
  const file = paths.clusterIdentity(data);
  if (!existsSync(file)) writeDurably(file, `${JSON.stringify({ id: randomUUID() })}\n`);
  return parseFile(file, (text) => identity.parse(JSON.parse(text)), 'remove it, and this appliance comes in as a new member').id;
}
