// Moves one transit key: every version under its number, proven to be the same key, or nothing at all.
import { createPublicKey, randomBytes } from 'node:crypto';
import { isName } from '../../../core/wire/fields.ts';
import { type Client, Refused } from '../client.ts';
import { CommandFailed, exitCodes } from '../terminal/failure.ts';
import type { BackedUp } from './backup.ts';
import type { ForeignKey, ForeignVersion } from './foreign-key.ts';
import type { Source, Way } from './source.ts';

/** A row of the report. `moved`: it is here; `left`: `reason` says why it is not. */
export type Moved = {
  readonly key: string;
  readonly outcome: 'moved' | 'left';
  readonly versions: string;
  /** versions whose values of there were seen to open or verify here */
  readonly proven: number;
  readonly reason: string;
};

type MoveOptions = {
  /** the key is exportable here, too */
  readonly keepsExportable: boolean;
};

/** A key that is to be moved: its name here, what it is, and its versions by number. */
type Leaving = {
  readonly as: string;
  readonly key: ForeignKey;
  readonly versions: ReadonlyMap<number, ForeignVersion>;
};

/** Makes values with a key of the source. */
type Maker = {
  /** `plaintext` and `context`: base64 */
  readonly encrypt: (plaintext: string, version: number, context: string | undefined) => Promise<string>;
  readonly hmac: (input: string, version: number) => Promise<string>;
};

const config = '/v1/config/keystore/transit-keys';
const state = '/v1/state/keystore/transit-keys';

/** Moves a key of a running source; `as`: its name here. Throws only where no answer came. */
export function moveKey(source: Source, target: Client, name: string, as: string, options: MoveOptions & { way: Way }): Promise<Moved> {
  return reported(name, as, async () => {
    const key = await source.key(name);
    requireMovable(key);
    const versions = await source.versions(name, key, options.way);
    const maker: Maker = {
      encrypt: (plaintext, version, context) => source.encrypt(name, plaintext, version, context),
      hmac: (input, version) => source.hmac(name, input, version),
    };
    return moved(target, { as, key, versions }, options, maker);
  });
}

/** Moves a key out of a backup, which proves public keys alone: nothing is there that would make values. */
export function moveBackup(target: Client, { name, key, versions }: BackedUp, as: string, options: MoveOptions): Promise<Moved> {
  return reported(name, as, () => {
    requireMovable(key);
    return moved(target, { as, key, versions }, options);
  });
}

type Done = Pick<Moved, 'versions' | 'proven' | 'reason'>;

async function reported(name: string, as: string, move: () => Promise<Done> | Done): Promise<Moved> {
  const row = { key: name === as ? name : `${name}=${as}` };
  try {
    if (!isName(as)) throw obstacle('this is not a name here (small letters, digits, hyphens): give it one as KEY=NAME');
    return { ...row, outcome: 'moved', ...(await move()) };
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    return { ...row, outcome: 'left', versions: '', proven: 0, reason: error.message.split('\n')[0] ?? '' };
  }
}

async function moved(target: Client, leaving: Leaving, options: MoveOptions, maker?: Maker): Promise<Done> {
  const { as, key, versions } = leaving;
  const numbers = [...versions.keys()].toSorted((one, other) => one - other);
  if (numbers.length === 0) throw obstacle('the export has no version');
  await make(target, as, key, options);
  try {
    for (const number of numbers) await bring(target, as, number, versions.get(number) as ForeignVersion);
    const proven = await prove(target, leaving, numbers, maker);
    await settle(target, as, key);
    return {
      versions: numbers.length === 1 ? String(numbers[0]) : `${numbers[0]}-${numbers.at(-1)}`,
      ...{ proven, reason: remarksOn(leaving).join('; ') },
    };
  } catch (error) {
    await unmake(target, as);
    throw error;
  }
}

function remarksOn({ key, versions }: Leaving): readonly string[] {
  return [
    ...(key.type.startsWith('rsa') ? ['it signs here, and does not decrypt'] : []),
    ...(key.convergent ? ['what is encrypted here differs from what the same plaintext gave there'] : []),
    ...([...versions.values()].some(({ hmac }) => hmac === undefined)
      ? ['HMACs of there do not verify here: their keys leave with --in-clear or --backup alone']
      : []),
  ];
}

/** Throws CommandFailed for a key that cannot come. */
function requireMovable({ type, derived, kdf, exportable, versions }: ForeignKey): void {
  if (type === 'hmac') throw obstacle('it makes HMACs alone: keys here make them beside their use, with "import" and "hmac-key"');
  if (derived && !type.startsWith('aes')) throw obstacle('it is derived and not an AES key, which keys here are not');
  if (derived && kdf !== 'hkdf_sha256')
    throw obstacle(`it derives by ${kdf}, which no key here does: move its values with "import vault-values"`);
  if (!exportable)
    throw obstacle('it is not exportable there: set exportable in its config, or move its values with "import vault-values"');
  if (versions.length === 0) throw obstacle('it has no version');
}

