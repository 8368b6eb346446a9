// The data key of the store: a secret made in the token, kept as a wrapped blob beside the store, in clear only in memory.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { decodeBase64, encodeBase64 } from '../../core/base/bytes.ts';
import { Secret } from '../../core/base/secret.ts';
import { isKeyLost, type Hsm, type KeyBinding, type KeyReference, type StoredKey } from '../../hsm/api.ts';
import { readWhole, writeDurably } from '../../core/base/durable-files.ts';
import { parseFile, StartRefused } from '../start-refused.ts';

/** Binding of the key of the store. */
export const storeKeyBinding: KeyBinding = { tenant: 'system', keyId: 'store', version: 1, purpose: 'store-data-key' };

/** The file of the wrapped key in a data directory. */
export const storeKeyFile = (directory: string): string => join(directory, 'store-key.json');

/**
 * 32 octets for openStore. Made on the first start, before there is a store. Throws StartRefused for a store without its key file, and when
 * another token has wrapped it.
 */
export async function provideStoreKey(hsm: Hsm, directory: string, storeDirectory: string): Promise<Secret<Uint8Array>> {
  const file = storeKeyFile(directory);
  if (!existsSync(file)) {
    if (existsSync(join(storeDirectory, 'data.mdb'))) {
      throw new StartRefused(`${file} is missing, and nothing else opens ${storeDirectory}: put the file back from your backup`);
    }
    const { stored } = await hsm.generate('secret-256', storeKeyBinding);
    writeDurably(file, formatStoredKey(stored));
  }
  const key = readStoreKey(directory);
  try {
    return new Secret(await hsm.readKeyMaterialInClear(key));
  } catch (error) {
    if (!isKeyLost(error)) throw error;
    const wanted = existsSync(join(directory, 'softhsm'))
      ? `it and ${directory}/softhsm are of different appliances, or of different times: put both back from the same backup, with ${storeDirectory}`
      : `name under hsm.tokens, as ${key.stored.token}, the token that ${directory} was made with (--config)`;
    throw new StartRefused(`${file} does not open: ${error.message}; ${wanted}`, { cause: error });
  }
}

/** The name of the token that wrapped the key; undefined before there is a key. */
export function findStoreToken(directory: string): string | undefined {
  return existsSync(storeKeyFile(directory)) ? readStoreKey(directory).stored.token : undefined;
}

/** The wrapped key of the store. Throws StartRefused when its file is missing or damaged. */
export function readStoreKey(directory: string): KeyReference {
  return { stored: parseStoredKey(storeKeyFile(directory)), binding: storeKeyBinding };
}

/** Replaces the wrapped key by another wrapping of it; a crash leaves one or the other. `serial`: of the embedded token. */
export function replaceStoreKey(directory: string, stored: StoredKey, serial = findTokenSerial(directory)): void {
  writeDurably(storeKeyFile(directory), formatStoredKey(stored, serial));
}

/** Serial number of the embedded token that has opened the key; undefined where that is not known, or the file is missing or damaged. */
export function findTokenSerial(directory: string): string | undefined {
  try {
    const { serial } = JSON.parse(readWhole(storeKeyFile(directory)).toString()) as { serial?: unknown };
    return typeof serial === 'string' ? serial : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps the serial number of the embedded token that has opened the key, or that none is to be asked for. Throws an error of the disk, or StartRefused. */
export function keepTokenSerial(directory: string, serial: string | undefined): void {
  if (findTokenSerial(directory) !== serial) writeDurably(storeKeyFile(directory), formatStoredKey(readStoreKey(directory).stored, serial));
}

function formatStoredKey(stored: StoredKey, serial?: string): string {
  const document = { ...stored, blob: encodeBase64(stored.blob), mac: encodeBase64(stored.mac), serial };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function parseStoredKey(file: string): StoredKey {
  const parse = (text: string): StoredKey => {
    const value = JSON.parse(text) as StoredKey & { blob: string; mac: string };
    const [blob, mac] = [decodeBase64(value.blob), decodeBase64(value.mac)];
    if (blob === undefined || mac === undefined) throw new TypeError('blob or mac is not base64');
    return { type: value.type, custody: value.custody, token: value.token, blob, mac };
  };
  return parseFile(file, parse, 'put the file back from your backup');
}
