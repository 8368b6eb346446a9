// Whole appliances that run etcd themselves, made one cluster as an operator does it: init, invitations, and an HSM that all of them reach, or a
// token in each.
import { mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { defined } from '../../core/base/defined.ts';
import type { TokenConfig } from '../../hsm/api.ts';
import { type Daemon, type DaemonOptions, freePort, startDaemon } from '../harness/daemon.ts';
import { makeEmptySoftToken } from '../harness/token/softhsm.ts';
import { argsOf } from './daemons.ts';
import { etcdProgram } from './etcd.ts';

/** Where the cluster is shown; its actions are below. */
export const clusterState = '/v1/state/system/cluster';

/** What an appliance says of the cluster. */
export type Seen = {
  readonly 'cut-off'?: boolean;
  readonly shape: string;
  readonly level: number;
  readonly members: readonly { readonly name: string; readonly state: string; readonly 'certificates-revoked'?: boolean }[];
  readonly etcd: readonly {
    readonly appliance: string;
    readonly url: string;
    readonly leader: boolean;
    readonly learner: boolean;
    readonly problem?: string;
  }[];
};

type Options = Partial<DaemonOptions> & {
  /** the file of one */
  readonly invitation?: string;
};

type Path = (...names: string[]) => string;

/** Where an appliance is, instead of on loopback, below the directory of all, and on the machine's clock. */
export type Site = Pick<DaemonOptions, 'within' | 'address' | 'environment'> & {
  readonly data?: string;
  readonly ports?: readonly [client: number, peer: number];
  /** the field `hsm/job-timeout`; default: 5s */
  readonly jobTimeout?: string;
};
type SiteOf = (name: string) => Site;

/** The field `hsm/tokens` of an appliance. */
type TokensOf = (name: string) => Promise<readonly TokenConfig[]>;

/** Appliances below one directory. */
export class OwnMembers {
  readonly #path: Path;
  readonly #tokensOf: TokensOf;
  readonly #siteOf: SiteOf;
  readonly #tokens = new Map<string, readonly TokenConfig[]>();
  readonly #ports = new Map<string, readonly [client: number, peer: number]>();
  #rootToken: string | undefined;

  private constructor(path: Path, tokensOf: TokensOf, siteOf: SiteOf) {
    [this.#path, this.#tokensOf, this.#siteOf] = [path, tokensOf, siteOf];
  }

  /** `tokensOf` is asked once for each appliance. By default all reach one HSM. */
  static async prepare(path: Path, tokensOf?: TokensOf, siteOf: SiteOf = () => ({})): Promise<OwnMembers> {
    mkdirSync(path(), { recursive: true });
    if (tokensOf !== undefined) return new OwnMembers(path, tokensOf, siteOf);
    const shared = [await makeEmptySoftToken(path('hsm'))];
    return new OwnMembers(path, async () => shared, siteOf);
  }

  /** Each has a SoftHSM2 token in one group, which has no keys yet. */
  static async withOwnTokens(path: Path, siteOf?: SiteOf): Promise<OwnMembers> {
    return OwnMembers.prepare(path, async (name) => [{ ...(await makeEmptySoftToken(path('tokens'), name)), group: 'default' }], siteOf);
  }

  async tokensOf(name: string): Promise<readonly TokenConfig[]> {
    const tokens = this.#tokens.get(name) ?? (await this.#tokensOf(name));
    this.#tokens.set(name, tokens);
    return tokens;
  }

  /** Starts one, or starts it again. The first one makes the root token. */
  async start(name: string, { invitation, ...options }: Options = {}): Promise<Daemon> {
    const { data = this.#path(`data-${name}`), within, address, environment } = this.#siteOf(name);
    const daemon = await startDaemon({
      ...{ directory: data, workers: 2, args: await this.argsOf(name, invitation), ...defined({ within, address, environment }) },
      ...(this.#rootToken === undefined ? {} : { rootToken: this.#rootToken }),
      ...options,
    });
    this.#rootToken ??= daemon.rootToken;
    return daemon;
  }

  /** Its configuration, which is written. */
  async argsOf(name: string, invitation?: string): Promise<string[]> {
    const { address = '127.0.0.1', ports: own, jobTimeout = '5s' } = this.#siteOf(name);
    const ports = own ?? this.#ports.get(name) ?? [await freePort(), await freePort()];
    this.#ports.set(name, ports);
    const [clientPort, peerPort] = ports;
    const member = {
      ...{ address, 'client-port': clientPort, 'peer-port': peerPort, program: etcdProgram() },
      ...(invitation === undefined ? {} : { 'invitation-file': invitation }),
    };
    const tokens = (await this.tokensOf(name)).map(({ libraryParameters, ...token }) => ({
      ...token,
      ...defined({ 'library-parameters': libraryParameters }),
    }));
    const hsm = { tokens, 'job-timeout': jobTimeout };
    return argsOf(this.#path, name, { tokens: [], hsm, cluster: { name, member } });
  }

  /** Makes an appliance that stands alone the first member, and waits until it serves as that. Answers what it answered. */
  async found(first: Daemon): Promise<unknown> {
    const answer = await first.request('POST', `${clusterState}/init`);
    while (!(await answersAsMember(first))) await setTimeout(100);
    return answer;
  }

  /** The file of an invitation. */
  async invitationBy(member: Daemon, name: string): Promise<string> {
    const { invitation } = (await member.request('POST', `${clusterState}/invite`)) as { invitation: string };
    const file = this.#path(`invitation-${name}`);
    writeFileSync(file, `${invitation}\n`);
    return file;
  }

  /** Starts one that `member` has invited. */
  async join(name: string, member: Daemon, options: Partial<DaemonOptions> = {}): Promise<Daemon> {
    return this.start(name, { ...options, invitation: await this.invitationBy(member, name) });
  }
}

export const seenBy = async (daemon: Daemon): Promise<Seen> => (await daemon.request('GET', clusterState)) as Seen;

/** Whether an answer is the state of the cluster by an appliance that is in; one that is cut off answers, too. */
export function isMember(answer: { readonly status: number; readonly body: unknown } | undefined): boolean {
  if (answer?.status !== 200) return false;
  const { shape, 'cut-off': cutOff } = answer.body as Seen;
  return shape === 'cluster' && cutOff !== true;
}

async function answersAsMember(daemon: Daemon): Promise<boolean> {
  const answer = await daemon.exchange('GET', clusterState).catch(() => undefined);
  return isMember(answer);
}
