// UUIDs of octets from the HSM's random generator; elsewhere node:crypto's randomUUID serves.
import { DrawnAhead } from './async/drawn-ahead.ts';

/** Source of random octets: the HSM. */
type Source = { random(octets: number): Promise<Uint8Array> };

const uuidBytes = 16;
const drawnAhead = new WeakMap<Source, DrawnAhead>();

/** Draws a random UUID. Rejects as the source does. */
export async function drawUuid(source: Source): Promise<string> {
  let drawn = drawnAhead.get(source);
  if (drawn === undefined) drawnAhead.set(source, (drawn = new DrawnAhead((octets) => source.random(octets), uuidBytes)));
  return uuidOf(await drawn.next());
}

/** A UUID of version 4 (RFC 9562 section 5.4) with 122 of the 128 bits of 16 random octets. */
export function uuidOf(random: Uint8Array): string {
  const octets = Uint8Array.from(random);
  octets[6] = ((octets[6] ?? 0) & 0x0f) | 0x40;
  octets[8] = ((octets[8] ?? 0) & 0x3f) | 0x80;
  return octets.toHex().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
