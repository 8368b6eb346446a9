// What the tests of our own client libraries are given: a running appliance, addresses that are away, and CA files, by the environment.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { endWithTests } from '../harness/children.ts';
import { type Daemon, freePort, startDaemon } from '../harness/daemon.ts';
import { selfSignedIdentity } from '../harness/tls.ts';
import { identityForAnApplication, type Reader, readerIn } from './readme.ts';

export type OurAppliance = {
  /** Runs a command with the environment of the tests; throws with its output when it fails, and answers it. */
  run(directory: string, command: string, args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<string>;
  /** The reader of a README, who has an empty directory, the CA, and an identity that an administrator made. */
  reader(directory: string, environment?: Readonly<Record<string, string>>): Promise<Reader>;
  stop(): Promise<void>;
};

/** Starts an appliance that serves, and one that is sealed; the two have the same CA. */
export async function startOurAppliance(directory: string): Promise<OurAppliance> {
  const [serving, sealed] = await Promise.all([
    startDaemon({ directory: join(directory, 'serving') }),
    startDaemon({ directory: join(directory, 'sealed') }),
  ]);
  await sealed.request('POST', '/v1/state/keystore/system/seal', {});
  const variables = await environment(directory, serving, sealed);
  let identity: Promise<Record<string, string>> | undefined;
  return {
    run: (at, command, args, more) => run(at, command, args, { ...variables, ...more }),
    async reader(at, more) {
      identity ??= identityForAnApplication(serving);
      return readerIn(at, serving.caPem, { ...(await identity), ...more });
    },
    async stop() {
      await Promise.all([serving.stop(), sealed.stop()]);
    },
  };
}

async function environment(directory: string, serving: Daemon, sealed: Daemon): Promise<Record<string, string>> {
  const [ca, otherCa] = [join(directory, 'ca.pem'), join(directory, 'other-ca.pem')];
  const other = join(directory, 'other');
  mkdirSync(other);
  writeFileSync(ca, serving.caPem);
  writeFileSync(otherCa, selfSignedIdentity(other).cert);
  return {
    KEYSTORED_TEST_ADDRESS: serving.url,
    KEYSTORED_TEST_AWAY_ADDRESSES: `https://127.0.0.1:${await freePort()},${sealed.url}`,
    KEYSTORED_TEST_CA_FILE: ca,
    KEYSTORED_TEST_OTHER_CA_FILE: otherCa,
    KEYSTORED_TEST_TOKEN: serving.rootToken,
    KEYSTORED_TEST_SEALED_VECTORS: resolve(import.meta.dirname, '../vectors/sealed/sealed.json'),
  };
}

function run(directory: string, command: string, args: readonly string[], variables: Readonly<Record<string, string>>): Promise<string> {
  const child = spawn(command, args, {
    cwd: directory,
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  endWithTests(child);
  const output: string[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk.toString()));
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) => {
      if (code === 0) done(output.join(''));
      else fail(new Error(`${command} ${args.join(' ')} ended with ${code}:\n${output.join('')}`));
    });
  });
}
