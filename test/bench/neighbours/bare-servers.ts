// The bare HTTPS servers that requests are compared with: each in a process of its own, as the appliance is.
import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { KeyType, TokenConfig } from '../../../hsm/api.ts';
import { endWithTests } from '../../harness/children.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';
import { testHsmConfig } from '../../harness/token/softhsm.ts';
import type { Driven } from '../measure/load.ts';
import { processTree } from '../measure/processes.ts';

export type BareServer = Driven<'service'> & { readonly url: string; readonly stop: () => void };

/** A server that answers with the body of the request. */
export function startEcho(directory: string): Promise<BareServer> {
  return startScript('echo-server.ts', directory, []);
}

/** A server that makes one signature with a key of this type in one of these tokens, and answers as much as an enrolment does. */
export function startSigningServer(directory: string, tokens: readonly TokenConfig[], type: KeyType): Promise<BareServer> {
  return startScript('signing-server.ts', directory, [JSON.stringify(testHsmConfig(...tokens)), type]);
}

async function startScript(script: string, directory: string, args: readonly string[]): Promise<BareServer> {
  selfSignedIdentity(directory);
  const files = [join(directory, 'tls-key.pem'), join(directory, 'tls-cert.pem')];
  // A session of its own, as the appliance has: the kernel shares processor time out among sessions.
  const child = fork(join(import.meta.dirname, '../processes', script), [...files, ...args], { detached: true });
  endWithTests(child);
  const { port } = await new Promise<{ port: number }>((resolve, reject) => {
    child.once('message', (message) => resolve(message as { port: number }));
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code}`)));
  });
  const service = processTree(child.pid as number).map(({ pid }) => pid);
  return { url: `https://127.0.0.1:${port}/`, processes: { service }, stop: () => child.disconnect() };
}
