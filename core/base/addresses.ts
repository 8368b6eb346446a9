// IP addresses and CIDR ranges: they restrict the use of tokens and secret-ids, and determine which addresses share a rate limit.
import { isIP } from 'node:net';
import { z } from 'zod';

/** An address as a number of 32 or 128 bits. */
export type Address = { readonly bits: 32 | 128; readonly value: bigint };

type Range = Address & { readonly prefix: number };

/** Host of a URL in the form of sockets and certificates: an IPv6 address without its brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Reads an IPv4 or IPv6 address. An IPv4-mapped IPv6 address (`::ffff:a.b.c.d`) is the IPv4 address; a zone is ignored. */
export function parseAddress(text: string): Address | undefined {
  const [plain = ''] = text.split('%');
  const family = isIP(plain);
  if (family === 4) return { bits: 32, value: join(plain.split('.').map(BigInt), 8n) };
  if (family !== 6) return undefined;
  const value = join(groupsOf(plain), 16n);
  return value >> 32n === 0xffffn ? { bits: 32, value: value & 0xffff_ffffn } : { bits: 128, value };
}

/** The subscriber of an address, as a text: an IPv6 subscriber has a whole /64 and can change addresses within it at will. */
export function subscriberOf(text: string): string {
  const address = parseAddress(text);
  if (address === undefined) return text;
  return address.bits === 32 ? `4:${address.value}` : `6:${address.value >> 64n}`;
}

/** A list of ranges, each an address or `network/prefix`. */
export function cidrsField() {
  return z
    .array(z.string().max(64).refine(isCidr, { error: cidrRule }))
    .max(64)
    .meta({ whenEmpty: everywhere, 'x-form': 'ranges' });
}

/** Meaning of an empty list of ranges. */
const everywhere = ['0.0.0.0/0', '::/0'];

const cidrRule = 'must be an address or a range such as 10.1.0.0/16 or 2001:db8::/32, without bits behind the prefix';

/** Tells whether a text is an address or a range. */
export function isCidr(text: string): boolean {
  return parseRange(text) !== undefined;
}

/** Tells whether an address is in one of the ranges; false if the address is unknown. */
export function isWithin(ranges: readonly string[], text: string | undefined): boolean {
  const address = text === undefined ? undefined : parseAddress(text);
  if (address === undefined) return false;
  return rangesOf(ranges).some(({ bits, value, prefix }) => {
    const behind = BigInt(bits - prefix);
    return bits === address.bits && value >> behind === address.value >> behind;
  });
}

/** Tells whether all addresses of `inner` are in `outer`, in one of its ranges or in several; an empty `inner` stands for every address. */
export function areWithin(inner: readonly string[], outer: readonly string[]): boolean {
  return rangesOf(inner.length === 0 ? everywhere : inner).every((one) => isCovered(one, rangesOf(outer)));
}

/** Of two ranges one is in the other, or they have nothing in common: a range that none covers is judged by its halves, where some are in it. */
function isCovered(one: Range, others: readonly Range[]): boolean {
  const related = others.filter(({ bits, value, prefix }) => {
    const behind = BigInt(bits - Math.min(prefix, one.prefix));
    return bits === one.bits && value >> behind === one.value >> behind;
  });
  if (related.length === 0 || related.some(({ prefix }) => prefix <= one.prefix)) return related.length > 0;
  const prefix = one.prefix + 1;
  const upper = one.value | (1n << BigInt(one.bits - prefix));
  return [one.value, upper].every((value) => isCovered({ ...one, value, prefix }, related));
}

/** The ranges of the addresses that are in both of two lists that are not empty: of two ranges one is in the other, or they have nothing in common. */
export function commonRanges(some: readonly string[], others: readonly string[]): readonly string[] {
  return [...new Set([...some.filter((one) => areWithin([one], others)), ...others.filter((one) => areWithin([one], some))])];
}

/** Parsed ranges by list: lists are members of frozen records, so each is parsed once. */
const readRanges = new WeakMap<readonly string[], readonly Range[]>();

function rangesOf(texts: readonly string[]): readonly Range[] {
  let ranges = readRanges.get(texts);
  if (ranges === undefined) readRanges.set(texts, (ranges = texts.flatMap((text) => parseRange(text) ?? [])));
  return ranges;
}

function parseRange(text: string): Range | undefined {
  const [, network = '', length] = /^([^/%]+)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const address = parseAddress(network);
  if (address === undefined || (text.includes(':') && address.bits === 32)) return undefined;
  const prefix = length === undefined ? address.bits : Number(length);
  if (prefix > address.bits) return undefined;
  const behind = BigInt(address.bits - prefix);
  // `10.1.2.3/8` could mean one address or sixteen million.
  return (address.value >> behind) << behind === address.value ? { ...address, prefix } : undefined;
}

/** The eight groups of an IPv6 address. The URL parser accepts every notation and writes the shortest (RFC 5952). */
function groupsOf(text: string): bigint[] {
  const [first = [], last = []] = new URL(`http://[${text}]`).hostname
    .slice(1, -1)
    .split('::')
    .map((part) => (part === '' ? [] : part.split(':').map((group) => BigInt(`0x${group}`))));
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0n), ...last];
}

function join(parts: readonly bigint[], width: bigint): bigint {
  return parts.reduce((value, part) => (value << width) | part, 0n);
}
