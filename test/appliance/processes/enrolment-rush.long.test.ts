// Devices enrol by SCEP, EST, CMP and ACME while the process that holds the token is killed: nobody is lost, and nothing is issued twice. The soak has a thousand.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Daemon, freePort, startDaemon } from '../../harness/daemon.ts';
import { rush } from '../../harness/enrolment-rush.ts';
import { children, end } from '../../harness/kills/victims.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
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

test('forty devices get their certificates over two kills of token processes', async () => {
  const one = { ...daemon, plain, secure };
  let killed = 0;
  const figures = await rush(
    40,
    () => [one],
    (issued) => {
      if (issued !== 10 && issued !== 20) return;
      const [host] = children(children(daemon.pid)[issued === 10 ? 0 : 1] ?? 0);
      if (end(host ?? 0)) killed += 1;
    },
  );
  expect(figures).toMatchObject({ certificates: 40, repeated: 30 });
  expect(killed).toBe(2);
  // The listener is measured, and looked at from outside.
  const metrics = String(await daemon.request('GET', '/v1/state/system/metrics'));
  expect(metrics).toMatch(/keystored_connections_limit\{listener="enrolment-plain"\} \d+/);
  expect(metrics).toMatch(/keystored_enrolment_failing|keystored_certificate_not_after_seconds\{kind="registration"/);
});
