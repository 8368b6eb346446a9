// Seals, opens and rewraps files with the TypeScript client: COMMAND FROM TO …; a line for each, and the most memory in kB. `import` takes keys TO.
import { createReadStream, createWriteStream, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { Client, SealedDataError, sealedHeaderBytes } from '../../../dist/clients/typescript/src/index.ts';

const { KEYSTORED_URL: address = '', KEYSTORED_CA_FILE: ca = '', KEYSTORED_TOKEN: token = '', KEYSTORED_KEY: name = '' } = process.env;
const client = new Client({ address, ca: readFileSync(ca, 'utf8'), credentials: { token } });
const key = client.key(name);
const [command, ...files] = process.argv.slice(2);

async function work(from: string, to: string): Promise<void> {
  if (command === 'import') return await client.key(to).importWrapped(readFileSync(from));
  if (command === 'seal') return await pipeline(createReadStream(from), (source) => key.seal(source), createWriteStream(to));
  if (command === 'open') return await pipeline(createReadStream(from), (source) => key.open(source), createWriteStream(to));
  const file = await open(from, 'r+');
  const { buffer } = await file.read(Buffer.alloc(sealedHeaderBytes), 0, sealedHeaderBytes, 0);
  await file.write(await key.rewrapSealed(buffer), 0, sealedHeaderBytes, 0);
  await file.close();
}

for (let at = 0; at < files.length; at += 2) {
  try {
    await work(files[at] ?? '', files[at + 1] ?? '');
    console.log('done');
  } catch (error) {
    if (!(error instanceof SealedDataError)) throw error;
    console.log(`refused: ${error.message}`);
  }
}
console.log(/VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
client.close();
