// A burst of devices at each port of the daemon; none of them sees a reset.
import { afterAll, beforeAll, test } from 'vitest';
import { expectBurstAnswered } from '../../harness/burst.ts';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
let daemon: Daemon;
beforeAll(async () => {
  daemon = await startDaemon({ directory: path('data'), workers: 2 });
});
afterAll(() => daemon.kill());

test('a hundred enrolments and a hundred management requests at once are all answered; the soak has a thousand', () =>
  expectBurstAnswered(daemon, 100));
