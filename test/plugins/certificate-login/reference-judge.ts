// A judge of client certificates that shares no code with the product: its own reader of DER, paths by RFC 5280 section 6 as far as a login needs
// them, and names. The tests compare the two.
import { createPublicKey, verify } from 'node:crypto';
import { type Node, readTree, writeTree } from './der-tree.ts';

export type ReferenceRole = { readonly anchor: Buffer; readonly kind: 'cn' | 'dns' | 'uri'; readonly fits: RegExp };

/** Tells whether the certificate logs in: its holder has shown the key. */
export function referenceAccepts(leaf: Buffer, intermediates: readonly Buffer[], role: ReferenceRole, nowMs: number): boolean {
  try {
    const [own, anchor] = [open(leaf), open(role.anchor)];
    need(isLive(own, nowMs), 'dates');
    needOfAll(own);
    need(own.usage === undefined || own.usage.has(0), 'digitalSignature');
    need(isForClients(own), 'purpose');
    need(climb([own], intermediates.flatMap(openOrNone), anchor, nowMs), 'path');
    const names = own.names[role.kind];
    need(names.length === 1 && role.fits.test(names[0] ?? ''), 'name');
    return true;
  } catch {
    return false;
  }
}

type Opened = {
  readonly tbs: Buffer;
  readonly algorithm: string;
  readonly signature: Buffer;
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly key: ReturnType<typeof createPublicKey>;
  readonly fromMs: number;
  readonly toMs: number;
  readonly critical: readonly string[];
  readonly usage: ReadonlySet<number> | undefined;
  readonly purposes: readonly string[] | undefined;
  readonly isCa: boolean;
  readonly pathLength: number | undefined;
  readonly names: Readonly<Record<'cn' | 'dns' | 'uri', readonly string[]>>;
};

function need(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(what);
}

const oids = {
  cn: '550403',
  usage: '551d0f',
  san: '551d11',
  constraints: '551d13',
  policies: '551d20',
  purposes: '551d25',
  names: '551d1e',
} as const;
const understood: readonly string[] = [oids.usage, oids.san, oids.constraints, oids.policies, oids.purposes, oids.names];
const clientAuth = '2b06010505070302';
const anyPurpose = '551d2500';
const digests: Readonly<Record<string, string | null>> = {
  '2a8648ce3d040302': 'sha256',
  '2a8648ce3d040303': 'sha384',
  '2a8648ce3d040304': 'sha512',
  '2a864886f70d01010b': 'sha256',
  '2a864886f70d01010c': 'sha384',
  '2a864886f70d01010d': 'sha512',
  '2b6570': null,
};

function openOrNone(der: Buffer): readonly Opened[] {
  try {
    return [open(der)];
  } catch {
    return [];
  }
}

function open(der: Buffer): Opened {
  const whole = readTree(der);
  const [tbs, algorithm, signature, ...more] = partsOf(whole, 0x30);
  need(tbs !== undefined && algorithm !== undefined && signature?.tag === 3 && signature.octets[0] === 0 && more.length === 0, 'form');
  const fields = [...partsOf(tbs, 0x30)];
  // Extensions are of version 3 alone; without a version it is 1.
  const version = fields[0]?.tag === 0xa0 ? writeTree(fields.shift() as Node).toString('hex') : 'a003020100';
  const [serial, inner, issuer, validity, subject, spki, ...rest] = fields;
  need(serial?.tag === 2 && serial.octets.length > 0, 'serial');
  need(inner !== undefined && issuer?.tag === 0x30 && subject?.tag === 0x30 && spki?.tag === 0x30, 'fields');
  need(writeTree(inner).equals(writeTree(algorithm)), 'both algorithms');
  const [from, to, ...others] = partsOf(validity, 0x30);
  need(others.length === 0, 'validity');
  const extensions = extensionsIn(rest);
  need(version === 'a003020102' || (/^a00302010[01]$/.test(version) && extensions.size === 0), 'version');
  const [isCa, pathLength] = constraintsIn(extensions.get(oids.constraints)?.value);
  return {
    tbs: writeTree(tbs),
    algorithm: partsOf(algorithm, 0x30)[0]?.octets.toString('hex') ?? '',
    signature: signature.octets.subarray(1),
    issuer: writeTree(issuer),
    subject: writeTree(subject),
    key: createPublicKey({ key: writeTree(spki), format: 'der', type: 'spki' }),
    ...{ fromMs: timeIn(from), toMs: timeIn(to) },
    critical: [...extensions].flatMap(([id, { isCritical }]) => (isCritical ? [id] : [])),
    usage: usageIn(extensions.get(oids.usage)?.value),
    purposes: purposesIn(extensions.get(oids.purposes)?.value),
    ...{ isCa, pathLength },
    names: { cn: commonNamesIn(subject), ...alternativesIn(extensions.get(oids.san)?.value) },
  };
}

function partsOf(node: Node | undefined, tag: number): readonly Node[] {
  need(node?.tag === tag && node.members !== undefined, 'a constructed value');
  return node.members;
}

type Extension = { readonly isCritical: boolean; readonly value: Buffer };

