// Versions of the protocol.
import type { Item } from '../ttlv/item.ts';
import { integer, structure } from '../ttlv/item.ts';
import { Fields } from './fields.ts';

export type Version = { readonly major: number; readonly minor: number };

/** Those that are spoken, newest first. */
export const versions: readonly Version[] = [
  ...[1, 0].map((minor) => ({ major: 2, minor })),
  ...[4, 3, 2, 1, 0].map((minor) => ({ major: 1, minor })),
];

/** The version of answers to messages in one that is not spoken: any client reads it. */
export const leastVersion: Version = { major: 1, minor: 0 };

export function isSpoken(version: Version): boolean {
  return versions.some((one) => compare(one, version) === 0);
}

/** Negative: the first is older. */
export function compare(one: Version, other: Version): number {
  return one.major - other.major || one.minor - other.minor;
}

/** Tells whether a version is 1.`minor` or later. */
export function isFrom(version: Version, minor: number): boolean {
  return compare(version, { major: 1, minor }) >= 0;
}

/** From 2.0 on attributes are items with tags of their own. */
export function hasTypedAttributes({ major }: Version): boolean {
  return major >= 2;
}

export function readVersion(items: readonly Item[]): Version {
  const fields = new Fields(items);
  return { major: fields.required('ProtocolVersionMajor', 'integer'), minor: fields.required('ProtocolVersionMinor', 'integer') };
}

export function writeVersion({ major, minor }: Version): Item {
  return structure('ProtocolVersion', integer('ProtocolVersionMajor', major), integer('ProtocolVersionMinor', minor));
}

export function versionText({ major, minor }: Version): string {
  return `${major}.${minor}`;
}
