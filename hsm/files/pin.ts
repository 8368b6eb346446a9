// Sources of PINs and other secrets: a file, an environment variable, a systemd credential, or a person.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HsmError, type PinSource, revealSecret, Secret } from '../api.ts';

/**
 * Reads a PIN. Called at the moment of use, so that no PIN is kept. One trailing line break is not part of it. Throws `configuration` when
 * the source is missing or empty.
 */
export function readPin(source: PinSource): Secret<string> {
  return readSecret(source, 'PIN');
}

/** As readPin, for another secret of the configuration; `what` names it in messages. */
export function readSecret(source: PinSource, what: string): Secret<string> {
  const secret = readText(source, what).replace(/\r?\n$/, '');
  if (secret === '') throw new HsmError('configuration', `the ${what} source ${describeSource(source)} is empty`);
  return new Secret(secret);
}

/** The source in words, for error messages; never the secret. */
function describeSource(source: PinSource): string {
  if ('file' in source) return `file ${source.file}`;
  if ('given' in source) return 'given by a person';
  if ('environment' in source) return `environment variable ${source.environment}`;
  return `credential ${source.credential}`;
}

function readText(source: PinSource, what: string): string {
  if ('given' in source) return revealSecret(source.given);
  if ('environment' in source) {
    const text = process.env[source.environment];
    if (text === undefined) throw new HsmError('configuration', `environment variable ${source.environment} with the ${what} is not set`);
    return text;
  }
  const path = 'file' in source ? source.file : credentialPath(source.credential, what);
  try {
    // Without `fatal` every octet that is not UTF-8 would become U+FFFD: another PIN, which is easy to guess.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
  } catch (cause) {
    const why =
      cause instanceof TypeError ? `is not text: write the ${what} in UTF-8` : `cannot be read (${(cause as NodeJS.ErrnoException).code})`;
    throw new HsmError('configuration', `${what} file ${path} ${why}`, { cause });
  }
}

function credentialPath(name: string, what: string): string {
  const directory = process.env['CREDENTIALS_DIRECTORY'];
  if (directory === undefined) {
    throw new HsmError('configuration', `credential ${name} with the ${what}: CREDENTIALS_DIRECTORY is not set (systemd LoadCredential=)`);
  }
  return join(directory, name);
}
