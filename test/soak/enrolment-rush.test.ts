// npm run soak -- enrolment-rush: a thousand devices by SCEP, EST, CMP and ACME, with the processes of the token killed all the while. RUSH_DEVICES
// says how many; 4000 are a thousand of each.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Daemon, freePort, startDaemon } from '../harness/daemon.ts';
import { keepResult } from '../harness/drill-result.ts';
import { rush } from '../harness/enrolment-rush.ts';
import { children, end } from '../harness/kills/victims.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
const count = Number(process.env['RUSH_DEVICES'] ?? 1_000);
let daemon: Daemon;
let [plain, secure]: [string, string] = ['', ''];

beforeAll(async () => {
  const [port, securePort] = [await freePort(), await freePort()];
  [plain, secure] = [`http://127.0.0.1:${port}`, `https://127.0.0.1:${securePort}`];
  const file = path('keystored.yaml');
  writeFileSync(file, JSON.stringify({ enrolment: { listen: `127.0.0.1:${securePort}`, 'plain-listen': `127.0.0.1:${port}` } }));
  daemon = await startDaemon({ directory: path('data'), workers: 2, args: ['--config', file], firstStart: false });
});
afterAll(() => daemon.kill());

test(`${count} devices get their certificates over kills of token processes`, () =>
  keepResult({ name: 'enrolment-rush/token processes', command: 'npm run soak -- enrolment-rush' }, async (figures) => {
    const one = { ...daemon, plain, secure };
    let kills = 0;
    const { certificates, repeated, broken, statuses } = await rush(
      count,
      () => [one],
      (issued) => {
        if (issued % 90 !== 0) return;
        const hosts = children(daemon.pid).flatMap((worker) => children(worker));
        if (end(hosts[issued % Math.max(1, hosts.length)] ?? 0)) kills += 1;
      },
    );
    expect(kills).toBeGreaterThan(Math.floor(count / 180));
    Object.assign(figures, { certificates, repeated, broken, kills, 'come again': (statuses[503] ?? 0) + (statuses[429] ?? 0) });
  }));
