// npm test -- cluster test/cluster/enrolment-rush.test.ts: devices enrol by SCEP, EST, CMP and ACME at three appliances, one of which is killed in the middle and does
// not come back. RUSH_DEVICES says how many.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Daemon, freePort, startDaemon } from '../harness/daemon.ts';
import { keepResult } from '../harness/drill-result.ts';
import { type Target, rush } from '../harness/enrolment-rush.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { argsOf, prepareCluster, sectionOf, type Shared } from './daemons.ts';

const path = temporaryDirectory();
const count = Number(process.env['RUSH_DEVICES'] ?? 1_000);
let shared: Shared;
const members: Daemon[] = [];
let targets: Target[] = [];

beforeAll(async () => {
  const prepared = await prepareCluster(path);
  const alone = await startDaemon({ directory: path('data-a'), args: argsOf(path, 'alone', { tokens: [prepared.token] }) });
  expect(await alone.stop()).toBe(0);
  shared = { ...prepared, rootToken: alone.rootToken };
  for (const name of ['a', 'b', 'c']) {
    const [port, securePort] = [await freePort(), await freePort()];
    const enrolment = { listen: `127.0.0.1:${securePort}`, 'plain-listen': `127.0.0.1:${port}` };
    const args = argsOf(path, name, { tokens: [shared.token], cluster: sectionOf(path, name, shared.etcd.urls), enrolment });
    const daemon = await startDaemon({ directory: path(`data-${name}`), workers: 2, rootToken: shared.rootToken, args });
    members.push(daemon);
    targets.push({ ...daemon, plain: `http://127.0.0.1:${port}`, secure: `https://127.0.0.1:${securePort}` });
  }
});
afterAll(async () => {
  for (const member of members) await member.stop().catch(() => undefined);
  await shared.etcd.stop();
});

test(
  `${count} devices get their certificates from three appliances, of which one is killed`,
  () =>
    keepResult({ name: 'enrolment-rush/members', command: 'npm test -- cluster test/cluster/enrolment-rush.test.ts' }, async (figures) => {
      let killed: Promise<void> | undefined;
      const { certificates, repeated, broken, statuses } = await rush(
        count,
        () => targets,
        (issued) => {
          if (issued !== Math.floor(count / 3)) return;
          killed = members[2]?.kill();
          // Devices find out by themselves at first.
          setTimeout(() => (targets = targets.slice(0, 2)), 3_000);
        },
      );
      await killed;
      expect([certificates, killed === undefined]).toEqual([count, false]);
      Object.assign(figures, { certificates, repeated, broken, 'come again': (statuses[503] ?? 0) + (statuses[429] ?? 0) });
    }),
  Math.max(900_000, count * 1_000),
);
