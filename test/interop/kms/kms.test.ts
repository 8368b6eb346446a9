// The secrets of a Kubernetes cluster under a key of a running appliance, with kube-apiserver's own code: starts, rotations, staleness and outages.
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { must, requireToolchain } from '../../clients/commands.ts';
import { obtainGo, onlyThisGo } from '../../clients/go/toolchain.ts';
import { versions } from '../../clients/versions.ts';
import { endWithTests } from '../../harness/children.ts';
import { type Daemon, freePort, startDaemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const root = resolve(import.meta.dirname, '../../..');
const at = temporaryDirectory();
const program = at('api-server');
let daemon: Daemon;
let port: number;
const noGo = await requireToolchain('go').then(
  () => '',
  (error: Error) => ` (${error.message})`,
);

beforeAll(async () => {
  if (noGo !== '') return;
  const go = await obtainGo(versions.go);
  await must(go, ['build', '-mod=readonly', '-o', program, '.'], { cwd: import.meta.dirname, environment: onlyThisGo });
  port = await freePort();
  await startAppliance();
  await daemon.request('POST', '/v1/config/keystore/transit-keys', { name: 'etcd' });
  const rules = ['encrypt', 'decrypt'].map((action) => ({
    path: `/v1/state/keystore/transit-keys/etcd/${action}`,
    operations: { execute: 'allow' },
  }));
  await daemon.request('POST', '/v1/config/policy/policies', { name: 'kms', 'rest-api': { rules } });
  const { token } = (await daemon.request('POST', '/v1/state/keystore/token/create', { policies: ['kms'] })) as { token: string };
  writeFileSync(at('token'), token, { mode: 0o600 });
  writeFileSync(at('ca.pem'), daemon.caPem);
  writeFileSync(
    at('encryption.yaml'),
    `apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
  - resources: [secrets]
    providers:
      - kms: { apiVersion: v2, name: keystored, endpoint: 'unix://${at('kms.sock')}', timeout: 3s }
      - identity: {}
`,
  );
});
afterAll(async () => {
  await daemon?.stop();
});
const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
});

async function startAppliance(): Promise<void> {
  daemon = await startDaemon({ directory: at('data'), port });
}

/** The plugin; resolves when it listens. */
async function startPlugin(): Promise<ChildProcess> {
  const child = spawn(
    join(root, 'appliance/keystorectl'),
    ['kms', '--socket', at('kms.sock'), '--key', 'etcd', '--url', daemon.url, '--ca', at('ca.pem'), '--token-file', at('token')],
    { stdio: ['ignore', 'ignore', 'pipe'], detached: true, env: { ...process.env, HOME: at('home') } },
  );
  endWithTests(child);
  running.push(child);
  await new Promise((listening) => child.stderr?.once('data', listening));
  return child;
}

type ApiServer = { ask(line: string): Promise<string>; end(): void };

/** The code of the API server; resolves when its configuration is loaded. */
async function startApiServer(): Promise<ApiServer> {
  const child = spawn(program, [at('encryption.yaml')], { stdio: ['pipe', 'pipe', 'ignore'], detached: true });
  endWithTests(child);
  running.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => String((await lines.next()).value);
  expect(await next()).toBe('ready');
  return {
    async ask(line) {
      child.stdin.write(`${line}\n`);
      return next();
    },
    end: () => void child.kill('SIGKILL'),
  };
}

/** Writes until it is taken: the API server asks for health and a seed in the background. */
async function written(server: ApiServer, text: string): Promise<string> {
  for (;;) {
    const answer = await server.ask(`write ${text}`);
    if (!answer.startsWith('error')) return answer;
    await sleep(200);
  }
}

const keyIdOf = (sealed: string): string => /etcd:\d+/.exec(Buffer.from(sealed, 'hex').toString('latin1'))?.[0] ?? '';
const rotate = () => daemon.request('POST', '/v1/state/keystore/transit-keys/etcd/rotate', {});

describe.skipIf(noGo !== '')(`kube-apiserver${noGo}`, () => {
  test('writes and reads; after a rotation old data is stale and readable, new data under the new version; a restart reads both', async () => {
    await startPlugin();
    const server = await startApiServer();
    const first = await written(server, 'one');
    expect(keyIdOf(first)).toBe('etcd:1');
    expect(await server.ask('health')).toBe('ok');
    expect(await server.ask(`read ${first}`)).toBe('false one');
    await rotate();
    let second = '';
    // It asks for the status every minute.
    for (; keyIdOf(second) !== 'etcd:2'; await sleep(1_000)) second = await written(server, 'two');
    expect(await server.ask(`read ${first}`)).toBe('true one');
    expect(await server.ask(`read ${second}`)).toBe('false two');
    server.end();
    const restarted = await startApiServer();
    await written(restarted, 'three');
    expect(await restarted.ask(`read ${first}`)).toBe('true one');
    expect(await restarted.ask(`read ${second}`)).toBe('false two');
  });

  test('a hundred start at once, and each writes and reads', async () => {
    await startPlugin();
    const servers = await Promise.all(Array.from({ length: 100 }, startApiServer));
    const sealed = await Promise.all(servers.map((server, place) => written(server, `secret-${place}`)));
    expect(new Set(sealed.map(keyIdOf)).size).toBe(1);
    const others = await Promise.all(servers.map((server, place) => server.ask(`read ${sealed[(place + 1) % 100]}`)));
    expect(others).toEqual(servers.map((_, place) => `false secret-${(place + 1) % 100}`));
  });

  /** Keeps the appliance away; tells how long after its end the last write was taken, in ms, and what health says at the end. */
  async function outage(minutes: number): Promise<{ readonly lastWrite: number; readonly health: string }> {
    await startPlugin();
    const server = await startApiServer();
    const before = await written(server, 'before');
    await daemon.kill();
    const began = performance.now();
    let lastWrite = 0;
    for (; performance.now() - began < minutes * 60_000; await sleep(2_000)) {
      if (!(await server.ask('write during')).startsWith('error')) lastWrite = performance.now() - began;
      expect(await server.ask(`read ${before}`)).toBe('false before');
    }
    const health = await server.ask('health');
    await startAppliance();
    const back = performance.now();
    await written(server, 'after');
    expect(performance.now() - back).toBeLessThan(30_000);
    return { lastWrite, health };
  }

  test('an outage of one minute ends neither writes nor reads', async () => {
    expect((await outage(1)).lastWrite).toBeGreaterThan(50_000);
  });

  test('an outage of five minutes ends writes after three, never reads, and they return with the appliance', async () => {
    const { lastWrite, health } = await outage(5);
    expect(lastWrite).toBeGreaterThan(100_000);
    expect(lastWrite).toBeLessThan(200_000);
    expect(health).toContain('the key etcd cannot be used');
  });

  test('a plugin that is killed and started again goes on for an API server that runs', async () => {
    const plugin = await startPlugin();
    const server = await startApiServer();
    const sealed = await written(server, 'kept');
    plugin.kill('SIGKILL');
    await new Promise((ended) => plugin.once('exit', ended));
    expect(await server.ask(`read ${sealed}`)).toBe('false kept');
    await startPlugin();
    const other = await startApiServer();
    await written(other, 'more');
    expect(await other.ask(`read ${sealed}`)).toBe('false kept');
  });
});
