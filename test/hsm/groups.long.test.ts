// Several tokens as one: a key opens in each, one that dies costs nobody anything, and a new one is taken in.
import { renameSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import type { Hsm, HsmError, KeyReference, OwnKeyName, TokenConfig } from '../../hsm/api.ts';
import { openHsm } from '../../hsm/client/open.ts';
import { carryToGroup } from '../../hsm/setup/carry-group.ts';
import { prepareToken } from '../../hsm/setup/setup.ts';
import { makeKey } from '../harness/keys.ts';
import { temporaryDirectory } from '../harness/temporary.ts';
import { makeNssToken, obtainNss } from '../harness/token/nss.ts';
import { makeEmptySoftToken, makeSoftToken, testHsmConfig } from '../harness/token/softhsm.ts';

const nss = await obtainNss();
if ('missing' in nss) console.error(`SKIPPED: a group of SoftHSM2 and NSS softoken: ${nss.missing}`);

const path = temporaryDirectory();
const message = Buffer.from('message');
const inGroup = (token: TokenConfig): TokenConfig => ({ ...token, group: 'main' });
let opened: Group[] = [];

afterEach(async () => {
  await Promise.all(opened.map(({ hsm }) => hsm.close()));
  opened = [];
});

/** The files of a SoftHSM token, as the harness names them. */
const filesOf = (directory: string, { name }: TokenConfig): string => `${directory}/${name}-tokens`;

class Group {
  readonly hsm: Hsm;
  readonly tokens: readonly TokenConfig[];
  readonly #hosts: ReadonlyMap<string, Set<number>>;
  inUse: OwnKeyName;

  private constructor(hsm: Hsm, tokens: readonly TokenConfig[], hosts: ReadonlyMap<string, Set<number>>, inUse: OwnKeyName) {
    this.hsm = hsm;
    this.tokens = tokens;
    this.#hosts = hosts;
    this.inUse = inUse;
    this.follow();
  }

  follow(): void {
    this.hsm.wrappingKeys.follow(
      () => this.inUse.number,
      () => this.inUse.carrying,
    );
  }

  static async open(tokens: readonly TokenConfig[], inUse: OwnKeyName = { number: 1 }): Promise<Group> {
    const hosts = new Map(tokens.map(({ name }) => [name, new Set<number>()]));
    const hsm = await openHsm(testHsmConfig(...tokens), {
      onEvent: ({ kind, token, pid }) => void (kind === 'token-up' && pid !== undefined && hosts.get(token)?.add(pid)),
    });
    const group = new Group(hsm, tokens, hosts, inUse);
    opened.push(group);
    return group;
  }

  /** Carries the next keys to all tokens, and waits until their keys open in each. */
  async carry(): Promise<void> {
    const { left, ...name } = await carryToGroup(this.tokens, this.inUse);
    expect(left).toEqual([]);
    this.inUse = name;
    await expect
      .poll(() => this.hsm.status().map(({ group }) => group?.opensKeys), { timeout: 20_000 })
      .toEqual(this.tokens.map(() => true));
  }

  /** Ends the host of a token for good, when its files were moved away before. */
  kill(name: string): void {
    for (const pid of this.#hosts.get(name) ?? []) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended before.
      }
    }
  }

  state(name: string): string | undefined {
    return this.hsm.status().find((token) => token.name === name)?.state;
  }
}

const seconds = [{ kind: 'SoftHSM2' }, { kind: 'NSS softoken' }] as const;

/** A prepared token and one of the other kind without keys of its own. */
async function makePair(kind: (typeof seconds)[number]['kind'], directory: string): Promise<readonly [TokenConfig, TokenConfig]> {
  const first = inGroup(await makeSoftToken(directory, 'first'));
  if (kind === 'NSS softoken' && 'directory' in nss)
    return [first, inGroup(await makeNssToken(nss, directory, 'second', { isPrepared: false }))];
  return [first, inGroup(await makeEmptySoftToken(directory, 'second'))];
}

describe.each(seconds)('SoftHSM2 beside $kind', ({ kind }) => {
  test.skipIf(kind === 'NSS softoken' && 'missing' in nss)(
    'the second is taken in while the first serves, work is spread over both, and none is lost when the first dies under load',
    { timeout: 60_000 },
    async () => {
      const directory = path(`pair-${kind}`);
      const tokens = await makePair(kind, directory);
      const group = await Group.open(tokens);
      const { hsm } = group;
      const { key } = await makeKey(hsm, 'aes-256', 'before');
      const sealed = await hsm.encrypt(key, message);
      expect(hsm.status().map(({ group: of }) => of)).toEqual([
        { name: 'main', opensKeys: true },
        { name: 'main', opensKeys: false },
      ]);

      await group.carry();
      const again: KeyReference = { ...key, stored: await hsm.wrappingKeys.rewrap(key) };
      expect([key.stored.token, again.stored.token]).toEqual(['main', 'main']);

      const uses = { count: 0 };
      const signer = await makeKey(hsm, 'ecdsa-p256', 'signer');
      const digest = Buffer.alloc(32, 1);
      const over = new AbortController();
      const failures: unknown[] = [];
      const load = Array.from({ length: 16 }, async (_, caller) => {
        while (!over.signal.aborted) {
          try {
            const opened = await hsm.decrypt(again, caller % 2 === 0 ? await hsm.encrypt(again, message) : sealed);
            if (!message.equals(opened)) failures.push('another plaintext');
            const [first] = await hsm.useAll([{ use: 'sign', key: signer.key, scheme: { scheme: 'ecdsa', digest } }]);
            if (!(first instanceof Uint8Array)) failures.push(first);
            if (caller === 0) await makeKey(hsm, 'aes-256', `under-load-${uses.count}`);
            uses.count++;
          } catch (error) {
            failures.push(error);
          }
        }
      });
      await expect.poll(() => uses.count, { timeout: 20_000 }).toBeGreaterThan(500);
      const busy = hsm.status().map(({ latencies }) => latencies['decrypt']?.count ?? 0);
      renameSync(filesOf(directory, tokens[0]), `${filesOf(directory, tokens[0])}.gone`);
      group.kill('first');
      await expect.poll(() => group.state('first'), { timeout: 30_000 }).toBe('down');
      const until = uses.count + 500;
      await expect.poll(() => uses.count, { timeout: 20_000 }).toBeGreaterThan(until);
      over.abort();
      await Promise.all(load);
      expect(failures).toEqual([]);
      expect(Math.min(...busy)).toBeGreaterThan(50);
      expect(hsm.damage('main')).toBeUndefined();
    },
  );
});

