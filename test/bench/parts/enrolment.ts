// Enrolments by each protocol of one CA with an RSA-2048 key, one after another and eight at a time; SCEP and ACME beside step-ca, where BENCH_STEP_CA names its
// program. Each is a whole enrolment as a client sees it: one message by EST, SCEP and CMP, and by ACME the order, the proof of the name by http-01, and the
// certificate. Clients are in the process of the bench, and share the machine with what they measure.
import { X509Certificate } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Parts } from '../../../appliance/docs/performance/figures.ts';
import { defined } from '../../../core/base/defined.ts';
import { sequence } from '../../../core/der/der.ts';
import { AcmeClient, type AcmeReply, encode } from '../../harness/acme/client.ts';
import { startDnsServer } from '../../harness/acme/dns-server.ts';
import { post } from '../../harness/cmp/device.ts';
import { bodies, byMac, implicitConfirm, newKeys, requestOf, writeMessage } from '../../harness/cmp/messages.ts';
import { type Daemon, freePort, startDaemon } from '../../harness/daemon.ts';
import { makeEnvelope, makeRequest } from '../../harness/scep/messages.ts';
import { makeCsr, makeDeviceCsr, makeKeys, readCertsOnly } from '../../plugins/ca/pki.ts';
import { basic, pkcs10, send as sendEst } from '../../plugins/est/client.ts';
import { csrOf, makeDevice, newTransaction, registrationOf, send as sendScep } from '../../plugins/scep/device.ts';
import { allWorkers, type Part } from '../measure/bench.ts';
import { formatTable, inRounds, medianOf, shareOf } from '../measure/rounds.ts';
import { startStepCa, stepCaVersion } from '../neighbours/step-ca.ts';

const secret = 'secret of the bench';
const enrolmentsInTurn = 150;
const callersOf = [1, 8] as const;

type Row = Parts['enrolment']['rows'][number];
/** Enrols once; throws unless a certificate came. `caller`: which of those that enrol at a time. */
type Enrol = (caller: number) => Promise<unknown>;
/** A protocol of a server, and what makes the enrolments of a turn, before its time is taken. */
type Way = Pick<Row, 'protocol' | 'server'> & { readonly make: (count: number, callers: number) => Promise<readonly Enrol[]> };
type Turn = { readonly perSecond: number; readonly latencies: readonly number[] };

export const enrolment: Part<'enrolment'> = {
  measures: 'enrolments by EST, SCEP, CMP and ACME; SCEP and ACME beside step-ca (BENCH_STEP_CA names its program)',
  onRequest: true,
  seconds: ({ rounds }) => 40 + 6 * callersOf.length * (rounds + 1) * 5,
  async run({ directory, rounds }) {
    const program = process.env['BENCH_STEP_CA'];
    const stepCa = program === undefined ? undefined : stepCaVersion(program);
    const dns = await startDnsServer();
    dns.addresses.set('*', ['127.0.0.1']);
    const proofs = new Map<string, string>();
    const [web, httpPort] = await serveProofs(proofs);
    const resolver = `127.0.0.1:${dns.port}`;
    const daemon = await startOwn(directory, { resolver, httpPort });
    const other =
      program === undefined ? undefined : await startStepCa(program, join(directory, 'step-ca'), { challenge: secret, resolver, httpPort });
    try {
      const ways = await ownWays(daemon, proofs);
      if (other !== undefined)
        ways.push(
          { protocol: 'SCEP', server: 'step-ca', make: await scepOf(other.scep) },
          { protocol: 'ACME', server: 'step-ca', make: acmeOf(other.acme, other.caPem, proofs) },
        );
      const rows: Row[] = [];
      for (const connections of callersOf) rows.push(...(await compare(ways, connections, rounds)));
      return { rows, ...defined({ stepCa }) };
    } finally {
      await daemon.stop();
      await other?.stop();
      await dns.close();
      web.close();
    }
  },
  format: ({ rows, stepCa }) => [
    ...formatTable(
      ['protocol', 'server', 'enrolments at a time', 'a second', 'p50 ms', 'p99 ms'],
      rows.map(({ protocol, server, connections, perSecond, p50Ms, p99Ms }) => [
        ...[protocol, server, connections, perSecond.toFixed(1), p50Ms.toFixed(1), p99Ms.toFixed(1)],
      ]),
    ),
    ...(stepCa === undefined ? ['', 'Without step-ca: BENCH_STEP_CA names its program.'] : ['', `step-ca ${stepCa}`]),
  ],
};

