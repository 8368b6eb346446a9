// The actions openpgp-trailer and openpgp-sign-digest: the caller hashes what is too large to send, and behind it the trailer of the signature.
import { z } from 'zod';
import { defined } from '../../../core/base/defined.ts';
import { fail } from '../errors.ts';
import { failAt } from '../../../core/base/texts/invalid.ts';
import { hashBytes } from '../../../core/base/hash.ts';
import { fail as failCore } from '../../../core/base/errors.ts';
import { type AnyEndpoint, defineEndpoint, type EndpointCall } from '../../../core/http/endpoint.ts';
import { base64Field, durationField, integer, pemExample, timestamp } from '../../../core/wire/fields.ts';
import { dataSignatureHead, isRecentHead, readDataSignatureHead, signatureTime } from '../certificates/signed-data.ts';
import { formatArmor } from '../format/keyblock.ts';
import { finishSignature, signatureType, trailerOf } from '../format/signature.ts';
import { type PublicKeyBody, requireSigner } from '../format/signer.ts';
import { findRecord, type OpenpgpKey, type OpenpgpRecord } from '../records.ts';
import { openpgpTag } from '../tags.ts';
import {
  actionPath,
  hashField,
  notAnOpenpgpKey,
  type Parts,
  requireAlive,
  requireHash,
  requireKey,
  requireRecord,
  requireSignAsWell,
  signatureFormat,
} from './request.ts';

const types = { detached: signatureType.binary, 'detached-text': signatureType.text } as const;

const trailerInput = z.object({
  keyVersion: integer(1, 2 ** 31 - 1)
    .optional()
    .describe('Version to use; default: the version in use.'),
  form: z
    .enum(['detached', 'detached-text'])
    .default('detached')
    .describe('detached: the octets are hashed; detached-text: the text, with CR LF at the end of each line.'),
  expiresAfter: durationField({ minSeconds: 1 }).optional().describe('How long the signature holds; without limit when absent.'),
  hashAlgorithm: hashField,
});

const trailerOutput = z.object({
  trailer: z.string().meta({ description: 'Octets that are hashed behind the data.', contentEncoding: 'base64', example: 'BAATCgAd' }),
  hashAlgorithm: z.enum(['sha256', 'sha384', 'sha512']).describe('Hash over data and trailer.'),
  keyVersion: z.int().describe('Version of the key that will sign.'),
  signedAt: timestamp().describe('Date of the signature; openpgp-sign-digest takes the trailer for an hour.'),
});

/** The action openpgp-trailer. */
export function openpgpTrailer({ hsm, transitKeys }: Parts): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    named: 'OpenpgpTrailer',
    idempotent: true,
    path: actionPath('openpgp-trailer'),
    whileIsolated: true,
    summary: 'Get what is hashed behind data for openpgp-sign-digest',
    description:
      'An OpenPGP signature is over the hash of the data and of a trailer, which has its date, its type and the key. Hash the data where it is, then the octets of the trailer, and send trailer and hash to openpgp-sign-digest.',
    tag: openpgpTag,
    access: 'token',
    operation: 'execute',
    audit: 'reads-go-on',
    act: 'none',
    auditFields: ['keyVersion', 'form', 'expiresAfter', 'hashAlgorithm'],
    errors: ['version-unknown', 'version-not-allowed', 'key-disabled', 'operation-not-supported'],
    input: trailerInput,
    output: trailerOutput,
    find: (call) => requireKey(transitKeys, call),
    run(call, { keyVersion, form, expiresAfter, hashAlgorithm }, key) {
      const version = transitKeys.requireSigningVersion(key, keyVersion, call.now);
      call.noteAudit({ keyVersion: version.version });
      const signer = requireSigner(hsm, key, version);
      requireUnsalted(signer);
      const record = requireRecord(key, version);
      const created = signatureTime(record, call.now);
      requireAlive(record, created);
      const hash = requireHash(signer, hashAlgorithm);
      const head = dataSignatureHead(signer, types[form], created, { hash, ...defined({ expiresAfterSeconds: expiresAfter?.seconds }) });
      return {
        trailer: trailerOf(head).toBase64(),
        hashAlgorithm: hash,
        keyVersion: version.version,
        signedAt: Temporal.Instant.fromEpochMilliseconds(created * 1000),
      };
    },
  });
}

const input = z.object({
  digest: base64Field({ minBytes: 32, maxBytes: 64 }).describe('Hash over the data and the trailer.'),
  trailer: base64Field({ minBytes: 8, maxBytes: 128 }).describe('The trailer, as openpgp-trailer answered it less than an hour ago.'),
  format: signatureFormat.default('armored').describe('binary answers the packet in base64.'),
});

