// The PKCS#11 modules the HSM suites run against: SoftHSM2 always, NSS softoken and kryoptic when available, and one named by the environment.
import { defined } from '../../../core/base/defined.ts';
import type { TokenConfig } from '../../../hsm/api.ts';
import { prepareToken } from '../../../hsm/setup/setup.ts';
import { builtKryoptic, kryopticVersion, makeKryopticToken, obtainKryoptic } from './kryoptic.ts';
import { makeNssToken, obtainNss } from './nss.ts';
import { makeSoftToken } from './softhsm.ts';

/** A module under test: `make` returns a prepared token, with its files (if any) below the directory. `version`: where it does not say it. */
export type ModuleUnderTest = { readonly name: string; readonly version?: string; make(directory: string): Promise<TokenConfig> };

/**
 * The available modules. Unavailable ones are named on standard error with the reason, so that a suite never shrinks silently. Long tests have
 * kryoptic built where it is not yet.
 */
export async function findModules({ builds = false } = {}): Promise<ModuleUnderTest[]> {
  const modules: ModuleUnderTest[] = [{ name: 'SoftHSM2', make: makeSoftToken }];
  const nss = await obtainNss();
  if ('directory' in nss) modules.push({ name: 'NSS softoken', make: (directory) => makeNssToken(nss, directory) });
  else console.error(`SKIPPED: NSS softoken (ML-DSA in the token): ${nss.missing}`);
  const kryoptic = builds ? await obtainKryoptic() : builtKryoptic();
  if ('module' in kryoptic)
    modules.push({ name: 'kryoptic', version: kryopticVersion, make: (directory) => makeKryopticToken(kryoptic, directory) });
  else console.error(`SKIPPED: kryoptic: ${kryoptic.missing}`);
  const vendor = vendorToken();
  if (vendor !== undefined) {
    modules.push({
      name: `${vendor.module} (KEYSTORED_TEST_MODULE)`,
      make: async () => {
        await prepareToken(vendor);
        return vendor;
      },
    });
  }
  return modules;
}

/** KEYSTORED_TEST_MODULE (path), KEYSTORED_TEST_LABEL or _SERIAL, KEYSTORED_TEST_PIN, and KEYSTORED_TEST_PARAMETERS for C_Initialize. */
function vendorToken(): TokenConfig | undefined {
  const { KEYSTORED_TEST_MODULE: module, KEYSTORED_TEST_LABEL: label, KEYSTORED_TEST_SERIAL: serial } = process.env;
  if (module === undefined) return undefined;
  const libraryParameters = process.env['KEYSTORED_TEST_PARAMETERS'];
  return {
    name: 'vendor',
    module,
    pin: { environment: 'KEYSTORED_TEST_PIN' },
    ...(serial === undefined ? { label: label ?? 'keystored' } : { serial }),
    ...defined({ libraryParameters }),
  };
}
