// Enrolments per second, EC and ML-DSA, on kept and on new connections, against a bare server that makes one token signature a request.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../../core/base/defined.ts';
import type { KeyType, TokenConfig } from '../../hsm/api.ts';
import { makeDeviceCsr, makeKeys } from '../plugins/ca/pki.ts';
import { type Daemon, startDaemon } from '../harness/daemon.ts';
import { makeNssToken, obtainNss } from '../harness/token/nss.ts';
import { makeSoftToken, testHsmConfig } from '../harness/token/softhsm.ts';
import { measureSteps } from './est-steps.ts';
import { drive, type Load, type Target } from './load.ts';

export type EstBenchOptions = { readonly directory: string; readonly rounds: number; readonly seconds: number };

/** One kind of CA: its key in the token, and the request that devices send. */
type Kind = { readonly name: string; readonly type: KeyType; readonly fields: object; readonly csr: Buffer };

const secret = 'bench secret';
const connections = { kept: 64, fresh: 16 } as const;

/** Runs everything and answers the lines of two tables: rates, and where the time goes. ML-DSA is left out, with the reason as last line, where NSS softoken cannot be had. */
export async function benchEnrolments({ directory, rounds, seconds }: EstBenchOptions): Promise<readonly string[]> {
  const tokens = join(directory, 'est-tokens');
  mkdirSync(tokens, { recursive: true });
  const nss = await obtainNss();
  const configured = [await makeSoftToken(tokens), ...('missing' in nss ? [] : [await makeNssToken(nss, tokens)])];
  const daemon = await startBenchDaemon(directory, configured);
  const lines = [
    '| enrolment (simpleenroll, Basic) | connections | enrolments/s | p50 ms | p99 ms | bare server, one signature | ratio |',
    '|---|---|---|---|---|---|---|',
  ];
  try {
    for (const kind of await kinds('missing' in nss)) {
      const target = await prepare(daemon, kind);
      const bare = await startSigningServer(directory, configured, kind.type);
      try {
        for (const [mode, headers] of [
          ['kept', {}],
          ['fresh', { Connection: 'close' }],
        ] as const) {
          const yard: Load[] = [];
          const ours: Load[] = [];
          for (let round = 0; round < rounds; round += 1) {
            const options = { seconds, connections: connections[mode], directory };
            yard.push(await drive({ ...target, headers: { ...target.headers, ...headers }, url: bare.url }, options));
            ours.push(await drive({ ...target, headers: { ...target.headers, ...headers } }, options));
          }
          lines.push(format(kind.name, mode, best(ours), best(yard)));
        }
      } finally {
        bare.process.kill();
      }
    }
  } finally {
    await daemon.stop();
  }
  for (const kind of await kinds('missing' in nss)) lines.push('', ...(await measureSteps(directory, configured, kind.type, kind.csr)));
  return 'missing' in nss ? [...lines, '', `ML-DSA was not measured: ${nss.missing}`] : lines;
}

async function kinds(withoutMlDsa: boolean): Promise<readonly Kind[]> {
  const name = 'device.example.test';
  const ec: Kind = { name: 'ECDSA P-256', type: 'ecdsa-p256', fields: {}, csr: await makeDeviceCsr(await makeKeys('P-256'), name) };
  if (withoutMlDsa) return [ec];
  const csr = await makeDeviceCsr(await makeKeys('ML-DSA-65'), name);
  return [ec, { name: 'ML-DSA-65', type: 'ml-dsa-65', fields: { 'cert-key-type': 'ml-dsa-65' }, csr }];
}

/** One worker: the bare server is one process as well. */
async function startBenchDaemon(directory: string, tokens: readonly TokenConfig[]): Promise<Daemon> {
  const wire = tokens.map(({ libraryParameters, ...token }) => ({
    ...token,
    ...defined({ 'library-parameters': libraryParameters }),
  }));
  const config = join(directory, 'est.yaml');
  writeFileSync(config, JSON.stringify({ hsm: { tokens: wire } }));
  return startDaemon({ directory: join(directory, 'est-data'), workers: 1, args: ['--config', config] });
}

async function prepare(daemon: Daemon, kind: Kind): Promise<Target> {
  const { uuid } = (await daemon.request('GET', '/v1/state/tenants/system')) as { uuid: string };
  const est = { enabled: true, 'initial-enroll-secret': secret, 'allowed-domains': ['example.test'], 'allow-subdomains': true };
  await daemon.request('POST', '/v1/config/keystore/tls/ca', { name: kind.type, est, ...kind.fields });
  return {
    url: `${daemon.estUrl}/.well-known/est/${uuid}/${kind.type}/simpleenroll`,
    body: kind.csr.toString('base64'),
    headers: { 'Content-Type': 'application/pkcs10', Authorization: `Basic ${Buffer.from(`est:${secret}`).toString('base64')}` },
  };
}

async function startSigningServer(
  directory: string,
  tokens: readonly TokenConfig[],
  type: KeyType,
): Promise<{ url: string; process: ChildProcess }> {
  const [key, cert] = [join(directory, 'bare.key'), join(directory, 'bare.pem')];
  const request = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-subj',
    '/CN=localhost',
    '-days',
    '2',
  ];
  const made = spawnSync('openssl', [...request, '-keyout', key, '-out', cert]);
  if (made.status !== 0) throw new Error(`openssl: ${made.stderr.toString()}`);
  const port = 4900 + Math.floor(Math.random() * 90);
  const arguments_ = [key, cert, String(port), JSON.stringify(testHsmConfig(...tokens)), type];
  const child = spawn(process.execPath, [join(import.meta.dirname, 'signing-server.ts'), ...arguments_], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  return { url: `https://127.0.0.1:${port}/`, process: child };
}

function format(name: string, mode: keyof typeof connections, ours: Load, bare: Load): string {
  if (ours.refused > 0) throw new Error(`${name}: ${ours.refused} enrolments were refused`);
  const cells = [
    name,
    mode === 'kept' ? `${connections.kept} kept` : `${connections.fresh}, new each time`,
    ours.perSecond.toFixed(0),
    ours.p50.toFixed(2),
    ours.p99.toFixed(2),
    bare.perSecond.toFixed(0),
    (ours.perSecond / bare.perSecond).toFixed(2),
  ];
  return `| ${cells.join(' | ')} |`;
}

function best(loads: readonly Load[]): Load {
  return loads.reduce((a, b) => (b.perSecond > a.perSecond ? b : a));
}
