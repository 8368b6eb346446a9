// Moves one transit key: every version under its number, proven to be the same key, or nothing at all.
import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';
import { isName } from '../../../core/wire/fields.ts';
import { type Client, Refused } from '../client.ts';
import { CommandFailed } from '../terminal/failure.ts';
import type { ForeignKey, Source } from './source.ts';

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
  /** name of the key that was lent to the source, which wraps what leaves it; undefined: it comes in clear */
  readonly lent: string | undefined;
  /** the key is exportable here, too */
  readonly keepsExportable: boolean;
};

const config = '/v1/config/keystore/transit-keys';
const state = '/v1/state/keystore/transit-keys';

/** `as`: its name here. Throws only where no answer came. */
export async function moveKey(source: Source, target: Client, name: string, as: string, options: MoveOptions): Promise<Moved> {
  const row = { key: name === as ? name : `${name}=${as}`, versions: '', proven: 0 };
  const left = (reason: string): Moved => ({ ...row, outcome: 'left', reason });
  try {
    if (!isName(as)) return left('this is not a name here (small letters, digits, hyphens): give it one as KEY=NAME');
    const key = await source.key(name);
    const obstacle = obstacleOf(key);
    if (obstacle !== undefined) return left(obstacle);
    const kind = key.publicKeys.size > 0 ? 'signing-key' : 'encryption-key';
    const material = await source.export(name, kind, options.lent);
    const numbers = [...material.keys()].toSorted((one, other) => one - other);
    if (numbers.length === 0) return left('the export has no version');
    await make(target, as, key, options);
    try {
      for (const number of numbers) await bring(target, as, number, material.get(number) ?? '', options, key);
      const proven = await prove(source, target, { name, as }, key, numbers);
      await settle(target, as, key);
      const versions = numbers.length === 1 ? String(numbers[0]) : `${numbers[0]}-${numbers.at(-1)}`;
      const remark = key.type.startsWith('rsa') ? 'it signs here, and does not decrypt' : '';
      return { ...row, versions, outcome: 'moved', proven, reason: remark };
    } catch (error) {
      await unmake(target, as);
      throw error;
    }
  } catch (error) {
    if (error instanceof CommandFailed) return left(error.message.split('\n')[0] ?? '');
    throw error;
  }
}

function obstacleOf({ derived, exportable, versions }: ForeignKey): string | undefined {
  if (derived) return 'it is derived, by another function than here: move its values with "import vault-values"';
  if (!exportable) return 'it is not exportable there: set exportable in its config, or move its values with "import vault-values"';
  return versions.length === 0 ? 'it has no version' : undefined;
}

async function make(target: Client, as: string, { type }: ForeignKey, { keepsExportable }: MoveOptions): Promise<void> {
  await target.json({ method: 'POST', path: config, body: { name: as, cipher: type, exportable: keepsExportable } });
}

async function bring(target: Client, as: string, number: number, text: string, { lent }: MoveOptions, { type }: ForeignKey): Promise<void> {
  const given = lent === undefined ? { data: type === 'ed25519' ? pemOfSeed(text) : text } : { ciphertext: text };
  await target.json({ method: 'POST', path: `${state}/${as}/import`, body: { ...given, 'as-version': number } });
}

/** PKCS#8 of an Ed25519 key that is exported as seed and public key, 64 octets in base64. */
function pemOfSeed(text: string): string {
  const octets = Buffer.from(text, 'base64');
  const [d, x] = [octets.subarray(0, 32).toString('base64url'), octets.subarray(32).toString('base64url')];
  const key = createPrivateKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', d, x } });
  return key.export({ type: 'pkcs8', format: 'pem' });
}

/** Counts the versions that were seen to be the same; fails for one that is another. A version that does not encrypt there proves nothing. */
async function prove(
  source: Source,
  target: Client,
  { name, as }: { readonly name: string; readonly as: string },
  { publicKeys, leastEncryption }: ForeignKey,
  numbers: readonly number[],
): Promise<number> {
  if (publicKeys.size > 0) {
    const { keys = {} } = (await target.json({ method: 'GET', path: `${state}/${as}` })) as {
      readonly keys?: Readonly<Record<string, string>>;
    };
    for (const number of numbers) if (spkiOf(publicKeys.get(number) ?? '') !== spkiOf(keys[number] ?? '')) throw another(number);
    return numbers.length;
  }
  let proven = 0;
  for (const number of numbers) {
    if (number < leastEncryption) continue;
    const plaintext = randomBytes(16).toString('base64');
    const ciphertext = await source.encrypt(name, plaintext, number).catch((error: unknown) => {
      if (error instanceof CommandFailed) return undefined;
      throw error;
    });
    if (ciphertext === undefined) continue;
    const body = { ciphertext: ciphertext.replace(/^vault:/, 'store:') };
    const opened = await target.json({ method: 'POST', path: `${state}/${as}/decrypt`, body }).catch((error: unknown) => {
      throw error instanceof Refused && error.code === 'decryption-failed' ? another(number) : error;
    });
    if ((opened as { readonly plaintext?: string }).plaintext !== plaintext) throw another(number);
    proven += 1;
  }
  return proven;
}

function another(number: number): CommandFailed {
  return new CommandFailed(7, `version ${number} is another key here than there: it was not moved`);
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
