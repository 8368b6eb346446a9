// What tells a data directory in use from a new one.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Files of a used data directory; when one of these exists, nothing is restored. */
const traces = ['store', 'store-key.json', 'softhsm', 'pin', 'so-pin', 'root-token', 'audit'];

/** The path of something that an appliance keeps in this data directory; undefined when none has ever started in it. */
export function findTrace(directory: string): string | undefined {
  return traces.map((name) => join(directory, name)).find((path) => existsSync(path));
}
