// The kept copy of the API description: used when the appliance says that it is the same, and never when it is not what was kept.
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import { Refused, type Answer, type Request } from '../../../appliance/cli/client.ts';
import { keptDescription, loadDescription } from '../../../appliance/cli/description.ts';
import type { Io } from '../../../appliance/cli/terminal/io.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
let cache = '';
let count = 0;
beforeEach(() => {
  count += 1;
  cache = path(`cache-${count}`);
});

describe('a second command', () => {
  test('asks whether its copy is still right, and gets no document', async () => {
    const appliance = new Appliance('1');
    expect(await appliance.load()).toEqual(appliance.document);
    expect(await appliance.load()).toEqual(appliance.document);
    expect(appliance.statuses).toEqual([200, 304]);
    expect(appliance.asked[1]?.headers).toMatchObject({ 'if-none-match': '"1"', 'accept-encoding': 'gzip' });
  });

  test('gets the new document of an updated appliance', async () => {
    const appliance = new Appliance('1');
    await appliance.load();
    appliance.version = '2';
    expect(await appliance.load()).toEqual(appliance.document);
    expect(await appliance.load()).toMatchObject({ info: { version: '2' } });
    expect(appliance.statuses).toEqual([200, 200, 304]);
  });

  test('understands an appliance that sends no entity tag and no compression', async () => {
    const appliance = new Appliance('1', { plain: true });
    expect([await appliance.load(), await appliance.load()]).toEqual([appliance.document, appliance.document]);
    expect(appliance.statuses).toEqual([200, 200]);
  });

  test('with KEYSTORED_NO_CACHE asks for the document and keeps nothing', async () => {
    const appliance = new Appliance('1');
    await appliance.load({ KEYSTORED_NO_CACHE: '1' });
    await appliance.load({ KEYSTORED_NO_CACHE: '1' });
    expect(appliance.statuses).toEqual([200, 200]);
    expect(() => readdirSync(cache)).toThrow('ENOENT');
  });

  test('of another user of the machine cannot read the copy', async () => {
    await new Appliance('1').load();
    expect(statSync(join(cache, 'keystored')).mode & 0o777).toBe(0o700);
    expect(statSync(keptFile()).mode & 0o777).toBe(0o600);
  });
});

describe('a copy is not used', () => {
  const damages: readonly [string, (file: string) => void][] = [
    ['cut off', (file) => writeFileSync(file, readFileSync(file).subarray(0, -10))],
    ['empty', (file) => writeFileSync(file, '')],
    ['changed in one character', (file) => writeFileSync(file, readFileSync(file, 'utf8').replace('openapi', 'openqpi'))],
    ['without its first line', (file) => writeFileSync(file, readFileSync(file, 'utf8').replace(/^.*\n/, ''))],
    [
      'that is a folder',
      (file) => {
        rmSync(file);
        mkdirSync(file);
      },
    ],
    ['writable by others', (file) => chmodSync(file, 0o666)],
    ['with an entity tag that is none', (file) => relabel(file, { etag: '1\r\nx: y' })],
  ];
  test.each(damages)('%s', async (_, damage) => {
    const appliance = new Appliance('1');
    await appliance.load();
    damage(keptFile());
    expect(await appliance.load()).toEqual(appliance.document);
    expect(appliance.statuses).toEqual([200, 200]);
    expect(appliance.asked[1]?.headers).not.toHaveProperty('if-none-match');
  });

  test('of another appliance, though it has the name of the right one', async () => {
    const [one, other] = [new Appliance('1'), new Appliance('1', { url: 'https://other:4646' })];
    await one.load();
    await other.load();
    const [first = '', second = ''] = readdirSync(join(cache, 'keystored')).map((name) => join(cache, 'keystored', name));
    const [copy, otherCopy] = [readFileSync(first), readFileSync(second)];
    writeFileSync(first, otherCopy, { mode: 0o600 });
    writeFileSync(second, copy, { mode: 0o600 });
    await one.load();
    expect(one.statuses).toEqual([200, 200]);
  });

  test('of the same address under another CA', async () => {
    await new Appliance('1').load();
    const replaced = new Appliance('1', { ca: 'another CA' });
    await replaced.load();
    expect(replaced.statuses).toEqual([200]);
  });
});

