// The step of the build that makes the console of another language: its texts in the sources, and the names of fields.
import { join, relative, resolve } from 'node:path';
import type { Plugin } from 'vite';
import { translate, type Words } from './translate.ts';

const repository = resolve(import.meta.dirname, '../../..');
const app = resolve(import.meta.dirname, '../app');

/** `wordsOf` by the path of a source below `app/`; `fieldNames` is the path of a module like `app/description/field-names.ts`. */
export function speaking(wordsOf: (source: string) => Words, fieldNames: string): Plugin {
  return {
    name: 'speaking',
    enforce: 'pre',
    resolveId(source, importer) {
      const isNames = importer !== undefined && resolve(importer, '..', source) === join(app, 'description/field-names.ts');
      return isNames ? fieldNames : undefined;
    },
    transform(code, id) {
      const isOurs = id.startsWith(`${repository}/`) && !id.includes('/node_modules/') && /\.tsx?$/.test(id);
      return isOurs ? { code: translate(code, id.endsWith('x') ? 'tsx' : 'ts', wordsOf(relative(app, id))), map: null } : undefined;
    },
  };
}
