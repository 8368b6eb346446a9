// Bundles the service with rolldown: a module for each program of it and a few that they share. A process then loads some twenty files
// instead of five hundred, and strips no types.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { rolldown, type Plugin } from 'rolldown';
import { licenses, packagesOf } from '../licenses.ts';

const root = resolve(import.meta.dirname, '../../..');

/**
 * Packages of npm that are bundled, with their dependencies. All others stay packages: they have native code or files beside their code
 * (lmdb, pkcs11js, @grpc), or are loaded at the first use by `require`.
 */
const taken: readonly string[] = ['consola', 'h3', 'openid-client', 'prom-client', 'qr', 'zod'];

/** Files that determine the content, beside the modules in it. */
const decisive: readonly string[] = [
  'package-lock.json',
  'tsconfig.json',
  ...['bundle.ts', 'provide.ts'].map((name) => join(import.meta.dirname, name).slice(root.length + 1)),
];

/** The program that is started; the others are started by it. */
export const serviceProgram = 'keystored.js';

/** The name of the file with the sources of a bundle. */
export const sourcesName = 'sources.json';

/**
 * By name: modules with their source maps, the licences of the packages in it, and `sources.json`, the SHA-256 of each source file by path.
 */
export type ServiceBundle = ReadonlyMap<string, string | Uint8Array>;

/**
 * Makes the bundle for a folder at `place` below the root, such as `dist/service/1`: files outside are found from there. The same sources
 * make the same octets. Throws when a module asks for its own place in a way that has no answer in a bundle.
 */
export async function bundleService(place: string): Promise<ServiceBundle> {
  const directory = join(root, place);
  const bundle = await rolldown({
    input: join(root, 'appliance/keystored.ts'),
    cwd: root,
    platform: 'node',
    plugins: [stayOutside, placesOf(directory), escapeRest],
    onLog(level, log) {
      throw new Error(`the service cannot be bundled: ${level}: ${log.message}`);
    },
  });
  try {
    const { output } = await bundle.generate({
      dir: directory,
      format: 'esm',
      // V8 keeps a script with one character beyond Latin-1 with two octets for each character.
      charset: 'ascii',
      // Readable: functions and classes keep their names in stacks. Node.js reads the maps only with --enable-source-maps.
      ...{ minify: false, keepNames: true, comments: { legal: true, annotation: false, jsdoc: false } },
      ...{ sourcemap: true, sourcemapExcludeSources: true },
      ...{ entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    });
    const modules = output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []));
    const files = output.map((part) => [part.fileName, part.type === 'chunk' ? part.code : part.source] as const);
    const text = licenses('keystored', packagesOf(modules));
    return new Map([...files, ['LICENSES', text], [sourcesName, describeSources(modules)]]);
  } finally {
    await bundle.close();
  }
}

/** Packages that are not taken in are imported from the bundle as they are from the sources. */
const stayOutside: Plugin = {
  name: 'stay-outside',
  resolveId: {
    filter: { id: /^[@a-z]/ },
    handler(specifier, importer) {
      if (isBuiltin(specifier) || importer === undefined || importer.includes('/node_modules/')) return undefined;
      const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
      return taken.includes(name) ? undefined : { id: specifier, external: true };
    },
  },
};

/** The charset leaves tagged templates as they are, because a tag could read the raw text; `html` does not. */
const escapeRest: Plugin = {
  name: 'escape-rest',
  renderChunk(code) {
    if (!/[^\0-\x7f]/.test(code)) return undefined;
    if (/String\.raw`[^`]*[^\0-\x7f]/.test(code)) this.error('String.raw has a character that would be escaped');
    return { code: code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`), map: null };
  },
};

const besideModule = /new URL\('(\.{1,2}\/[^']*)', import\.meta\.url\)/g;

/**
 * Sources name programs and files by their place beside the module, `new URL('../worker.ts', import.meta.url)`. Programs become modules of
 * the bundle, and other files are found from it.
 */
export function placesOf(directory: string): Plugin {
  const programs = new Map<string, string>();
  return {
    name: 'places',
    transform: {
      filter: { id: /\.ts$/, code: 'import.meta' },
      handler(code, id) {
        const others = code.replaceAll(besideModule, '').replaceAll('createRequire(import.meta.url)', '');
        if (others.includes('import.meta')) this.error(`${id} asks for its own place, and in the bundle that is another one`);
        const placed = code.replaceAll(besideModule, (_, path: string) => {
          const file = resolve(dirname(id), path);
          if (!file.endsWith('.ts')) return urlOf(relative(directory, file));
          const fileName = `${basename(file, '.ts')}.js`;
          const program = programs.get(fileName) ?? file;
          if (program !== file) this.error(`${file} and ${program} would both be ${fileName}`);
          if (!programs.has(fileName)) this.emitFile({ type: 'chunk', id: file, fileName });
          programs.set(fileName, file);
          return urlOf(`./${fileName}`);
        });
        // No line is moved.
        return { code: placed, map: null };
      },
    },
  };
}

function urlOf(path: string): string {
  return `new URL(${JSON.stringify(path)}, import.meta.url)`;
}

/** The SHA-256 of each source file of this tree by its path, and of the files that determine the content beside them. */
function describeSources(modules: readonly string[]): string {
  const own = modules.filter((id) => id.startsWith(`${root}/`) && !id.includes('/node_modules/')).map((id) => id.slice(root.length + 1));
  const names = [...new Set([...own, ...decisive])].sort();
  const sums = names.map((name) => [name, hash('sha256', readFileSync(join(root, name)))] as const);
  return `${JSON.stringify(Object.fromEntries(sums), undefined, 1)}\n`;
}
