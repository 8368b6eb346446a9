// A SoftHSM2 token for tests: its own directory, its own PINs, ready for openHsm.
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HsmConfig, TokenConfig } from '../../../hsm/api.ts';
import { initialiseSoftToken, prepareToken, softhsmConf } from '../../../hsm/setup/setup.ts';

const modulePaths: readonly [string, ...string[]] = [
  '/usr/lib/softhsm/libsofthsm2.so',
  '/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so',
  '/usr/local/lib/softhsm/libsofthsm2.so',
];

/** Where the distribution puts SoftHSM2. */
export const softhsmModule = modulePaths.find((path) => existsSync(path)) ?? modulePaths[0];

/** Makes a fresh, prepared token below `directory` (made if need be) and returns its configuration. */
export async function makeSoftToken(directory: string, name = 'main'): Promise<TokenConfig> {
  const token = await makeEmptySoftToken(directory, name);
  await prepareToken(token);
  return token;
}

/** The same without the token's own keys: as it is before the first boot. */
export async function makeEmptySoftToken(directory: string, name = 'main'): Promise<TokenConfig> {
  const tokens = join(directory, `${name}-tokens`);
  mkdirSync(tokens, { recursive: true, mode: 0o700 });
  const path = (suffix: string): string => join(directory, `${name}-${suffix}`);
  writeFileSync(path('softhsm.conf'), softhsmConf(tokens));
  writeFileSync(path('pin'), randomUUID(), { mode: 0o600 });
  writeFileSync(path('so-pin'), randomUUID(), { mode: 0o600 });
  const token = {
    name,
    module: softhsmModule,
    label: `test-${name}`,
    pin: { file: path('pin') },
    environment: { SOFTHSM2_CONF: path('softhsm.conf') },
  } as const;
  await initialiseSoftToken({ ...token, soPin: { file: path('so-pin') } });
  return token;
}

/** A configuration of these tokens with settings fit for tests. */
export function testHsmConfig(...tokens: readonly TokenConfig[]): HsmConfig {
  return { tokens, defaultCustody: 'wrapped', cacheKeys: 1_000, jobTimeoutSeconds: 10 };
}
