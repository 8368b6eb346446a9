// Sends hostile cases to the real daemon as three identities and checks the invariants after each case and at the end: no 5xx, no
// policy bypassed, the same processes, limited memory, no secret in any output.
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { expect } from 'vitest';
import type { OpenApiDocument } from '../../core/http/description/openapi.ts';
import { processTree, programOf, proportionalMib } from '../bench/measure/processes.ts';
import { startDaemon, type Daemon } from '../harness/daemon.ts';
import { canary, CaseMaker, Dice, echo, type Case } from './cases.ts';

const inFlight = 24;
const maxGrowthMib = 200;

type Outcome = { readonly status: number; readonly text: string };

/** Runs a number of cases from a seed; a failure names the seed and the case. */
export async function fuzz(
  directory: string,
  cases: number,
  seed: number,
): Promise<{ readonly statuses: Readonly<Record<string, number>> }> {
  const daemon = await startDaemon({ directory, workers: 2 });
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight, ca: daemon.caPem });
  const dice = new Dice(seed);
  const maker = new CaseMaker(await describe(daemon), dice);
  const tokens = await makeIdentities(daemon);
  const open = await publicPaths(daemon);
  const processes = lastingProcesses(daemon);
  const statuses: Record<string, number> = {};
  let left = cases;
  let baseline = 0;

  const runOne = async (): Promise<void> => {
    const one = maker.draw();
    const { status, text } = one.raw === undefined ? await send(daemon, agent, one, tokens[one.identity]) : await sendRaw(daemon, one.raw);
    statuses[status] = (statuses[status] ?? 0) + 1;
    const about = `seed ${seed}: ${JSON.stringify(one).slice(0, 600)} → ${status} ${text.slice(0, 300)}`;
    if (status >= 500) throw new Error(`a server error: ${about}\n${daemon.output().slice(-4_000)}`);
    if (status > 0 && status < 400 && !mayPass(one, open)) throw new Error(`a policy was passed: ${about}`);
    if (status >= 400 && (text.includes(canary) || text.includes(echo))) throw new Error(`a refusal echoes what was sent: ${about}`);
  };
  const lane = async (): Promise<void> => {
    while (left-- > 0) {
      await runOne();
      if (left === Math.floor(cases / 2)) baseline = memoryOf(daemon);
    }
  };
  try {
    await Promise.all(Array.from({ length: inFlight }, lane));
    expect(lastingProcesses(daemon)).toEqual(processes);
    expect(memoryOf(daemon) - baseline).toBeLessThan(maxGrowthMib);
    expect((await daemon.exchange('GET', '/v1/state/system/health')).status).toBe(200);
    expect(await daemon.request('GET', '/v1/state/keystore/transit-keys/witness')).toMatchObject({
      'latest-version': 1,
      exportable: false,
    });
  } finally {
    agent.destroy();
    await daemon.stop();
  }
  expect(daemon.output()).not.toContain('ended');
  for (const file of filesBelow(directory)) expect([file, readFileSync(file).includes(canary)]).toEqual([file, false]);
  return { statuses };
}

async function describe(daemon: Daemon): Promise<OpenApiDocument> {
  return (await daemon.request('GET', '/v1/openapi.json')) as OpenApiDocument;
}

async function makeIdentities(daemon: Daemon): Promise<Readonly<Record<Case['identity'], string | undefined>>> {
  await daemon.request('POST', '/v1/config/keystore/transit-keys', { name: 'witness' });
  const { token } = (await daemon.request('POST', '/v1/state/keystore/token/create', { policies: ['rewrap-only'], ttl: '30d' })) as {
    token: string;
  };
  return { unauthenticated: undefined, fenced: token, root: daemon.rootToken };
}

/** Templates of the paths that need no token, as patterns over decoded segments. */
async function publicPaths(daemon: Daemon): Promise<readonly RegExp[]> {
  const { paths } = await describe(daemon);
  const open = Object.entries(paths).filter(([, operations]) => Object.values(operations).some(({ security }) => security?.length === 0));
  return open.map(([path]) => new RegExp(`^${path.replaceAll(/[.]/g, '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`));
}

