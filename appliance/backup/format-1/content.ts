// The content of a backup of format 1: a sequence of files, each after its path and size, the manifest first.
import { z } from 'zod';
import { isBackupPath, type Taker } from '../format/archive.ts';
import { BackupError } from '../format/error.ts';
import type { Contents } from '../format/manifest.ts';
import { OctetReader } from '../format/source.ts';

/** length(4, big-endian) ‖ JSON of {path, bytes} ‖ content, repeated; at the end {files} without content. */
const entryHead = z.union([
  z.strictObject({ path: z.string().max(512), bytes: z.int().min(0) }),
  z.strictObject({ files: z.int().min(0) }),
]);
const longestHeadBytes = 4_096;

const manifestSchema = z.object({
  format: z.literal(1),
  embedded: z.boolean(),
  tokens: z.array(z.object({ name: z.string(), label: z.string(), serial: z.string() })),
});

/** Reads the files of a backup. Throws BackupError unless it is complete. */
export async function readContent1(plain: AsyncIterable<Uint8Array>, taker: Taker<Contents>): Promise<void> {
  const reader = new OctetReader(plain);
  const first = await readHead(reader);
  if (!('path' in first) || first.path !== 'manifest.json') throw new BackupError('the backup does not begin with its manifest');
  const manifest = manifestSchema.safeParse(JSON.parse((await reader.take(Math.min(first.bytes, 1 << 20))).toString('utf8')));
  if (!manifest.success) throw new BackupError('the manifest of the backup is not of this version');
  taker.begin(manifest.data);
  for (let files = 1; ; files++) {
    const head = await readHead(reader);
    if ('files' in head) {
      if (head.files !== files) throw new BackupError('files of the backup are missing');
      return;
    }
    if (!isBackupPath(head.path)) throw new BackupError('the backup has a file that does not belong there');
    const file = taker.file(head.path);
    for (let left = head.bytes; left > 0;) {
      const part = await reader.some(left);
      file.write(part);
      left -= part.length;
    }
    file.close();
  }
}

async function readHead(reader: OctetReader): Promise<z.output<typeof entryHead>> {
  const bytes = (await reader.take(4)).readUInt32BE();
  if (bytes > longestHeadBytes) throw new BackupError('the backup is damaged');
  const head = entryHead.safeParse(JSON.parse((await reader.take(bytes)).toString('utf8')));
  if (!head.success) throw new BackupError('the backup is damaged');
  return head.data;
}
