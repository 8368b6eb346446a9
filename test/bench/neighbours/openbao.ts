// OpenBao as a neighbour: its server with raft storage, TLS 1.3, the transit engine, a token with a policy, and its file audit device.
// What it writes durably: raft storage commits with fdatasync. The audit device writes its file and never syncs it, and the operations of
// transit write nothing else; so an answer of OpenBao promises less than one of the appliance, whose audit record is on the disk.
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { endWithTests } from '../../harness/children.ts';
import { ask } from '../../harness/client.ts';
import { freePort } from '../../harness/daemon.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';
import { payload } from '../measure/bench.ts';
import type { Target } from '../measure/load.ts';
import { benchKeys, type Contender } from './contender.ts';

const policy = 'path "transit/*" { capabilities = ["create", "read", "update"] }';
const startWithinMs = 60_000;

/** A running server. Before `unseal` it answers nothing but its health. */
export type OpenBaoServer = {
  readonly pid: number;
  readonly request: (method: string, path: string, body?: object) => Promise<Record<string, unknown>>;
  readonly url: string;
  readonly rootToken: string;
  readonly stop: () => Promise<void>;
};

/** Version of a program, as it names itself. */
export function openBaoVersion(program: string): string {
  const { stdout, status, error } = spawnSync(program, ['version'], { encoding: 'utf8' });
  const version = /v\d\S*/.exec(stdout ?? '')?.[0];
  if (status !== 0 || version === undefined) throw new Error(`BENCH_BAO=${program} is not OpenBao: ${error?.message ?? stdout}`);
  return version;
}

/** Starts a new server in a directory and makes in it what the targets need. */
export async function startOpenBao(program: string, directory: string): Promise<Contender> {
  const server = await startServer(program, directory);
  try {
    return await prepare(server);
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/**
 * Starts a server on the directory of an earlier one, or on a new directory, and unseals it. Resolves when it serves; `startedAt` of
 * `performance.now()` is when its process was started.
 */
export async function startServer(
  program: string,
  directory: string,
  earlier?: { readonly unsealKey: string; readonly rootToken: string },
) {
  mkdirSync(join(directory, 'raft'), { recursive: true });
  const { cert } = selfSignedIdentity(directory);
  const [port, clusterPort] = [await freePort(), await freePort()];
  const configuration = join(directory, 'server.hcl');
  writeFileSync(configuration, formatConfiguration(directory, port, clusterPort));
  const outputFile = join(directory, 'output');
  const output = openSync(outputFile, 'a');
  const startedAt = performance.now();
  const child = spawn(program, ['server', `-config=${configuration}`], {
    stdio: ['ignore', output, output],
    detached: true,
  });
  endWithTests(child);
  closeSync(output);
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  const url = `https://127.0.0.1:${port}`;
  let rootToken = earlier?.rootToken;
  const request: OpenBaoServer['request'] = async (method, path, body) => {
    const answer = await ask(url, path, { method, body, token: rootToken, ca: cert });
    if (answer.status >= 400) throw new Error(`OpenBao: ${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body as Record<string, unknown>;
  };
  const untilHealth = async (wanted: (status: number) => boolean): Promise<void> => {
    const end = performance.now() + startWithinMs;
    for (;;) {
      const status = await ask(url, '/v1/sys/health', { ca: cert }).then(
        (answer) => answer.status,
        () => 0,
      );
      if (wanted(status)) return;
      if (performance.now() > end || child.exitCode !== null)
        throw new Error(`OpenBao did not start:\n${readFileSync(outputFile, 'utf8')}`);
      await setTimeout(5);
    }
  };
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
  };
  try {
    await untilHealth((status) => status >= 500);
    let unsealKey = earlier?.unsealKey;
    if (unsealKey === undefined) {
      const made = await request('POST', '/v1/sys/init', { secret_shares: 1, secret_threshold: 1 });
      unsealKey = (made['keys_base64'] as string[])[0] ?? '';
      rootToken = made['root_token'] as string;
    }
    await request('POST', '/v1/sys/unseal', { key: unsealKey });
    await untilHealth((status) => status === 200);
    return { pid: child.pid as number, request, url, unsealKey, rootToken: rootToken ?? '', stop, startedAt };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** HCL, as its documentation has it: the JSON form does not know the stanza of audit devices. Strings are quoted as in JSON. */
function formatConfiguration(directory: string, port: number, clusterPort: number): string {
  const quoted = (...names: string[]): string => JSON.stringify(join(directory, ...names));
  return `
storage "raft" {
  path = ${quoted('raft')}
  node_id = "bench"
  performance_multiplier = 1
}
api_addr = "https://127.0.0.1:${port}"
cluster_addr = "https://127.0.0.1:${clusterPort}"
listener "tcp" {
  address = "127.0.0.1:${port}"
  cluster_address = "127.0.0.1:${clusterPort}"
  tls_key_file = ${quoted('tls-key.pem')}
  tls_cert_file = ${quoted('tls-cert.pem')}
  tls_min_version = "tls13"
}
audit "file" "bench" {
  options {
    file_path = ${quoted('audit.log')}
  }
}
log_level = "warn"
`;
}

async function prepare({ pid, request, url, stop }: OpenBaoServer): Promise<Contender> {
  await request('POST', '/v1/sys/mounts/transit', { type: 'transit' });
  await request('POST', '/v1/sys/policies/acl/bench', { policy });
  for (const [name, type] of Object.entries(benchKeys)) await request('POST', `/v1/transit/keys/${name}`, { type });
  const credentials = await makeApprole(request);
  const { auth } = (await request('POST', '/v1/auth/approle/login', credentials)) as { auth: { client_token: string } };
  const action = (path: string, body: object): Target => ({
    url: `${url}/v1/transit/${path}`,
    token: auth.client_token,
    body: JSON.stringify(body),
  });
  const { data } = (await request('POST', '/v1/transit/encrypt/aes', { plaintext: payload })) as { data: { ciphertext: string } };
  return {
    processes: { service: [pid], token: [] },
    settle: () => request('POST', '/v1/transit/encrypt/aes', { plaintext: payload }),
    targets: {
      encrypt: action('encrypt/aes', { plaintext: payload }),
      'encrypt x 100': action('encrypt/aes', { batch_input: Array.from({ length: 100 }, () => ({ plaintext: payload })) }),
      decrypt: action('decrypt/aes', { ciphertext: data.ciphertext }),
      hmac: action('hmac/aes', { input: payload }),
      'sign ecdsa-p256': action('sign/ecdsa-p256', { input: payload }),
      'sign ed25519': action('sign/ed25519', { input: payload }),
      // As the appliance signs by default.
      'sign rsa-2048': action('sign/rsa-2048', { input: payload, signature_algorithm: 'pkcs1v15' }),
    },
    creation: action('keys/made-{n}', { type: benchKeys.aes }),
    login: { url: `${url}/v1/auth/approle/login`, body: JSON.stringify(credentials) },
    stop,
  };
}

async function makeApprole(request: OpenBaoServer['request']): Promise<object> {
  await request('POST', '/v1/sys/auth/approle', { type: 'approle' });
  const role = '/v1/auth/approle/role/bench';
  await request('POST', role, { token_policies: ['bench'], token_ttl: '1h', secret_id_num_uses: 0 });
  const { data: id } = (await request('GET', `${role}/role-id`)) as { data: { role_id: string } };
  const { data: secret } = (await request('POST', `${role}/secret-id`, {})) as { data: { secret_id: string } };
  return { role_id: id.role_id, secret_id: secret.secret_id };
}
