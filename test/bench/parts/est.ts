// Enrolments, EC and ML-DSA, on kept and on new connections, against a bare server that makes one token signature a request.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Parts } from '../../../appliance/docs/performance/figures.ts';
import { defined } from '../../../core/base/defined.ts';
import type { KeyType, TokenConfig } from '../../../hsm/api.ts';
import { type Daemon, startDaemon } from '../../harness/daemon.ts';
import { makeNssToken, obtainNss } from '../../harness/token/nss.ts';
import { makeSoftToken } from '../../harness/token/softhsm.ts';
import { ask } from '../../harness/client.ts';
import { makeDeviceCsr, makeKeys, readCertsOnly } from '../../plugins/ca/pki.ts';
import type { Part } from '../measure/bench.ts';
import { formatLoad, formatRatio, summarise, summariseOwn } from '../measure/formats.ts';
import { measureLoad, type Target } from '../measure/load.ts';
import { formatTable, inRounds, medianOf } from '../measure/rounds.ts';
import { processesOf } from '../neighbours/appliance.ts';
import { startSigningServer } from '../neighbours/bare-servers.ts';
import { measureSteps, type Step } from './est-steps.ts';

/** One kind of CA: its key in the token, and the request that devices send, with the key that made it (PEM). */
type Kind = { readonly name: string; readonly type: KeyType; readonly fields: object; readonly csr: Buffer; readonly key: string };

const secret = 'bench secret';

/** Connections that are kept, or made for each request. */
const modes = [
  { mode: 'kept', connections: 64, headers: {} },
  { mode: 'fresh', connections: 16, headers: { Connection: 'close' } },
] as const;

/** First enrolments with the shared secret, and renewals with the certificate that came of one. */
const operations = ['enrolment', 'renewal'] as const;
type Operation = (typeof operations)[number];

export const est: Part<'est'> = {
  measures: 'enrolments and renewals against a bare HTTPS server that signs, and where their time goes',
  seconds: ({ rounds, seconds }) => 25 + 2 * 2 * modes.length * (rounds + 1) * 2 * (seconds + 0.3),
  async run({ directory, rounds, seconds }) {
    const tokens = join(directory, 'tokens');
    mkdirSync(tokens, { recursive: true });
    const nss = await obtainNss();
    const missing = 'missing' in nss ? nss.missing : undefined;
    const configured = [await makeSoftToken(tokens), ...('missing' in nss ? [] : [await makeNssToken(nss, tokens)])];
    const kinds = await makeKinds(missing !== undefined);
    const rows: Parts['est']['rows'][number][] = [];
    const daemon = await startBenchDaemon(directory, configured);
    try {
      const appliance = { processes: processesOf(daemon) };
      for (const kind of kinds) {
        const targets = await prepare(daemon, kind);
        const bare = await startSigningServer(directory, configured, kind.type);
        try {
          for (const operation of operations) {
            for (const { mode, connections, headers } of modes) {
              const target = targets[operation];
              const asked = { ...target, headers: { ...target.headers, ...headers } };
              const options = { seconds, connections, directory };
              const found = await inRounds(rounds, async () => ({
                bare: await measureLoad(bare, { ...asked, url: bare.url }, options),
                appliance: await measureLoad(appliance, asked, options),
              }));
              rows.push({
                ...{ operation, key: kind.name, mode, connections },
                appliance: summariseOwn(found.map((turns) => turns.appliance)),
                bare: summarise(found.map((turns) => turns.bare)),
                rateToBare: medianOf(found, (turns) => turns.appliance.perSecond / turns.bare.perSecond),
              });
            }
          }
        } finally {
          bare.stop();
        }
      }
    } finally {
      await daemon.stop();
    }
    const steps: Step[] = [];
    for (const { type, csr } of kinds) steps.push(...(await measureSteps(directory, configured, type, csr)));
    return { rows, steps, ...defined({ missing }) };
  },
  format: ({ rows, steps, missing }) => [
    ...formatTable(
      [
        'operation',
        'connections',
        '/s',
        'p50 ms',
        'p99 ms',
        'µs',
        'of them token',
        'bare server, one signature /s',
        'p50 ms',
        'p99 ms',
        'µs',
        'rate to it',
      ],
      rows.map((row) => [
        ...[
          `${row.operation}, ${row.key}`,
          row.mode === 'kept' ? `${row.connections} kept` : `${row.connections}, new each time`,
          ...formatLoad(row.appliance),
        ],
        ...[row.appliance.tokenMicros.toFixed(1), ...formatLoad(row.bare), formatRatio(row.rateToBare)],
      ]),
    ),
    '',
    ...formatTable(
      ['CA key', 'step of an enrolment', 'ms'],
      steps.map(({ key, step, ms }) => [key, step, ms.toFixed(3)]),
    ),
    ...(missing === undefined ? [] : ['', `ML-DSA was not measured: ${missing}`]),
  ],
};

