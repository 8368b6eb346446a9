// A SoftHSM2 token for tests: its own directory, its own PINs, ready for openHsm.
import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import type { HsmConfig, PinSource, TokenConfig } from '../../../hsm/api.ts';
import { initialiseSoftToken, prepareToken, softhsmConf } from '../../../hsm/setup/setup.ts';
import { copyDirectory, madeOnce } from '../once.ts';

const modulePaths: readonly [string, ...string[]] = [
  '/usr/lib/softhsm/libsofthsm2.so',
  '/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so',
  '/usr/local/lib/softhsm/libsofthsm2.so',
];

/** Where the distribution puts SoftHSM2. */
export const softhsmModule = modulePaths.find((path) => existsSync(path)) ?? modulePaths[0];

/**
 * Copies a prepared token below `directory` (made if need be) and returns its configuration. All tokens of one name in a run have the same
 * PINs, serial number and own keys: for another token use another name.
 */
export async function makeSoftToken(directory: string, name = 'main'): Promise<TokenConfig> {
  const template = await madeOnce(`token-${name}`, async (at) => {
    await prepareToken(await makeEmptySoftToken(at, name));
  });
  const parts = partsOf(directory, name);
  const templateParts = partsOf(template, name);
  for (const part of ['tokens', 'pin', 'soPin'] as const) copyDirectory(templateParts[part], parts[part]);
  return configure(parts, name);
}

/**
 * The same for a test that loads SoftHSM2 into its own process. SoftHSM2 reads its configuration once for each loaded library, and other
 * test files of this process have loaded it before: a copy of the file is another library.
 */
export async function makeSoftTokenForThisProcess(directory: string): Promise<TokenConfig> {
  const token = await makeSoftToken(directory);
  const library = join(directory, 'libsofthsm2.so');
  copyFileSync(softhsmModule, library);
  for (const [name, value] of Object.entries(token.environment ?? {})) vi.stubEnv(name, value);
  return { ...token, module: library };
}

/** Makes a fresh token without its own keys: as it is before the first boot. */
export async function makeEmptySoftToken(directory: string, name = 'main'): Promise<TokenConfig> {
  const { soPin, ...token } = planSoftToken(directory, name);
  await initialiseSoftToken({ ...token, soPin });
  return token;
}

/** A token that is to be initialised: its PINs are there, and a directory for it. */
export function planSoftToken(directory: string, name = 'main'): TokenConfig & { readonly label: string; readonly soPin: PinSource } {
  const parts = partsOf(directory, name);
  mkdirSync(parts.tokens, { recursive: true, mode: 0o700 });
  writeFileSync(parts.pin, randomUUID(), { mode: 0o600 });
  writeFileSync(parts.soPin, randomUUID(), { mode: 0o600 });
  return { ...configure(parts, name), soPin: { file: parts.soPin } };
}

type Parts = { readonly tokens: string; readonly configuration: string; readonly pin: string; readonly soPin: string };

function partsOf(directory: string, name: string): Parts {
  const path = (suffix: string): string => join(directory, `${name}-${suffix}`);
  return { tokens: path('tokens'), configuration: path('softhsm.conf'), pin: path('pin'), soPin: path('so-pin') };
}

function configure(parts: Parts, name: string): TokenConfig & { readonly label: string } {
  writeFileSync(parts.configuration, softhsmConf(parts.tokens));
  return {
    name,
    module: softhsmModule,
    label: `test-${name}`,
    pin: { file: parts.pin },
    environment: { SOFTHSM2_CONF: parts.configuration },
  };
}

/** A configuration of these tokens with settings fit for tests. */
export function testHsmConfig(...tokens: readonly TokenConfig[]): HsmConfig {
  return { tokens, defaultCustody: 'wrapped', cacheKeys: 1_000, jobTimeoutSeconds: 10 };
}
