// First step of a start with the section `cluster`: refuses settings that this version cannot keep, and starts the follower.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Log } from '../../../core/base/context.ts';
import type { ClusterConfig } from '../../../core/config/cluster.ts';
import type { Configuration } from '../../../core/config/config.ts';
import { defaultLimits } from '../../../core/cluster/transaction.ts';
import type { HsmConfig } from '../../../hsm/api.ts';
import { removedReason } from '../../../core/cluster/entry.ts';
import { machineMoment } from '../../../core/cluster/validity.ts';
import { warnOnStandardError } from '../../../core/log/journal.ts';
import { provideIdentity } from '../membership/identity.ts';
import { paths } from '../../data-directory/paths.ts';
import { StartRefused } from '../../start-refused.ts';
import type { NeededParts } from '../../data-directory/traces.ts';
import program from '../../../package.json' with { type: 'json' };
import { type FollowerProcess, keepFollower } from './follower-process.ts';
import type { EtcdProcess } from '../membership/etcd-process.ts';
import { isMember, memberFiles, readEndpoints } from '../membership/files.ts';
import { dropFormerState } from '../membership/joining/former-state.ts';
import { urlsOf } from '../membership/server-flags.ts';
import { FollowerLink } from './link.ts';
import type { FollowerOrders } from './messages.ts';

/** Parts of a member beside its workers: a follower, and its own member of etcd. Empty for an appliance that stands alone. */
export type TakingPart = {
  /**
   * Starts them, where this appliance is a member by now. Rejects with StartRefused. The data directory is filled before; asked again when
   * an appliance that stood alone has bootstrapped a cluster, or joins one.
   */
  start(): Promise<void>;
  /** Ends the own member of etcd, where there is one, and starts it again. */
  restartServer(): Promise<void>;
  /** Stops them. Call it once no process answers requests. */
  stop(): Promise<void>;
};

const standingAlone: TakingPart = { start: async () => undefined, restartServer: async () => undefined, stop: async () => undefined };

/** A Unix socket has no longer path (unix(7)). */
const longestSocketPath = 107;

/** Tells whether each appliance of the cluster has a token, with the same own keys; otherwise all reach one. */
export function hasOwnToken({ cluster, hsm }: Pick<Configuration, 'cluster' | 'hsm'>): boolean {
  return cluster !== undefined && (hsm.tokens[0] === undefined || hsm.tokens[0].group !== undefined);
}

/** `openTokens`: makes the embedded token where it is missing. Throws StartRefused for a configuration that a cluster cannot have. */
export function takePart(configuration: Configuration, log: Log, openTokens: () => Promise<Pick<HsmConfig, 'tokens'>>): TakingPart {
  const { cluster, data } = configuration;
  if (cluster === undefined) return standingAlone;
  requireKeptPromises(configuration, cluster);
  const run = randomUUID();
  let follower: FollowerProcess | undefined;
  let server: EtcdProcess | undefined;
  return {
    async start() {
      const id = provideIdentity(data);
      if (cluster.member !== undefined) {
        const ownToken = async () => (hasOwnToken(configuration) ? (await openTokens()).tokens[0] : undefined);
        const own = { data, member: cluster.member, id, name: cluster.name, log, ownToken };
        // Modules of the cluster are loaded only when there is one.
        const { joinIfInvited, startOwnServer } = await import('../membership/own-server.ts');
        dropFormerState(data);
        await joinIfInvited(own);
        if (isMember(configuration)) server = await startOwnServer(own).catch((error: unknown) => explain(configuration, error));
      }
      if (!isMember(configuration)) return;
      follower = await keepFollower(() => ordersOf(configuration, cluster, id, run)).catch((error: unknown) => {
        // Its certificates are revoked and its etcd has ended: the follower itself can only report that no server answers.
        if (server?.isRemoved === true) throw new StartRefused(`cluster: ${removedReason}`);
        return explain(configuration, error);
      });
    },
    restartServer: async () => server?.restart(),
    async stop() {
      await follower?.stop();
      await server?.stop();
    },
  };
}

/** Required parts of the data directory of such an appliance, unless it is new. */
export function neededParts(configuration: Configuration): NeededParts {
  const { hsm, cluster } = configuration;
  const isInvited = cluster?.member?.invitationFile !== undefined;
  return { token: hsm.tokens.length === 0, store: !isMember(configuration), isInvited };
}

