// Signatures of files: made and verified with a key of the appliance, which gets the hash alone where the kind of the key allows it.
import { base64Of, octetsOf } from '../../api/base64.ts';
import { fillPath } from '../../address/path.ts';
import { Refusal, send } from '../../api/request.ts';
import { numbersOf, wayOf, type KeyState } from '../keys/state.ts';
import { hashFile, isHashName, type HashName } from './hash-file.ts';
import { signatureNameOf } from './pairs.ts';

const template = '/v1/state/keystore/transit-keys/{name}';

/** Octets of a file that are sent where there is no other way: what the API takes in one request. */
const mostSentBytes = 2 * 1024 * 1024;
/** OpenPGP takes longer texts. */
const mostOpenpgpBytes = 32 * 1024 * 1024;
/** Signatures of hybrid and post-quantum keys are the longest. */
const mostSignatureBytes = 64 * 1024;

/** Hash of the strength of the key. */
export function hashOf({ cipher = '' }: KeyState): HashName {
  if (cipher.endsWith('p384')) return 'sha384';
  return cipher.endsWith('p521') ? 'sha512' : 'sha256';
}

export type Made = { readonly content: Blob; readonly name: string; readonly version: number };

export type Work = { readonly tell: (doneBytes: number) => void; readonly signal: AbortSignal };

/** A detached signature, as openssl or gpg takes it. Rejects with Refusal, AbortError, and TooLong. */
export async function signFile(state: KeyState, file: File, work: Work): Promise<Made> {
  if (wayOf(state) === 'openpgp') return signOpenpgp(state, file, work);
  const { signature, 'key-version': version } = await ask(state, 'sign', await subjectOf(state, file, work), work);
  const [, payload = ''] = /^store:v\d+:(.*)$/s.exec(String(signature)) ?? [];
  return { content: new Blob([octetsOf(payload)]), name: signatureNameOf(file.name, '.sig'), version: Number(version) };
}

async function signOpenpgp(state: KeyState, file: File, work: Work): Promise<Made> {
  const first = await ask(state, 'openpgp-trailer', {}, work);
  const name = String(first['hash-algorithm']);
  if (!isHashName(name)) throw new Error(`the key signs ${name}, which this page does not know`);
  const hash = await hashFile(file, name, work.tell, work.signal);
  // The date of the signature is in the trailer: after a long file it is asked for again.
  const { trailer } = await ask(state, 'openpgp-trailer', { 'key-version': first['key-version'] }, work);
  hash.update(octetsOf(String(trailer)));
  const body = { trailer, digest: base64Of(hash.digest()), format: 'armored' };
  const { signature, 'key-version': version } = await ask(state, 'openpgp-sign-digest', body, work);
  return { content: new Blob([String(signature)]), name: signatureNameOf(file.name, '.asc'), version: Number(version) };
}

export type Verdict = { readonly isValid: boolean; readonly version?: number; readonly signedAt?: string };

/** Judges a signature. Those without the number of a version are tried with each, the newest first. */
export async function verifyFile(state: KeyState, file: File, signature: File, work: Work): Promise<Verdict> {
  if (signature.size > mostSignatureBytes) throw new TooLong(signature.name, mostSignatureBytes);
  const octets = new Uint8Array(await signature.arrayBuffer());
  const text = new TextDecoder().decode(octets).trim();
  if (wayOf(state) === 'openpgp') {
    if (file.size > mostOpenpgpBytes) throw new TooLong(file.name, mostOpenpgpBytes);
    const body = { text: await base64OfFile(file), signature: text.startsWith('-----') ? text : base64Of(octets) };
    const answer = await ask(state, 'openpgp-verify', body, work);
    return verdictOf(answer, answer['version']);
  }
  const subject = await subjectOf(state, file, work);
  if (!text.startsWith('store:v') && state.versions === undefined) throw new VersionsHidden(signature.name);
  const values = text.startsWith('store:v') ? [text] : numbersOf(state).map((number) => `store:v${number}:${base64Of(octets)}`);
  let refused: Refusal | undefined;
  for (const value of values) {
    try {
      const answer = await ask(state, 'verify', { ...subject, signature: value }, work);
      if (answer['valid'] === true) return verdictOf(answer, answer['key-version']);
    } catch (error) {
      // A version that is not to be used says nothing of the others.
      if (!(error instanceof Refusal) || error.status !== 409) throw error;
      refused ??= error;
    }
  }
  // It may be a signature by that version.
  if (refused !== undefined) throw refused;
  return { isValid: false };
}

/** Policies hide the versions, with which signatures are tried. */
export class VersionsHidden extends Error {}

/** A file that cannot be sent in one request. */
export class TooLong extends Error {
  readonly mostBytes: number;

  constructor(name: string, mostBytes: number) {
    super(name);
    this.mostBytes = mostBytes;
  }
}

async function subjectOf(state: KeyState, file: File, { tell, signal }: Work): Promise<Readonly<Record<string, unknown>>> {
  if (wayOf(state) === 'whole') {
    if (file.size > mostSentBytes) throw new TooLong(file.name, mostSentBytes);
    return { text: await base64OfFile(file) };
  }
  const name = hashOf(state);
  const hash = await hashFile(file, name, tell, signal);
  return { text: base64Of(hash.digest()), prehashed: true, 'hash-algorithm': name };
}

async function ask(state: KeyState, action: string, body: object, { signal }: Work): Promise<Readonly<Record<string, unknown>>> {
  const answer = await send({ method: 'POST', path: fillPath(`${template}/${action}`, [state.name]), body }, signal);
  return answer.body as Readonly<Record<string, unknown>>;
}

async function base64OfFile(file: Blob): Promise<string> {
  return base64Of(new Uint8Array(await file.arrayBuffer()));
}

function verdictOf({ valid, 'signed-at': at }: Readonly<Record<string, unknown>>, version: unknown): Verdict {
  return {
    isValid: valid === true,
    ...(typeof version === 'number' ? { version } : {}),
    ...(typeof at === 'string' ? { signedAt: at } : {}),
  };
}