/** Every way in turn, in each round in another order; the 99th percentile is that of all rounds. */
async function compare(ways: readonly Way[], connections: number, rounds: number): Promise<readonly Row[]> {
  const found = await inRounds(rounds, async (round) => {
    const turns = new Map<Way, Turn>();
    const shift = round % ways.length;
    for (const way of [...ways.slice(shift), ...ways.slice(0, shift)]) turns.set(way, await turnOf(way, connections));
    return turns;
  });
  return ways.map((way) => {
    const turns = found.map((one) => one.get(way) as Turn);
    const latencies = turns.flatMap((turn) => turn.latencies);
    const { protocol, server } = way;
    return {
      ...{ protocol, server, connections, perSecond: medianOf(turns, ({ perSecond }) => perSecond) },
      ...{ p50Ms: shareOf(latencies, 0.5), p99Ms: shareOf(latencies, 0.99) },
    };
  });
}

async function turnOf({ make }: Way, callers: number): Promise<Turn> {
  const left = (await make(enrolmentsInTurn, callers)).values();
  const latencies: number[] = [];
  const begun = performance.now();
  const work = async (caller: number): Promise<void> => {
    // The callers share one list of what is to be enrolled.
    for (const enrol of left) {
      const began = performance.now();
      await enrol(caller);
      latencies.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => work(caller)));
  return { perSecond: (1_000 * enrolmentsInTurn) / (performance.now() - begun), latencies };
}

/** A web server with the proofs of all names. */
async function serveProofs(proofs: ReadonlyMap<string, string>): Promise<readonly [server: Server, port: number]> {
  const port = await freePort();
  const server = createServer((request, response) => {
    const proof = proofs.get(request.url?.split('/').at(-1) ?? '');
    response.writeHead(proof === undefined ? 404 : 200).end(proof);
  });
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  return [server, port];
}

type Own = Daemon & { readonly plain: string; readonly secure: string };

async function startOwn(directory: string, { resolver, httpPort }: { readonly resolver: string; readonly httpPort: number }): Promise<Own> {
  mkdirSync(directory, { recursive: true });
  const [port, securePort] = [await freePort(), await freePort()];
  const file = join(directory, 'keystored.yaml');
  const configuration = {
    enrolment: { listen: `127.0.0.1:${securePort}`, 'plain-listen': `127.0.0.1:${port}` },
    acme: { 'validation-hosts': { allow: ['127.0.0.0/8'] }, resolvers: [resolver], 'http-port': httpPort },
  };
  writeFileSync(file, JSON.stringify(configuration));
  const daemon = await startDaemon({ directory: join(directory, 'data'), workers: allWorkers, args: ['--config', file] });
  return { ...daemon, plain: `http://127.0.0.1:${port}`, secure: `https://127.0.0.1:${securePort}` };
}

const ca = 'bench';

async function ownWays(own: Own, proofs: Map<string, string>): Promise<Way[]> {
  const rules = { 'allowed-domains': ['example.test'], 'allow-subdomains': true };
  const open = { enabled: true, 'initial-enroll-secret': secret };
  await own.request('POST', '/v1/config/keystore/tls/ca', {
    ...{ name: ca, 'cert-key-type': 'rsa', 'cert-key-bits': 2_048, est: { ...rules, ...open }, scep: open, cmp: open },
    acme: { enabled: true, 'external-account-required': false },
  });
  const { uuid } = (await own.request('GET', '/v1/state/tenants/system')) as { readonly uuid: string };
  const server = 'keystored';
  return [
    { protocol: 'EST', server, make: await estOf(own, `/.well-known/est/${uuid}/${ca}/simpleenroll`) },
    { protocol: 'SCEP', server, make: await scepOf(`${own.plain}/scep/${uuid}/${ca}`) },
    { protocol: 'CMP', server, make: cmpOf(`${own.plain}/cmp/${uuid}/${ca}`) },
    { protocol: 'ACME', server, make: acmeOf(`${own.secure}/acme/${uuid}/${ca}/directory`, own.caPem, proofs) },
  ];
}

/** Host names that no turn has had before. */
let named = 0;
const newName = (): string => `d${(named += 1)}.example.test`;
const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

