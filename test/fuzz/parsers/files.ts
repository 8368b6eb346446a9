// Parsers of backups and audit trails.
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { beginAge } from '../../../appliance/backup/format/age.ts';
import { type Archive, formatArchive, readArchive, type Taker } from '../../../appliance/backup/format/archive.ts';
import { formatManifest, judgeOrigin, type Manifest } from '../../../appliance/backup/format/manifest.ts';
import { formatTarEnd, formatTarEntry } from '../../../appliance/backup/format/tar.ts';
import { readBackup } from '../../../appliance/backup/read.ts';
import { emptyChain, formatLine } from '../../../core/audit/line.ts';
import { verifyTrail } from '../../harness/verify-trail.ts';
import { Secret } from '../../../core/base/secret.ts';
import { streamFilePath } from '../../../core/log/stream-files.ts';
import { makeSigner, openTrail, record } from '../../core/audit/trail.ts';
import type { Parser } from './parser.ts';

const files: readonly (readonly [path: string, content: Buffer])[] = [
  ['store/data.mdb', Buffer.alloc(5_000, 1)],
  ['pin', Buffer.from('1234')],
];
/** Takes everything and keeps nothing. */
const taker: Taker<unknown> = { begin: () => undefined, file: () => ({ write: () => undefined, close: () => undefined }) };

/** Parsers of backups: the sealed file, the archive in it, and what the archive says of itself. */
export async function backupParsers(): Promise<readonly Parser[]> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keys = publicKey.export({ format: 'pem', type: 'spki' });
  const manifest = formatManifest(manifestOf());
  const signed = (octets: Uint8Array): Buffer => sign('sha256', octets, privateKey);
  const archive: Archive = {
    ...{ manifest: manifestOf(), signature: signed(manifest), keys },
    files: files.map(([path, content]) => ({ path, bytes: content.length, content })),
  };
  const plain = await octetsOf(formatArchive(archive));
  const identity = await generateX25519Identity();
  const age = await beginAge({ recipients: [await identityToRecipient(identity)] });
  const sealed = await octetsOf(age.seal(pieces(plain)));
  const opening = { identities: [new Secret(identity)] };
  return [
    {
      ...{ name: 'backup', samples: [sealed], words: ['\n-> X25519 ', '\n--- ', '-> scrypt AAAAAAAAAAAAAAAAAAAAAA 10\n'], share: 0.2 },
      read: (octets) => readBackup(pieces(octets), opening, undefined, taker),
    },
    {
      ...{ name: 'archive of a backup', samples: [plain], words: ['manifest.json', '../', 'ustar', '\0\0\0\0'], share: 0.3 },
      read: (octets) =>
        readArchive(pieces(octets), { begin: ({ claim }) => void judgeOrigin(claim, undefined), file: (path) => taker.file(path) }),
    },
    {
      ...{ name: 'manifest of a backup', samples: [manifest], words: ['{', '[', '"files":', '"path":"', ',', '1e999', '-1'], share: 0.3 },
      read: (octets) => readArchive(headOf(octets, signed(octets), keys), taker),
    },
    {
      ...{
        name: 'keys in a backup',
        samples: [Buffer.from(keys + keys)],
        words: ['-----BEGIN PUBLIC KEY-----', '\n-----END PUBLIC KEY-----\n'],
        share: 0.3,
      },
      read: (octets) => judgeOrigin({ manifest, signature: signed(manifest), keys: octets.toString('latin1') }, undefined),
    },
  ];
}

function manifestOf(): Manifest {
  return {
    ...{ kind: 'keystored-backup', format: 2, 'made-at': '2026-01-01T00:00:00.000000Z', version: '1.0.0', appliance: 'a' },
    ...{ embedded: true, tokens: [{ name: 'main', label: 'keystored', serial: '1' }], records: 3 },
    files: files.map(([path, content]) => ({ path, bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') })),
  };
}

async function* headOf(manifest: Buffer, signature: Buffer, keys: string): AsyncGenerator<Uint8Array> {
  yield* formatTarEntry('manifest.json', manifest.length, [manifest]);
  yield* formatTarEntry('manifest.sig', signature.length, [signature]);
  yield* formatTarEntry('audit-keys.pem', keys.length, [Buffer.from(keys)]);
  for (const [path, content] of files) yield* formatTarEntry(path, content.length, [content]);
  yield formatTarEnd();
}

async function octetsOf(parts: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(parts));
}

async function* pieces(octets: Buffer, size = 4_096): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < octets.length; at += size) yield octets.subarray(at, at + size);
}

/** Parsers of an audit trail: its lines as they are, and records that a hash was made for after they were changed. */
export async function auditParsers(directory: string): Promise<readonly Parser[]> {
  const { signHead, keys } = makeSigner();
  const trail = await openTrail(join(directory, 'sound'), { signHead });
  for (let number = 0; number < 6; number++) await trail.write(record(number));
  await trail.close();
  const text = readFileSync(streamFilePath(join(directory, 'sound'), 'main', 1), 'utf8');
  const fields = text.replaceAll(/^\{"chain":"main","sequence":\d+,"previous":"\w+",|,"hash":"\w+"\}$/gm, '');
  const [audit, file] = [join(directory, 'audit'), streamFilePath(join(directory, 'audit'), 'main', 1)];
  const verify = (octets: string | Buffer) => {
    rmSync(audit, { recursive: true, force: true });
    mkdirSync(audit);
    writeFileSync(file, octets);
    return verifyTrail(audit, keys);
  };
  const words = ['"kind":"', '"sequence":', '"chain":"', '"heads":[', '\n', '{', '[', '"', '\\', ',"hash":"', '1e999', '-1', 'null'];
  return [
    { name: 'audit trail', samples: [Buffer.from(text)], words, share: 0.1, read: verify },
    {
      ...{ name: 'records of an audit trail', samples: [Buffer.from(fields)], words, share: 0.1 },
      read(octets) {
        let head = emptyChain;
        let lines = '';
        for (const line of octets.toString('latin1').split('\n')) {
          const made = formatLine('main', head, `,${line}`);
          lines += made.text;
          head = made.head;
        }
        return verify(lines);
      },
    },
  ];
}
