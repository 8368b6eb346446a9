// The token of one machine of the drill: its way to the one that all reach, or a token that only this one has, beside its disk or on it.
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TokenConfig } from '../../../hsm/api.ts';
import { softhsmConf } from '../../../hsm/setup/setup.ts';
import { makeEmptySoftToken, softhsmModule } from '../../harness/token/softhsm.ts';

/** Whether all appliances reach one token, or each has its own. */
export type TokenShape = 'shared' | 'own';

export type MachineToken = {
  /** the field `hsm/tokens` of the appliance there */
  readonly configured: readonly TokenConfig[];
  /** the same token for other programs; an embedded one exists once the appliance has begun */
  config(): TokenConfig;
  /** Takes it away from the appliance; answers how to bring it back. */
  take(): () => void;
  /** It is lost, and another one without keys is in its place. An embedded one is made by the next first start, one that all reach stays. */
  renew(): Promise<void>;
};

/** Tokens of one group are called so, because the embedded one is in the group of its name. */
const group = 'default';
const name = 'own';

/** A way of this machine alone to the token of all. */
export function wayTo(shared: TokenConfig, path: (...names: string[]) => string): MachineToken {
  const [files, configuration] = [path('tokens'), path('softhsm.conf')];
  mkdirSync(path(), { recursive: true });
  symlinkSync(filesOf(shared), files);
  writeFileSync(configuration, softhsmConf(files));
  const config = { ...shared, environment: { SOFTHSM2_CONF: configuration } };
  return {
    ...{ configured: [config], config: () => config, take: () => takeAway(files) },
    renew: () => Promise.resolve(),
  };
}

export async function ownToken(path: (...names: string[]) => string): Promise<MachineToken> {
  const make = async (): Promise<TokenConfig> => ({ ...(await makeEmptySoftToken(path('hsm'), name)), group });
  // The configuration of the next one is the same.
  const config = await make();
  const files = filesOf(config);
  return {
    ...{ configured: [config], config: () => config, take: () => takeAway(files) },
    async renew() {
      rmSync(files, { recursive: true });
      await make();
    },
  };
}

/** `data`: the data directory that it is in. */
export function embeddedToken(data: () => string): MachineToken {
  const config = (): TokenConfig => ({
    ...{ name: group, group, module: softhsmModule, label: 'keystored', pin: { file: join(data(), 'pin') } },
    environment: { SOFTHSM2_CONF: join(data(), 'softhsm.conf') },
  });
  return {
    ...{ configured: [], config, take: () => takeAway(join(data(), 'softhsm')) },
    renew: async () => rmSync(join(data(), 'softhsm'), { recursive: true, force: true }),
  };
}

/** For another appliance: two that have one token would destroy each other's wrapping keys. */
export function copyOfToken(token: TokenConfig, directory: string): TokenConfig {
  const [files, configuration] = [join(directory, 'tokens'), join(directory, 'softhsm.conf')];
  mkdirSync(directory, { recursive: true });
  cpSync(filesOf(token), files, { recursive: true, dereference: true });
  writeFileSync(configuration, softhsmConf(files));
  return { ...token, environment: { SOFTHSM2_CONF: configuration } };
}

/** Beside the configuration, as those who make tokens name it. */
function filesOf({ environment }: TokenConfig): string {
  const configuration = environment?.['SOFTHSM2_CONF'] ?? '';
  const embedded = configuration.replace(/softhsm\.conf$/, 'softhsm');
  return existsSync(embedded) ? embedded : configuration.replace(/softhsm\.conf$/, 'tokens');
}

function takeAway(files: string): () => void {
  const away = `${files}-away`;
  if (!existsSync(files)) return () => undefined;
  renameSync(files, away);
  return () => renameSync(away, files);
}
