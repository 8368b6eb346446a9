// Sealed data between our client libraries: each opens what the others sealed and the fixed vectors, finds what was changed, rewraps headers
// in place, and works on a gigabyte in constant memory. Keys that each wraps for their import.
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { cpSync, createReadStream, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientsDirectory } from '../../appliance/clients/provide.ts';
import { Client, sealedHeaderBytes } from '../../dist/clients/typescript/src/index.ts';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { plaintextOf, type Vector } from '../vectors/sealed/make.ts';
import { measure, must, printMeasures, requireToolchain } from './commands.ts';
import { obtainGo, onlyThisGo } from './go/toolchain.ts';
import { versions } from './versions.ts';
import { virtualEnvironment } from './virtual-environment.ts';

const path = temporaryDirectory();
const programs = join(import.meta.dirname, 'sealed');
const vectors = JSON.parse(readFileSync(join(import.meta.dirname, '../vectors/sealed/sealed.json'), 'utf8')) as Vector[];
const languages = ['TypeScript', 'Python', 'Go', 'Java'] as const;
type Language = (typeof languages)[number];
const gibibyte = 2 ** 30;
/** Of the process at its most, with runtime and libraries; none may hold as much of the data. */
const mostMemoryKilobytes = 256_000;
const piece = 65_536;

let daemon: Daemon;
let client: Client;
let variables: Record<string, string>;
const lines: Partial<Record<Language, { readonly line: readonly string[]; readonly environment?: Record<string, string> }>> = {};
printMeasures();

beforeAll(async () => {
  daemon = await startDaemon({ directory: path('data') });
  await daemon.request('POST', '/v1/config/keystore/transit-keys', { name: 'orders' });
  writeFileSync(path('ca.pem'), daemon.caPem);
  client = new Client({ address: daemon.url, ca: daemon.caPem, credentials: { token: daemon.rootToken } });
  variables = {
    KEYSTORED_URL: daemon.url,
    KEYSTORED_CA_FILE: path('ca.pem'),
    KEYSTORED_TOKEN: daemon.rootToken,
    KEYSTORED_KEY: 'orders',
  };
  lines.TypeScript = { line: [process.execPath, join(programs, 'program.ts')] };
  lines.Python = await python();
  lines.Go = await go();
  lines.Java = await java();
});
afterAll(async () => {
  client?.close();
  await daemon?.stop();
});

async function python(): Promise<{ line: string[]; environment: Record<string, string> }> {
  const bin = await virtualEnvironment('sealing', ['cryptography'], [], programs);
  return {
    line: [join(bin, 'python3'), '-B', join(programs, 'program.py')],
    environment: { PYTHONPATH: join(clientsDirectory, 'python/src') },
  };
}

async function go(): Promise<{ line: string[] }> {
  await requireToolchain('go');
  const [command, at] = [await obtainGo(versions.go), path('go')];
  mkdirSync(at);
  cpSync(join(programs, 'main.go'), join(at, 'main.go'));
  const where = { cwd: at, environment: onlyThisGo };
  await must(command, ['mod', 'init', 'example.com/sealed'], where);
  await must(command, ['mod', 'edit', `-replace=keystored-client=${join(clientsDirectory, 'go')}`], where);
  await must(command, ['mod', 'tidy'], where);
  await must(command, ['build', '-o', 'program', '.'], where);
  return { line: [join(at, 'program')] };
}

async function java(): Promise<{ line: string[] }> {
  await requireToolchain('mvn');
  const [source, at] = [join(clientsDirectory, 'java'), path('java')];
  cpSync(source, at, { recursive: true, filter: (from) => !from.startsWith(`${source}${sep}target`) });
  await must('mvn', ['-B', '-ntp', '-q', 'compile', 'dependency:copy-dependencies', '-DincludeScope=runtime'], { cwd: at });
  const classes = `${join(at, 'target/classes')}:${join(at, 'target/dependency')}/*`;
  await must('javac', ['-cp', classes, '-d', join(at, 'program'), join(programs, 'Program.java')]);
  return { line: ['java', '-Xmx64m', '-cp', `${join(at, 'program')}:${classes}`, 'Program'] };
}

