// A separate process that writes the audit trail until it is killed or its disk is full.
import { execFileSync } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { openTrail, record } from './trail.ts';

const [task = '', directory = ''] = process.argv.slice(2);
const trail = await openTrail(directory, { maxFileBytes: 20_000 });
const say = (line: string): void => void process.stdout.write(`${line}\n`);

if (task === 'write') {
  for (let n = 0; ; n += 8) {
    await Promise.all(Array.from({ length: 8 }, (_, index) => trail.write(record(n + index)).then(() => say(`request-${n + index}`))));
  }
}

// The file grows beyond the limit, so that the disk is full in the middle of it.
const large = await openTrail(directory, { chain: 'large' });
let acknowledged = 0;
let code = '';
try {
  for (; acknowledged < 10_000; acknowledged++) await large.write(record(acknowledged, { userAgent: 'x'.repeat(2_000) }));
} catch (error) {
  code = (error as { code: string }).code;
}
const whileFull = { writable: large.writable, again: await large.write(record(0)).catch((error: { code: string }) => error.code) };
await setTimeout(100);
const stillFull = large.writable;
execFileSync('sh', ['-c', `prlimit --pid ${process.pid} --fsize=unlimited`]);
while (!large.writable) await setTimeout(5);
await large.write(record(-1));
await large.close();
await trail.close();
say(JSON.stringify({ acknowledged, code, ...whileFull, stillFull }));