async function makeKinds(withoutMlDsa: boolean): Promise<readonly Kind[]> {
  const name = 'device.example.test';
  const request = async (type: 'P-256' | 'ML-DSA-65'): Promise<Pick<Kind, 'csr' | 'key'>> => {
    const keys = await makeKeys(type);
    return { csr: await makeDeviceCsr(keys, name), key: keys.pem };
  };
  const ec: Kind = { name: 'ECDSA P-256', type: 'ecdsa-p256', fields: {}, ...(await request('P-256')) };
  if (withoutMlDsa) return [ec];
  return [ec, { name: 'ML-DSA-65', type: 'ml-dsa-65', fields: { 'cert-key-type': 'ml-dsa-65' }, ...(await request('ML-DSA-65')) }];
}

/** One worker: the bare server is one process as well. */
async function startBenchDaemon(directory: string, tokens: readonly TokenConfig[]): Promise<Daemon> {
  const wire = tokens.map(({ libraryParameters, ...token }) => ({
    ...token,
    ...defined({ 'library-parameters': libraryParameters }),
  }));
  const config = join(directory, 'est.yaml');
  writeFileSync(config, JSON.stringify({ hsm: { tokens: wire } }));
  return startDaemon({ directory: join(directory, 'data'), workers: 1, args: ['--config', config] });
}

/** Makes the CA and what each operation sends to it. */
async function prepare(daemon: Daemon, kind: Kind): Promise<Readonly<Record<Operation, Target>>> {
  const { uuid } = (await daemon.request('GET', '/v1/state/tenants/system')) as { uuid: string };
  const settings = { enabled: true, 'initial-enroll-secret': secret, 'allowed-domains': ['example.test'], 'allow-subdomains': true };
  const renewable = { ...settings, 'allow-reenroll-with-issued-cert': true };
  await daemon.request('POST', '/v1/config/keystore/tls/ca', { name: kind.type, est: renewable, ...kind.fields });
  const place = `${daemon.estUrl}/.well-known/est/${uuid}/${kind.type}`;
  const basic = `Basic ${Buffer.from(`est:${secret}`).toString('base64')}`;
  const plain = { body: kind.csr.toString('base64'), headers: { 'Content-Type': 'application/pkcs10' } };
  const enrolment = { ...plain, url: `${place}/simpleenroll`, headers: { ...plain.headers, Authorization: basic } };
  const cert = await enrol(daemon, enrolment);
  return { enrolment, renewal: { ...plain, url: `${place}/simplereenroll`, identity: { cert, key: kind.key } } };
}

/** The certificate (PEM) that an enrolment answers. */
async function enrol({ caPem }: Daemon, { url, body, headers }: Target): Promise<string> {
  const { origin, pathname } = new URL(url);
  const answer = await ask(origin, pathname, { method: 'POST', body, headers: headers ?? {}, ca: caPem });
  const [certificate] = readCertsOnly(answer.text);
  if (certificate === undefined) throw new Error(`${url}: ${answer.status} ${answer.text}`);
  return certificate.toString();
}
