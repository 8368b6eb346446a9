// Where PINs come from: a file, an environment variable, or a systemd credential.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HsmError, type PinSource } from '../api.ts';

/** Reads a PIN at the moment it is needed, so that it lives no longer than the call. One trailing line break is not part of it. `configuration` when it is missing or empty. */
export function readPin(source: PinSource): string {
  const pin = rawPin(source).replace(/\r?\n$/, '');
  if (pin === '') throw new HsmError('configuration', `the PIN source ${describePinSource(source)} is empty`);
  return pin;
}

/** The source in words, for error messages; never the PIN. */
function describePinSource(source: PinSource): string {
  if ('file' in source) return `file ${source.file}`;
  if ('given' in source) return 'given by a person';
  if ('environment' in source) return `environment variable ${source.environment}`;
  return `credential ${source.credential}`;
}

function rawPin(source: PinSource): string {
  if ('given' in source) return source.given;
  if ('environment' in source) {
    const pin = process.env[source.environment];
    if (pin === undefined) throw new HsmError('configuration', `environment variable ${source.environment} with the PIN is not set`);
    return pin;
  }
  const path = 'file' in source ? source.file : credentialPath(source.credential);
  try {
    // Other octets would all become the same character: another PIN, and one that is easy to guess.
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
