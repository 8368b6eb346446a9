// Files in Chromium: signed by drag and drop, verified by the page, and by openssl and gpg; the hash is made in the browser.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../harness/temporary.ts';
import { chromiumPath } from '../plugins/oidc/chromium.ts';
import { expectAccessible, picture } from './console-browser.ts';
import { keys, keyStates } from './console-furnished.ts';
import { prepareWalks } from './console-walk.ts';

const directory = temporaryDirectory();
const file = (name: string): string => join(directory(), name);

/** Ways in which keys sign files: what verifies elsewhere, and the ending of the signature. */
const ciphers = {
  'ecdsa-p256': (signature: string, input: string) => ['dgst', '-sha256', '-verify', file('public.pem'), '-signature', signature, input],
  'ecdsa-p384': (signature: string, input: string) => ['dgst', '-sha384', '-verify', file('public.pem'), '-signature', signature, input],
  'rsa-2048': (signature: string, input: string) => ['dgst', '-sha256', '-verify', file('public.pem'), '-signature', signature, input],
  ed25519: (signature: string, input: string) => [
    ...['pkeyutl', '-verify', '-pubin', '-inkey', file('public.pem'), '-rawin', '-in', input, '-sigfile', signature],
  ],
} as const;

const walks = prepareWalks(async (daemon) => {
  for (const cipher of Object.keys(ciphers)) await daemon.request('POST', keys, { name: cipher, cipher });
  await daemon.request('POST', keys, { name: 'publisher', cipher: 'ed25519', 'openpgp-user-id': 'Publisher <publisher@example.com>' });
  mkdirSync(directory(), { recursive: true });
  writeFileSync(file('image.bin'), Buffer.alloc(20 * 1024 * 1024, 'keystored'));
  writeFileSync(file('note.txt'), 'a note\n');
});

/** Drops or chooses files, and saves what the page makes of them. */
async function sign(page: Page, input: string): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent('download'), page.setInputFiles('.drop input', file(input))]);
  const signature = file(download.suggestedFilename());
  await download.saveAs(signature);
  return signature;
}

describe.skipIf(chromiumPath === undefined)('a file', () => {
  test.each(Object.entries(ciphers))(
    'is signed with %s as openssl verifies it, and verified when it is dropped with its signature',
    async (cipher, verify) => {
      const input = cipher === 'ed25519' ? 'note.txt' : 'image.bin';
      await walks.walk(`${keys}/${cipher}?do=file`, async (page) => {
        const sent: number[] = [];
        page.on('request', (request) => sent.push(request.postDataBuffer()?.length ?? 0));
        const signature = await sign(page, input);
        const [key] = await Promise.all([page.waitForEvent('download'), page.click('button:text-is("Save the public key")')]);
        await key.saveAs(file('public.pem'));
        expect(execFileSync('openssl', verify(signature, file(input)), { encoding: 'utf8' })).toMatch(/Verified OK|Verified Successfully/);
        expect(Math.max(...sent)).toBeLessThan(1_000);
        await page.setInputFiles('.drop input', [file(input), signature]);
        await page.waitForSelector('[role=status]:has-text("is valid, by version 1")');
        await picture(page, 'light', `file-${cipher}`);
        await expectAccessible(page);
        writeFileSync(file(`other.sig`), 'nothing of the kind');
        writeFileSync(file('other'), 'other');
        await page.setInputFiles('.drop input', [file('other'), file('other.sig')]);
        await page.waitForSelector('[role=status]:has-text("other.sig is not a signature of this key over this file")');
      });
    },
  );

  test('is signed with an OpenPGP key as gpg verifies it, and verified when it is dropped with its signature', async () => {
    await walks.walk(`${keys}/publisher?do=file`, async (page) => {
      const signature = await sign(page, 'image.bin');
      const exported = await walks.daemon.request('POST', `${keyStates}/publisher/export-openpgp-public`, { version: 'latest' });
      const { keys: blocks } = exported as { readonly keys: readonly { readonly keyblock: string }[] };
      writeFileSync(file('publisher.asc'), blocks[0]?.keyblock ?? '');
      const home = file('gnupg');
      mkdirSync(home, { recursive: true, mode: 0o700 });
      const gpg = (...words: readonly string[]): string =>
        execFileSync('gpg', ['--homedir', home, '--batch', '--status-fd', '1', ...words], {
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
        });
      gpg('--import', file('publisher.asc'));
      expect(gpg('--verify', signature, file('image.bin'))).toContain('GOODSIG');
      await page.setInputFiles('.drop input', [file('image.bin'), signature]);
      await page.waitForSelector('[role=status]:has-text("is valid, by version 1")');
      await expectAccessible(page);
    });
  });

  test('that is dropped is taken like one that is chosen', async () => {
    await walks.walk(`${keys}/ecdsa-p256?do=file`, async (page) => {
      await page.waitForSelector('.drop');
      const data = await page.evaluateHandle(`(() => {
        const data = new DataTransfer();
        data.items.add(new File(['hello'], 'hello.txt'));
        return data;
      })()`);
      const [download] = await Promise.all([page.waitForEvent('download'), page.dispatchEvent('.drop', 'drop', { dataTransfer: data })]);
      expect(download.suggestedFilename()).toBe('hello.txt.sig');
      await page.waitForSelector('.card:has-text("hello.txt") .chip:has-text("signed with version 1")');
    });
  });
});