describe('a group', () => {
  test('does not say that a key is lost while a token that may have it is away', { timeout: 60_000 }, async () => {
    const directory = path('away');
    const tokens = await makePair('SoftHSM2', directory);
    const group = await Group.open(tokens);
    const { key } = await makeKey(group.hsm, 'aes-256', 'under-the-first');
    await group.carry();
    renameSync(filesOf(directory, tokens[0]), `${filesOf(directory, tokens[0])}.gone`);
    group.kill('first');
    await expect.poll(() => group.state('first'), { timeout: 30_000 }).toBe('down');
    await expect(group.hsm.encrypt(key, message)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('token first'),
    });

    renameSync(`${filesOf(directory, tokens[0])}.gone`, filesOf(directory, tokens[0]));
    await expect.poll(() => group.state('first'), { timeout: 30_000 }).toBe('up');
    await expect(group.hsm.encrypt(key, message)).resolves.toBeDefined();
  });

  // Vitest counts what a timer throws as an error of the run.
  test('goes on while nobody can say which wrapping key is in use, as when the store is opened again', async () => {
    const group = await Group.open(await makePair('SoftHSM2', path('unknown')));
    await group.carry();
    const { key } = await makeKey(group.hsm, 'aes-256', 'known');
    let asked = 0;
    group.hsm.wrappingKeys.follow(() => {
      asked++;
      throw new Error('the store is closed');
    });
    await expect.poll(() => asked, { timeout: 5_000 }).toBeGreaterThan(3);
    group.follow();
    await expect(group.hsm.encrypt(key, message)).resolves.toBeDefined();
  });

  test('keeps no keys as objects, and those of CAs wrapped', async () => {
    const { hsm } = await Group.open(await makePair('SoftHSM2', path('objects')));
    const error = await makeKey(hsm, 'aes-256', 'object', { custody: 'token' }).catch((reason: HsmError) => reason);
    expect(error).toMatchObject({ kind: 'unsupported', message: expect.stringContaining('wrapped custody') });
    expect(hsm.ownCustody('ecdsa-p256')).toBe('wrapped');
  });

  test('of two tokens that each made keys for themselves is refused', async () => {
    const [first, second] = await makePair('SoftHSM2', path('two-origins'));
    await prepareToken(second);
    await expect(openHsm(testHsmConfig(first, second))).rejects.toMatchObject({
      kind: 'configuration',
      message: expect.stringContaining('tokens first and second of group main each made keys for themselves'),
    });
  });

  test(
    'loses a token for ever and gets another one: no key is lost, and none of the old token is needed',
    { timeout: 60_000 },
    async () => {
      const directory = path('replaced');
      const [first, second] = await makePair('SoftHSM2', directory);
      const before = await Group.open([first, second]);
      await before.carry();
      const { key } = await makeKey(before.hsm, 'secret-256', 'kept');
      const mac = await before.hsm.hmac(key, 'sha256', message);
      await before.hsm.close();

      const third = inGroup(await makeEmptySoftToken(directory, 'third'));
      const after = await Group.open([second, third], before.inUse);
      await after.carry();
      const again: KeyReference = { ...key, stored: await after.hsm.wrappingKeys.rewrap(key) };
      for (const number of (await after.hsm.wrappingKeys.list('main')).filter((old) => old < after.inUse.number))
        await after.hsm.wrappingKeys.destroy('main', number);
      await after.hsm.close();

      const alone = await Group.open([{ ...third, name: 'main' }], after.inUse);
      expect(await alone.hsm.hmac(again, 'sha256', message)).toEqual(mac);
    },
  );
});

test('a process goes on making keys after another one has destroyed own keys that it had loaded and nobody needs', async () => {
  const token = inGroup(await makeSoftToken(path('two-processes')));
  const [busy, other] = [await Group.open([token]), await Group.open([token])];
  for (const key of ['first', 'second']) {
    await busy.carry();
    other.inUse = busy.inUse;
    await makeKey(other.hsm, 'aes-256', key);
  }
  for (const number of [1, 2]) await busy.hsm.wrappingKeys.destroy('main', number);
  await makeKey(other.hsm, 'aes-256', 'third');
  expect(other.hsm.damage('main')).toBeUndefined();
});
