// What needs a person is told to callers who may read it, and sent by mail and webhook: once when it has begun, and once when it is over.
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type MailConfig, noticesSection } from '../../../core/config/notices.ts';
import { openDestinations } from '../../../core/outbound/destinations.ts';
import { messageOf, type Sent } from '../../../appliance/notices/message.ts';
import { answerFinding, recordFinding } from '../../../appliance/findings/findings.ts';
import { channelTable, withoutSources, noteSeen, noticeTable } from '../../../appliance/notices/records.ts';
import { sendMail } from '../../../appliance/notices/smtp.ts';
import { openTenants } from '../../../core/access/tenants.ts';
import { encodeKey } from '../../../core/store/keys.ts';
import { startTestAppliance, type TestAppliance } from '../../harness/appliance.ts';
import { damageRecords, damageTable } from '../../harness/damage.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';
import { selfSignedIdentity } from '../../harness/tls.ts';
import { type Hook, type Mailbox, mailUser, startHook, startMailServer } from './receivers.ts';

const inside = temporaryDirectory();
const [directory, others] = [inside('appliance'), inside('others')];
for (const made of [directory, others]) mkdirSync(made);
const identity = selfSignedIdentity(others);
const caFile = join(others, 'tls-cert.pem');
const file = (name: string, content: string): { file: string } => {
  writeFileSync(join(others, name), content, { mode: 0o600 });
  return { file: join(others, name) };
};
let [mailbox, hook, appliance]: [Mailbox, Hook, TestAppliance] = [] as never;

const receivers = ['operators@plant.example', 'second@plant.example'];
const mailSettings = (port: number, tls = 'starttls') => ({
  ...{ server: `127.0.0.1:${port}`, tls, caFile, from: 'keystored@plant.example', to: ['operators@plant.example'] },
  ...{ user: mailUser.username, password: file('mail-password', mailUser.password) },
});

beforeAll(async () => {
  mailbox = await startMailServer(identity, false);
  hook = await startHook(identity);
  const notices = noticesSection.parse({
    mail: { ...mailSettings(mailbox.port), to: receivers },
    webhook: { url: hook.url, caFile, secret: file('hook-secret', 'hook-secret-3c') },
  });
  appliance = await startTestAppliance({ directory, notices });
});

beforeEach(() => {
  mailbox.messages.length = 0;
  hook.received.length = 0;
  hook.status = 204;
  mailbox.onMessage = () => undefined;
  mailbox.refused = [];
  hook.refuses = undefined;
});
afterEach(async () => expect(await appliance.check()).toEqual([]));
afterAll(async () => {
  await appliance.close();
  await Promise.all([mailbox.close(), hook.close()]);
});

const systemId = (): string => openTenants(appliance.store).findByName('system')?.uuid ?? '';
const present = (): string => appliance.clock.now().toString({ smallestUnit: 'microsecond' });
const notice = (name: string) => ({ name, text: `the ${name} is full`, path: '/v1/state/system/health' });
const see = (...names: string[]): Promise<void> => noteSeen(appliance.store, systemId(), 'elsewhere', names.map(notice), present());

function send(mail: MailConfig | undefined): Promise<Sent> {
  const notice = { name: 'a', text: 'a', path: '/v1', since: present() };
  const anywhere = openDestinations({ allow: [], deny: [] }, { ports: [], publicUrl: 'https://a.example' });
  return sendMail(mail as MailConfig, messageOf('test', 'system', 'https://a.example', notice), anywhere, new AbortController().signal);
}

async function look(): Promise<void> {
  for (const name of ['notice-health', 'note-notices', 'send-notices-mail', 'send-notices-webhook'])
    await appliance.jobs.find((job) => job.name === name)?.run(new AbortController().signal);
}

/** Looks, waits until what was seen counts, and looks again. */
async function settle(): Promise<void> {
  await look();
  appliance.clock.advance(40);
  await look();
}

const mailsOf = (name: string): readonly string[] => mailbox.messages.filter((text) => text.includes(`the ${name} is full`));
const hooksOf = (name: string) => hook.received.filter(({ body }) => (JSON.parse(body) as { name: string }).name === name);

