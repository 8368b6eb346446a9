// The appliance as a contender: the daemon with its keys, a policy for them, and an approle that has logged in.
import { startDaemon, type Daemon, type DaemonOptions } from '../../harness/daemon.ts';
import { payload } from '../measure/bench.ts';
import type { Target } from '../measure/load.ts';
import { processTree, programOf } from '../measure/processes.ts';
import { benchKeys, type Contender } from './contender.ts';

/** Where the keys and their actions are. */
export const keysPath = '/v1/config/keystore/transit-keys';
export const actionsPath = '/v1/state/keystore/transit-keys';

const approles = 'keystore/authentication/approles';

export type Appliance = Contender & {
  readonly daemon: Daemon;
  /** of the token that `targets` use */
  readonly token: string;
};

/** Starts the daemon and makes in it what the targets need and what is not there from an earlier start. */
export async function startAppliance(options: DaemonOptions): Promise<Appliance> {
  const daemon = await startDaemon(options);
  try {
    return await prepareAppliance(daemon);
  } catch (error) {
    await daemon.stop();
    throw error;
  }
}

/** Makes in a daemon what the targets need and what is not there; its processes are those of this moment. */
export async function prepareAppliance(daemon: Daemon): Promise<Appliance> {
  for (const [name, cipher] of Object.entries(benchKeys)) await createUnlessThere(daemon, keysPath, { name, cipher });
  const logins = await makeApprole(daemon);
  const [login = ''] = logins;
  const { token } = (await daemon.request('POST', '/v1/approle-login', JSON.parse(login))) as { token: string };
  const action = (name: string, body: object): Target => ({
    url: `${daemon.url}${actionsPath}/${name}`,
    token,
    body: JSON.stringify(body),
  });
  const { ciphertext } = (await daemon.request('POST', `${actionsPath}/aes/encrypt`, { plaintext: payload })) as { ciphertext: string };
  const sign = (name: string): Target => action(`${name}/sign`, { text: payload });
  return {
    daemon,
    token,
    processes: processesOf(daemon),
    // Requests are answered in order: when this one is, all before it are.
    settle: () => daemon.request('POST', `${actionsPath}/aes/encrypt`, { plaintext: payload }),
    targets: {
      encrypt: action('aes/encrypt', { plaintext: payload }),
      'encrypt x 100': action('aes/encrypt', { 'batch-input': Array.from({ length: 100 }, () => ({ plaintext: payload })) }),
      decrypt: action('aes/decrypt', { ciphertext }),
      hmac: action('aes/hmac', { plaintext: payload }),
      'sign ecdsa-p256': sign('ecdsa-p256'),
      'sign ed25519': sign('ed25519'),
      'sign rsa-2048': sign('rsa-2048'),
    },
    creation: { url: `${daemon.url}${keysPath}`, token, body: JSON.stringify({ name: 'made-{n}', cipher: benchKeys.aes }) },
    bulkCreation: {
      url: `${daemon.url}${keysPath}-batch`,
      token,
      body: JSON.stringify({ 'batch-input': Array.from({ length: 100 }, (_, at) => ({ name: `made-{n}-${at}`, cipher: benchKeys.aes })) }),
    },
    login: { url: `${daemon.url}/v1/approle-login`, body: login, bodies: logins },
    async stop() {
      await daemon.stop();
    },
  };
}

/** Processes that serve, and those that hold the token. */
export function processesOf(daemon: Daemon): Contender['processes'] {
  const tree = processTree(daemon.pid);
  const isHost = ({ script }: { readonly script: string }): boolean => programOf(script) === 'host';
  return { service: tree.filter((one) => !isHost(one)).map(({ pid }) => pid), token: tree.filter(isHost).map(({ pid }) => pid) };
}

/** One secret-id logs in 600 times a minute, which a load uses up within seconds. */
const secretIds = 64;

/** Makes an approle; answers bodies of its logins. */
async function makeApprole(daemon: Daemon): Promise<readonly string[]> {
  const rules = [
    { path: `${actionsPath}/**`, operations: { execute: 'allow' } },
    { path: keysPath, operations: { create: 'allow' } },
  ];
  await createUnlessThere(daemon, '/v1/config/policy/policies', { name: 'bench', 'rest-api': { rules } });
  await createUnlessThere(daemon, `/v1/config/${approles}`, { name: 'bench', 'token-policies': ['bench'], 'token-ttl': '1h' });
  const state = (await daemon.request('GET', `/v1/state/${approles}/bench`)) as Record<string, string>;
  const secrets = Array.from({ length: secretIds }, () => daemon.request('POST', `/v1/state/${approles}/bench/generate-secret-id`, {}));
  const made = (await Promise.all(secrets)) as readonly Record<string, string>[];
  return made.map((secret) => JSON.stringify({ 'role-id': state['role-id'], 'secret-id': secret['secret-id'] }));
}

async function createUnlessThere(daemon: Daemon, path: string, document: object): Promise<void> {
  const { status, text } = await daemon.exchange('POST', path, document);
  if (status >= 400 && status !== 409) throw new Error(`POST ${path}: ${status} ${text}`);
}
