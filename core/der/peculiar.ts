// @peculiar/x509, loaded at the first use: its 280 modules take more time and memory than this whole plugin.
import { createRequire } from 'node:module';
import type * as x509 from '@peculiar/x509';
import { once } from '../base/async/once.ts';

const require = createRequire(import.meta.url);

export const peculiar = once((): typeof x509 => {
  require('reflect-metadata');
  return require('@peculiar/x509') as typeof x509;
});
