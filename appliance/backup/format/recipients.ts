// Recipients, to whom backups are encrypted, and identities, which open them: age's X25519 keys and its hybrid post-quantum keys.
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { Secret } from '../../../core/base/secret.ts';
import { BackupError } from './error.ts';

/** Finds a problem in a list of recipients, as a message that names the wrong one; undefined if all are valid. */
export async function findRecipientProblem(recipients: readonly string[]): Promise<string | undefined> {
  if (recipients.length === 0) return undefined;
  const { Encrypter } = await import('age-encryption');
  for (const recipient of recipients) {
    const shown = recipient.length > 40 ? `${recipient.slice(0, 24)}…${recipient.slice(-8)}` : recipient;
    if (!/^age1(?:pq1)?[02-9ac-hj-np-z]+$/.test(recipient))
      return `${shown} is not a recipient: age1… (X25519) and age1pq1… (hybrid) are, as age-keygen writes them; plugin keys are not`;
    try {
      const trial = new Encrypter();
      trial.addRecipient(recipient);
      await trial.encrypt(new Uint8Array());
    } catch {
      return `${shown} is not a recipient: its checksum does not fit, so a character is wrong or missing, or it is of a plugin`;
    }
  }
  const hybrid = recipients.filter(isHybrid).length;
  if (hybrid > 0 && hybrid < recipients.length)
    return 'the recipients are a mixture of age1pq1… and age1…: the file would be only as strong as the latter; give one kind';
  if (new Set(recipients).size < recipients.length) return 'a recipient is named twice';
  return undefined;
}

function isHybrid(recipient: string): boolean {
  return recipient.startsWith('age1pq1');
}

/** Identities read at once; a file that others wrote must not cost more. */
const mostIdentities = 64;

/**
 * The identities in a file as age-keygen writes it. Throws BackupError when it has none, and for a file that other users may read: an
 * identity that others know protects nothing. A pipe (`/dev/stdin`) has no such mode.
 */
export async function readIdentityFile(file: string): Promise<readonly Secret<string>[]> {
  return parseIdentities(readPrivately(file), file);
}

/** The identities in a text; `name` says in messages which one it is. Throws BackupError. */
export async function parseIdentities(text: string, name: string): Promise<readonly Secret<string>[]> {
  const { Decrypter } = await import('age-encryption');
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  if (lines[0]?.startsWith('age-encryption.org/') === true || lines[0]?.startsWith('-----BEGIN AGE') === true)
    throw new BackupError(`${name} is itself encrypted: decrypt it first, for example "age -d ${name} | …" with /dev/stdin as the file`);
  if (lines.length === 0) throw new BackupError(`${name} has no identity: a line AGE-SECRET-KEY-1… or AGE-SECRET-KEY-PQ-1…`);
  if (lines.length > mostIdentities) throw new BackupError(`${name} has more than ${mostIdentities} identities`);
  for (const [index, line] of lines.entries()) {
    try {
      new Decrypter().addIdentity(line);
    } catch {
      // The line may be a secret with a typo: it is not shown.
      throw new BackupError(
        `${name}: identity ${index + 1} is malformed: AGE-SECRET-KEY-1… and AGE-SECRET-KEY-PQ-1… are, plugin identities are not`,
      );
    }
  }
  return lines.map((line) => new Secret(line));
}

function readPrivately(file: string): string {
  const descriptor = openSync(file, 'r');
  try {
    const { mode, size } = fstatSync(descriptor);
    if ((mode & 0o170000) === 0o100000) {
      if ((mode & 0o077) !== 0)
        throw new BackupError(`${file} may be read by other users (mode ${(mode & 0o777).toString(8)}): chmod 600 ${file}`);
      if (size > 1 << 20) throw new BackupError(`${file} is not a file of identities`);
    }
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}
