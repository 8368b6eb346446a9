// npm run soak: a thousand devices at once at each port of the daemon; none of them sees a reset.
import { afterAll, beforeAll, test } from 'vitest';
import { expectBurstAnswered } from '../harness/burst.ts';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { keepResult } from '../harness/drill-result.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon({ directory: path('data'), workers: 2 });
});
afterAll(() => daemon.kill());

test('a thousand enrolments and a thousand management requests at once are all answered', () =>
  keepResult({ name: 'handshake-burst', command: 'npm run soak -- handshake-burst' }, async (figures) => {
    await expectBurstAnswered(daemon, 1_000);
    Object.assign(figures, { enrolments: 1_000, requests: 1_000 });
  }));
