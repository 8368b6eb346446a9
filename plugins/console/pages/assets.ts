// The files of the browser application: read once, compressed when first asked for, served under names that change with their content.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StaticFile } from '../../../core/http/pages/static-file.ts';

/** Path at which the files are served. Vite writes it into them as their base. */
export const assetsPath = '/ui/assets';

const mediaTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
};

/** Content of `manifest.json` from the build: the entry, its script and its style sheets. */
type Manifest = Readonly<Record<string, { readonly file: string; readonly isEntry?: boolean; readonly css?: readonly string[] }>>;

export class Assets {
  /** addresses of the script and the style sheets of the application */
  readonly script: string;
  readonly styles: readonly string[];
  readonly #files: ReadonlyMap<string, StaticFile>;

  private constructor(files: ReadonlyMap<string, StaticFile>, script: string, styles: readonly string[]) {
    this.#files = files;
    this.script = script;
    this.styles = styles;
  }

  /** Reads a build; undefined if nothing was built: a source tree that was never set up. Throws for an incomplete build. */
  static read(directory: string): Assets | undefined {
    const manifestPath = join(directory, 'manifest.json');
    if (!existsSync(manifestPath)) return undefined;
    const manifest = JSON.parse(readFileSync(manifestPath, 'utf8')) as Manifest;
    const entry = Object.values(manifest).find(({ isEntry }) => isEntry === true);
    if (entry === undefined) throw new Error(`${manifestPath} names no entry: build the console again`);
    const files = new Map<string, StaticFile>();
    for (const name of readdirSync(join(directory, 'assets'))) files.set(name, fileOf(name, readFileSync(join(directory, 'assets', name))));
    const addressOf = (file: string): string => `/ui/${file}`;
    return new Assets(files, addressOf(entry.file), (entry.css ?? []).map(addressOf));
  }

  /** Finds a file; undefined for an unknown name. */
  find(name: string): StaticFile | undefined {
    return this.#files.get(name);
  }
}

/** Its name contains the hash of its content, so browsers need never ask for it again. */
function fileOf(name: string, octets: Uint8Array): StaticFile {
  const headers = {
    'cache-control': 'public, max-age=31536000, immutable',
    'content-type': mediaTypes[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
    'cross-origin-resource-policy': 'same-origin',
  };
  return new StaticFile(octets, headers, ['br', 'gzip']);
}
