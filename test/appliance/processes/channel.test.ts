// The channel between supervisor and workers: typed answers and refusals; what is no message is reported and harms nothing.
import { noShipper } from '../../../appliance/processes/shipper-process.ts';
import { assert, jsonValue, property } from 'fast-check';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { fail } from '../../../core/base/errors.ts';
import { revealSecret, Secret } from '../../../core/base/secret.ts';
import { type Channel, type Handlers, type Message, openChannel, type Port, Unanswered } from '../../../appliance/processes/channel.ts';
import { type SupervisorHandlers, supervisorRequests, workerRequests } from '../../../appliance/processes/messages.ts';
import { HsmError } from '../../../hsm/api.ts';

const requests = {
  double: { argument: z.int(), answer: z.int() },
  break: { argument: z.void(), answer: z.void() },
} as const;

const doubling: Handlers<typeof requests> = { double: (number) => 2 * number, break: () => undefined };

/** Two ends of a pipe that carries JSON, as node:cluster does. */
function pipe() {
  const carried: string[] = [];
  const ends = [0, 1].map(() => ({ hear: (_message: unknown): void => undefined, ended: (): void => undefined }));
  let isOpen = true;
  const port = (own: 0 | 1): Port => ({
    isOpen: () => isOpen,
    send(message: Message) {
      const text = JSON.stringify(message);
      carried.push(text);
      queueMicrotask(() => ends[1 - own]?.hear(JSON.parse(text)));
    },
    onMessage: (hear) => void Object.assign(ends[own] ?? {}, { hear }),
    onEnd: (ended) => void Object.assign(ends[own] ?? {}, { ended }),
  });
  const cut = (): void => {
    isOpen = false;
    for (const end of ends) end.ended();
  };
  return { asker: port(0), server: port(1), carried, deliver: (message: unknown) => ends[1]?.hear(message), cut };
}

function connect(handlers: Handlers<typeof requests>) {
  const { asker, server, ...rest } = pipe();
  const reported: string[] = [];
  const report = (line: string): void => void reported.push(line);
  openChannel({ port: server, asks: {}, serves: requests, handlers, report });
  const channel: Channel<typeof requests> = openChannel({ port: asker, asks: requests, serves: {}, handlers: {}, report });
  return { channel, reported, ...rest };
}

test('a request is answered with what its handler returns', async () => {
  const { channel, reported } = connect(doubling);
  expect(await Promise.all([channel.request('double', 4), channel.request('double', 5)])).toEqual([8, 10]);
  expect(await channel.request('break', undefined)).toBeUndefined();
  expect(reported).toEqual([]);
});

test('a refusal arrives with its code, detail, seconds to wait and the kind of the HSM error behind it', async () => {
  const thrown = fail('hsm-unavailable', { detail: 'why', retryAfterSeconds: 7, cause: new HsmError('timeout', 'too slow') });
  const { channel, reported } = connect({
    ...doubling,
    break() {
      throw thrown;
    },
  });
  await expect(channel.request('break', undefined)).rejects.toMatchObject({
    code: 'hsm-unavailable',
    status: 503,
    details: { detail: 'why', retryAfterSeconds: 7, cause: { kind: 'timeout' } },
  });
  expect(reported).toEqual([]);
});

test('any other error of a handler is an internal error, and is reported', async () => {
  const { channel, reported } = connect({ ...doubling, break: () => Promise.reject(new TypeError('broken')) });
  await expect(channel.request('break', undefined)).rejects.toMatchObject({ code: 'internal-error' });
  expect(reported).toEqual(['the request "break" failed: broken']);
});

test.each([
  ['an unknown request', { type: 'request', id: 1, name: 'triple', argument: 1 }],
  ['a request named as a property of every object', { type: 'request', id: 1, name: 'constructor', argument: 1 }],
  ['a request with a malformed argument', { type: 'request', id: 1, name: 'double', argument: 'hidden' }],
])('%s is refused and reported without its contents', async (_what, message) => {
  const double = vi.fn<Handlers<typeof requests>['double']>();
  const { deliver, carried, reported } = connect({ ...doubling, double });
  deliver(message);
  await vi.waitFor(() =>
    expect(carried.map((text) => JSON.parse(text) as unknown)).toMatchObject([
      { type: 'refusal', id: 1, refusal: { code: 'internal-error' } },
    ]),
  );
  expect(reported).toHaveLength(1);
  expect(reported.join()).not.toContain('hidden');
  expect(double).not.toHaveBeenCalled();
});

test('messages that are none are reported and ignored', async () => {
  const { channel, deliver, reported } = connect(doubling);
  assert(
    property(jsonValue(), (value) => deliver(value)),
    { numRuns: 200 },
  );
  expect(reported).toHaveLength(200);
  for (const id of [1, 99, -1]) deliver({ type: 'answer', id, answer: 'of nobody' });
  expect(await channel.request('double', 4)).toBe(8);
});

test('a malformed answer refuses the request', async () => {
  const { asker, server } = pipe();
  server.onMessage((message) => server.send({ type: 'answer', id: (message as Message).id, answer: 'text' }));
  const reported: string[] = [];
  const channel = openChannel({ port: asker, asks: requests, serves: {}, handlers: {}, report: (line) => void reported.push(line) });
  await expect(channel.request('double', 4)).rejects.toMatchObject({ code: 'internal-error' });
  expect(reported).toHaveLength(1);
});

test('a process that ends while it is asked leaves the request unanswered, and so do later ones', async () => {
  const { channel, cut } = connect({ ...doubling, double: () => new Promise<number>(() => undefined) });
  const asked = channel.request('double', 4);
  cut();
  await expect(asked).rejects.toThrow(new Unanswered('has just ended', true));
  await expect(channel.request('double', 4)).rejects.toThrow(new Unanswered('is not running', true));
});

test('an answer after the time is over is ignored', async () => {
  const answer = Promise.withResolvers<number>();
  const { channel, reported } = connect({ ...doubling, double: () => answer.promise });
  await expect(channel.request('double', 4, 1)).rejects.toThrow(new Unanswered('does not answer'));
  answer.resolve(8);
  expect(await channel.request('break', undefined)).toBeUndefined();
  expect(reported).toEqual([]);
});

test('PINs are secrets on both sides and text on the pipe only', async () => {
  const { asker, server, carried } = pipe();
  const unseal = vi.fn<SupervisorHandlers['unseal']>();
  const nothing = (): undefined => undefined;
  const measured = { metrics: () => [], activity: () => ({ points: [] }), health: () => [], shareUse: () => ({}) };
  const handlers: SupervisorHandlers = {
    provisioned: nothing,
    ...measured,
    seal: nothing,
    custodians: nothing,
    unseal,
    requireReady: nothing,
    takePart: nothing,
    restartServer: nothing,
    ...noShipper,
  };
  const report = (line: string): never => expect.fail(line);
  openChannel({ port: server, asks: workerRequests, serves: supervisorRequests, handlers, report });
  const channel = openChannel({
    port: asker,
    asks: supervisorRequests,
    serves: {},
    handlers: {
      provisioned: () => undefined,
    },
    report,
  });
  const from = { isOfAdministrator: false, requestId: 'r', clientIp: '127.0.0.1', userAgent: '' };
  await channel.request('unseal', { pins: { default: new Secret('1234') }, ...from });
  const [attempt] = unseal.mock.lastCall ?? [];
  expect(JSON.stringify(attempt)).not.toContain('1234');
  expect(revealSecret(attempt?.pins?.['default'] ?? new Secret(''))).toBe('1234');
  expect(carried.join()).toContain('1234');
});