async function estOf({ estUrl, caPem }: Own, path: string): Promise<Way['make']> {
  const keys = await makeKeys('P-256');
  const agent = new Agent({ keepAlive: true, ca: caPem });
  const headers = { Authorization: basic(secret) };
  return async (count) => {
    const requests = await Promise.all(times(count, async () => pkcs10(await makeDeviceCsr(keys, newName()), headers)));
    return requests.map((request) => async () => {
      const { status, text } = await sendEst(estUrl, path, { ...request, agent, ca: caPem });
      if (status !== 200 || readCertsOnly(text).length === 0) throw new Error(`EST: ${status} ${text}`);
    });
  };
}

async function scepOf(url: string): Promise<Way['make']> {
  const served = { urlOf: () => url };
  const registration = await registrationOf(served, ca);
  const device = await makeDevice();
  return async (count) => {
    const envelopes = times(count, async () =>
      makeEnvelope({ content: await csrOf(device.keys, secret, newName()), recipients: [registration.raw] }),
    );
    return (await Promise.all(envelopes)).map((envelope) => {
      const message = makeRequest({ signer: device, envelope, transactionId: newTransaction() });
      return async () => {
        const { certificate, failText, text } = await sendScep(served, ca, message, device, registration);
        if (certificate === undefined) throw new Error(`SCEP: ${failText ?? text}`);
      };
    });
  };
}

function cmpOf(url: string): Way['make'] {
  const keys = newKeys();
  return async (count) =>
    times(count, newName).map((name) => {
      const body = sequence(requestOf({ keys, subject: name, names: [name] }));
      const message = writeMessage({ type: bodies.ir, body, protect: byMac(secret), info: [implicitConfirm] });
      return async () => {
        const { certificate, reason, text } = await post(url, message, secret);
        if (certificate === undefined) throw new Error(`CMP: ${reason ?? text}`);
      };
    });
}

function acmeOf(directory: string, caPem: string, proofs: Map<string, string>): Way['make'] {
  const agent = new Agent({ keepAlive: true });
  return async (count, callers) => {
    const keys = await makeKeys('P-256');
    const clients = await Promise.all(
      times(callers, async () => {
        const client = new AcmeClient(directory, caPem, undefined, agent);
        expectStatus(await client.register(), 201);
        return client;
      }),
    );
    const requests = times(count, async () => {
      const name = newName();
      return { name, csr: encode(await makeCsr({ keys, subject: '', names: [{ type: 'dns', value: name }] })) };
    });
    return (await Promise.all(requests)).map(
      ({ name, csr }) =>
        (caller) =>
          enrolByAcme(clients[caller] as AcmeClient, name, csr, proofs),
    );
  };
}

async function enrolByAcme(client: AcmeClient, name: string, csr: string, proofs: Map<string, string>): Promise<void> {
  const order = expectStatus(await client.order(name), 201);
  const url = order.headers['location'] ?? '';
  const authorization = order.body.authorizations[0];
  const { challenges } = (await client.post(authorization, '')).body as { challenges: { type: string; url: string; token: string }[] };
  const challenge = challenges.find(({ type }) => type === 'http-01');
  if (challenge === undefined) throw new Error('ACME: no http-01');
  proofs.set(challenge.token, client.keyAuthorization(challenge.token));
  await client.post(challenge.url, {});
  await until(client, authorization, 'valid');
  expectStatus(await client.post(order.body.finalize, { csr }), 200);
  const { certificate } = (await until(client, url, 'valid')).body as { readonly certificate: string };
  const issued = new X509Certificate(expectStatus(await client.post(certificate, ''), 200).text);
  if (issued.subjectAltName !== `DNS:${name}`) throw new Error('ACME: another certificate came');
}

/** Asks again each few milliseconds: what a client waits longer is not measured. */
async function until(client: AcmeClient, url: string, wanted: string): Promise<AcmeReply> {
  for (;;) {
    const reply = expectStatus(await client.post(url, ''), 200);
    if (reply.body.status === wanted) return reply;
    if (reply.body.status === 'invalid') throw new Error(`ACME: ${reply.text}`);
    await setTimeout(5);
  }
}

function expectStatus(reply: AcmeReply, status: number): AcmeReply {
  if (reply.status !== status) throw new Error(`ACME: ${reply.status} ${reply.text}`);
  return reply;
}
