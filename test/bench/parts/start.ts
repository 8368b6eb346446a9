// How long a start takes: to the ready line, and to the first signature; the daemon alone, as `npm start`, and OpenBao with its unsealing.
import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import type { Parts } from '../../../appliance/docs/performance/figures.ts';
import { endWithTests } from '../../harness/children.ts';
import { ask } from '../../harness/client.ts';
import { freePort, startDaemon } from '../../harness/daemon.ts';
import { allWorkers, payload, type Part } from '../measure/bench.ts';
import { formatTable, inRounds, medianOf } from '../measure/rounds.ts';
import { actionsPath, startAppliance } from '../neighbours/appliance.ts';
import { startServer } from '../neighbours/openbao.ts';

type Start = Parts['start']['appliance'];

const root = resolve(import.meta.dirname, '../../..');
const signPath = `${actionsPath}/ecdsa-p256/sign`;

export const start: Part<'start'> = {
  measures: 'time from the start of the process to the first signature',
  seconds: ({ rounds, openBao }) => 12 + (rounds + 1) * (openBao === undefined ? 7 : 10),
  async run({ directory, rounds, openBao: program }) {
    const data = join(directory, 'data');
    const appliance = await startAppliance({ directory: data });
    const { rootToken } = appliance.daemon;
    await appliance.stop();
    const openBao = program === undefined ? undefined : await prepareOpenBao(program, join(directory, 'openbao'));
    const found = await inRounds(rounds, async () => ({
      appliance: await timeStart(data),
      npm: await startByNpm(data, rootToken),
      openBao: await openBao?.(),
    }));
    const middle = (which: (starts: (typeof found)[number]) => Start | undefined): Start => ({
      toReadyMs: medianOf(found, (starts) => which(starts)?.toReadyMs ?? 0),
      toSignatureMs: medianOf(found, (starts) => which(starts)?.toSignatureMs ?? 0),
    });
    return {
      appliance: middle((starts) => starts.appliance),
      npm: middle((starts) => starts.npm),
      ...(openBao === undefined ? {} : { openBao: middle((starts) => starts.openBao) }),
    };
  },
  format: ({ appliance, npm, openBao }) => {
    const rows: readonly (readonly [string, Start | undefined])[] = [
      ['the daemon', appliance],
      ['npm start', npm],
      ['OpenBao, with unsealing', openBao],
    ];
    return formatTable(
      ['start', 'ready after ms', 'first signature after ms'],
      rows.flatMap(([name, times]) => (times === undefined ? [] : [[name, times.toReadyMs.toFixed(0), times.toSignatureMs.toFixed(0)]])),
    );
  },
};

/** Starts the daemon on a prepared data directory, makes a signature, and stops it. */
export async function timeStart(directory: string): Promise<Start> {
  const begun = performance.now();
  const daemon = await startDaemon({ directory, workers: allWorkers });
  try {
    const toReadyMs = performance.now() - begun;
    await daemon.request('POST', signPath, { text: payload });
    return { toReadyMs, toSignatureMs: performance.now() - begun };
  } finally {
    await daemon.stop();
  }
}

/** As a user starts it, with everything installed. */
async function startByNpm(directory: string, token: string): Promise<Start> {
  const [port, estPort] = [await freePort(), await freePort()];
  const begun = performance.now();
  const addresses = ['--listen', `127.0.0.1:${port}`, '--est-listen', `127.0.0.1:${estPort}`];
  const child = spawn('npm', ['start', '--silent', '--', '--data', directory, ...addresses, '--workers', String(allWorkers)], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  endWithTests(child);
  const ended = new Promise<number | null>((done) => child.once('exit', done));
  try {
    await new Promise<void>((done, fail) => {
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes('ready https://')) done();
      });
      void ended.then((code) => fail(new Error(`npm start ended with ${code}:\n${output}`)));
    });
    const toReadyMs = performance.now() - begun;
    const answer = await ask(`https://127.0.0.1:${port}`, signPath, { method: 'POST', body: { text: payload }, token });
    if (answer.status !== 200) throw new Error(`${signPath}: ${answer.status} ${answer.text}`);
    return { toReadyMs, toSignatureMs: performance.now() - begun };
  } finally {
    process.kill(-(child.pid as number), 'SIGTERM');
    await ended;
  }
}

/** A server with a key, stopped; answers a function that starts it again. */
async function prepareOpenBao(program: string, directory: string): Promise<() => Promise<Start>> {
  const made = await startServer(program, directory);
  await made.request('POST', '/v1/sys/mounts/transit', { type: 'transit' });
  await made.request('POST', '/v1/transit/keys/ecdsa-p256', { type: 'ecdsa-p256' });
  await made.stop();
  return async () => {
    const server = await startServer(program, directory, made);
    try {
      const toReadyMs = performance.now() - server.startedAt;
      await server.request('POST', '/v1/transit/sign/ecdsa-p256', { input: payload });
      return { toReadyMs, toSignatureMs: performance.now() - server.startedAt };
    } finally {
      await server.stop();
    }
  };
}