function extensionsIn(rest: readonly Node[]): ReadonlyMap<string, Extension> {
  const found = new Map<string, Extension>();
  const last = rest.at(-1);
  if (last?.tag !== 0xa3) return found;
  const [list, ...more] = partsOf(last, 0xa3);
  need(more.length === 0, 'one list of extensions');
  for (const one of partsOf(list, 0x30)) {
    const [id, second, third] = partsOf(one, 0x30);
    const value = third ?? second;
    need(id?.tag === 6 && value?.tag === 4 && !found.has(id.octets.toString('hex')), 'extension');
    const isCritical = third !== undefined && second?.tag === 1 && second.octets[0] !== 0;
    need(third === undefined || second?.tag === 1, 'critical');
    found.set(id.octets.toString('hex'), { isCritical, value: value.octets });
  }
  return found;
}

function constraintsIn(value: Buffer | undefined): [boolean, number | undefined] {
  if (value === undefined) return [false, undefined];
  const [first, second] = partsOf(readTree(value), 0x30);
  const isCa = first?.tag === 1 && first.octets[0] === 255;
  const length = first?.tag === 2 ? first : second;
  return [isCa, length === undefined ? undefined : length.octets.readUIntBE(0, length.octets.length)];
}

function usageIn(value: Buffer | undefined): ReadonlySet<number> | undefined {
  if (value === undefined) return undefined;
  const { tag, octets } = readTree(value);
  need(tag === 3 && octets.length > 1, 'keyUsage');
  return new Set(Array.from({ length: 9 }, (_, bit) => bit).filter((bit) => ((octets[1 + (bit >> 3)] ?? 0) & (128 >> (bit & 7))) !== 0));
}

function purposesIn(value: Buffer | undefined): readonly string[] | undefined {
  return value === undefined ? undefined : partsOf(readTree(value), 0x30).map(({ octets }) => octets.toString('hex'));
}

function commonNamesIn(subject: Node): readonly string[] {
  return partsOf(subject, 0x30).flatMap((set) =>
    partsOf(set, 0x31).flatMap((attribute) => {
      const [id, value] = partsOf(attribute, 0x30);
      return id?.octets.toString('hex') === oids.cn ? [value?.octets.toString('utf8') ?? ''] : [];
    }),
  );
}

function alternativesIn(value: Buffer | undefined): Record<'dns' | 'uri', readonly string[]> {
  const names = value === undefined ? [] : partsOf(readTree(value), 0x30);
  const ofTag = (wanted: number): string[] => names.flatMap(({ tag, octets }) => (tag === wanted ? [octets.toString('latin1')] : []));
  return { dns: ofTag(0x82), uri: ofTag(0x86) };
}

function timeIn(node: Node | undefined): number {
  const text = node?.octets.toString('latin1') ?? '';
  const [, years = '', rest = ''] = (node?.tag === 23 ? /^(\d\d)(\d{10})Z$/ : /^(\d{4})(\d{10})Z$/).exec(text) ?? [];
  need(rest !== '' && (node?.tag === 23 || node?.tag === 24), 'time');
  const year = node?.tag === 24 ? years : `${Number(years) < 50 ? 20 : 19}${years}`;
  const [month, day, hour, minute, second] = rest.match(/../g) ?? [];
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  need(!Number.isNaN(ms), 'time');
  return ms;
}

function isLive({ fromMs, toMs }: Opened, nowMs: number): boolean {
  return fromMs <= nowMs && nowMs <= toMs + 999;
}

function needOfAll({ critical, key }: Opened): void {
  need(
    critical.every((id) => understood.includes(id)),
    'unknown critical extension',
  );
  need(key.asymmetricKeyType !== 'rsa' || (key.asymmetricKeyDetails?.modulusLength ?? 0) >= 2_048, 'short key');
}

function isForClients({ purposes }: Opened): boolean {
  return purposes === undefined || purposes.includes(clientAuth) || purposes.includes(anyPurpose);
}

function climb(path: readonly Opened[], offered: readonly Opened[], anchor: Opened, nowMs: number): boolean {
  const [top] = path.slice(-1) as [Opened];
  if (isIssuer(path, top, anchor, nowMs)) return true;
  return offered.some(
    (one) =>
      path.length < 7 &&
      !path.includes(one) &&
      isForClients(one) &&
      isIssuer(path, top, one, nowMs) &&
      climb([...path, one], offered, anchor, nowMs),
  );
}

function isIssuer(path: readonly Opened[], { tbs, algorithm, signature, issuer }: Opened, above: Opened, nowMs: number): boolean {
  const digest = digests[algorithm];
  const between = path.slice(1).filter((one) => !one.subject.equals(one.issuer)).length;
  try {
    needOfAll(above);
  } catch {
    return false;
  }
  return (
    above.isCa &&
    (above.usage?.has(5) ?? true) &&
    (above.pathLength === undefined || between <= above.pathLength) &&
    isLive(above, nowMs) &&
    nameOf(issuer) === nameOf(above.subject) &&
    digest !== undefined &&
    verify(digest, tbs, above.key, signature)
  );
}

/** Names are the same in other case, and with other white space at the ends and between words (RFC 5280 7.1). */
function nameOf(name: Buffer): string {
  const parts = partsOf(readTree(name), 0x30).map((set) =>
    partsOf(set, 0x31).map((attribute) => {
      const [id, value] = partsOf(attribute, 0x30);
      return [id?.octets.toString('hex'), value?.octets.toString('latin1').trim().toLowerCase().replaceAll(/\s+/g, ' ')];
    }),
  );
  return JSON.stringify(parts);
}
