// Builds the browser application into files whose names contain their hash. The setup runs it when the sources have changed.
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { build, type Plugin } from 'vite';
import type { Language } from '../../core/http/pages/language.ts';
import { compressedEnding, manifestOf } from './pages/manifest.ts';
import { germanOf } from './words/de/words.ts';
import { speaking } from './words/plugin.ts';

const here = import.meta.dirname;
const packages = resolve(here, '../../node_modules');

/** The step of the build for each language; the sources are in English. */
const steps: Readonly<Record<Language, readonly Plugin[]>> = {
  en: [],
  de: [
    speaking(germanOf, {
      'description/field-names.ts': join(here, 'words/de/api/field-names.ts'),
      'language/appliance-texts.ts': join(here, 'words/de/api/appliance-texts.ts'),
    }),
  ],
};

/**
 * Writes `assets/`, a manifest for each language, `packages.json` (the names of the npm packages in the bundle) and `licenses.txt` (theirs)
 * into a directory, which is emptied before. The same sources make the same octets.
 */
export async function buildConsole(directory: string): Promise<void> {
  const bundled = new Set<string>();
  rmSync(directory, { recursive: true, force: true });
  for (const [language, plugins] of Object.entries(steps) as [Language, readonly Plugin[]][])
    await buildIn(language, directory, [...plugins, collectPackages(bundled)]);
  compressFilesOf(join(directory, 'assets'));
  const names = [...bundled].sort();
  writeFileSync(join(directory, 'packages.json'), `${JSON.stringify(names)}\n`);
  const licenses = names.map((name) => `${name}\n\n${readFileSync(join(packages, name, 'LICENSE'), 'utf8').trim()}\n`);
  writeFileSync(join(directory, 'licenses.txt'), licenses.join('\n'));
}

async function buildIn(language: Language, directory: string, plugins: Plugin[]): Promise<void> {
  await build({
    configFile: false,
    root: join(here, 'app'),
    base: '/ui/',
    logLevel: 'warn',
    mode: 'production',
    plugins,
    // Stated, because NODE_ENV of the caller would make it the form for development, with paths of the machine.
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
    build: {
      outDir: directory,
      emptyOutDir: false,
      manifest: manifestOf(language),
      // No `data:` address and no inline script: the page's policy allows neither.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      sourcemap: false,
      reportCompressedSize: false,
      rolldownOptions: { input: join(here, 'app/main.tsx'), checks: { pluginTimings: false } },
    },
  });
}

function compressFilesOf(directory: string): void {
  for (const name of readdirSync(directory)) {
    const octets = readFileSync(join(directory, name));
    const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: octets.length };
    writeFileSync(join(directory, `${name}${compressedEnding}`), brotliCompressSync(octets, { params }));
  }
}

/** Adds the names of the packages whose modules are in the bundle. */
function collectPackages(names: Set<string>): Plugin {
  return {
    name: 'collect-packages',
    generateBundle(_, bundle) {
      const modules = Object.values(bundle).flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []));
      for (const id of modules) {
        const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id) ?? [];
        if (name !== undefined) names.add(name);
      }
    },
  };
}

/** Builds into the path from which the plugin serves, as a whole: another process may read it meanwhile. */
if (import.meta.main) {
  const [stamp = ''] = process.argv.slice(2);
  const target = join(here, 'built');
  const unfinished = `${target}.${process.pid}.tmp`;
  await buildConsole(unfinished);
  writeFileSync(join(unfinished, 'stamp'), stamp);
  rmSync(target, { recursive: true, force: true });
  renameSync(unfinished, target);
}