/** Whether the sender may have this success. Parses paths independently of the appliance. */
function mayPass({ identity, target, raw, method }: Case, open: readonly RegExp[]): boolean {
  if (identity === 'root' && raw === undefined) return true;
  const path = (raw === undefined ? target : (raw.split(' ')[1] ?? ''))
    .replace(/^https?:\/\/[^/]*/, '')
    .replace(/\?.*/s, '')
    .replace(/(.)\/$/, '$1');
  let decoded: string;
  try {
    // A slash that was encoded is part of its segment.
    const segments = path.split('/').map((segment) => decodeURIComponent(segment).replaceAll('/', '\u2215'));
    decoded = segments.join('/') || '/';
  } catch {
    return false;
  }
  if (open.some((pattern) => pattern.test(decoded))) return true;
  if (identity === 'unauthenticated' || raw !== undefined) return false;
  // A caller who may do one of them may do a list.
  const own =
    /^\/v1\/(?:logout|state\/(?:policy\/check(?:-many)?|keystore\/token\/(?:info|refresh|disable)|keystore\/transit-keys\/[^/]+\/rewrap(?:-batch)?))$/;
  if (own.test(decoded) && method === 'POST') return true;
  // Everybody may list the own requests and the notices of what they may read; there are none here.
  return /^\/v1\/state\/(?:approvals|notices)$/.test(decoded) && (method === 'GET' || method === 'HEAD');
}

function send(daemon: Daemon, agent: Agent, { method, target, headers, body }: Case, token: string | undefined): Promise<Outcome> {
  const { hostname, port } = new URL(daemon.url);
  return new Promise((resolve, reject) => {
    const sent: Record<string, string> = Object.fromEntries(headers);
    if (token !== undefined) sent['authorization'] = `Bearer ${token}`;
    const octets = body === undefined ? undefined : Buffer.from(body);
    if (octets !== undefined) sent['content-length'] = String(octets.length);
    let started: ReturnType<typeof request>;
    try {
      started = request({ hostname, port, path: target, method, headers: sent, agent, servername: 'localhost' });
    } catch {
      // A request that the client library refuses is not sent.
      return resolve({ status: 0, text: '' });
    }
    started.setTimeout(60_000, () => started.destroy(new Error(`no answer to ${method} ${target.slice(0, 200)} within a minute`)));
    started.on('error', (error: NodeJS.ErrnoException) =>
      // A HEAD request whose header is too large for one packet is not recognised as HEAD, and answered with a body.
      error.code === 'ECONNRESET' || error.code === 'EPIPE' || (method === 'HEAD' && error.code === 'HPE_CLOSED_CONNECTION')
        ? resolve({ status: 0, text: '' })
        : reject(error),
    );
    started.on('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text = (text + chunk.toString()).slice(0, 100_000)));
      response.on('error', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    started.end(octets);
  });
}

/** Sends raw octets; returns what is received until the connection closes or a short time has passed. */
function sendRaw(daemon: Daemon, octets: string): Promise<Outcome> {
  const { hostname, port } = new URL(daemon.url);
  return new Promise((resolve) => {
    let text = '';
    const socket = connect({ host: hostname, port: Number(port), ca: daemon.caPem, servername: '' });
    const end = (): void => {
      socket.destroy();
      resolve({ status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? 0), text });
    };
    const late = setTimeout(end, 1_500);
    socket.on('secureConnect', () => socket.write(octets, 'latin1'));
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      // One answer is enough: waiting for connections that stay open takes too long.
      if (text.includes('\r\n\r\n')) end();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(late);
      end();
    });
  });
}

/** The processes of the daemon that last as long as it does: that of a token is replaced when it has grown (hsm/client/growth.ts). */
export function lastingProcesses({ pid }: Daemon): readonly number[] {
  const lasting = processTree(pid).filter(({ script }) => programOf(script) !== 'host');
  return lasting.map((one) => one.pid).toSorted((a, b) => a - b);
}

/** Of the daemon with all its processes, in MiB. */
export function memoryOf({ pid }: Daemon): number {
  return processTree(pid).reduce((sum, one) => sum + proportionalMib(one.pid), 0);
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
