// Many devices that enrol at once by SCEP, EST, CMP and ACME while something is killed under them: each asks again, as devices do, until it has its certificate.
import { setTimeout as wait } from 'node:timers/promises';
import { X509Certificate } from 'node:crypto';
import { expect } from 'vitest';
import { basic, pkcs10, send as sendEst } from '../plugins/est/client.ts';
import { makeCsr, makeDeviceCsr, makeKeys } from '../plugins/ca/pki.ts';
import { certificatesOf, csrOf, type Device, makeDevice, newTransaction, registrationOf, send } from '../plugins/scep/device.ts';
import { sequence } from '../../core/der/der.ts';
import { AcmeClient, type AcmeReply, bindExternally, encode, makeAccountKeys } from './acme/client.ts';
import { post } from './cmp/device.ts';
import { bodies, byMac, implicitConfirm, newKeys, requestOf, writeMessage } from './cmp/messages.ts';
import { makeEnvelope, makeRequest } from './scep/messages.ts';
import type { Daemon } from './daemon.ts';

const secret = 'of a rush of devices';
const name = 'rush';
const settings = { 'initial-enroll-secret': secret };
const rules = { 'allowed-domains': ['example.test'], 'allow-subdomains': true };

/** An appliance as devices reach it. `plain`: origin of SCEP and CMP; `secure`: of ACME. */
export type Target = Pick<Daemon, 'request' | 'estUrl' | 'caPem'> & { readonly plain: string; readonly secure: string };

/** Of all devices together: answers by HTTP status, and connections that broke. */
export type RushFigures = {
  certificates: number;
  repeated: number;
  broken: number;
  readonly statuses: Record<string, number>;
  /** broken connections by the code of their error */
  readonly reasons: Record<string, number>;
};

/** Devices ask at most so many times. */
const mostTries = 200;
/** Between two times they wait as Retry-After says, and no longer than this here: the more they are, the longer one process takes to ask for all. */
const longestWaitMs = (devices: number): number => Math.max(500, 5 * devices);
/** Between two looks at an order. */
const lookAgainMs = 500;
/** Keys that the devices share: making one takes longer than an enrolment. */
const keys = 8;

/**
 * A quarter of the devices speaks SCEP, one EST, one CMP, one ACME. `targets`: what there is now, one of which a device asks at each try. `onIssued` is called with the number of
 * certificates so far. Fails where an answer is none for a device, where a certificate is not on record, or a repeated request of SCEP, CMP or ACME gets another one.
 */
export async function rush(count: number, targets: () => readonly Target[], onIssued: (issued: number) => void): Promise<RushFigures> {
  const figures: RushFigures = { certificates: 0, repeated: 0, broken: 0, statuses: {}, reasons: {} };
  const [first] = targets();
  if (first === undefined) throw new Error('there is no appliance');
  await first.request('POST', '/v1/config/keystore/tls/ca', {
    ...{ name, est: { ...rules, ...settings, enabled: true }, scep: { ...settings, enabled: true }, cmp: { ...settings, enabled: true } },
    acme: { enabled: true },
  });
  const { uuid } = (await first.request('GET', '/v1/state/tenants/system')) as { readonly uuid: string };
  const way: Way = {
    uuid,
    registration: await registrationOf({ urlOf: () => urlOf(first, uuid) }, name),
    keyFor: (host) => keyFor(first, host),
  };
  const devices = await Promise.all(Array.from({ length: keys }, () => makeDevice('CN=device')));
  let turn = 0;
  const untilIssued = async (ask: (one: Target) => Promise<Tried>): Promise<X509Certificate> => {
    for (let tries = 0; tries < mostTries; tries += 1) {
      const all = targets();
      const { status, certificate, retryAfter } = await ask(all[turn++ % all.length] as Target).catch((error: unknown) => {
        if (error instanceof DeviceRefused) throw error;
        const reason = reasonOf(error);
        figures.broken += 1;
        figures.reasons[reason] = (figures.reasons[reason] ?? 0) + 1;
        return broken;
      });
      if (status !== 0) figures.statuses[status] = (figures.statuses[status] ?? 0) + 1;
      if (certificate !== undefined) return certificate;
      // A machine that is too slow for all of them tells some that they were (408).
      expect([0, 408, 429, 503]).toContain(status);
      // Who is told to come again is told when.
      expect([status, [0, 408].includes(status) || Number(retryAfter) > 0]).toEqual([status, true]);
      await wait(Math.min(longestWaitMs(count), 1_000 * Number(retryAfter ?? 0.2)));
    }
    throw new Error(`a device has no certificate after ${mostTries} tries: ${JSON.stringify(figures)}`);
  };
  const asks: ((one: Target) => Promise<Tried>)[] = [];
  for (let index = 0; index < count; index += 1)
    asks.push(await wayOf(index)(way, devices[index % keys] as Device, `d${index}.example.test`));
  const enrol = async (ask: (typeof asks)[number], index: number): Promise<string> => {
    const certificate = await untilIssued(ask);
    onIssued((figures.certificates += 1));
    if (wayOf(index) === estOf) return serialOf(certificate);
    // The answer may get lost: asked once more, later and elsewhere, there is the same one.
    expect(serialOf(await untilIssued(ask))).toBe(serialOf(certificate));
    figures.repeated += 1;
    return serialOf(certificate);
  };
  const serials = await Promise.all(asks.map((ask, index) => enrol(ask, index)));
  await expectOnRecord(targets()[0] as Target, serials, count);
  return figures;
}