/** Throws the reason for which no member admits this appliance, if it is known; otherwise the error itself. */
async function explain({ cluster, data }: Configuration, error: unknown): Promise<never> {
  if (cluster?.member === undefined) throw error;
  const { isRefusedByOthers, refusedReason } = await import('../membership/ending/refused-credentials.ts');
  throw (await isRefusedByOthers(data, urlsOf(cluster.member).clientUrl)) ? new StartRefused(`cluster: ${refusedReason}`) : error;
}

/**
 * The way to the follower, for a process that opens the store: a worker's number, 0 for the supervisor. Undefined for an appliance that
 * stands alone.
 */
export function openLink(configuration: Pick<Configuration, 'cluster' | 'data'>, caller: number): FollowerLink | undefined {
  const { cluster, data } = configuration;
  if (cluster === undefined || !isMember(configuration)) return undefined;
  return new FollowerLink({
    ...{ appliance: provideIdentity(data), caller, socket: paths.follower(data), moment: machineMoment },
    isolatedSeconds: cluster.isolatedUsesFor.seconds,
    report: (line) => warnOnStandardError(`cluster: ${line}`),
  });
}

/** Refuses a configuration with which a guarantee of clusters could not be kept, instead of silently weakening it. */
function requireKeptPromises({ hsm, data, tlsKey }: Configuration, cluster: ClusterConfig): void {
  if (hsm.tokens.length > 1)
    throw new StartRefused(
      'cluster: an appliance of a cluster has one token: name one under hsm/tokens, which all appliances reach, or which is in a group',
    );
  if (hasOwnToken({ cluster, hsm })) requireOwnToken({ hsm, tlsKey }, cluster.member !== undefined);
  if (Buffer.byteLength(paths.follower(data)) > longestSocketPath)
    throw new StartRefused(`--data ${data} is too long for the socket in it: a cluster needs a data directory of at most 92 octets`);
}

/** A token in each appliance: an object in one of them the others would not have, and the keys are carried to who was invited. */
function requireOwnToken({ hsm, tlsKey }: Pick<Configuration, 'hsm' | 'tlsKey'>, isMember: boolean): void {
  const refused = (what: string): never => {
    throw new StartRefused(`cluster: with a token in each appliance ${what}`);
  };
  if (!isMember)
    refused(
      'they run etcd themselves, because an invitation proves whose token gets the keys: give cluster/member in place of cluster/endpoints',
    );
  if (hsm.defaultCustody === 'token')
    refused('hsm/default-custody is wrapped: an object in the token of one appliance the others would not have');
  if (tlsKey === 'token') refused('tls-key is store: tokens of a group keep no keys as objects');
}

function ordersOf(configuration: Configuration, cluster: ClusterConfig, id: string, run: string): FollowerOrders {
  const { data, logs, logLevel: level, publicUrl } = configuration;
  const { name } = cluster;
  return {
    ...{ socket: paths.follower(data), directory: paths.store(data), id, name, version: program.version, run, publicUrl },
    ...wayToEtcd(data, cluster),
    limits: defaultLimits,
    logs: { directory: paths.logs(data), level, ...logs },
  };
}

function wayToEtcd(data: string, { outside, member }: ClusterConfig): Pick<FollowerOrders, 'endpoints' | 'tls' | 'data'> {
  if (outside !== undefined) {
    const tls = {
      ca: readPem('ca-file', outside.caFile),
      certificate: readPem('certificate-file', outside.certificateFile),
      key: readPem('key-file', outside.keyFile),
    };
    return { endpoints: [...outside.endpoints], tls };
  }
  if (member === undefined) throw new TypeError('a cluster has an etcd');
  const { authority, certificate, key } = memberFiles(data).ofRole('client');
  const { clientUrl } = urlsOf(member);
  return {
    endpoints: [clientUrl, ...readEndpoints(data).filter((url) => url !== clientUrl)],
    tls: { ca: readFileSync(authority, 'utf8'), certificate: readFileSync(certificate, 'utf8'), key: readFileSync(key, 'utf8') },
    data,
  };
}

function readPem(field: string, file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new StartRefused(
      `cluster/${field} ${file} cannot be read (${(error as NodeJS.ErrnoException).code}): give a file that is there and readable`,
    );
  }
  if (text.includes('-----BEGIN ')) return text;
  throw new StartRefused(`cluster/${field} ${file} is not a PEM file: one begins with -----BEGIN`);
}
