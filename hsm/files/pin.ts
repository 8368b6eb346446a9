// Where PINs come from: a file, an environment variable, a systemd credential, or a person.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HsmError, type PinSource, revealSecret, Secret } from '../api.ts';

/**
 * Reads a PIN. Called at the moment of use, so that no PIN is kept. One trailing line break is not part of it. Throws `configuration` when
 * the source is missing or empty.
 */
export function readPin(source: PinSource): Secret<string> {
  const pin = readText(source).replace(/\r?\n$/, '');
  if (pin === '') throw new HsmError('configuration', `the PIN source ${describePinSource(source)} is empty`);
  return new Secret(pin);
}

/** The source in words, for error messages; never the PIN. */
function describePinSource(source: PinSource): string {
  if ('file' in source) return `file ${source.file}`;
  if ('given' in source) return 'given by a person';
  if ('environment' in source) return `environment variable ${source.environment}`;
  return `credential ${source.credential}`;
}

function readText(source: PinSource): string {
  if ('given' in source) return revealSecret(source.given);
  if ('environment' in source) {
    const pin = process.env[source.environment];
    if (pin === undefined) throw new HsmError('configuration', `environment variable ${source.environment} with the PIN is not set`);
    return pin;
  }
  const path = 'file' in source ? source.file : credentialPath(source.credential);
  try {
    // Without `fatal` every octet that is not UTF-8 would become U+FFFD: another PIN, and one that is easy to guess.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
  } catch (cause) {
    const why =
      cause instanceof TypeError ? 'is not text: write the PIN in UTF-8' : `cannot be read (${(cause as NodeJS.ErrnoException).code})`;
    throw new HsmError('configuration', `PIN file ${path} ${why}`, { cause });
  }
}

function credentialPath(name: string): string {
  const directory = process.env['CREDENTIALS_DIRECTORY'];
  if (directory === undefined) {
    throw new HsmError('configuration', `credential ${name} with the PIN: CREDENTIALS_DIRECTORY is not set (systemd LoadCredential=)`);
  }
  return join(directory, name);
}
