// openpgp.js, loaded at the first block or signature: its tables alone take 50 ms and 20 MiB, and most workers never meet one.
import { createRequire } from 'node:module';
import type * as library from 'openpgp';
import { once } from '../../../core/base/async/once.ts';

const require = createRequire(import.meta.url);

/** The library. */
export const openpgp = once(() => require('openpgp') as typeof library);
