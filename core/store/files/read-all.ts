// Reads every entry of a store, in a process of its own: LMDB ends it if a page is not in the file. Exit code 0 if all could be read.
import { open } from 'lmdb';

const [directory = ''] = process.argv.slice(2);
const database = open<Buffer, Buffer>({ path: directory, noSubdir: false, encoding: 'binary', keyEncoding: 'binary', readOnly: true });
let octets = 0;
for (const { value } of database.getRange()) octets += value.at(-1) ?? 0;
process.exit(Number.isNaN(octets) ? 1 : 0);
