// A new server of etcd: added as a learner, filled from the others, and counted for the majority once it has caught up.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { hostOf } from '../../../core/base/addresses.ts';
import type { Log } from '../../../core/base/context.ts';
import { reasonOf } from '../../../core/base/errors.ts';
import { EtcdClient } from '../../../core/etcd/client.ts';
import type { EtcdServer } from '../../../core/etcd/messages.ts';
import { StartRefused } from '../../start-refused.ts';
import { memberFiles } from './files.ts';

/** Another appliance joins, or etcd waits until its servers have been connected for a while. */
const patienceMs = 120_000;
/** Limit for filling, enough for a store of a million records. */
const fillingMs = 900_000;
const againMs = 250;
const connectMs = 1_000;

/** A way to those members of etcd, with the certificate of this appliance. */
export function clientOf(data: string, endpoints: readonly string[]): EtcdClient {
  const { key, certificate, authority } = memberFiles(data).ofRole('client');
  const tls = { ca: readFileSync(authority), certificate: readFileSync(certificate), key: readFileSync(key) };
  return new EtcdClient({ endpoints, tls, nowMs: () => performance.now() });
}

/** Tells whether this server of etcd has started once: then it knows the others by itself. */
export function hasStarted(etcdDirectory: string): boolean {
  return existsSync(join(etcdDirectory, 'member', 'wal'));
}

/**
 * Adds a server that has no data; answers the peer URLs of all by name. A former one at this address has lost its data: it is removed,
 * never started again under its old id, because it has forgotten how it voted. So is one that another appliance has begun to fill and that
 * does not listen for `abandonedMs`: etcd fills one at a time.
 */
export async function addServer(
  client: EtcdClient,
  name: string,
  peerUrl: string,
  log: Log,
  abandonedMs = 30_000,
): Promise<ReadonlyMap<string, string>> {
  await requireOwnAddress(peerUrl);
  const silentSinceMs = new Map<string, number>();
  return patiently(patienceMs, 'etcd takes no new member', log, async () => {
    for (const server of await client.listMembers()) {
      const isGone = server.peerURLs.includes(peerUrl) || (server.isLearner && (await isAbandoned(server, silentSinceMs, abandonedMs)));
      if (isGone) await client.removeServer(server.ID);
    }
    const { ID } = await client.addLearner(peerUrl);
    const servers = await client.listMembers();
    return new Map(servers.map((one) => [one.ID === ID ? name : one.name, one.peerURLs[0] ?? '']));
  });
}

/** Resolves when the server counts for the majority. Its process runs. Throws StartRefused when the others have removed it. */
export async function promoteServer(client: EtcdClient, peerUrl: string, log: Log): Promise<void> {
  await patiently(fillingMs, 'the member of etcd is not filled yet', log, async () => {
    const own = (await client.listMembers()).find(({ peerURLs }) => peerURLs.includes(peerUrl));
    if (own === undefined) throw new StartRefused('cluster: this appliance was removed while it joined: start it with a new invitation');
    if (own.isLearner) await client.promote(own.ID);
  });
}

/** `silentSinceMs`: since when servers, by id, have not listened. */
async function isAbandoned({ ID, peerURLs }: EtcdServer, silentSinceMs: Map<string, number>, abandonedMs: number): Promise<boolean> {
  if (await listens(peerURLs[0])) silentSinceMs.delete(ID);
  else if (!silentSinceMs.has(ID)) silentSinceMs.set(ID, performance.now());
  return performance.now() - (silentSinceMs.get(ID) ?? Number.POSITIVE_INFINITY) >= abandonedMs;
}

async function listens(url: string | undefined): Promise<boolean> {
  if (url === undefined) return false;
  const socket = connect(placeOf(new URL(url)));
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(connectMs) });
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

function placeOf(url: URL): { readonly host: string; readonly port: number } {
  return { host: hostOf(url), port: Number(url.port) };
}

/** Otherwise a wrong address in the configuration would remove the server of another appliance. */
async function requireOwnAddress(peerUrl: string): Promise<void> {
  const url = new URL(peerUrl);
  const server = createServer().listen({ ...placeOf(url), exclusive: true });
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartRefused(
      `cluster/member: ${url.hostname} port ${url.port} cannot be listened on (${code}): give an address of this machine and a free port`,
    );
  } finally {
    server.close();
  }
}

async function patiently<T>(withinMs: number, problem: string, log: Log, run: () => Promise<T>): Promise<T> {
  let told = '';
  for (const deadlineMs = performance.now() + withinMs; ; await setTimeout(againMs)) {
    try {
      return await run();
    } catch (error) {
      if (error instanceof StartRefused) throw error;
      const reason = reasonOf(error);
      if (performance.now() > deadlineMs) throw new StartRefused(`cluster: ${problem}: ${reason}`);
      if (reason !== told) log.warn(problem, { reason });
      told = reason;
    }
  }
}