test('commands at the same time leave one whole copy and no rest', async () => {
  const appliance = new Appliance('1');
  const documents = await Promise.all(Array.from({ length: 20 }, () => appliance.load()));
  expect(documents.every((one) => JSON.stringify(one) === JSON.stringify(appliance.document))).toBe(true);
  expect(readdirSync(join(cache, 'keystored'))).toHaveLength(1);
  await appliance.load();
  expect(appliance.statuses.at(-1)).toBe(304);
});

test('a home that cannot be written is no error', async () => {
  writeFileSync(cache, 'a file where the folder should be');
  const appliance = new Appliance('1');
  expect(await appliance.load()).toEqual(appliance.document);
  expect(appliance.kept()).toBeUndefined();
});

test('the copy serves a sealed appliance, and completion without a request', async () => {
  const appliance = new Appliance('1');
  await appliance.load();
  expect(appliance.kept()).toEqual(appliance.document);
  appliance.sealed = true;
  expect(await appliance.load()).toEqual(appliance.document);
  await expect(appliance.load({ KEYSTORED_NO_CACHE: '1' })).rejects.toThrow('sealed');
});

test.each([
  ['no JSON', { body: Buffer.from('<html>') }],
  ['JSON of another kind', { body: Buffer.from('[1]') }],
  ['null', { body: Buffer.from('null') }],
  ['compressed wrongly', { body: Buffer.from('{}'), headers: { 'content-encoding': 'gzip' } }],
  ['compressed otherwise', { body: Buffer.from('{}'), headers: { 'content-encoding': 'br' } }],
  ['more than a description can be', { body: gzipSync(Buffer.alloc(65 * 1024 * 1024, 0x20)), headers: { 'content-encoding': 'gzip' } }],
])('a server that answers %s is not a keystored, and nothing is kept', async (_, answer) => {
  const appliance = new Appliance('1');
  appliance.exchange = () => Promise.resolve(answerOf({ ...answer }));
  await expect(appliance.load()).rejects.toThrow('https://appliance:4646 is not a keystored');
  expect(() => readdirSync(cache)).toThrow('ENOENT');
});

/** Answers as RFC 9110 says, with an entity tag, compressed for a client that takes it. */
class Appliance {
  version: string;
  sealed = false;
  readonly connection: { readonly url: string; readonly ca: string; readonly token: undefined; readonly context: string };
  readonly asked: Request[] = [];
  readonly statuses: number[] = [];
  readonly #plain: boolean;

  constructor(version: string, { url = 'https://appliance:4646', ca = 'CA', plain = false } = {}) {
    this.version = version;
    this.connection = { url, ca, token: undefined, context: 'default' };
    this.#plain = plain;
  }

  get document() {
    return { openapi: '3.1.0', info: { version: this.version }, paths: {}, components: { schemas: {} } };
  }

  exchange = async (request: Request): Promise<Answer> => {
    this.asked.push(request);
    const etag = `"${this.version}"`;
    const { headers = {} } = request;
    if (this.sealed) throw new Refused(answerOf({ status: 503 }), { code: 'sealed', detail: 'It is sealed.' });
    const answer = this.#plain
      ? answerOf({ body: Buffer.from(JSON.stringify(this.document)) })
      : headers['if-none-match'] === etag
        ? answerOf({ status: 304, headers: { etag } })
        : answerOf({ body: gzipSync(JSON.stringify(this.document)), headers: { etag, 'content-encoding': 'gzip' } });
    this.statuses.push(answer.status);
    return Promise.resolve(answer);
  };

  load(environment: Readonly<Record<string, string>> = {}): Promise<unknown> {
    return loadDescription(this, ioWith(environment));
  }

  kept(): unknown {
    return keptDescription(this.connection, ioWith({}));
  }
}

function answerOf({ status = 200, body = Buffer.alloc(0), headers = {} }: Partial<Answer>): Answer {
  return { status, mediaType: 'application/json', headers, retryAfterSeconds: undefined, body };
}

function ioWith(environment: Readonly<Record<string, string>>): Io {
  const nothing = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });
  return { environment: { XDG_CACHE_HOME: cache, ...environment }, stdin: Readable.from([]), stdout: nothing(), stderr: nothing() };
}

function keptFile(): string {
  const [name = ''] = readdirSync(join(cache, 'keystored'));
  return join(cache, 'keystored', name);
}

/** Changes the first line, which says what the copy is. */
function relabel(file: string, change: object): void {
  const [first = '', ...rest] = readFileSync(file, 'utf8').split('\n');
  writeFileSync(file, [JSON.stringify({ ...JSON.parse(first), ...change }), ...rest].join('\n'));
}
