// Golden appliances: data directories with their tokens, trails and a backup as earlier versions left them, and what must still be true.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Daemon } from '../harness/daemon.ts';
import { holds } from '../harness/holds.ts';

/** A request to a key, of the system tenant or of `shop`, whose answer must have these fields for ever. */
export type GoldenUse = {
  readonly key: string;
  readonly ofShop?: true;
  readonly action: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly answer: Readonly<Record<string, unknown>>;
};

/** What an earlier version answered. */
export type GoldenAppliance = {
  /** of the backup that is beside the data directory */
  readonly passphrase: string;
  readonly rootToken: string;
  /** of the tenant `shop` */
  readonly tenantToken: string;
  readonly liveToken: string;
  readonly endedToken: string;
  readonly login: { readonly 'role-id': string; readonly 'secret-id': string };
  /** what clients of the listeners trust */
  readonly caPem: string;
  /** configuration of every entry, by path */
  readonly documents: Readonly<Record<string, unknown>>;
  /** states by path: fields that say what was made, and not how often it was used */
  readonly states: Readonly<Record<string, unknown>>;
  readonly uses: readonly GoldenUse[];
};

const folder = join(import.meta.dirname, 'appliances');
const transit = '/v1/state/keystore/transit-keys';

/** Names of the versions, the oldest first: `<number>-<commit>`. */
export const goldenVersions: readonly string[] = readdirSync(folder)
  .flatMap((name) => /^(.+)\.tar\.gz$/.exec(name)?.[1] ?? [])
  .toSorted();

/** Unpacks `data`, the data directory, and `backup` below a directory that is made. */
export function unpackGolden(version: string, directory: string): GoldenAppliance {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  execFileSync('tar', ['-xzf', join(folder, `${version}.tar.gz`), '-C', directory, '--no-same-owner']);
  return JSON.parse(readFileSync(join(directory, 'golden.json'), 'utf8')) as GoldenAppliance;
}

/** Writes the archive of a directory with `data`, `backup` and `golden.json`; an older file is never written again. */
export function packGolden(directory: string, file: string): void {
  execFileSync('tar', ['-czf', file, '--owner=0', '--group=0', '-C', directory, 'golden.json', 'data', 'backup']);
}

/** What is no longer as the earlier version answered; empty when all of it is. */
export async function findDifferences(golden: GoldenAppliance, daemon: Daemon): Promise<readonly string[]> {
  const { rootToken, tenantToken, liveToken, endedToken, login, documents, states, uses } = golden;
  const found: string[] = daemon.caPem === golden.caPem ? [] : ['clients of the listeners need another CA'];
  for (const [path, then] of [...Object.entries(documents), ...Object.entries(states)]) {
    const { body } = await daemon.exchange('GET', path, undefined, rootToken);
    if (!holds(body, then)) found.push(`GET ${path}: ${JSON.stringify(body)} instead of ${JSON.stringify(then)}`);
  }
  for (const { key, ofShop, action, request, answer } of uses) {
    const { body } = await daemon.exchange('POST', `${transit}/${key}/${action}`, request, ofShop === true ? tenantToken : rootToken);
    if (!holds(body, answer)) found.push(`${action} of ${key}: ${JSON.stringify(body)} instead of ${JSON.stringify(answer)}`);
  }
  for (const [token, status] of [[liveToken, 200], [endedToken, 401]] as const) {
    const answer = await daemon.exchange('GET', '/v1/config/tenants', undefined, token);
    if (answer.status !== status) found.push(`a token is answered ${answer.status}, not ${status}`);
  }
  const loggedIn = await daemon.exchange('POST', '/v1/approle-login', login);
  if (loggedIn.status !== 200) found.push(`the approle does not log in: ${loggedIn.status} ${loggedIn.text}`);
  return found;
}