function obstacle(reason: string): CommandFailed {
  return new CommandFailed(exitCodes.no, reason);
}

async function make(target: Client, as: string, key: ForeignKey, { keepsExportable }: MoveOptions): Promise<void> {
  const derivation = key.derived ? { derived: true, kdf: 'hkdf-sha256', 'convergent-encryption': key.convergent } : {};
  await target.json({
    method: 'POST',
    path: config,
    body: { name: as, cipher: key.type, exportable: keepsExportable && !key.derived, ...derivation },
  });
}

async function bring(target: Client, as: string, number: number, { hmac, ...material }: ForeignVersion): Promise<void> {
  const body = { ...material, 'as-version': number, ...(hmac === undefined ? {} : { 'hmac-key': hmac }) };
  await target.json({ method: 'POST', path: `${state}/${as}/import`, body });
}

/** Counts the versions that were seen to be the same; fails for one that is another. A version that does not encrypt there proves nothing. */
async function prove(target: Client, { as, key, versions }: Leaving, numbers: readonly number[], maker?: Maker): Promise<number> {
  const { publicKeys, leastEncryption, derived } = key;
  if (publicKeys.size > 0) {
    const { keys = {} } = (await target.json({ method: 'GET', path: `${state}/${as}` })) as {
      readonly keys?: Readonly<Record<string, string>>;
    };
    for (const number of numbers) if (spkiOf(publicKeys.get(number) ?? '') !== spkiOf(keys[number] ?? '')) throw another(number);
  }
  let proven = publicKeys.size > 0 ? numbers.length : 0;
  const context = derived ? `keystorectl import ${randomBytes(8).toString('hex')}` : undefined;
  for (const number of maker === undefined ? [] : numbers) {
    if (number < leastEncryption) continue;
    const text = randomBytes(16).toString('base64');
    if (publicKeys.size === 0) {
      const bound = context === undefined ? undefined : Buffer.from(context).toString('base64');
      const ciphertext = await unlessRefused(maker?.encrypt(text, number, bound));
      if (ciphertext === undefined) continue;
      const body = { ciphertext: ciphertext.replace(/^vault:/, 'store:'), ...(context === undefined ? {} : { context }) };
      const opened = await target.json({ method: 'POST', path: `${state}/${as}/decrypt`, body }).catch((error: unknown) => {
        throw error instanceof Refused && error.code === 'decryption-failed' ? another(number) : error;
      });
      if ((opened as { readonly plaintext?: string }).plaintext !== text) throw another(number);
      proven += 1;
    }
    if (versions.get(number)?.hmac === undefined) continue;
    const made = await unlessRefused(maker?.hmac(text, number));
    if (made === undefined) continue;
    const body = { text, hmac: made.replace(/^vault:/, 'store:hashed:'), 'hash-algorithm': 'sha256' };
    const { valid } = (await target.json({ method: 'POST', path: `${state}/${as}/verify`, body })) as { readonly valid?: boolean };
    if (valid !== true)
      throw new CommandFailed(exitCodes.no, `version ${number} has another key for HMACs here than there: it was not moved`);
  }
  return proven;
}

/** Undefined for what the source does not make: the token may not, or the version does not. */
async function unlessRefused(value: Promise<string> | undefined): Promise<string | undefined> {
  return value?.catch((error: unknown) => {
    if (error instanceof CommandFailed) return undefined;
    throw error;
  });
}

function another(number: number): CommandFailed {
  return new CommandFailed(exitCodes.no, `version ${number} is another key here than there: it was not moved`);
}

/** SubjectPublicKeyInfo in base64, of PEM or the octets of an Ed25519 key. */
function spkiOf(text: string): string {
  const key = text.startsWith('-----')
    ? createPublicKey(text)
    : createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(text, 'base64').toString('base64url') } });
  return key.export({ type: 'spki', format: 'der' }).toString('base64');
}

/** Takes over what the key may do, when all of its versions are there. */
async function settle(
  target: Client,
  as: string,
  { leastDecryption, leastEncryption, rotationSeconds, deletionAllowed }: ForeignKey,
): Promise<void> {
  const body = {
    ...(leastDecryption > 1 ? { 'min-decryption-version': leastDecryption } : {}),
    ...(leastEncryption > 1 ? { 'min-encryption-version': leastEncryption } : {}),
    ...(rotationSeconds > 0 ? { 'auto-rotate': { 'rotate-after': `${rotationSeconds}s` } } : {}),
    ...(deletionAllowed ? { 'deletion-allowed': true } : {}),
  };
  if (Object.keys(body).length > 0) await target.json({ method: 'PATCH', path: `${config}/${as}`, body });
}

/** Takes the key away again, so that the command can be repeated. What the token may not delete stays, and is refused as present then. */
async function unmake(target: Client, as: string): Promise<void> {
  try {
    await target.json({ method: 'PATCH', path: `${config}/${as}`, body: { 'deletion-allowed': true } });
    await target.json({ method: 'DELETE', path: `${config}/${as}` });
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
  }
}
