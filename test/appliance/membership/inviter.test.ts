// What an appliance that joins says of a member that does not answer.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { askForAdmission } from '../../../appliance/membership/inviter.ts';

afterEach(() => vi.restoreAllMocks());

test('of one that takes the connection and says nothing, the reason names how long was waited', async () => {
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout(50));
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const joiner = { appliance: 'x', name: 'b', address: '192.0.2.12', peerRequest: new Uint8Array(), clientRequest: new Uint8Array() };
  await expect(askForAdmission({ url, authority: 'ab'.repeat(32), secret: 'x'.repeat(43) }, joiner)).rejects.toMatchObject({
    kind: 'unreachable',
    reason: 'it did not answer within 60 seconds',
  });
  server.close();
});
