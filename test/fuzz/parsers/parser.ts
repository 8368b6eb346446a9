// What the drill of parsers knows of each of them.
import type { Material } from './mutations.ts';

export type Parser = Material & {
  readonly name: string;
  /** how many inputs it gets for each one of the others; default: 1 */
  readonly share?: number;
  /** Reads or refuses. Any error but a refusal is a find. */
  read(octets: Buffer): unknown;
};
