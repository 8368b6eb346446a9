// Changes of sound inputs, drawn from a seed: octets changed, cut, doubled, taken from elsewhere, and repeated until the input is large.
import type { Dice } from '../cases.ts';

/** More than any parser here is given in one piece by a caller who is not trusted. */
const mostOctets = 256 * 1_024;
const mostChanges = 4;
const longestPiece = 64;
/** Values at which a length, a tag or a count changes its meaning. */
const edges = [0x00, 0x01, 0x1f, 0x20, 0x30, 0x7f, 0x80, 0x81, 0x82, 0x84, 0xa0, 0xfe, 0xff] as const;
/** Repetitions reach depth and length that single changes never do, and are rare because they cost most of the time. */
const shareOfRepetitions = 0.02;

/** What is changed: sound inputs, and texts that mean something to the parser. */
export type Material = { readonly samples: readonly Buffer[]; readonly words: readonly string[] };

/** A sound input with one change or a few. */
export function drawInput(dice: Dice, { samples, words }: Material): Buffer {
  let octets = dice.pick(samples);
  for (let left = 1 + dice.below(mostChanges); left > 0; left--) octets = change(dice, octets, { samples, words });
  return dice.chance(shareOfRepetitions) ? repeat(dice, octets, words) : octets;
}

function change(dice: Dice, octets: Buffer, { samples, words }: Material): Buffer {
  const at = dice.below(octets.length + 1);
  const [before, after] = [octets.subarray(0, at), octets.subarray(at)];
  return dice.pick<() => Buffer>([
    () => Buffer.concat([before, Buffer.of(dice.below(256)), after.subarray(1)]),
    () => Buffer.concat([before, Buffer.of(dice.pick(edges)), after.subarray(1)]),
    () => Buffer.concat([before, Buffer.of(dice.pick(edges)), after]),
    () => Buffer.concat([before, after.subarray(1 + dice.below(8))]),
    () => before,
    () => Buffer.concat([before, pieceOf(dice, octets), after]),
    () => Buffer.concat([before, pieceOf(dice, dice.pick(samples)), after.subarray(dice.below(longestPiece))]),
    () => Buffer.concat([before, Buffer.from(words.length === 0 ? '' : dice.pick(words)), after]),
  ])();
}

/** Puts a piece of the input, or a word, many times where it is drawn. */
function repeat(dice: Dice, octets: Buffer, words: readonly string[]): Buffer {
  const piece = words.length > 0 && dice.chance(0.5) ? Buffer.from(dice.pick(words)) : pieceOf(dice, octets);
  if (piece.length === 0) return octets;
  const room = Math.max(0, mostOctets - octets.length);
  const times = Math.floor((room * dice.next()) / piece.length);
  const at = dice.below(octets.length + 1);
  return Buffer.concat([octets.subarray(0, at), Buffer.alloc(times * piece.length, piece), octets.subarray(at)]);
}

function pieceOf(dice: Dice, octets: Buffer): Buffer {
  const at = dice.below(octets.length);
  return octets.subarray(at, at + 1 + dice.below(longestPiece));
}