test('sent once by each channel, and once more when it is over', async () => {
  await see('boiler');
  await settle();
  await settle();
  expect(mailsOf('boiler')).toHaveLength(1);
  const [mail = ''] = mailsOf('boiler');
  expect(mail).toMatch(/^Subject: \[keystored\] Needs a person: the boiler is full\r$/m);
  expect(mail).toMatch(/^To: operators@plant\.example, second@plant\.example\r$/m);
  expect(mail).toContain('/ui/v1/state/system/health');
  const [sent] = hooksOf('boiler');
  expect(JSON.parse(sent?.body ?? '')).toMatchObject({ event: 'begun', tenant: 'system', path: '/v1/state/system/health' });
  const { 'keystored-timestamp': time, 'keystored-signature': signature } = sent?.headers ?? {};
  const mac = createHmac('sha256', 'hook-secret-3c').update(`${String(time)}.${sent?.body}`);
  expect(signature).toBe(`sha256=${mac.digest('hex')}`);
  await see();
  await settle();
  await settle();
  expect(mailsOf('boiler')).toHaveLength(2);
  expect(mailsOf('boiler')[1]).toMatch(/^Subject: \[keystored\] Over: the boiler is full\r$/m);
  expect(hooksOf('boiler').map(({ body }) => (JSON.parse(body) as { event: string }).event)).toEqual(['begun', 'over']);
  appliance.clock.advance(3_600);
  await look();
  expect(noticeTable(appliance.store).get([systemId(), 'boiler'])).toBeUndefined();
});

test('what lasts for a moment is not sent, and what comes back within a moment is not over', async () => {
  await see('flicker', 'pump');
  await look();
  await see('pump');
  appliance.clock.advance(40);
  await look();
  expect(mailsOf('flicker')).toEqual([]);
  expect(mailsOf('pump')).toHaveLength(1);
  await see();
  await look();
  await see('pump');
  await settle();
  expect(mailsOf('pump')).toHaveLength(1);
  await see();
  await settle();
});

test('a channel that fails is tried again with longer and longer pauses, and holds up no other', async () => {
  hook.status = 500;
  await see('tank');
  await settle();
  expect(mailsOf('tank')).toHaveLength(1);
  const tries = (): number => hooksOf('tank').length;
  expect(tries()).toBe(1);
  await look();
  expect(tries()).toBe(1);
  for (const seconds of [31, 61, 121]) {
    appliance.clock.advance(seconds);
    await look();
  }
  expect(tries()).toBe(4);
  const state = await appliance.request('GET', '/v1/state/system/notice-channels/webhook');
  expect(state.body).toMatchObject({ name: 'webhook', 'failures-in-a-row': 4, 'last-failure': 'the receiver answers HTTP 500' });
  const health = await appliance.request('GET', '/v1/state/system/health');
  expect(health.body).toMatchObject({ notices: { state: 'failing' } });
  expect(JSON.stringify(health.body)).not.toContain('HTTP 500');
  hook.status = 204;
  appliance.clock.advance(300);
  await look();
  expect(tries()).toBe(5);
  expect((await appliance.request('GET', '/v1/state/system/health')).body).toMatchObject({ notices: { state: 'up' } });
  await see();
  await settle();
});

const hookEvents = (name: string): readonly string[] => hooksOf(name).map(({ body }) => (JSON.parse(body) as { event: string }).event);

test('what comes back is told again by the channel that has told its end, though another has not', async () => {
  await see('kiln');
  await settle();
  hook.status = 500;
  await see();
  await settle();
  await see('kiln');
  await settle();
  expect(mailsOf('kiln').map((text) => /^Subject: \[keystored\] ([^:]+):/m.exec(text)?.[1])).toEqual([
    'Needs a person',
    'Over',
    'Needs a person',
  ]);
  expect(new Set(mailsOf('kiln').map((text) => /^Message-ID: (\S+)\r$/m.exec(text)?.[1])).size).toBe(3);
  hook.status = 204;
  appliance.clock.advance(600);
  await see();
  await settle();
  expect(mailsOf('kiln')).toHaveLength(4);
  expect(hookEvents('kiln').at(-1)).toBe('over');
});

test('what ends while it is sent is over for who was told of it', async () => {
  await see('crane');
  await look();
  appliance.clock.advance(40);
  mailbox.onMessage = () => see();
  await look();
  mailbox.onMessage = () => undefined;
  await settle();
  expect(mailsOf('crane')).toHaveLength(2);
  expect(mailsOf('crane')[1]).toContain('Over since: ');
  appliance.clock.advance(3_600);
  await look();
  expect(noticeTable(appliance.store).get([systemId(), 'crane'])).toBeUndefined();
});

