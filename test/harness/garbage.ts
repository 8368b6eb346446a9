// Collects garbage on demand, so that a test measures what is alive and not when the collector last ran.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** A full collection, synchronous. */
export const collectGarbage = runInNewContext('gc') as () => void;
