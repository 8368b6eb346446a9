// All German texts: one table for the whole console, because one phrase stands for one idea; with exceptions for words that are two in German.
import type { Words } from '../translate.ts';
import { access } from './access.ts';
import { audit } from './audit.ts';
import { certificates } from './certificates.ts';
import { forms } from './forms.ts';
import { frame } from './frame.ts';
import { keys } from './keys.ts';
import { machine } from './machine.ts';
import { making } from './making.ts';
import { overview } from './overview.ts';
import { policies } from './policies.ts';

/** The tables, by what their texts are about. */
export const areas: Readonly<Record<string, Words>> = {
  access,
  audit,
  certificates,
  forms,
  frame,
  keys,
  machine,
  making,
  overview,
  policies,
};

/** By the source below `app/`. */
export const exceptions: Readonly<Record<string, Words>> = {
  'views/audit/sentences.ts': { made: 'Anlegen von', make: 'Anlegen von' },
  'views/audit/uses.ts': { change: 'Ändern', delete: 'Löschen' },
  'views/authorities/certificates.tsx': { End: 'Ende' },
  'views/hsm/latencies.tsx': { '99th percentile': '99. Perzentil' },
};

const everywhere: Words = Object.assign({}, ...Object.values(areas)) as Words;

/** The texts of a source, by its path below `app/`. */
export function germanOf(source: string): Words {
  const own = exceptions[source];
  return own === undefined ? everywhere : { ...everywhere, ...own };
}