test('a message that alone is refused holds up no other, and is given up', async () => {
  const refuse = (text: string): void => {
    if (text.includes('the axle is full')) throw Object.assign(new Error('content refused'), { responseCode: 554 });
  };
  mailbox.onMessage = refuse;
  hook.refuses = 'axle';
  await see('axle', 'brake');
  await settle();
  expect([mailsOf('axle').length, mailsOf('brake').length]).toEqual([1, 1]);
  expect([hooksOf('axle').length, hooksOf('brake').length]).toEqual([1, 1]);
  for (let round = 0; round < 7; round += 1) {
    appliance.clock.advance(600);
    await look();
  }
  expect([mailsOf('axle').length, hooksOf('axle').length]).toEqual([5, 5]);
  const { body } = await appliance.request('GET', '/v1/state/system/notice-channels');
  expect(body).toMatchObject([
    { name: 'mail', 'last-given-up': { tenant: 'system', notice: 'axle', reason: expect.stringContaining('554') } },
    { name: 'webhook', 'last-given-up': { notice: 'axle', reason: 'the receiver answers HTTP 422' } },
  ]);
  await see();
  await settle();
  expect([mailsOf('axle').length, mailsOf('brake').length]).toEqual([5, 2]);
  expect(noticeTable(appliance.store).get([systemId(), 'axle'])).toBeUndefined();
});

test('receivers that the server refuses are named, and the others get the message once', async () => {
  mailbox.refused = ['second@plant.example'];
  await see('shaft');
  await settle();
  await settle();
  expect(mailsOf('shaft')).toHaveLength(1);
  const state = await appliance.request('GET', '/v1/state/system/notice-channels/mail');
  expect(state.body).toMatchObject({ 'refused-receivers': ['second@plant.example'], 'failures-in-a-row': 0 });
  await see();
  await settle();
});

test('the next break-glass is told, though the one before is answered and still shown', async () => {
  const { store, clock } = appliance;
  const told = (): number => mailbox.messages.filter((text) => /^Subject: \[keystored\] Needs a person: break-glass/m.test(text)).length;
  const found = (message: string): Promise<void> => recordFinding(store, clock, { name: 'break-glass', message, isEvent: true });
  await found('the rules of tenant a were removed');
  await settle();
  expect(told()).toBe(1);
  await answerFinding(store, clock, 'break-glass', 'root');
  await settle();
  expect(told()).toBe(1);
  await found('the rules of tenant b were removed');
  await settle();
  expect(told()).toBe(2);
  await answerFinding(store, clock, 'break-glass', 'root');
});

test('a clock that was a year ahead holds up nothing', async () => {
  const { store } = appliance;
  const ahead = appliance.clock
    .now()
    .add({ hours: 365 * 24 })
    .toString({ smallestUnit: 'microsecond' });
  await noteSeen(store, systemId(), 'elsewhere', [notice('sieve')], ahead);
  await store.write((transaction) =>
    transaction.put(channelTable(store), ['mail'], { failuresInARow: 1, lastFailure: 'x', lastFailureAt: ahead, nextAt: ahead }),
  );
  await look();
  expect(mailsOf('sieve')).toHaveLength(1);
  await see();
  await settle();
  expect(mailsOf('sieve')).toHaveLength(2);
});

test('what has a record that does not open is told, and so are the others', async () => {
  await see('motor', 'wheel');
  await damageRecords(appliance, () => [encodeKey('notices', [systemId(), 'motor']) as string]);
  await see('motor', 'wheel', 'ladder');
  await settle();
  expect([mailsOf('motor').length, mailsOf('wheel').length, mailsOf('ladder').length]).toEqual([1, 1, 1]);
  expect((await appliance.request('GET', '/v1/state/notices')).status).toBe(200);
  await see();
  await settle();
  expect(mailsOf('motor')).toHaveLength(2);
});

test('a channel whose record does not open begins again, and health names the table', async () => {
  const channels = '/v1/state/system/notice-channels';
  await see('lathe');
  await settle();
  await damageTable(appliance, 'notice-channels');
  expect((await appliance.request('GET', `${channels}/mail`)).body).toMatchObject({ name: 'mail', 'failures-in-a-row': 0 });
  expect((await appliance.request('GET', channels)).body).toHaveLength(2);
  await see('lathe', 'drill');
  await settle();
  expect([mailsOf('drill').length, hooksOf('drill').length]).toEqual([1, 1]);
  expect((await appliance.request('GET', '/v1/state/system/health')).text).toContain('a record of notice-channels does not open');
  await see();
  await settle();
});

test('an end between the sending and its record has the message sent once more, with the same id', async () => {
  await see('valve');
  await look();
  appliance.clock.advance(40);
  const ended = new AbortController();
  mailbox.onMessage = () => ended.abort();
  const job = appliance.jobs.find(({ name }) => name === 'send-notices-mail');
  await job?.run(ended.signal);
  expect(mailsOf('valve')).toHaveLength(1);
  expect(noticeTable(appliance.store).get([systemId(), 'valve'])?.told.mail).toBeUndefined();
  mailbox.onMessage = () => undefined;
  await settle();
  await settle();
  expect(mailsOf('valve')).toHaveLength(2);
  const idOf = (text = ''): string | undefined => /^Message-ID: (\S+)\r$/m.exec(text)?.[1];
  expect(idOf(mailsOf('valve')[0])).toMatch(/^<[0-9a-f]{32}@plant\.example>$/);
  expect(idOf(mailsOf('valve')[0])).toBe(idOf(mailsOf('valve')[1]));
  await see();
  await settle();
});

