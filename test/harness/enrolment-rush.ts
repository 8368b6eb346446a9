// Many devices that enrol at once by SCEP and EST while something is killed under them: each asks again, as devices do, until it has its certificate.
import { setTimeout as wait } from 'node:timers/promises';
import type { X509Certificate } from 'node:crypto';
import { expect } from 'vitest';
import { basic, pkcs10, send as sendEst } from '../plugins/est/client.ts';
import { makeDeviceCsr } from '../plugins/ca/pki.ts';
import { certificatesOf, csrOf, type Device, makeDevice, newTransaction, registrationOf, send } from '../plugins/scep/device.ts';
import { makeEnvelope, makeRequest } from './scep/messages.ts';
import type { Daemon } from './daemon.ts';

const secret = 'of a rush of devices';
const name = 'rush';
const settings = { 'initial-enroll-secret': secret };
const rules = { 'allowed-domains': ['example.test'], 'allow-subdomains': true };

/** An appliance as devices reach it. `plain`: origin of SCEP. */
export type Target = Pick<Daemon, 'request' | 'estUrl' | 'caPem'> & { readonly plain: string };

/** Of all devices together: answers by HTTP status, and connections that broke. */
export type RushFigures = { certificates: number; repeated: number; broken: number; readonly statuses: Record<string, number> };

/** Devices ask at most so many times; between two times they wait as Retry-After says, and no longer than this here. */
const mostTries = 200;
const longestWaitMs = 500;
/** Keys that the devices share: making one takes longer than an enrolment. */
const keys = 8;

/**
 * Half of the devices speak SCEP, half EST. `targets`: what there is now, one of which a device asks at each try. `onIssued` is called with the number of
 * certificates so far. Fails where an answer is none for a device, where a certificate is not on record, or a repeated request of SCEP gets another one.
 */
export async function rush(count: number, targets: () => readonly Target[], onIssued: (issued: number) => void): Promise<RushFigures> {
  const figures: RushFigures = { certificates: 0, repeated: 0, broken: 0, statuses: {} };
  const [first] = targets();
  if (first === undefined) throw new Error('there is no appliance');
  await first.request('POST', '/v1/config/keystore/tls/ca', {
    ...{ name, est: { ...rules, ...settings, enabled: true }, scep: { ...settings, enabled: true } },
  });
  const { uuid } = (await first.request('GET', '/v1/state/tenants/system')) as { readonly uuid: string };
  const way: Way = { uuid, registration: await registrationOf({ urlOf: () => urlOf(first, uuid) }, name) };
  const devices = await Promise.all(Array.from({ length: keys }, () => makeDevice('CN=device')));
  let turn = 0;
  const untilIssued = async (ask: (one: Target) => Promise<Tried>): Promise<X509Certificate> => {
    for (let tries = 0; tries < mostTries; tries += 1) {
      const all = targets();
      const { status, certificate, retryAfter } = await ask(all[turn++ % all.length] as Target).catch(() => broken);
      if (status === 0) figures.broken += 1;
      else figures.statuses[status] = (figures.statuses[status] ?? 0) + 1;
      if (certificate !== undefined) return certificate;
      // A machine that is too slow for all of them tells some that they were (408).
      expect([0, 408, 429, 503]).toContain(status);
      // Who is told to come again is told when.
      expect([status, [0, 408].includes(status) || Number(retryAfter) > 0]).toEqual([status, true]);
      await wait(Math.min(longestWaitMs, 1_000 * Number(retryAfter ?? 0.2)));
    }
    throw new Error(`a device has no certificate after ${mostTries} tries: ${JSON.stringify(figures)}`);
  };
  const asks: ((one: Target) => Promise<Tried>)[] = [];
  for (let index = 0; index < count; index += 1)
    asks.push(await (index % 2 === 0 ? scepOf : estOf)(way, devices[index % keys] as Device, `d${index}.example.test`));
  const enrol = async (ask: (typeof asks)[number], index: number): Promise<string> => {
    const certificate = await untilIssued(ask);
    onIssued((figures.certificates += 1));
    if (index % 2 === 1) return serialOf(certificate);
    // The answer may get lost: asked once more, later and elsewhere, there is the same one.
    expect(serialOf(await untilIssued(ask))).toBe(serialOf(certificate));
    figures.repeated += 1;
    return serialOf(certificate);
  };
  const serials = await Promise.all(asks.map((ask, index) => enrol(ask, index)));
  await expectOnRecord(targets()[0] as Target, serials, count);
  return figures;
}

type Way = { readonly uuid: string; readonly registration: X509Certificate };
type Tried = { readonly status: number; readonly certificate?: X509Certificate | undefined; readonly retryAfter?: string | undefined };
const broken: Tried = { status: 0 };

const urlOf = ({ plain }: Target, uuid: string): string => `${plain}/scep/${uuid}/${name}`;
const serialOf = ({ serialNumber }: X509Certificate): string => serialNumber.toLowerCase();

async function scepOf({ uuid, registration }: Way, device: Device, host: string): Promise<(one: Target) => Promise<Tried>> {
  const envelope = makeEnvelope({ content: await csrOf(device.keys, secret, host), recipients: [registration.raw] });
  const message = makeRequest({ signer: device, envelope, transactionId: newTransaction() });
  return async (one) => {
    const reply = await send({ urlOf: () => urlOf(one, uuid) }, name, message, device, registration);
    if (reply.status === 200 && reply.pkiStatus !== '0') throw new Error(`a device was refused: ${reply.failText}`);
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

/**
 * All certificates that devices have are on record, valid; and SCEP has issued one for each of its devices, whatever was killed. EST has no transactions:
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
  expect(listed.filter(({ via }) => via.startsWith('scep-'))).toHaveLength(Math.ceil(count / 2));
}
