// The files of the browser application: read once, compressed by the build, served under names that change with their content.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { languages, type Language } from '../../../core/http/pages/language.ts';
import { StaticFile } from '../../../core/http/pages/static-file.ts';
import { compressedEnding, manifestOf } from './manifest.ts';

/** Path at which the files are served. Vite writes it into them as their base. */
export const assetsPath = '/ui/assets';

const mediaTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
};

/** Content of a manifest from the build: the entry, its script and its style sheets. */
type Manifest = Readonly<Record<string, { readonly file: string; readonly isEntry?: boolean; readonly css?: readonly string[] }>>;

/** Addresses of the script and the style sheets of the application. */
export type Application = { readonly script: string; readonly styles: readonly string[] };

export class Assets {
  /** the application in each language */
  readonly in: Readonly<Record<Language, Application>>;
  readonly #files: ReadonlyMap<string, StaticFile>;

  private constructor(files: ReadonlyMap<string, StaticFile>, applications: Readonly<Record<Language, Application>>) {
    this.#files = files;
    this.in = applications;
  }

  /** Reads a build; undefined if nothing was built: a source tree that was never set up. Throws for an incomplete build. */
  static read(directory: string): Assets | undefined {
    if (!existsSync(join(directory, manifestOf('en')))) return undefined;
    const applications = Object.fromEntries(languages.map((language) => [language, applicationIn(join(directory, manifestOf(language)))]));
    const files = new Map<string, StaticFile>();
    for (const name of readdirSync(join(directory, 'assets')).filter((one) => !one.endsWith(compressedEnding)))
      files.set(name, fileOf(join(directory, 'assets', name)));
    return new Assets(files, applications as Record<Language, Application>);
  }

  /** Finds a file; undefined for an unknown name. */
  find(name: string): StaticFile | undefined {
    return this.#files.get(name);
  }
}

function applicationIn(manifestPath: string): Application {
  const manifest = JSON.parse(readFileSync(manifestPath, 'utf8')) as Manifest;
  const entry = Object.values(manifest).find(({ isEntry }) => isEntry === true);
  if (entry === undefined) throw new Error(`${manifestPath} names no entry: build the console again`);
  const addressOf = (file: string): string => `/ui/${file}`;
  return { script: addressOf(entry.file), styles: (entry.css ?? []).map(addressOf) };
}

/** Its name contains the hash of its content, so browsers need never ask for it again. */
function fileOf(path: string): StaticFile {
  const headers = {
    'cache-control': 'public, max-age=31536000, immutable',
    'content-type': mediaTypes[path.split('.').at(-1) ?? ''] ?? 'application/octet-stream',
    'cross-origin-resource-policy': 'same-origin',
  };
  return new StaticFile(readFileSync(path), headers, ['br', 'gzip'], { br: readFileSync(`${path}${compressedEnding}`) });
}
