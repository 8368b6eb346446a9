// One address for several appliances, by the configuration of keepalived that the documentation has and by what the bootable image makes of its
// settings: network name spaces, real daemons, curl.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { renderSettings } from '../../appliance/packaging/os/programs/render.ts';
import { parseSettings } from '../../appliance/packaging/os/programs/settings.ts';
import { endWithTests } from '../harness/children.ts';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';

const path = temporaryDirectory();
const missing = [
  ['keepalived', '--version'],
  ['curl', '--version'],
  ['nft', '--version'],
  ['unshare', '--net', 'true'],
].filter(([command = '', ...args]) => spawnSync(command, args).status !== 0);
const possible = process.getuid?.() === 0 && missing.length === 0;
if (!possible)
  console.warn('SKIPPED: one address for several appliances, because that needs root, network name spaces, keepalived, nft and curl');

const repository = resolve(import.meta.dirname, '../..');
const page = readFileSync(resolve(repository, 'appliance/docs/administer/cluster.md'), 'utf8');
const [, documented = ''] = /```text\n(global_defs [^]*?)```/.exec(page) ?? [];
const [common, ownAddresses] = ['192.0.2.10', ['192.0.2.11', '192.0.2.12']] as const;
const run = `k${process.pid % 100_000}`;
const spaceOf = (index: number): string => `${run}-${index}`;
const clients = `${run}-c`;