/** The protocol of a device. */
const ways = [scepOf, estOf, cmpOf, acmeOf];
const wayOf = (index: number): typeof scepOf => ways[index % ways.length] as typeof scepOf;

type Way = {
  readonly uuid: string;
  readonly registration: X509Certificate;
  /** a key of the administrator for the account of a device */
  readonly keyFor: (host: string) => Promise<AccountKey>;
};
type AccountKey = { readonly id: string; readonly key: string };
type Tried = { readonly status: number; readonly certificate?: X509Certificate | undefined; readonly retryAfter?: string | undefined };
const broken: Tried = { status: 0 };

/** An answer that no device should get. */
class DeviceRefused extends Error {
  override readonly name = 'DeviceRefused';
}

function reasonOf(error: unknown): string {
  const { code, cause, message } = error as NodeJS.ErrnoException;
  return code ?? (cause as NodeJS.ErrnoException | undefined)?.code ?? message;
}

const urlOf = ({ plain }: Target, uuid: string): string => `${plain}/scep/${uuid}/${name}`;
const serialOf = ({ serialNumber }: X509Certificate): string => serialNumber.toLowerCase();

async function scepOf({ uuid, registration }: Way, device: Device, host: string): Promise<(one: Target) => Promise<Tried>> {
  const envelope = makeEnvelope({ content: await csrOf(device.keys, secret, host), recipients: [registration.raw] });
  const message = makeRequest({ signer: device, envelope, transactionId: newTransaction() });
  return async (one) => {
    const reply = await send({ urlOf: () => urlOf(one, uuid) }, name, message, device, registration);
    if (reply.status === 200 && reply.pkiStatus !== '0') throw new DeviceRefused(`a device was refused: ${reply.failText}`);
    return reply;
  };
}

async function estOf({ uuid }: Way, device: Device, host: string): Promise<(one: Target) => Promise<Tried>> {
  const { body, headers = {}, method } = pkcs10(await makeDeviceCsr(device.keys, host), { Authorization: basic(secret) });
  return async ({ estUrl, caPem }) => {
    const answer = await sendEst(estUrl, `/.well-known/est/${uuid}/${name}/simpleenroll`, { method, body: body ?? '', headers, ca: caPem });
    const certificate = answer.status === 200 ? certificatesOf(Buffer.from(answer.text, 'base64'))[0] : undefined;
    return { status: answer.status, certificate, retryAfter: answer.headers['retry-after']?.toString() };
  };
}

async function cmpOf({ uuid }: Way, _device: Device, host: string): Promise<(one: Target) => Promise<Tried>> {
  const body = sequence(requestOf({ keys: newKeys(), subject: host, names: [host] }));
  const message = writeMessage({ type: bodies.ir, body, protect: byMac(secret), info: [implicitConfirm] });
  return async ({ plain }) => {
    const { http, retryAfter, certificate, reason } = await post(`${plain}/cmp/${uuid}/${name}`, message, secret);
    if (http === 200 && certificate === undefined) throw new DeviceRefused(`a device was refused: ${reason}`);
    return { status: http, certificate, retryAfter };
  };
}

