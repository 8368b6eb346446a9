// The step of the build that makes the console of another language: its texts in the sources, and those of what comes from the appliance.
import { relative, resolve } from 'node:path';
import type { Plugin } from 'vite';
import { translate, type Words } from './translate.ts';

const repository = resolve(import.meta.dirname, '../../..');
const app = resolve(import.meta.dirname, '../app');

/** `wordsOf` by the path of a source below `app/`; `modules` are the paths of modules that replace others, by theirs below `app/`. */
export function speaking(wordsOf: (source: string) => Words, modules: Readonly<Record<string, string>>): Plugin {
  return {
    name: 'speaking',
    enforce: 'pre',
    resolveId(source, importer) {
      return importer === undefined ? undefined : modules[relative(app, resolve(importer, '..', source))];
    },
    transform(code, id) {
      const isOurs = id.startsWith(`${repository}/`) && !id.includes('/node_modules/') && /\.tsx?$/.test(id);
      return isOurs ? { code: translate(code, id.endsWith('x') ? 'tsx' : 'ts', wordsOf(relative(app, id))), map: null } : undefined;
    },
  };
}
