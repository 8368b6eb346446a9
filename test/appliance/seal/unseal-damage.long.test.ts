// An unseal while a part of the appliance is missing, damaged or another's: refused with a sentence, before the PIN is used, and mended without a start.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { processesBelow } from '../../harness/processes.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const directory = path('data');
const sealPath = '/v1/state/keystore/system/seal';
const unseal = '/v1/state/keystore/system/unseal';

let daemon: Daemon;
let pin: string;
beforeAll(async () => {
  await (await startDaemon({ directory: path('foreign'), firstStart: true })).stop();
  daemon = await startDaemon({ directory });
  pin = readFileSync(join(directory, 'pin'), 'utf8');
});
afterAll(() => daemon.stop());

/** Puts something else in the place of a name, or nothing. Answers how to put back what was there. */
function exchange(name: string, put: (file: string) => unknown = () => undefined): () => void {
  const file = join(directory, name);
  const isThere = existsSync(file);
  if (isThere) renameSync(file, path('away'));
  put(file);
  return () => {
    rmSync(file, { recursive: true, force: true });
    if (isThere) renameSync(path('away'), file);
  };
}

const fifo = (file: string): unknown => spawnSync('python3', ['-c', 'import os,sys; os.mkfifo(sys.argv[1])', file]);
const foreign = (file: string): void => cpSync(path('foreign', basename(file)), file, { recursive: true });
const garbage = (file: string): void => writeFileSync(file, 'something else '.repeat(1_000));
/** All pages behind the two that name the roots. */
const pages = (file: string): void => writeFileSync(file, readFileSync(path('away')).fill('Z', 2 * 4_096));
const ofChain = (chain: string): string =>
  join('audit', readdirSync(join(directory, 'audit')).find((name) => name.startsWith(chain)) ?? `${chain}.000000000001.jsonl`);

test('sealed, it waits for the PIN in other processes', async () => {
  const workers = processesBelow(daemon.pid, '/worker.');
  expect((await daemon.exchange('POST', sealPath)).status).toBe(204);
  const left = (): readonly number[] => processesBelow(daemon.pid, '/worker.').filter((one) => workers.includes(one));
  await expect.poll(left, { timeout: 60_000 }).toEqual([]);
});

test.each<[what: string, name: () => string, put: ((file: string) => unknown) | undefined, remedy: RegExp]>([
  ['token away', () => 'softhsm', undefined, /is missing.*put back what is missing/],
  ['store away', () => 'store', undefined, /is missing or empty.*put back what is missing/],
  ['store key away', () => 'store-key.json', undefined, /is missing.*put back what is missing/],
  ['store key damaged', () => 'store-key.json', garbage, /is damaged.*put the file back/],
  ['store key of another appliance', () => 'store-key.json', foreign, /of different appliances.*from the same backup/],
  ['store of another appliance', () => 'store', foreign, /your backup/],
  ['store damaged', () => 'store/data.mdb', garbage, /is damaged.*from your backup/],
  ['pages of the store damaged', () => 'store/data.mdb', pages, /is damaged.*from your backup/],
  ['token a FIFO', () => 'softhsm', fifo, /is a FIFO, not a directory: move it away/],
  ['store key a FIFO', () => 'store-key.json', fifo, /is a FIFO, not a file: move it away/],
  ['store key a directory', () => 'store-key.json', (file) => mkdirSync(file), /is a directory, not a file: move it away/],
  ['SoftHSM configuration a FIFO', () => 'softhsm.conf', fifo, /is a FIFO, not a file: move it away/],
  ['audit trail a FIFO', () => 'audit', fifo, /is a FIFO, not a directory: move it away/],
  ['FIFO in the place of the chain of the supervisor', () => ofChain('supervisor'), fifo, /is a FIFO, not a file: move it away/],
  ['FIFO in the place of the chain of a worker', () => ofChain('worker-1'), fifo, /is a FIFO, not a file: move it away/],
  [
    'directory in the place of the chain of the supervisor',
    () => ofChain('supervisor'),
    (file) => mkdirSync(file),
    /is a directory, not a file: move it away/,
  ],
  [
    'directory in the place of the chain of a worker',
    () => ofChain('worker-1'),
    (file) => mkdirSync(file),
    /is a directory, not a file: move it away/,
  ],
  ['FIFO beside the audit trail', () => 'tls/strange', fifo, /is neither a file nor a directory: move it away/],
])('%s: unseal names the file and the remedy, and works when that is mended', async (_, nameOf, put, remedy) => {
  const name = nameOf();
  const mend = exchange(name, put);
  const said = daemon.output().length;
  const { status, body } = await daemon.exchange('POST', unseal, { pin });
  const logged = (): string => daemon.output().slice(said);
  try {
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'data-damaged' });
    expect(body.detail).toContain(join(directory, name.split('/')[0] as string));
    expect(body.detail).toMatch(remedy);
    expect(body.detail).toMatch(/\. The appliance stays sealed: unseal it again when that is mended; no restart is needed\.$/);
    const [sentence = ''] = String(body.detail).split('. The appliance stays sealed');
    await expect
      .poll(logged)
      .toContain(`the appliance could not be unsealed reason=${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`);
    expect(await daemon.exchange('GET', '/v1/state/system/health')).toMatchObject({ status: 503, body: { status: 'sealed' } });
  } finally {
    mend();
  }
});

test('a token of another appliance gets no PIN, and is named as what it is', async () => {
  const mend = exchange('softhsm', foreign);
  const refused = await daemon.exchange('POST', unseal, { pin });
  mend();
  expect(refused).toMatchObject({ status: 409, body: { code: 'data-damaged' } });
  expect(refused.body.detail).toMatch(/another token is in its place and does not get the PIN/);
  expect(refused.body.detail).toContain(join(directory, 'softhsm'));
});

test('in a start in which no token was open, one of another appliance gets no PIN either', async () => {
  writeFileSync(path('attended.yaml'), 'hsm: {start: attended}\n');
  const options = { directory: path('attended'), firstStart: false, args: ['--config', path('attended.yaml')] };
  await (await startDaemon(options)).stop();
  const own = readFileSync(path('attended', 'pin'), 'utf8');
  rmSync(path('attended', 'softhsm'), { recursive: true });
  foreign(path('attended', 'softhsm'));
  const sealed = await startDaemon(options);
  // A refused PIN makes the next attempt wait, and a fourth one is not taken.
  for (let attempt = 1; attempt <= 4; attempt++) {
    const { status, body } = await sealed.exchange('POST', unseal, { pin: own });
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'data-damaged' });
    expect(body.detail).toMatch(/another token is in its place and does not get the PIN: .*softhsm and .*store-key\.json are of different/);
  }
  await sealed.stop();
});

test('when everything is in its place again it is unsealed, by the same process', async () => {
  const unsealed = async (): Promise<number> => (await daemon.exchange('POST', unseal, { pin })).status;
  await expect.poll(unsealed, { timeout: 30_000, interval: 1_000 }).toBe(204);
  await expect.poll(async () => (await daemon.exchange('GET', '/v1/state/system/health')).status, { timeout: 30_000 }).toBe(200);
});
