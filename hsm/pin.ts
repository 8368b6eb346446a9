// Where PINs come from: a file, an environment variable, or a systemd credential.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HsmError, type PinSource } from './api.ts';

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
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new HsmError('configuration', `PIN file ${path} cannot be read`, { cause });
  }
}

function credentialPath(name: string): string {
  const directory = process.env['CREDENTIALS_DIRECTORY'];
  if (directory === undefined) {
    throw new HsmError('configuration', `credential ${name} with the PIN: CREDENTIALS_DIRECTORY is not set (systemd LoadCredential=)`);
  }
  return join(directory, name);
}
