// The PIN among custodians: it is kept in the data directory under a key of which each custodian has a share (Shamir, over GF(2^8)). Any `needed` shares give
// the key, fewer say nothing of it.
import { createCipheriv, createDecipheriv, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readWhole, syncDirectory, writeDurably } from '../../core/base/durable-files.ts';
import { revealSecret, Secret } from '../../core/base/secret.ts';
import { parseFile, StartRefused } from '../start-refused.ts';
import { ceremonyName, ceremonyPattern, formatShare, parseShare, type Share } from './share.ts';

/** Every process has this module, and few of them share or combine. */
const sharing = () => import('shamir-secret-sharing');

const fewestNeeded = 2;
const mostShares = 16;

const count = z.int().min(fewestNeeded).max(mostShares);
const content = z.object({
  format: z.literal(1),
  ceremony: z.string().regex(ceremonyPattern),
  needed: count,
  /** the SHA-256 judges a share alone; it says nothing of one, which is as random as the key */
  shares: z
    .array(z.object({ number: z.int(), sha256: z.string().regex(/^[\da-f]{64}$/), recipient: z.string() }))
    .min(fewestNeeded)
    .max(mostShares),
  madeAt: z.string(),
  nonce: z.base64().length(16),
  /** AES-256-GCM of the PINs by name of the token, with its tag */
  sealed: z.base64().min(24),
});
export type Ceremony = z.output<typeof content>;

/** PINs by name of the token. */
export type SharedPins = Readonly<Record<string, Secret<string>>>;

const custodiansFile = (data: string): string => join(data, 'custodians.json');
/** Of a ceremony whose PIN may not have reached the token yet. */
const nextFile = (data: string): string => join(data, 'custodians.next.json');

const remedy = 'put it back from your backup: without it the shares of the custodians open nothing';

/** The ceremony in force, then one that was cut off before it was; none without custodians. Throws StartRefused for a damaged file. */
export function readCeremonies(data: string): readonly Ceremony[] {
  return [custodiansFile(data), nextFile(data)]
    .filter((file) => existsSync(file))
    .map((file) => parseFile(file, (text) => content.parse(JSON.parse(text)), remedy));
}

/** Reads the ceremony of another appliance from a copy of its file. Throws StartRefused for one that is damaged. */
export function readCeremony(file: string): Ceremony {
  return parseFile(file, (text) => content.parse(JSON.parse(text)), 'copy custodians.json of the other appliance once more');
}

export function hasCustodians(data: string): boolean {
  return existsSync(custodiansFile(data)) || existsSync(nextFile(data));
}

/** Tells whether a person has the PIN of the token, or custodians: a first ceremony, or the end of the custody, was cut off. */
export function isCutOff(data: string): boolean {
  return !isInForce(data) && existsSync(nextFile(data));
}

/** Tells whether custodians alone have the PIN of the token: what a person gives as one is wrong, and would use up a try. */
export function isInForce(data: string): boolean {
  return existsSync(custodiansFile(data));
}

/** Keeps a ceremony beside the one in force: its PIN is then set at the token, and it takes effect. Throws in the place of another. */
export function keepNext(data: string, ceremony: Ceremony): void {
  const kept = nameIn(nextFile(data));
  if (kept !== undefined && kept !== ceremony.ceremony) throw new Error(`the ceremony ${kept} was cut off, and may be in force`);
  writeDurably(nextFile(data), `${JSON.stringify(ceremony, undefined, 2)}\n`);
}

/** The token has the PIN of this ceremony: the shares of the one before it open nothing. Safe to repeat. */
export function takeEffect(data: string, { ceremony }: Ceremony): void {
  if (nameIn(nextFile(data)) === ceremony) {
    renameSync(nextFile(data), custodiansFile(data));
    syncDirectory(data);
  } else if (nameIn(custodiansFile(data)) !== ceremony) throw new Error(`the ceremony ${ceremony} is not in ${data}`);
}

/** Makes the ceremony in force one that may not be: the token is about to get the PIN of a person. */
export function withdraw(data: string, { ceremony }: Ceremony): void {
  if (nameIn(custodiansFile(data)) !== ceremony) throw new Error(`the ceremony ${ceremony} is not in force`);
  renameSync(custodiansFile(data), nextFile(data));
  syncDirectory(data);
}

/** Drops one that was cut off: the token is proven to have another PIN. */
export function dropNext(data: string): void {
  rmSync(nextFile(data), { force: true });
  syncDirectory(data);
}

/** Ends the custody: the token has the PIN of a person. */
export function dropCeremonies(data: string): void {
  rmSync(custodiansFile(data), { force: true });
  syncDirectory(data);
  dropNext(data);
}

function nameIn(file: string): string | undefined {
  return existsSync(file) ? content.parse(JSON.parse(readWhole(file).toString())).ceremony : undefined;
}

export type NewCeremony = {
  /** 32 random octets of the token */
  readonly key: Secret<Uint8Array>;
  readonly needed: number;
  /** of each share, as it is shown */
  readonly recipients: readonly string[];
  readonly pins: SharedPins;
  readonly madeAt: string;
};