function ip(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('ip', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr}`);
  return stdout;
}

/** The command line that keeps the address in the name space of this index, with `directory` for its files. */
type Keeping = (index: number, directory: string) => readonly string[];

const asDocumented: Keeping = (index, directory) => {
  const file = resolve(directory, 'keepalived.conf');
  const address = ownAddresses[index] ?? '';
  const peers = ownAddresses.filter((one) => one !== address).join('\n');
  writeFileSync(
    file,
    documented.replace(/unicast_src_ip .*/, `unicast_src_ip ${address}`).replace(/(unicast_peer \{)[^}]*/, `$1\n${peers}\n`),
  );
  const files = ['--pid', '--vrrp_pid', '--checkers_pid'].map((name) => `${name}=${resolve(directory, name)}`);
  return ['keepalived', '--dont-fork', '--vrrp', `--use-file=${file}`, ...files];
};

/** With the rights and behind the firewall that it has there. */
const asOnTheImage: Keeping = (index, directory) => {
  const tree = resolve(repository, 'appliance/packaging/os/tree');
  const cluster = {
    ...{ name: `plant-${index}`, address: ownAddresses[index] },
    'shared-address': { address: `${common}/24`, peers: ownAddresses },
  };
  const rendered = renderSettings(parseSettings(Buffer.from(JSON.stringify({ hosts: [common], cluster }))));
  const file = resolve(directory, 'settings.conf');
  writeFileSync(file, rendered['/run/keystored-os/keepalived.conf'] ?? '');
  const rules = `${readFileSync(`${tree}/etc/nftables.conf`, 'utf8')}\n${rendered['/run/keystored-os/networks.nft']}`;
  ip('netns', 'exec', spaceOf(index), 'nft', rules);
  const script = resolve(directory, 'share-address');
  const text = readFileSync(`${tree}/usr/lib/keystored-os/share-address`, 'utf8');
  writeFileSync(script, text.replace('/run/keystored-os/keepalived.conf', file));
  const rights = ['setpriv', '--no-new-privs', '--bounding-set', '-all,+net_admin,+net_raw'];
  return [...rights, 'env', `RUNTIME_DIRECTORY=${directory}`, 'sh', script];
};

/** Where the common address is. */
const holders = (): readonly number[] =>
  ownAddresses.flatMap((_, index) => (ip('-n', spaceOf(index), 'addr').includes(` ${common}/24`) ? [index] : []));

describe.skipIf(!possible)('one address for several appliances', () => {
  const daemons: Daemon[] = [];

  // A shell in between, because `ip` becomes the daemon: what is below the first process is killed.
  const startOne = (index: number): Promise<Daemon> =>
    startDaemon({
      ...{ directory: path(`data-${index}`), firstStart: true, under: ['sh', '-c', 'ip netns exec "$0" "$@"; exit $?', spaceOf(index)] },
      args: ['--config', path('keystored.yaml'), '--listen', '0.0.0.0:4646', '--est-listen', '0.0.0.0:4665'],
    });
  const answers = (): boolean => {
    const words = ['--silent', '--fail', '--max-time', '2', '--cacert', path('ca.pem'), `https://${common}:4646/v1/state/system/health`];
    return spawnSync('ip', ['netns', 'exec', clients, 'curl', ...words]).status === 0;
  };

  beforeAll(async () => {
    mkdirSync(path(), { recursive: true });
    writeFileSync(path('keystored.yaml'), JSON.stringify({ hosts: ['keys.example', common] }));
    ip('netns', 'add', clients);
    ip('-n', clients, 'link', 'add', 'bridge', 'type', 'bridge');
    ip('-n', clients, 'addr', 'add', '192.0.2.100/24', 'dev', 'bridge');
    for (const one of ['lo', 'bridge']) ip('-n', clients, 'link', 'set', one, 'up');
    for (const [index, address] of ownAddresses.entries()) {
      const space = spaceOf(index);
      ip('netns', 'add', space);
      ip('-n', clients, 'link', 'add', `port-${index}`, 'master', 'bridge', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space);
      ip('-n', clients, 'link', 'set', `port-${index}`, 'up');
      ip('-n', space, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
      for (const one of ['lo', 'eth0']) ip('-n', space, 'link', 'set', one, 'up');
    }
    for (const index of ownAddresses.keys()) daemons.push(await startOne(index));
    writeFileSync(path('ca.pem'), daemons.map(({ caPem }) => caPem).join(''));
  });

  afterAll(async () => {
    for (const daemon of daemons) await daemon.kill().catch(() => undefined);
    for (const space of [...ownAddresses.keys()].map(spaceOf).concat(clients)) spawnSync('ip', ['netns', 'del', space]);
  });

  describe.each([
    ['of the documentation', asDocumented],
    ['of the image', asOnTheImage],
  ] as const)('by the configuration %s', (_, keeping) => {
    const keepers: ChildProcess[] = [];

    beforeAll(() => {
      for (const index of ownAddresses.keys()) {
        const directory = path(`${keeping.name}-${index}`);
        mkdirSync(directory);
        const keeper = spawn('ip', ['netns', 'exec', spaceOf(index), ...keeping(index, directory)], {
          stdio: 'ignore',
          detached: true,
        });
        endWithTests(keeper);
        keepers.push(keeper);
      }
    });

    afterAll(async () => {
      for (const { pid = 0 } of keepers) process.kill(-pid, 'SIGTERM');
      for (const index of ownAddresses.keys()) ip('-n', clients, 'link', 'set', `port-${index}`, 'up');
      await vi.waitFor(() => expect(holders()).toEqual([]), { timeout: 60_000, interval: 100 });
    });

    test('one of those that serve has it; when its daemon is killed, the other one has it, and keeps it when the first is back', async () => {
      await expect.poll(answers, { timeout: 60_000, interval: 200 }).toBe(true);
      const [first = 0, ...others] = holders();
      expect(others).toEqual([]);
      const killed = performance.now();
      await daemons[first]?.kill();
      await expect.poll(() => answers() && holders().join(), { timeout: 60_000, interval: 100 }).toBe(String(1 - first));
      console.log(`a daemon was killed: the other one answers at the common address after ${Math.round(performance.now() - killed)} ms`);
      daemons[first] = await startOne(first);
      expect(holders()).toEqual([1 - first]);
    });

    test('when its machine is gone from the network, the other one has it', async () => {
      const [first = 0] = holders();
      const cut = performance.now();
      ip('-n', clients, 'link', 'set', `port-${first}`, 'down');
      await expect.poll(answers, { timeout: 60_000, interval: 100 }).toBe(true);
      console.log(`a machine was cut off: the other one answers at the common address after ${Math.round(performance.now() - cut)} ms`);
      expect(holders()).toContain(1 - first);
    });
  });
});
