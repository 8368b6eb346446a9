// Every action that the state of a key offers, used once: checks keys that were made in an unusual way.
import { expect } from 'vitest';
import { base64, type TransitHarness } from './harness.ts';

/** Refusals because of a rule of the key: a barred version, a used-up one, a flag that is not set. */
const rules: ReadonlySet<string> = new Set([
  'version-not-allowed',
  'version-exhausted',
  'export-not-allowed',
  'backup-not-allowed',
  'operation-not-supported',
  // The version that encrypts is not trimmed while a newer one waits.
  'in-use',
]);

/** Uses the key in every way; fails on anything but success and those refusals. Leaves it rotated and trimmed where it can be. */
export async function useEverything(harness: TransitHarness, name: string): Promise<void> {
  const config = await harness.config(name);
  const state = await harness.state(name);
  // oxlint-disable-next-line typescript/no-explicit-any -- answers of every shape
  const use = async (action: string, body: object = {}): Promise<any> => {
    const answer = await harness.act(name, action, body);
    if (answer.status < 300) return answer.body;
    expect([action, answer.status, rules.has(answer.body?.code) ? 'a rule' : answer.body?.code]).toEqual([action, answer.status, 'a rule']);
    return undefined;
  };
  const context = config.derived ? { context: 'a context' } : {};
  for (const version of [{}, { 'key-version': state['oldest-version'] }, { 'key-version': state['latest-version'] }]) {
    if (state['supports-encryption']) {
      const sealed = await use('encrypt', { plaintext: base64('x'), ...context, ...version });
      const { ciphertext } = sealed ?? {};
      if (ciphertext !== undefined) {
        expect((await use('decrypt', { ciphertext, ...context })).plaintext).toBe(base64('x'));
        await use('rewrap', { ciphertext, ...context });
      }
      await use('generate-data-key', { type: 'plaintext', ...context, ...version });
    }
    if (state['supports-signing']) {
      const { signature } = (await use('sign', { text: base64('x'), ...version })) ?? {};
      if (signature !== undefined) expect((await use('verify', { text: base64('x'), signature })).valid).toBe(true);
    }
    const { hmac } = (await use('hmac', { plaintext: base64('x'), ...version })) ?? {};
    if (hmac !== undefined) expect((await use('verify', { text: base64('x'), hmac })).valid).toBe(true);
  }
  if (config['openpgp-user-id'] !== undefined) {
    const { signature } = (await use('openpgp-sign', { text: base64('x') })) ?? {};
    if (signature !== undefined) await use('openpgp-verify', { text: base64('x'), signature });
    await use('export-openpgp-public', {});
    await use('export-openpgp-revocation', { reason: 'no-reason' });
  }
  await use('export', {});
  await use('backup');
  const { name: _name, ...document } = config;
  expect((await harness.put(name, { ...document, 'deletion-allowed': true })).status).toBe(204);
  await harness.runJobs();
  await use('rotate');
  await use('trim', { version: (await harness.state(name))['latest-version'] });
  if (state['supports-encryption']) await use('encrypt', { plaintext: base64('x'), ...context });
}
