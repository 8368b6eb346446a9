// Follows the README of a client library as its reader would, and makes the identity that it asks an administrator for.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Daemon } from '../harness/daemon.ts';
import { blocksOf } from '../harness/markdown.ts';
import { must } from './commands.ts';

export type Reader = {
  /** Saves a file of the project; `name` may be in folders. */
  save(this: void, name: string, text: string): void;
  /** Runs commands in the project; answers what they printed, throws when one fails. */
  run(this: void, commands: string): Promise<string>;
};

/** One who works in `directory` on this machine, and has the CA there. */
export function readerIn(directory: string, caPem: string, environment: Readonly<Record<string, string>>): Reader {
  const save = (name: string, text: string): void => {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  };
  save('ca.pem', caPem);
  return { save, run: async (commands) => (await must('bash', ['-e', '-c', commands], { cwd: directory, environment })).stdout };
}

/** Does what `readme` says below "Start", block by block; answers what the last commands printed. */
export async function followReadme(readme: string, reader: Reader): Promise<string> {
  let printed = '';
  for (const { language, text, above } of blocksOf(readme, '## Start')) {
    const [, saved] = /this as `([^`]+)`:$/.exec(above) ?? [];
    if (saved !== undefined) reader.save(saved, `${text}\n`);
    if (language === 'sh') printed = await reader.run(text);
  }
  return printed;
}

/** What the program of a README has printed that has encrypted and decrypted; Maven has control codes for colours around it. */
export const ciphertextAndPlaintext = /store:v1:\S+ 4711\n/;

/** A key, a policy and an approle, as the README of the appliance makes them under "An identity for an application"; as environment. */
export async function identityForAnApplication(appliance: Daemon): Promise<Record<string, string>> {
  await appliance.request('POST', '/v1/config/keystore/transit-keys', { name: 'orders' });
  const rules = [{ path: '/v1/state/keystore/transit-keys/orders/*', operations: { execute: 'allow' } }];
  await appliance.request('POST', '/v1/config/policy/policies', { name: 'shop', 'rest-api': { rules } });
  await appliance.request('POST', '/v1/config/keystore/authentication/approles', {
    name: 'shop',
    'token-policies': ['shop'],
    'token-ttl': '1h',
  });
  const { 'role-id': roleId } = (await appliance.request('GET', '/v1/state/keystore/authentication/approles/shop')) as {
    'role-id': string;
  };
  const generated = (await appliance.request('POST', '/v1/state/keystore/authentication/approles/shop/generate-secret-id', {})) as {
    'secret-id': string;
  };
  return { KEYSTORED_URL: appliance.url, KEYSTORED_ROLE_ID: roleId, KEYSTORED_SECRET_ID: generated['secret-id'] };
}
