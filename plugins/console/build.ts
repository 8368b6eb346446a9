// Builds the browser application into files whose names contain their hash. The setup runs it when the sources have changed.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build, type Plugin } from 'vite';

const here = import.meta.dirname;
const packages = resolve(here, '../../node_modules');

/**
 * Writes `manifest.json`, `assets/`, `packages.json` (the names of the npm packages in the bundle) and `licenses.txt` (theirs) into a
 * directory, which is emptied before. The same sources make the same octets.
 */
export async function buildConsole(directory: string): Promise<void> {
  const bundled = new Set<string>();
  await build({
    configFile: false,
    root: join(here, 'app'),
    base: '/ui/',
    logLevel: 'warn',
    mode: 'production',
    plugins: [collectPackages(bundled)],
    // Stated, because NODE_ENV of the caller would make it the form for development, with paths of the machine.
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
    build: {
      outDir: directory,
      emptyOutDir: true,
      manifest: 'manifest.json',
      // No `data:` address and no inline script: the page's policy allows neither.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      sourcemap: false,
      reportCompressedSize: false,
      rolldownOptions: { input: join(here, 'app/main.tsx') },
    },
  });
  const names = [...bundled].sort();
  writeFileSync(join(directory, 'packages.json'), `${JSON.stringify(names)}\n`);
  const licenses = names.map((name) => `${name}\n\n${readFileSync(join(packages, name, 'LICENSE'), 'utf8').trim()}\n`);
  writeFileSync(join(directory, 'licenses.txt'), licenses.join('\n'));
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
