// The licences of the packages in a bundle, in one text.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };

const root = resolve(import.meta.dirname, '../..');

/** In the path of a module. */
const packageName = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//;

/** The names of the packages of npm that modules with these paths belong to, sorted. */
export function packagesOf(modules: readonly string[]): readonly string[] {
  return [...new Set(modules.flatMap((id) => packageName.exec(id)?.[1] ?? []))].sort();
}

/** Ours, for a program of this name, then those of the packages; `nodeLicense` is that of Node.js, for programs that contain it. */
export function licenses(program: string, packages: readonly string[], nodeLicense?: string): string {
  const parts: readonly (readonly [name: string, text: string])[] = [
    [`${program} ${manifest.version}`, readFileSync(join(root, 'LICENSE'), 'utf8')],
    ...packages.map((name) => [name, licenseOf(name)] as const),
    ...(nodeLicense === undefined ? [] : [[`Node.js ${manifest.dependencies.node}`, nodeLicense] as const]),
  ];
  return parts.map(([name, text]) => `${'='.repeat(72)}\n${name}\n${'='.repeat(72)}\n\n${text.trim()}\n`).join('\n');
}

function licenseOf(name: string): string {
  const folder = join(root, 'node_modules', name);
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  if (file === undefined) throw new Error(`${name} has no licence file`);
  return readFileSync(join(folder, file), 'utf8');
}
