// Shares on their way to custodians: each is encrypted for one of them, by age or OpenPGP.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { revealSecret, type Secret } from '../../core/base/secret.ts';
import { findRecipientProblem } from '../backup/format/recipients.ts';
import { StartRefused } from '../start-refused.ts';

export type Recipient = {
  /** as it is kept beside the ceremony: the recipient of age, or the fingerprint of OpenPGP */
  readonly shown: string;
  readonly extension: 'age' | 'asc';
  encrypt(text: string): Promise<string>;
};

/** Reads a recipient: `age1…`, or a file with the OpenPGP certificate of one person. Throws StartRefused. */
export async function readRecipient(text: string): Promise<Recipient> {
  if (text.startsWith('age1')) {
    const problem = await findRecipientProblem([text]);
    if (problem !== undefined) throw new StartRefused(problem);
    const { armor, Encrypter } = await import('age-encryption');
    const encrypt = async (plain: string): Promise<string> => {
      const encrypter = new Encrypter();
      encrypter.addRecipient(text);
      return armor.encode(await encrypter.encrypt(plain));
    };
    return { shown: text, extension: 'age', encrypt };
  }
  if (!existsSync(text)) throw new StartRefused(`${text} is neither a recipient of age (age1…) nor a file with an OpenPGP certificate`);
  return openpgpRecipient(text);
}

async function openpgpRecipient(file: string): Promise<Recipient> {
  const { createMessage, encrypt, readKeys } = await import('openpgp');
  try {
    const [key, ...others] = await readKeys({ armoredKeys: readFileSync(file, 'utf8') });
    if (key === undefined || others.length > 0) throw new Error('it must have one certificate');
    if (key.isPrivate()) throw new Error('it is a private key');
    await key.getEncryptionKey();
    return {
      shown: key.getFingerprint(),
      extension: 'asc',
      encrypt: async (text) => encrypt({ message: await createMessage({ text }), encryptionKeys: key, format: 'armored' }),
    };
  } catch (error) {
    throw new StartRefused(`${file} has no OpenPGP certificate to which can be encrypted: ${(error as Error).message}`);
  }
}

/** Writes each share, encrypted, to a file of its own in a directory, which is made if it is missing; nothing is replaced. Returns the files. */
export async function deliver(
  directory: string,
  ceremony: string,
  recipients: readonly Recipient[],
  shares: readonly Secret<string>[],
): Promise<readonly string[]> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const files: string[] = [];
  for (const [at, recipient] of recipients.entries()) {
    const file = join(directory, `share-${ceremony}-${at + 1}.${recipient.extension}`);
    writeFileSync(file, await recipient.encrypt(`${revealSecret(shares[at] as Secret<string>)}\n`), {
      mode: 0o600,
      flag: 'wx',
      flush: true,
    });
    files.push(file);
  }
  return files;
}
