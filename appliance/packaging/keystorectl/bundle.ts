// Bundles keystorectl with rolldown: one module for the single file, several for a tarball, each loaded when its command is run.
import { isBuiltin } from 'node:module';
import { join, resolve } from 'node:path';
import { rolldown, type Plugin } from 'rolldown';
import { describeSealed } from '../../seal/sealed-description.ts';
import { packagesOf } from '../licenses.ts';

const root = resolve(import.meta.dirname, '../../..');

/** Begins the ids of modules that stand for one of Node's own. */
const mark = '\0builtin:';

export type Bundle = {
  /** the code by file name; `keystorectl.js` is the entry */
  readonly modules: ReadonlyMap<string, string>;
  /** names of the packages of npm that are in it, sorted: their licences go with it */
  readonly packages: readonly string[];
};

/** The same sources give the same octets. */
export async function bundleKeystorectl({ oneModule }: { readonly oneModule: boolean }): Promise<Bundle> {
  const bundle = await rolldown({
    input: { keystorectl: join(root, 'appliance/cli/keystorectl.ts') },
    cwd: root,
    platform: 'node',
    plugins: [lazyBuiltins, withoutServer],
    logLevel: 'silent',
  });
  try {
    const { output } = await bundle.generate({
      format: 'esm',
      minify: true,
      comments: { legal: true },
      codeSplitting: !oneModule,
      // Names without a hash: an update replaces the files.
      ...{ entryFileNames: '[name].js', chunkFileNames: '[name].js' },
    });
    const chunks = output.filter((part) => part.type === 'chunk');
    return {
      modules: new Map(chunks.map(({ fileName, code }) => [fileName, code])),
      packages: packagesOf(chunks.flatMap(({ moduleIds }) => moduleIds)),
    };
  } finally {
    await bundle.close();
  }
}

/**
 * Imports of Node's own modules are moved into the modules that use them: in one file all imports would run at the start, and node:https
 * alone takes as long as the start of Node.js.
 */
const lazyBuiltins: Plugin = {
  name: 'lazy-builtins',
  // The bundler's own import, of node:module, stays: its wrappers of modules are made from it.
  resolveId: (specifier, importer) =>
    isBuiltin(specifier) && importer?.startsWith('\0') !== true ? { id: `${mark}${specifier}` } : undefined,
  load: (id) => (id.startsWith(mark) ? `module.exports = process.getBuiltinModule(${JSON.stringify(id.slice(mark.length))});` : undefined),
};

/**
 * Removes the parts that need the packages of the server: the commands for PKCS#11 modules are replaced by a message that says where they
 * are; the description of a sealed appliance is written down.
 */
const withoutServer: Plugin = {
  name: 'without-server',
  load(id) {
    if (id.endsWith('/appliance/cli/commands/hsm.ts')) return absentHsm;
    if (id.endsWith('/appliance/cli/custodians/on-machine.ts')) return absentCustodians;
    if (!id.endsWith('/appliance/seal/sealed-description.ts')) return undefined;
    return `export const describeSealed = () => (${JSON.stringify(describeSealed())});`;
  },
};

const absentHsm = `
import { CommandFailed, exitCodes } from '../terminal/failure.ts';
export function runHsm() {
  throw new CommandFailed(exitCodes.usage, 'this keystorectl has no PKCS#11: the commands for an HSM are in the package "keystored", on the machine with the HSM');
}`;

const absentCustodians = `
import { CommandFailed, exitCodes } from '../terminal/failure.ts';
function absent() {
  throw new CommandFailed(exitCodes.usage, 'this keystorectl has no PKCS#11: custodians make, join and end are in the package "keystored", on the machine of the appliance');
}
export { absent as endShares, absent as joinShares, absent as makeShares };`;
