// Ids of objects: UUIDs of version 7 (RFC 9562 section 5.7), so that objects are in the order in which a process made them.
import { DrawnAhead } from '../../../core/base/async/drawn-ahead.ts';
import type { Kmip } from '../context.ts';

const octets = 16;
/** The 12 bits behind the time count within a millisecond (RFC 9562 section 6.2, method 1). */
const mostInMillisecond = 0xfff;

type Source = { readonly drawn: DrawnAhead; last: { time: number; count: number } };
const sources = new WeakMap<Kmip, Source>();

/** An id of now, with 62 bits of the token's random generator and a count that begins at random. */
export async function drawId(kmip: Kmip): Promise<string> {
  let source = sources.get(kmip);
  if (source === undefined) {
    source = { drawn: new DrawnAhead((count) => kmip.hsm.random(count), octets), last: { time: 0, count: 0 } };
    sources.set(kmip, source);
  }
  const id = Uint8Array.from(await source.drawn.next());
  const { time, count } = nextOf(source, kmip.clock.now().epochMilliseconds, (((id[6] ?? 0) << 8) | (id[7] ?? 0)) & 0x7ff);
  for (let at = 5, rest = time; at >= 0; at -= 1, rest = Math.floor(rest / 256)) id[at] = rest % 256;
  id[6] = 0x70 | (count >> 8);
  id[7] = count & 0xff;
  id[8] = ((id[8] ?? 0) & 0x3f) | 0x80;
  return id.toHex().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Never goes back, whatever the clock does. */
function nextOf(source: Source, now: number, begin: number): Source['last'] {
  const { time, count } = source.last;
  const next = now > time ? { time: now, count: begin } : { time, count: count + 1 };
  source.last = next.count > mostInMillisecond ? { time: next.time + 1, count: 0 } : next;
  return source.last;
}
