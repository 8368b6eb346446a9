// Etcd as the follower sees it where the appliances run it themselves: which servers there are, how they are, and the end of one.
import { setTimeout } from 'node:timers/promises';
import type { Log } from '../../../core/base/context.ts';
import { reasonOf } from '../../../core/base/errors.ts';
import type { EtcdClient } from '../../../core/etcd/client.ts';
import type { EtcdServer } from '../../../core/etcd/messages.ts';
import { forgetFormerRevisions, makeRoom, spaceWanted } from '../../../core/etcd/space.ts';
import type { ServerState } from '../cluster-way.ts';

const lookEveryMs = 5_000;
const statusMs = 1_000;
/** Etcd changes its servers only when those that stay have been connected for five seconds. */
const removalMs = 10_000;
const againMs = 500;

/** If stored records fill the space, making room helps for a moment only, and takes every server its time. */
const roomEveryMs = 600_000;

/**
 * Tells the client URLs of the servers that count for the majority, our own first, whenever these change. If our own server leads, space
 * for etcd is made. Answers a function that stops this.
 */
export function watchServers(client: EtcdClient, ownName: string, log: Log, onChange: (urls: readonly string[]) => void): () => void {
  let roomMadeMs = -Infinity;
  const seeToSpace = async ({ ID, clientURLs: [url] }: EtcdServer): Promise<void> => {
    if (url === undefined || !client.endpoints.includes(url)) return;
    const status = await client.status(url, statusMs);
    const wanted = status.leader === ID ? spaceWanted(status) : 'nothing';
    if (wanted === 'compaction') await forgetFormerRevisions(client);
    if (wanted !== 'room' || performance.now() - roomMadeMs < roomEveryMs) return;
    roomMadeMs = performance.now();
    await makeRoom(client, log);
  };
  const look = async (): Promise<void> => {
    const servers = await client.listMembers().catch(() => undefined);
    if (servers === undefined) return;
    const own = servers.find(({ name }) => name === ownName);
    if (own !== undefined) await seeToSpace(own).catch((error) => log.warn('etcd was not given space', { reason: reasonOf(error) }));
    const urls = urlsOf(servers.toSorted((one, other) => Number(other.name === ownName) - Number(one.name === ownName)));
    if (urls.length > 0 && urls.join() !== client.endpoints.join()) onChange(urls);
  };
  let looked: Promise<void> | undefined;
  const timer = setInterval(() => {
    looked ??= look().finally(() => (looked = undefined));
  }, lookEveryMs).unref();
  return () => clearInterval(timer);
}

function urlsOf(servers: readonly EtcdServer[]): readonly string[] {
  return servers.flatMap(({ isLearner, clientURLs }) => (isLearner ? [] : clientURLs.slice(0, 1)));
}

/** Asks each server for its own description, within a second. */
export async function describeServers(client: EtcdClient): Promise<readonly ServerState[]> {
  const servers = await client.listMembers();
  return Promise.all(servers.map(async (server) => ({ ...identityOf(server), ...(await healthOf(client, server)) })));
}

/**
 * The servers as an answering one knows them, or the endpoints if none answers; and the description of each by itself. The majority is not
 * needed, so that an appliance that is cut off answers it, too, within two seconds.
 */
export async function describeReached(client: EtcdClient): Promise<readonly ServerState[]> {
  const known = await client.knownMembers(statusMs).catch(() => []);
  const named = new Map(known.map((server) => [server.clientURLs[0], server]));
  const urls = new Set([...client.endpoints, ...known.flatMap(({ clientURLs }) => clientURLs.slice(0, 1))]);
  return Promise.all(
    Array.from(urls, async (url) => {
      const server = named.get(url) ?? { ID: '', name: '', peerURLs: [], clientURLs: [url], isLearner: false };
      return { ...identityOf(server), ...(await healthOf(client, server)) };
    }),
  );
}

function identityOf({ name, clientURLs, isLearner }: EtcdServer): Pick<ServerState, 'appliance' | 'url' | 'isLearner'> {
  return { appliance: name, url: clientURLs[0] ?? '', isLearner };
}

async function healthOf(
  client: EtcdClient,
  { ID, clientURLs: [url] }: EtcdServer,
): Promise<Omit<ServerState, 'appliance' | 'url' | 'isLearner'>> {
  if (url === undefined || !client.endpoints.includes(url))
    return { isLeader: false, problem: 'it is being filled, or has not started yet' };
  try {
    const { version, leader, dbSize, errors } = await client.status(url, statusMs);
    return { isLeader: leader === ID, version, bytes: Number(dbSize), ...(errors.length === 0 ? {} : { problem: errors.join('; ') }) };
  } catch {
    return { isLeader: false, problem: 'it does not answer' };
  }
}

/** Removes the server of an appliance from etcd: its peers refuse it at once. Rejects with EtcdError. */
export async function removeServerOf(client: EtcdClient, appliance: string, log: Log): Promise<void> {
  for (const deadlineMs = performance.now() + removalMs; ; await setTimeout(againMs)) {
    try {
      const server = (await client.listMembers()).find(({ name }) => name === appliance);
      if (server !== undefined) await client.removeServer(server.ID);
      return;
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
      log.warn('etcd does not remove a server yet', { reason: reasonOf(error) });
    }
  }
}
