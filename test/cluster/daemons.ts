// Whole appliances of a cluster: real daemons over real etcd with certificates, and one SoftHSM2 token that all of them reach.
import { readFileSync, writeFileSync } from 'node:fs';
import { defined } from '../../core/base/defined.ts';
import { type Daemon, type DaemonOptions, startDaemon } from '../harness/daemon.ts';
import { makeEmptySoftToken } from '../harness/token/softhsm.ts';
import type { TokenConfig } from '../../hsm/api.ts';
import { securedIn } from './certificates.ts';
import { type EtcdCluster, startEtcd } from './etcd.ts';
import { type Network, relaysTo } from './relay.ts';

type Paths = (...names: string[]) => string;

/** What a daemon of a cluster is configured with, beside its name. */
export type Shared = {
  readonly etcd: EtcdCluster;
  readonly token: TokenConfig;
  readonly rootToken: string;
  /** everything below one directory */
  readonly path: Paths;
};

export type Member = Daemon & { readonly name: string; readonly network: Network };

/** Etcd with certificates, and the HSM that the network has: a token without its own keys. */
export async function prepareCluster(path: Paths): Promise<Omit<Shared, 'rootToken'>> {
  const etcd = await startEtcd(3, { secure: securedIn(path) });
  return { etcd, path, token: await makeEmptySoftToken(path('hsm')) };
}

/** The fields of the section `cluster`. */
export function sectionOf(path: Paths, name: string, endpoints: readonly string[]): Readonly<Record<string, unknown>> {
  return {
    ...{ name, endpoints, 'ca-file': path('ours.pem') },
    ...{ 'certificate-file': path('appliance.pem'), 'key-file': path('appliance-key.pem') },
  };
}

/** The arguments for a configuration, which is written below `path`. */
export function argsOf(
  path: Paths,
  name: string,
  { tokens, ...rest }: { readonly tokens: readonly TokenConfig[]; readonly [section: string]: unknown },
): string[] {
  const file = path(`${name}.yaml`);
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ hsm: { tokens }, ...rest }));
  return ['--config', file];
}

/** Starts a member, or starts it again; its way to etcd can be cut. The first one makes the root token. `sections`: more of the configuration. */
export async function startMember(
  shared: Omit<Shared, 'rootToken'> & Partial<Shared>,
  name: string,
  { sections = {}, ...options }: Partial<DaemonOptions> & { readonly sections?: Readonly<Record<string, unknown>> } = {},
): Promise<Member> {
  const { etcd, path, token, rootToken } = shared;
  const network = await relaysTo(etcd.urls);
  try {
    const args = argsOf(path, name, { tokens: [token], cluster: sectionOf(path, name, network.urls), ...sections });
    const daemon = await startDaemon({
      directory: path(`data-${name}`),
      workers: 2,
      ...defined({ rootToken }),
      ...options,
      args: [...args, ...(options.args ?? [])],
    });
    return { ...daemon, name, network };
  } catch (error) {
    network.close();
    throw error;
  }
}

export async function endMember(member: Member): Promise<void> {
  await member.stop();
  member.network.close();
}

/** The message of a start that is refused. */
export function refusalOf(starting: Promise<unknown>): Promise<string> {
  return starting.then(
    () => 'it was not refused',
    (error: Error) => error.message,
  );
}

export const pinOf = ({ pin }: TokenConfig): string => readFileSync((pin as { readonly file: string }).file, 'utf8');
