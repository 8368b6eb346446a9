// The licences of what the forms of keystorectl contain, in one text.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };

const root = resolve(import.meta.dirname, '../../..');

/** Ours, then those of the packages; `nodeLicense` is that of Node.js, for the forms that contain it. */
export function licenses(packages: readonly string[], nodeLicense?: string): string {
  const parts: readonly (readonly [name: string, text: string])[] = [
    [`keystorectl ${manifest.version}`, readFileSync(join(root, 'LICENSE'), 'utf8')],
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
