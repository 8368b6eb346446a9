// Real etcd for tests: started on ports of the system, stopped, continued and killed by the test.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { etcdProgram } from '../../appliance/packaging/etcd/program.ts';
import { EtcdClient } from '../../core/etcd/client.ts';
import { endWithTests } from '../harness/children.ts';

export { etcdProgram };

export type EtcdMember = {
  readonly name: string;
  readonly url: string;
  /** with its data, also again after a kill */
  start(): Promise<void>;
  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): Promise<void>;
};

export type EtcdCluster = { readonly members: readonly EtcdMember[]; readonly urls: readonly string[]; stop(): Promise<void> };

/** Operations that the servers take in a transaction. */
export const maxOperations = 512;

export type EtcdOptions = {
  readonly flags?: readonly string[];
  /** Clients need a certificate. Files, and a client that is let in. */
  readonly secure?: {
    readonly certificate: string;
    readonly key: string;
    readonly ca: string;
    readonly client: (this: void, url: string) => EtcdClient;
  };
};

/** A cluster of that many members on loopback, ready. Several can be made in turn, each with directories and ports of its own. */
export async function startEtcd(count: number, { flags = [], secure }: EtcdOptions = {}): Promise<EtcdCluster> {
  const program = etcdProgram();
  const directory = mkdtempSync(join(tmpdir(), 'keystored-etcd-'));
  const ports = await freePorts(2 * count);
  const urlOf = (index: number): string => `http://127.0.0.1:${ports[index]}`;
  const clientUrlOf = (index: number): string => `${secure === undefined ? 'http' : 'https'}://127.0.0.1:${ports[index]}`;
  const tlsFlags =
    secure === undefined
      ? []
      : ['--client-cert-auth', `--cert-file=${secure.certificate}`, `--key-file=${secure.key}`, `--trusted-ca-file=${secure.ca}`];
  const peers = Array.from({ length: count }, (_, n) => `m${n}=${urlOf(count + n)}`).join(',');
  const members = Array.from({ length: count }, (_, n) =>
    memberOf(`m${n}`, clientUrlOf(n), program, secure?.client, [
      ...[`--name=m${n}`, `--data-dir=${join(directory, `m${n}`)}`, `--initial-cluster=${peers}`],
      ...[`--listen-client-urls=${clientUrlOf(n)}`, `--advertise-client-urls=${clientUrlOf(n)}`],
      ...[`--listen-peer-urls=${urlOf(count + n)}`, `--initial-advertise-peer-urls=${urlOf(count + n)}`],
      ...['--heartbeat-interval=50', '--election-timeout=500', '--log-level=error', '--grpc-keepalive-min-time=500ms'],
      ...[`--max-txn-ops=${maxOperations}`, '--snapshot-count=5000', ...tlsFlags, ...flags],
    ]),
  );
  await Promise.all(members.map((member) => member.start()));
  return {
    members,
    urls: members.map(({ url }) => url),
    async stop() {
      await Promise.all(members.map((member) => member.signal('SIGKILL')));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

type NewClient = ((url: string) => EtcdClient) | undefined;

function memberOf(name: string, url: string, program: string, newClient: NewClient, args: readonly string[]): EtcdMember {
  let child: ChildProcess | undefined;
  return {
    name,
    url,
    async start() {
      child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'], detached: true });
      endWithTests(child);
      await ready(url, child, newClient);
    },
    async signal(signal) {
      const running = child;
      if (running?.exitCode !== null || running.signalCode !== null) return;
      const gone = signal === 'SIGKILL' ? once(running, 'exit') : undefined;
      running.kill(signal);
      await gone;
    },
  };
}

/** A linearizable read works, so there is a leader. */
async function ready(url: string, child: ChildProcess, newClient: NewClient): Promise<void> {
  const client = newClient?.(url) ?? new EtcdClient({ endpoints: [url], nowMs: () => performance.now() });
  try {
    for (;;) {
      if (child.exitCode !== null) throw new Error(`etcd at ${url} has ended; its message is above`);
      try {
        await client.range({ key: Buffer.from('none') });
        return;
      } catch {
        await setTimeout(50);
      }
    }
  } finally {
    client.close();
  }
}

/** Ports that were free a moment ago. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as { readonly port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
