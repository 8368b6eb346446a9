// A start looks at what the system lets it have: too few open files are refused with what is needed, few make fewer connections.
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { examineLimits } from '../../../appliance/composition/own-limits.ts';
import { connectionsThatFit, neededFiles, openFileLimit } from '../../../core/config/open-files.ts';
import { startDaemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const at = temporaryDirectory();
const gib = 2 ** 30;
const limited = (files: number): readonly string[] => ['sh', '-c', `ulimit -n ${files}; exec "$@"`, 'sh'];

test('what is enough is not spoken of, what is little is said with what is needed', () => {
  expect(examineLimits({ workers: 2 }, { files: 65_536, bytes: gib })).toEqual([]);
  expect(examineLimits({ workers: 8 }, { files: 65_536, bytes: gib })).toEqual([
    '1024 MiB of memory are little for 8 workers: give 1664 MiB, or set fewer workers',
  ]);
  expect(examineLimits({ workers: 1 }, { files: 1_024, bytes: gib })).toEqual([expect.stringContaining('may open 1024 files')]);
  expect(() => examineLimits({ workers: 1 }, { files: 511, bytes: gib })).toThrow('needs 512 at least: allow 8448');
});

test('a limit that a small store keeps within is warned of', () => {
  const limits = at('limits');
  const line = (what: string, octets: number): string => `Max ${what}  ${octets}  unlimited  bytes\n`;
  writeFileSync(limits, line('file size', 204_800_000) + line('address space', 12_288_000_000));
  expect(examineLimits({ workers: 2 }, { files: 65_536, bytes: gib, limits })).toEqual([
    expect.stringMatching(
      /^the address space of a process is limited to 12288000000 octets, which a growing store may exceed: set no limit/,
    ),
    expect.stringMatching(/^the file size of a process is limited to 204800000 octets, which a growing store may exceed: set no limit/),
  ]);
});

test('connections are as many as files are left, within bounds; an unknown limit is none', () => {
  expect([connectionsThatFit(1_024), connectionsThatFit(65_536), connectionsThatFit(neededFiles.least)]).toEqual([384, 4_096, 128]);
  expect(openFileLimit(at('missing'))).toBe(Infinity);
  expect(openFileLimit()).toBeGreaterThanOrEqual(neededFiles.least);
});

describe('a daemon', () => {
  test.each([32, 300])('that may open %s files says so and ends before it has made anything', async (files) => {
    const started = startDaemon({ directory: at(`few-${files}`), firstStart: true, within: limited(files) });
    await expect(started).rejects.toThrow(`a process may open ${files} files, and needs ${neededFiles.least} at least`);
  });

  test.each([
    ['ulimit -f 1000', /the file size of a process is limited to \d+ octets, and 67108864 at least are needed: set no limit \(LimitFSIZE=/],
    [
      'ulimit -v 8000000',
      /the address space of a process is limited to \d+ octets, and 10737418240 at least are needed: set no limit \(LimitAS=/,
    ],
  ])('under %s says so and ends before it has made anything', async (limit, says) => {
    const within = ['sh', '-c', `${limit}; exec "$@"`, 'sh'];
    await expect(startDaemon({ directory: at(limit), firstStart: true, within })).rejects.toThrow(says);
  });

  test('under ulimit -v 12000000 is warned and serves', async () => {
    const within = ['sh', '-c', 'ulimit -v 12000000; exec "$@"', 'sh'];
    const daemon = await startDaemon({ directory: at('narrow'), workers: 2, within });
    expect(daemon.output()).toContain('which a growing store may exceed');
    await daemon.request('POST', '/v1/config/keystore/transit-keys', { name: 'k' });
    expect(await daemon.stop()).toBe(0);
  });

  test('that may open few serves who is connected while more connect than it has files for', async () => {
    const daemon = await startDaemon({ directory: at('some'), within: limited(neededFiles.least) });
    expect(daemon.output()).toContain(`a process may open ${neededFiles.least} files`);
    const { hostname, port } = new URL(daemon.url);
    const sockets = Array.from({ length: 400 }, () => connect(Number(port), hostname).on('error', () => undefined));
    await Promise.all(sockets.map((socket) => Promise.race([once(socket, 'close'), once(socket, 'connect')])));
    for (const socket of sockets) socket.destroy();
    await expect.poll(async () => (await daemon.exchange('GET', '/v1/state/system/health').catch(() => undefined))?.status).toBe(200);
    expect(daemon.output()).not.toContain('EMFILE');
    expect(await daemon.stop()).toBe(0);
  });
});
