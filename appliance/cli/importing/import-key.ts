// import-key: brings a key into a transit key without showing it to the way there: it is wrapped here, for this one import.
import { createPrivateKey, createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import { decodeBase64 } from '../../../core/base/bytes.ts';
import { jwkOfOpenssh, OpensshKeyError } from '../../../core/base/public-keys/openssh.ts';
import { containerAdvice, isEncryptedPkcs8 } from '../../../core/der/private-key-files.ts';
import { readPem } from '../../../core/base/texts/pem.ts';
import { cleanly } from '../../../core/base/public-keys/openssl.ts';
import { transportKeyBytes, wrapMaterial } from '../../../core/base/public-keys/key-wrap.ts';
import { Client } from '../client.ts';
import { type ConnectionOptions, connectionOptions } from '../connection-options.ts';
import { resolveConnection } from '../connection.ts';
import { commandFor } from '../terminal/command-output.ts';
import { CommandFailed, usageError } from '../terminal/failure.ts';
import { type Io, readOctets, readValue } from '../terminal/io.ts';

type Options = ConnectionOptions & { readonly in: string; readonly passphrase?: string };

/** `import-key KEY [--in FILE] [--passphrase @FILE]`. */
export async function importKey(words: readonly string[], before: ConnectionOptions, io: Io): Promise<void> {
  const command = commandFor(io, 'keystorectl import-key')
    .description('Import a key as a new version of a transit key. It is wrapped here, under a key in the HSM that opens this import alone.')
    .argument('<key>', 'transit key, of the cipher of the material')
    .option('--in <FILE>', 'private key (PEM, OpenSSH, DER or JWK), or symmetric key (octets, base64 or JWK)', '-')
    .option('--passphrase <TEXT>', 'of an encrypted private key; @FILE reads it')
    .helpOption('-h, --help', 'show this');
  for (const option of connectionOptions()) command.addOption(option);
  command.action(async (key: string, { in: from, passphrase, ...connection }: Options) => {
    if (from === '-' && io.stdin.isTTY === true) throw usageError('nothing to read: give --in FILE, or a pipe');
    const secret = passphrase === undefined ? undefined : await readValue(passphrase, io);
    const material = materialOf(await readOctets(from, io), secret, from === '-' ? 'standard input' : from);
    const client = new Client(await resolveConnection({ ...before, ...connection }, io));
    try {
      await importWrapped(client, key, material);
    } finally {
      material.fill(0);
      client.close();
    }
  });
  await command.parseAsync([...words], { from: 'user' });
}

async function importWrapped(client: Client, key: string, material: Uint8Array): Promise<void> {
  const path = `/v1/state/keystore/transit-keys/${encodeURIComponent(key)}`;
  const made = (await client.json({ method: 'POST', path: `${path}/import-wrapping-key`, body: {} })) as Record<string, string>;
  const transportKey = randomBytes(transportKeyBytes);
  const wrapped = wrapMaterial(createPublicKey(made['wrapping-key'] ?? ''), transportKey, material);
  transportKey.fill(0);
  const body = { ciphertext: Buffer.from(wrapped).toString('base64'), 'import-id': made['import-id'] };
  await client.json({ method: 'POST', path: `${path}/import`, body });
}

/** Octets of the secret, or PKCS#8 of the private key: the forms that the action `import` reads. The octets that were read are zeroed. */
function materialOf(octets: Buffer, passphrase: string | undefined, name: string): Uint8Array {
  try {
    const advice = containerAdvice(octets);
    if (advice !== undefined) throw usageError(`${name} ${advice}`);
    const key = privateKeyIn(octets, passphrase, name);
    if (key !== undefined) return cleanly(() => key.export({ type: 'pkcs8', format: 'der' }));
    if (passphrase !== undefined) throw usageError(`${name} has no private key that this passphrase opens`);
    if (octets.includes('-----BEGIN PGP'))
      throw usageError(`${name} is an OpenPGP key block, which is read by the action: keystorectl do transit-keys KEY import --data @FILE`);
    if (octets.includes('-----BEGIN'))
      throw usageError(`${name} has no private key that OpenSSL reads, or an encrypted one: give --passphrase`);
    if (isEncryptedPkcs8(octets)) throw usageError(`${name} is an encrypted private key: give --passphrase`);
    const secret = secretIn(octets);
    return secret === undefined || secret.length === 0 ? unreadable(name) : secret;
  } catch (error) {
    throw error instanceof OpensshKeyError ? usageError(`${name}: ${error.message}`) : error;
  } finally {
    octets.fill(0);
  }
}

/** Octets of AES keys. */
const secretLengths = [16, 24, 32];

/** A symmetric key: octets, base64 or a JWK. */
function secretIn(octets: Buffer): Uint8Array | undefined {
  if (secretLengths.includes(octets.length)) return Uint8Array.from(octets);
  const jwk = jwkIn(octets);
  if (jwk === undefined) return decodeBase64(withoutSpaces(octets));
  const { kty, k } = jwk;
  return kty === 'oct' && typeof k === 'string' && /^[\w-]+$/.test(k) ? Uint8Array.from(Buffer.from(k, 'base64url')) : undefined;
}

function unreadable(name: string): never {
  throw usageError(
    `${name} is neither a private key nor a symmetric key: give PEM, DER, base64 of DER, JWK or OpenSSH, or 16, 24 or 32 octets as they are, in base64 or as a JWK`,
  );
}

function privateKeyIn(octets: Buffer, passphrase: string | undefined, name: string): KeyObject | undefined {
  const read = (key: Parameters<typeof createPrivateKey>[0]) => tried(() => requireKnownCipher(name, () => createPrivateKey(key)));
  const protection = passphrase === undefined ? {} : { passphrase };
  const blocks = octets.includes('-----BEGIN') ? readPem(octets.toString('utf8')).filter(({ label }) => label.endsWith('PRIVATE KEY')) : [];
  const [block] = blocks;
  const jwk = blocks.length === 0 ? jwkIn(octets) : undefined;
  if (block?.label === 'OPENSSH PRIVATE KEY') return keyOfJwk(jwkOfOpenssh(block.der ?? new Uint8Array(0)));
  if (block !== undefined) return read({ key: block.text, format: 'pem', ...protection });
  if (jwk !== undefined) return keyOfJwk(jwk);
  const decoded = decodeBase64(withoutSpaces(octets));
  const ders = decoded === undefined ? [octets] : [octets, Buffer.from(decoded.buffer, decoded.byteOffset, decoded.length)];
  for (const key of ders)
    for (const type of ['pkcs8', 'pkcs1', 'sec1'] as const) {
      const found = read({ key, format: 'der', type, ...protection });
      if (found !== undefined) return found;
    }
  return undefined;
}

function keyOfJwk(key: JsonWebKey): KeyObject | undefined {
  return tried(() => createPrivateKey({ key, format: 'jwk' }));
}

function jwkIn(octets: Buffer): JsonWebKey | undefined {
  const text = octets.toString('utf8').trim();
  if (!text.startsWith('{')) return undefined;
  return tried(() => JSON.parse(text) as JsonWebKey);
}

function withoutSpaces(octets: Buffer): string {
  return octets.toString('latin1').replaceAll(/\s/g, '');
}

/** Throws CommandFailed for an encryption that OpenSSL no longer does by itself, whatever the passphrase is. */
function requireKnownCipher<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_OSSL_EVP_UNSUPPORTED') throw error;
    throw usageError(
      `${name} is encrypted in an old way. Encrypt it again first: openssl pkcs8 -provider legacy -provider default -topk8 -v2 aes-256-cbc -in ${name} -out NEW`,
    );
  }
}

function tried<T>(read: () => T): T | undefined {
  try {
    return cleanly(read);
  } catch (error) {
    if (error instanceof CommandFailed) throw error;
    return undefined;
  }
}