/** Shares a key that opens the PINs; the shares in the order of the recipients. */
export async function makeCeremony({ key, needed, recipients, pins, madeAt }: NewCeremony): Promise<{
  readonly ceremony: Ceremony;
  readonly shares: readonly Secret<string>[];
}> {
  const name = ceremonyName(randomBytes(5));
  const { split } = await sharing();
  const values = await split(Uint8Array.from(revealSecret(key)), recipients.length, needed);
  const all = values.map((value, at): Share => ({ ceremony: name, number: at + 1, value: new Secret(value) }));
  const shares = all.map((share, at) => ({ number: share.number, sha256: digestOf(share), recipient: recipients[at] ?? '' }));
  const ceremony = sealed({ format: 1, ceremony: name, needed, shares, madeAt }, revealSecret(key), pins);
  return { ceremony, shares: all.map(formatShare) };
}

/** The same ceremony for the PINs of another appliance, which its shares open as well. Throws as openPins. */
export async function shareBeside(ceremony: Ceremony, shares: readonly Share[], pins: SharedPins): Promise<Ceremony> {
  const { nonce: _, sealed: __, ...facts } = ceremony;
  const key = await provenKey(ceremony, shares);
  try {
    return sealed(facts, key.key, pins);
  } finally {
    key.key.fill(0);
  }
}

type Facts = Omit<Ceremony, 'nonce' | 'sealed'>;

function sealed(facts: Facts, key: Uint8Array, pins: SharedPins): Ceremony {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(boundOf(facts));
  const octets = Buffer.concat([cipher.update(padded(pins)), cipher.final(), cipher.getAuthTag()]);
  return { ...facts, nonce: nonce.toString('base64'), sealed: octets.toString('base64') };
}

/** Tells whether a share is one of a ceremony. Nothing is combined for that, and no token sees a PIN. */
export function isOf({ ceremony, shares }: Ceremony, share: Share): boolean {
  if (share.ceremony !== ceremony) return false;
  const known = shares.find(({ number }) => number === share.number);
  return known !== undefined && timingSafeEqual(Buffer.from(known.sha256), Buffer.from(digestOf(share)));
}

/** The PINs that enough shares of a ceremony open. Throws StartRefused unless the combined key fits: a token never sees a PIN then. */
export async function openPins(ceremony: Ceremony, shares: readonly Share[]): Promise<SharedPins> {
  const { key, text } = await provenKey(ceremony, shares);
  key.fill(0);
  const pins = z.record(z.string(), z.string()).parse(JSON.parse(text.trimEnd()));
  return Object.fromEntries(Object.entries(pins).map(([token, pin]) => [token, new Secret(pin)]));
}

/** The key that enough shares combine to, and the text that it opens; the caller zeroes the key. Throws as openPins. */
async function provenKey(ceremony: Ceremony, shares: readonly Share[]): Promise<{ readonly key: Uint8Array; readonly text: string }> {
  if (shares.length < ceremony.needed || !shares.every((share) => isOf(ceremony, share)))
    throw new Error('too few shares of this ceremony');
  const { combine } = await sharing();
  const key = await combine(shares.slice(0, ceremony.needed).map(({ value }) => Uint8Array.from(revealSecret(value))));
  const octets = Buffer.from(ceremony.sealed, 'base64');
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(ceremony.nonce, 'base64')).setAAD(boundOf(ceremony));
    decipher.setAuthTag(octets.subarray(-16));
    return { key, text: Buffer.concat([decipher.update(octets.subarray(0, -16)), decipher.final()]).toString() };
  } catch (error) {
    key.fill(0);
    throw new StartRefused(
      `custodians.json is damaged: the shares are those of the ceremony ${ceremony.ceremony} and do not open it: ${remedy}`,
      {
        cause: error,
      },
    );
  }
}

/** Reads shares in text. Throws a plain Error that names the wrong one by its place. */
export function readShares(ceremony: Ceremony, texts: readonly Secret<string>[]): readonly Share[] {
  const shares = texts.map((text, at) => {
    const share = parseShare(text);
    if (share === undefined) throw new Error(`share ${at + 1} of those that were given is not one, or has a typing error`);
    if (!isOf(ceremony, share)) throw new Error(`share ${at + 1} of those that were given is not of the ceremony ${ceremony.ceremony}`);
    return share;
  });
  return [...new Map(shares.map((share) => [share.number, share])).values()];
}

function digestOf({ value }: Share): string {
  return hash('sha256', revealSecret(value), 'hex');
}

/** Everything beside the PINs is bound to them: nobody lowers the number of shares in the file. */
function boundOf({ format, ceremony, needed, shares, madeAt }: Facts): Buffer {
  return Buffer.from(
    JSON.stringify([format, ceremony, needed, shares.map(({ number, sha256, recipient }) => [number, sha256, recipient]), madeAt]),
  );
}

const blockBytes = 256;

/** The length of a PIN does not show. */
function padded(pins: SharedPins): Buffer {
  const text = Buffer.from(JSON.stringify(Object.fromEntries(Object.entries(pins).map(([token, pin]) => [token, revealSecret(pin)]))));
  return Buffer.concat([text, Buffer.alloc(blockBytes - (text.length % blockBytes), ' ')]);
}
