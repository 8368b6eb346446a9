// Has a statement signed by an OpenPGP key of a running keystored, twice: as a detached OpenPGP signature, which gpg and sqv verify, and in
// a DSSE envelope, which tools for attestations verify with the same key in PEM. The private key stays in the HSM.
import { createPublicKey, verify } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMessage, readKey, readSignature, verify as verifyOpenpgp } from 'openpgp';
import { encodeForSigning, formatEnvelope } from './envelope.ts';
import { isStatement } from './statement.ts';

/** Runs keystorectl and answers its output; throws when it fails. */
export type Keystorectl = (...words: readonly string[]) => Promise<string>;

/** The files beside a statement that hold its signatures. */
export type Signed = { readonly signature: string; readonly envelope: string };

/**
 * `key` is the name of a transit key with an OpenPGP role. Both signatures are by one version of it, and verified before they are written.
 * Throws for a file that is not a statement.
 */
export async function signStatement(file: string, key: string, keystorectl: Keystorectl): Promise<Signed> {
  const payload = readFileSync(file);
  if (!isStatement(payload.toString())) throw new Error(`${file} is not an in-toto statement`);
  const onKey = (action: string, ...words: readonly string[]): Promise<string> => keystorectl('do', 'transit-keys', key, action, ...words);
  const { signature, version } = readAnswer(await onKey('openpgp-sign', '--in', file, '--output', 'json'));
  const encoded = encodeForSigning(payload);
  const raw = readAnswer(
    await withFile(encoded, (path) => onKey('sign', '--in', path, '--key-version', String(version), '--output', 'json')),
  );
  const octets = Buffer.from(raw.signature.replace(/^store:v\d+:/, ''), 'base64');

  const certificate = await onKey('export-openpgp-public', '--version', String(version), '--value', 'keys/0/keyblock');
  const keyId = await verifyDetached(payload, signature, certificate);
  const publicKey = createPublicKey(await keystorectl('show', 'transit-keys', key, '--value', `keys/${version}`));
  const hashName = publicKey.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  if (!verify(hashName, encoded, publicKey, octets)) throw new Error(`what ${key} signed does not verify with its public key`);

  const signed = { signature: `${file}.asc`, envelope: `${file.replace(/\.json$/, '')}.intoto.jsonl` };
  writeFileSync(signed.signature, signature);
  writeFileSync(signed.envelope, formatEnvelope(payload, [{ keyId, signature: octets }]));
  return signed;
}

/** The fingerprint of the key that signed. Throws for a signature that is not good. */
async function verifyDetached(payload: Uint8Array, armoredSignature: string, armoredKey: string): Promise<string> {
  const verificationKeys = await readKey({ armoredKey });
  const [signature, message] = [await readSignature({ armoredSignature }), await createMessage({ binary: payload })];
  const { signatures } = await verifyOpenpgp({ message, signature, verificationKeys });
  const [first] = signatures;
  await first?.verified;
  const signer = first === undefined ? undefined : verificationKeys.getKeys(first.keyID)[0];
  if (signer === undefined) throw new Error('the OpenPGP signature is not by the key that was asked');
  return signer.getFingerprint().toUpperCase();
}

function readAnswer(text: string): { readonly signature: string; readonly version: number } {
  const { signature, 'key-version': version } = JSON.parse(text) as { signature: string; 'key-version': number };
  return { signature, version };
}

async function withFile<T>(octets: Uint8Array, use: (path: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'keystored-sign-'));
  try {
    const path = join(directory, 'octets');
    writeFileSync(path, octets);
    return await use(path);
  } finally {
    rmSync(directory, { recursive: true });
  }
}
