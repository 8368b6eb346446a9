// A token that makes the IVs of AES-GCM itself: SoftHSM2 behind iv-module.c.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { TokenConfig } from '../../../hsm/api.ts';
import { madeOnce } from '../once.ts';
import { makeSoftToken } from './softhsm.ts';

export const ivModes = ['returned', 'appended-12', 'appended-16'] as const;

/** The name says SoftHSM: its files are kept as those of SoftHSM itself. */
const moduleName = 'libsofthsm2-iv.so';

/** A prepared token below the directory whose module makes IVs so. */
export async function makeIvToken(directory: string, mode: (typeof ivModes)[number]): Promise<TokenConfig> {
  return withIvsOf(await makeSoftToken(directory), mode);
}

/** The same token behind the module. */
export async function withIvsOf(token: TokenConfig, mode: (typeof ivModes)[number]): Promise<TokenConfig> {
  const directory = await madeOnce('iv-module', async (at) => {
    const headers = join(import.meta.dirname, '../../../node_modules/pkcs11js/includes');
    const flags = ['-shared', '-fPIC', '-O1', '-Wall', '-Wextra', '-Werror', '-I', headers];
    execFileSync('cc', [...flags, '-o', join(at, moduleName), join(import.meta.dirname, 'iv-module.c'), '-ldl']);
  });
  const environment = { ...token.environment, KEYSTORED_IV_REAL: token.module, KEYSTORED_IV_MODE: mode };
  return { ...token, module: join(directory, moduleName), environment };
}