/** Runs the program of a language; answers its line for each pair of files, and the most memory that it had, in kB. */
async function program(
  language: Language,
  command: 'import' | 'open' | 'rewrap' | 'seal',
  pairs: readonly (readonly [from: string, to: string])[],
): Promise<{ readonly results: readonly string[]; readonly kilobytes: number; readonly seconds: number }> {
  const { line: [file = '', ...first] = [], environment = {} } = lines[language] ?? {};
  const ended = await must(file, [...first, command, ...pairs.flat()], { environment: { ...variables, ...environment } });
  const printed = ended.stdout.trim().split('\n');
  return { results: printed.slice(0, -1), kilobytes: Number(printed.at(-1)), seconds: ended.seconds };
}

function write(name: string, octets: Uint8Array): string {
  writeFileSync(path(name), octets);
  return path(name);
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/** The vector as a file, its data key wrapped by the appliance: the wrapped key is the one part that may differ. */
async function vectorFile(vector: Vector, index: number): Promise<string> {
  const { sealWith } = await import('../../dist/clients/typescript/src/sealing/sealing.ts');
  const octets = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));
  const sealed = Buffer.concat(
    await Array.fromAsync(
      sealWith(plaintextOf(vector.length), {
        plaintext: octets(vector['data-key']),
        ciphertext: vector['wrapped-key'],
        salt: octets(vector.salt),
        noncePrefix: octets(vector['nonce-prefix']),
      }),
    ),
  );
  expect(createHash('sha256').update(sealed).digest('hex')).toBe(vector['sha-256']);
  const wrapped = Buffer.from(await client.key('orders').encrypt(octets(vector['data-key'])));
  sealed.fill(0, 79, sealedHeaderBytes);
  sealed.writeUInt16BE(wrapped.length, 79);
  wrapped.copy(sealed, 81);
  return write(`vector-${index}`, sealed);
}

/** A new key pair: PKCS#8, and the public key as the appliance writes it. */
function pairOf(cipher: 'ecdsa-p256' | 'ed25519' | 'rsa-4096'): { readonly privateKey: Buffer; readonly publicKey: string } {
  const { privateKey, publicKey } =
    cipher === 'ed25519'
      ? generateKeyPairSync('ed25519')
      : cipher === 'ecdsa-p256'
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
        : generateKeyPairSync('rsa', { modulusLength: 4096 });
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'der' }),
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }),
  };
}

