// pkijs, which writes CMS messages, loaded at the first one: it costs every process that serves no such protocol nothing.
import { createRequire } from 'node:module';
import type * as asn1js from 'asn1js';
import type * as pkijs from 'pkijs';
import { once } from '../base/async/once.ts';

const require = createRequire(import.meta.url);

export const pkijsWithAsn1 = once(() => ({
  pkijs: require('pkijs') as typeof pkijs,
  asn1js: require('asn1js') as typeof asn1js,
}));