test.each([
  ['the password is wrong', () => ({ password: file('wrong', 'other') }), /takes neither user nor password \(535\): correct both$/],
  ['the certificate is of another CA', () => ({ caFile: undefined }), /certificate/i],
  ['nothing listens', () => ({ server: '127.0.0.1:1' }), /ECONNREFUSED/],
  ['it is a metadata service', () => ({ server: '169.254.169.254:25' }), /not called/],
])('no mail where %s, with the reason', async (_title, change, reason) => {
  const { caFile: trusted, ...rest } = { ...mailSettings(mailbox.port), ...change() };
  const { mail } = noticesSection.parse({ mail: { ...rest, ...(trusted === undefined ? {} : { caFile: trusted }) } });
  await expect(send(mail)).rejects.toThrow(reason);
  expect(mailbox.messages).toEqual([]);
});

test.each([
  ['a second answer behind the one to STARTTLS', '220 go on\r\n250 injected\r\n'],
  ['a refusal of TLS with control characters', '454 no\u001b[2J\u0007 TLS\r\n'],
])('no mail where the server gives %s', async (_title, answer) => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).write('220 mail\r\n');
    socket.on('data', (said) => void socket.write(said.toString().startsWith('EHLO') ? '250-mail\r\n250 STARTTLS\r\n' : answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { mail } = noticesSection.parse({ mail: mailSettings((server.address() as AddressInfo).port) });
  await expect(send(mail)).rejects.toThrow(/before TLS: somebody may have added it|^the mail server answers 454 no \[2J TLS$/);
  server.close();
});

test('what a server repeats of the credentials is not told', async () => {
  const { mail } = noticesSection.parse({ mail: mailSettings(mailbox.port) });
  mailbox.onMessage = () => {
    throw Object.assign(new Error(`you are ${mailUser.password}`), { responseCode: 554 });
  };
  await expect(send(mail)).rejects.toThrow(/^the mail server does not take the message \(554\)$/);
});

test('with TLS from the beginning', async () => {
  const implicit = await startMailServer(identity, true);
  try {
    const { mail } = noticesSection.parse({ mail: mailSettings(implicit.port, 'implicit') });
    await send(mail);
    expect(implicit.messages).toHaveLength(1);
  } finally {
    await implicit.close();
  }
});

test('a test message says whether it was taken, and what to mend', async () => {
  const test = (channel: string) => appliance.request('POST', `/v1/state/system/notice-channels/${channel}/test`, {});
  expect((await test('mail')).body).toEqual({ accepted: true });
  expect(mailbox.messages.at(-1)).toContain('[keystored] Test:');
  hook.status = 404;
  expect((await test('webhook')).body).toEqual({ accepted: false, answer: 'the receiver answers HTTP 404' });
  expect((await test('pager')).status).toBe(404);
});

test('callers see what they may read alone, and in system what is about the appliance', async () => {
  const names = (body: unknown): readonly string[] => (body as { name: string }[]).map(({ name }) => name);
  const asRoot = await appliance.request('GET', '/v1/state/notices');
  expect(names(asRoot.body)).toEqual(expect.arrayContaining(['backup-missing', 'root-token-used']));
  await appliance.request('POST', '/v1/config/policy/policies', {
    name: 'keys-alone',
    'rest-api': { rules: [{ path: '/v1/config/keystore/transit-keys/**', operations: { all: 'allow' } }] },
  });
  const made = await appliance.request('POST', '/v1/state/keystore/token/create', { policies: ['keys-alone'] });
  const { token } = made.body as { token: string };
  expect(names((await appliance.request('GET', '/v1/state/notices', undefined, { token })).body)).toEqual([]);
});

test('what a removed appliance alone has seen is over', async () => {
  await see('belt');
  await settle();
  expect(mailsOf('belt')).toHaveLength(1);
  const table = noticeTable(appliance.store);
  const records = Array.from(table.entries([systemId()]));
  await appliance.store.write((transaction) => {
    for (const [key, record] of withoutSources(records, (source) => source === 'elsewhere', present())) transaction.put(table, key, record);
  });
  await settle();
  expect(mailsOf('belt').at(-1)).toContain('Over: the belt is full');
});