describe.each(languages)('%s', (language) => {
  test('wraps keys of every shape for their import', async () => {
    const made = (['rsa-4096', 'ecdsa-p256', 'ed25519'] as const).map((cipher) => ({ cipher, ...pairOf(cipher) }));
    const octets = randomBytes(16);
    const files: [string, string][] = [];
    for (const { cipher, privateKey } of [...made, { cipher: 'aes128-gcm96' as const, privateKey: octets }]) {
      const key = `${language}-${cipher}`.toLowerCase();
      await client.transitKeys.create({ name: key, cipher, exportable: true });
      files.push([write(`${key}.key`, privateKey), key]);
    }
    expect((await program(language, 'import', files)).results).toEqual(files.map(() => 'done'));
    for (const [at, { publicKey }] of made.entries())
      expect((await client.transitKeys.show(files[at]?.[1] ?? '')).keys?.['2'], files[at]?.[1]).toBe(publicKey);
    const exported = await client.transitKeys.export(files.at(-1)?.[1] ?? '', { version: 2 });
    expect(JSON.stringify(exported)).toContain(octets.toString('base64'));
  });

  test('opens the fixed vectors', async () => {
    const files = await Promise.all(vectors.map((vector, index) => vectorFile(vector, index)));
    const { results } = await program(
      language,
      'open',
      files.map((file) => [file, `${file}.opened`]),
    );
    expect(results).toEqual(files.map(() => 'done'));
    for (const [index, { length }] of vectors.entries())
      expect(readFileSync(`${files[index]}.opened`).equals(plaintextOf(length)), `${length} octets`).toBe(true);
  });

  test('seals what all open', async () => {
    const lengths = [0, 1, piece - 1, piece, piece + 1, 2 * piece, 5 * piece + 7];
    const plain = lengths.map((length) => write(`plain-${language}-${length}`, randomBytes(length)));
    const seal = await program(
      language,
      'seal',
      plain.map((file) => [file, `${file}.sealed`]),
    );
    expect(seal.results).toEqual(plain.map(() => 'done'));
    for (const [index, file] of plain.entries()) {
      const pieces = Math.max(1, Math.ceil((lengths[index] ?? 0) / piece));
      expect(readFileSync(`${file}.sealed`)).toHaveLength(sealedHeaderBytes + (lengths[index] ?? 0) + 16 * pieces);
    }
    for (const other of languages) {
      const { results } = await program(
        other,
        'open',
        plain.map((file) => [`${file}.sealed`, `${file}.by-${other}`]),
      );
      expect(results, other).toEqual(plain.map(() => 'done'));
      for (const file of plain) expect(readFileSync(`${file}.by-${other}`).equals(readFileSync(file)), `${other}: ${file}`).toBe(true);
    }
  });

  test('finds what was changed', async () => {
    const plain = [0, 1].map((index) => write(`changed-${language}-${index}`, randomBytes(3 * piece)));
    await program(
      language,
      'seal',
      plain.map((file) => [file, `${file}.sealed`]),
    );
    const [one = Buffer.alloc(0), two = Buffer.alloc(0)] = plain.map((file) => readFileSync(`${file}.sealed`));
    const at = (index: number): number => sealedHeaderBytes + index * (piece + 16);
    const flipped = (index: number): Buffer => {
      const copy = Buffer.from(one);
      copy[index] = (copy[index] ?? 0) ^ 1;
      return copy;
    };
    const cut = (from: number, to: number): Buffer => one.subarray(from, to);
    const changes: readonly Buffer[] = [
      Buffer.alloc(0),
      cut(0, 500),
      cut(0, at(0)),
      cut(0, at(2)),
      cut(0, one.length - 1),
      Buffer.concat([one, Buffer.alloc(1)]),
      Buffer.concat([one, Buffer.alloc(16)]),
      Buffer.concat([one, cut(at(2), one.length)]),
      Buffer.concat([cut(0, at(0)), cut(at(1), at(2)), cut(at(0), at(1)), cut(at(2), one.length)]),
      Buffer.concat([cut(0, at(1)), cut(at(2), one.length)]),
      Buffer.concat([two.subarray(0, sealedHeaderBytes), one.subarray(sealedHeaderBytes)]),
      Buffer.concat([one.subarray(0, 79), two.subarray(79, sealedHeaderBytes), one.subarray(sealedHeaderBytes)]),
      Buffer.concat([cut(0, at(1)), two.subarray(at(1))]),
      ...[0, 7, 8, 40, 47, 80, sealedHeaderBytes - 1, at(1) + 5, one.length - 1].map(flipped),
    ];
    const files = changes.map((octets, index) => write(`change-${language}-${index}`, octets));
    const { results } = await program(
      language,
      'open',
      files.map((file) => [file, `${file}.opened`]),
    );
    expect(results.filter((line) => !line.startsWith('refused: '))).toEqual([]);
    expect(results).toHaveLength(changes.length);
  });

  test('rewraps a header in place', async () => {
    const plain = write(`rewrapped-${language}`, randomBytes(piece + 1));
    await program(language, 'seal', [[plain, `${plain}.sealed`]]);
    const before = readFileSync(`${plain}.sealed`);
    await client.transitKeys.rotate('orders');
    expect((await program(language, 'rewrap', [[`${plain}.sealed`, '']])).results).toEqual(['done']);
    const after = readFileSync(`${plain}.sealed`);
    const version = (octets: Buffer): number => Number(/^store:v(\d+):/.exec(octets.toString('latin1', 81))?.[1]);
    expect(version(after)).toBe(version(before) + 1);
    expect(after.subarray(sealedHeaderBytes).equals(before.subarray(sealedHeaderBytes))).toBe(true);
    const others = languages.filter((other) => other !== language);
    for (const other of others) expect((await program(other, 'open', [[`${plain}.sealed`, `${plain}.by`]])).results).toEqual(['done']);
    expect(readFileSync(`${plain}.by`).equals(readFileSync(plain))).toBe(true);
  });

  test('seals and opens a gibibyte in constant memory', async () => {
    const [plain, sealed, opened] = [path('large'), path('large.sealed'), path('large.opened')];
    writeFileSync(plain, 'the rest is zeros');
    truncateSync(plain, gibibyte);
    for (const [command, from, to] of [
      ['seal', plain, sealed],
      ['open', sealed, opened],
    ] as const) {
      const { results, kilobytes, seconds } = await program(language, command, [[from, to]]);
      expect(results).toEqual(['done']);
      measure(`${language}: ${command} 1 GiB, at most ${(kilobytes / 1_024).toFixed(0)} MiB in memory`, { seconds });
      expect(kilobytes).toBeLessThan(mostMemoryKilobytes);
    }
    expect(await digestOf(opened)).toBe(await digestOf(plain));
    for (const file of [plain, sealed, opened]) rmSync(file);
  });
});