const output = z.object({
  signature: z.string().meta({ description: 'The detached signature.', example: pemExample('PGP SIGNATURE') }),
  keyVersion: z.int().describe('Version of the key that was used.'),
});

/** The action openpgp-sign-digest. Nobody can tell of a hash whether data or a certification was hashed: it is a right of its own. */
export function openpgpSignDigest({ hsm, transitKeys }: Parts): AnyEndpoint {
  return defineEndpoint({
    method: 'POST',
    named: 'OpenpgpSignDigest',
    idempotent: true,
    path: actionPath('openpgp-sign-digest'),
    whileIsolated: true,
    summary: 'Sign a hash with an OpenPGP key',
    description:
      'Makes the detached signature that openpgp-sign makes, of data that the caller has hashed: see openpgp-trailer. The service cannot see what was hashed, which may be a certification: with a primary key the caller needs "execute" of its certify-subkey besides. The audit record has `signed-digest`: the algorithm and the hash that was given.',
    tag: openpgpTag,
    access: 'token',
    operation: 'execute',
    audit: 'required',
    act: 'none',
    auditFields: ['format'],
    errors: ['version-unknown', 'version-not-allowed', 'key-disabled', 'operation-not-supported'],
    input,
    secretInput: ['digest', 'trailer'],
    documented: { exampleInput: { digest: exampleOctets(64), trailer: exampleOctets(41) } },
    output,
    commandLine: { output: 'signature', octetsWith: { format: 'binary' } },
    find: (call) => requireKey(transitKeys, call),
    async run(call, { digest, trailer, format }, key) {
      const signing = key.versions.filter((one) => one.key !== undefined && findRecord(key, one) !== undefined);
      if (signing.length === 0) throw notAnOpenpgpKey();
      const head = readDataSignatureHead(trailer);
      const named = signing.find((one) => one.attached?.fingerprints[0] === head?.fingerprint);
      if (head === undefined || named === undefined) throw foreignTrailer();
      const version = transitKeys.requireSigningVersion(key, named.version, call.now);
      call.noteAudit({ keyVersion: version.version });
      const record = requireRecord(key, version);
      requireSignAsWell(call, key, version);
      requireCertifying(call, key, record);
      const signer = requireSigner(hsm, key, version);
      const { hash, expiresAfterSeconds } = head;
      if (hash === undefined || !signer.algorithm.hashes.includes(hash)) throw foreignTrailer();
      const own = dataSignatureHead(signer, head.type, head.created, { hash, ...defined({ expiresAfterSeconds }) });
      if (Buffer.compare(trailerOf(own), trailer) !== 0) throw foreignTrailer();
      requireAlive(record, head.created);
      if (!isRecentHead(head, record, call.now)) throw staleTrailer();
      if (digest.length !== hashBytes[hash]) throw wrongLength(hash, digest.length);
      call.noteAudit({ signedDigest: `${hash}:${digest.toHex()}` });
      await transitKeys.countSignature(key, version.version, call.now);
      const packet = await finishSignature(signer, own, { hash, digest });
      return { signature: format === 'binary' ? packet.toBase64() : formatArmor('signature', packet), keyVersion: version.version };
    },
  });
}

/** Throws operation-not-supported: a signature of version 6 is over octets before the data, too, which would have to be kept for the second request. */
function requireUnsalted({ version }: PublicKeyBody): void {
  if (version !== 6) return;
  throw fail('operation-not-supported', { detail: 'A key of version 6 does not sign hashes of callers. Send the data to openpgp-sign.' });
}

function exampleOctets(length: number): string {
  return new Uint8Array(length).fill(4).toBase64();
}

/** Anyone who has hashes signed with a primary key can certify with it. Of a subkey, whose flags allow data alone, no certification counts. */
function requireCertifying({ access }: EndpointCall, { name }: OpenpgpKey, { subkey }: OpenpgpRecord): void {
  if (subkey !== undefined) return;
  if (access.allowsAt(['v1', 'state', 'keystore', 'transit-keys', name, 'certify-subkey'], 'execute')) return;
  throw failCore('policy-denied', {
    detail:
      'A hash signed with a primary key may be a certification: the policies of tenant and token must also allow "execute" on the path of ' +
      'certify-subkey. Sign with a subkey, or send the data to openpgp-sign.',
  });
}

function foreignTrailer(): Error {
  return failAt(
    'trailer',
    'openpgp-trailer has made no such trailer for a version of this key. Ask for it again, and hash it again behind the data.',
  );
}

function staleTrailer(): Error {
  return failAt('trailer', 'trailer is more than an hour old, or of the future. Ask for it again, and hash it again behind the data.');
}

function wrongLength(hash: keyof typeof hashBytes, length: number): Error {
  return failAt('digest', `digest has ${length} octets, and ${hash} has ${hashBytes[hash]}.`);
}