const keyFor = (first: Target, host: string): Promise<AccountKey> =>
  first.request('POST', `/v1/state/keystore/tls/ca/${name}/make-eab-key`, { names: [host] }) as Promise<AccountKey>;

/** Statuses of an order whose certificate is not there yet, and how often it is looked at before the try ends. */
const unfinished = ['ready', 'processing'];
const mostLooks = 20;

/** A client that goes on where it was: what is made once is remembered by its path, which every appliance has. */
async function acmeOf({ uuid, keyFor: make }: Way, _device: Device, host: string): Promise<(one: Target) => Promise<Tried>> {
  const own = await make(host);
  const keys = makeAccountKeys();
  const csr = encode(await makeCsr({ keys: await makeKeys('P-256'), subject: '', names: [{ type: 'dns', value: host }] }));
  let [account, order, finalize]: [string?, string?, string?] = [];
  return async ({ secure, caPem }) => {
    const base = `${secure}/acme/${uuid}/${name}`;
    const client = new AcmeClient(`${base}/directory`, caPem, keys);
    const pathIn = (url = ''): string => url.slice(base.length);
    if (account === undefined) {
      const made = await client.register({ externalAccountBinding: bindExternally(keys, { ...own, url: `${base}/new-account` }) });
      if (made.status >= 300) return tried(made);
      account = pathIn(made.headers['location']);
    }
    client.kid = `${base}${account}`;
    if (order === undefined) {
      const made = await client.order(host);
      if (made.status >= 300) return tried(made);
      [order, finalize] = [pathIn(made.headers['location']), pathIn(made.body.finalize)];
    }
    let reply = await client.post(`${base}${finalize}`, { csr });
    for (let looks = 0; looks < mostLooks && reply.status === 200 && unfinished.includes(reply.body.status); looks += 1) {
      await wait(lookAgainMs);
      reply = await client.post(`${base}${order}`, '');
    }
    if (reply.status >= 300) return tried(reply);
    // An order whose process has ended is worked at again by a later question.
    if (unfinished.includes(reply.body.status)) return { status: 503, retryAfter: '1' };
    if (reply.body.status !== 'valid') throw new DeviceRefused(`a device was refused: ${reply.text}`);
    const certificate = await client.post(`${base}${pathIn(reply.body.certificate)}`, '');
    return certificate.status === 200 ? { status: 200, certificate: new X509Certificate(certificate.text) } : tried(certificate);
  };
}

function tried({ status, headers, text }: AcmeReply): Tried {
  if (status === 400 || status === 403) throw new DeviceRefused(`a device was refused: ${text}`);
  return { status, retryAfter: headers['retry-after'] };
}

/**
 * All certificates that devices have are on record, valid; and SCEP, CMP and ACME have issued one for each of their devices, whatever was killed. EST has no transactions:
 * a device whose answer was lost has asked for another one.
 */
async function expectOnRecord(one: Target, serials: readonly string[], count: number): Promise<void> {
  const listed: { readonly serial: string; readonly via: string; readonly status: string }[] = [];
  for (let after = ''; ;) {
    const query = `limit=1000${after === '' ? '' : `&after=${after}`}`;
    const page = (await one.request('GET', `/v1/state/keystore/tls/ca/${name}/certificates?${query}`)) as typeof listed;
    listed.push(...page);
    if (page.length < 1_000) break;
    after = page.at(-1)?.serial ?? '';
  }
  const valid = new Set(listed.filter(({ status }) => status === 'valid').map(({ serial }) => serial));
  expect(serials.filter((serial) => !valid.has(serial))).toEqual([]);
  expect(new Set(serials).size).toBe(count);
  for (const [index, protocol] of [
    [0, 'scep-'],
    [2, 'cmp-'],
    [3, 'acme-'],
  ] as const)
    expect(listed.filter(({ via }) => via.startsWith(protocol))).toHaveLength(Math.ceil((count - index) / ways.length));
}
