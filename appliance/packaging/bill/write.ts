// Writes the bills of materials of an artefact beside it, in both formats.
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { formatCycloneDx } from './cyclonedx.ts';
import { type Part, type Product, sortParts } from './parts.ts';
import { formatSpdx } from './spdx.ts';

/** By the ending that follows the name of the artefact. */
const formats = { '.cdx.json': formatCycloneDx, '.spdx.json': formatSpdx };

export type Described = Pick<Product, 'kind'> & {
  readonly parts: readonly Part[];
  readonly epochSeconds: number;
  /** default: that of the package */
  readonly version?: string;
  /** name of the described product; default: the product */
  readonly name?: string;
  /** file after which the bills are named; default: the file itself */
  readonly beside?: string;
};

/** Answers the paths of the bills of `file`. */
export function writeBills(file: string, { kind, parts, epochSeconds, ...named }: Described): string[] {
  const { version = manifest.version, name = manifest.name, beside = file } = named;
  const product: Product = { kind, name, version, file: { name: basename(file), sha256: sha256Of(file) } };
  const bill = { product, parts: sortParts(parts), epochSeconds };
  return Object.entries(formats).map(([ending, format]) => {
    writeFileSync(`${beside}${ending}`, format(bill));
    return `${beside}${ending}`;
  });
}

/** The SHA-256 of a file of any size, hex. */
export function sha256Of(file: string): string {
  const digest = createHash('sha256');
  const chunk = Buffer.alloc(1 << 20);
  const descriptor = openSync(file, 'r');
  try {
    for (let length = readSync(descriptor, chunk); length > 0; length = readSync(descriptor, chunk))
      digest.update(chunk.subarray(0, length));
  } finally {
    closeSync(descriptor);
  }
  return digest.digest('hex');
}
