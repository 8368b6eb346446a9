// What a start with the section `cluster` does before anything else: refuses what this version cannot keep, and starts the follower.
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { writeDurably } from '../../core/base/durable-files.ts';
import type { ClusterConfig } from '../../core/config/cluster.ts';
import type { Configuration } from '../../core/config/config.ts';
import { defaultLimits } from '../../core/cluster/transaction.ts';
import { machineMoment } from '../../core/cluster/validity.ts';
import { warnOnStandardError } from '../../core/log/journal.ts';
import { paths } from '../state/paths.ts';
import { StartRefused } from '../state/start-refused.ts';
import program from '../../package.json' with { type: 'json' };
import { type FollowerProcess, keepFollower } from './follower-process.ts';
import { FollowerLink } from './link.ts';
import type { FollowerOrders } from './messages.ts';

/** The follower beside the workers; nothing for an appliance that stands alone. */
export type TakingPart = {
  /** Starts it. Rejects with StartRefused. Once; the data directory is filled before. */
  start(): Promise<void>;
  /** Call it when no process answers any more. */
  stop(): Promise<void>;
};

const standingAlone: TakingPart = { start: async () => undefined, stop: async () => undefined };

/** A Unix socket has no longer path (unix(7)). */
const longestSocketPath = 107;

/** Throws StartRefused for a configuration that a cluster of this version cannot have. */
export function takePart(configuration: Configuration): TakingPart {
  const { cluster } = configuration;
  if (cluster === undefined) return standingAlone;
  requireKeptPromises(configuration, cluster);
  const run = randomUUID();
  let follower: FollowerProcess | undefined;
  return {
    async start() {
      const id = provideIdentity(configuration.data);
      follower = await keepFollower(() => ordersOf(configuration, cluster, id, run));
    },
    stop: async () => follower?.stop(),
  };
}

/** The way to the follower, for a process that opens the store. Undefined for an appliance that stands alone. */
export function openLink({ cluster, data }: Pick<Configuration, 'cluster' | 'data'>): FollowerLink | undefined {
  if (cluster === undefined) return undefined;
  return new FollowerLink({
    ...{ appliance: provideIdentity(data), socket: paths.follower(data), moment: machineMoment },
    isolatedSeconds: cluster.isolatedUsesFor.seconds,
    report: (line) => warnOnStandardError(`cluster: ${line}`),
  });
}

/** What a cluster promises and this version does not keep is not weakened in silence: it is refused, or known to the administrator. */
function requireKeptPromises({ hsm, data }: Configuration, { preview }: ClusterConfig): void {
  if (hsm.tokens.length !== 1) {
    throw new StartRefused(
      `cluster: needs one HSM that every appliance reaches: name exactly one under hsm/tokens (${hsm.tokens.length === 0 ? 'the embedded token is in one data directory only' : 'groups of tokens are not supported yet'})`,
    );
  }
  if (Buffer.byteLength(paths.follower(data)) > longestSocketPath)
    throw new StartRefused(`--data ${data} is too long for the socket in it: a cluster needs a data directory of at most 92 octets`);
  if (!preview) {
    throw new StartRefused(
      'cluster: this version does not keep every promise of a cluster yet (docs/administer/cluster.md names them): cluster/preview: true starts it all the same',
    );
  }
}

const identity = z.object({ id: z.uuid() });

/** Who this appliance is among the members, drawn once: its name can change, and another can have had it. */
export function provideIdentity(data: string): string {
  const file = paths.clusterIdentity(data);
  if (!existsSync(file)) writeDurably(file, `${JSON.stringify({ id: randomUUID() })}\n`);
  try {
    return identity.parse(JSON.parse(readFileSync(file, 'utf8'))).id;
  } catch (error) {
    throw new StartRefused(`${file} is damaged (${(error as Error).name}): remove it, and this appliance comes in as a new member`);
  }
}

function ordersOf(configuration: Configuration, cluster: ClusterConfig, id: string, run: string): FollowerOrders {
  const { data, logs, logLevel: level } = configuration;
  const { name, endpoints } = cluster;
  return {
    ...{ socket: paths.follower(data), directory: paths.store(data), id, name, version: program.version, run },
    endpoints: [...endpoints],
    limits: defaultLimits,
    tls: {
      ca: readPem('ca-file', cluster.caFile),
      certificate: readPem('certificate-file', cluster.certificateFile),
      key: readPem('key-file', cluster.keyFile),
    },
    logs: { directory: paths.logs(data), level, ...logs },
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
  throw new StartRefused(`cluster/${field} ${file} is no PEM file: it begins with -----BEGIN`);
}
