// The root token of a tenant is issued once: with several worker processes, a hundred calls at once, and a kill in between.
import { expect, test } from 'vitest';
import { startDaemon, type Daemon } from '../../harness/daemon.ts';
import { temporaryDirectory } from '../../harness/temporary.ts';

const path = temporaryDirectory();
const createRoot = '/v1/state/keystore/token/create-root';
type Answer = Awaited<ReturnType<Daemon['exchange']>>;
const codeOf = ({ body }: Answer): unknown => (body as { code?: string }).code;
const tokenOf = ({ body }: Answer): string => (body as { token: string }).token;
const tokensOf = (daemon: Daemon, token: string): Promise<unknown> => daemon.request('GET', '/v1/state/keystore/tokens', undefined, token);

test('a hundred calls on new connections to three workers: one token', async () => {
  const daemon = await startDaemon({ directory: path('parallel'), workers: 3 });
  await daemon.request('POST', '/v1/config/tenants', { name: 'once' });
  const answers = await Promise.all(Array.from({ length: 100 }, () => daemon.exchange('POST', createRoot, { name: 'once' })));
  const made = answers.filter(({ status }) => status === 200);
  expect(made).toHaveLength(1);
  expect(answers.filter((answer) => codeOf(answer) === 'root-token-exists')).toHaveLength(99);
  expect(await tokensOf(daemon, tokenOf(made[0] as Answer))).toHaveLength(1);
  expect(await daemon.stop()).toBe(0);
});

test('a kill while tokens are made: each tenant has at most one, acknowledged ones work, the others can still be made or never twice', async () => {
  const directory = path('killed');
  const names = Array.from({ length: 12 }, (_, n) => `tenant-${n}`);
  const first = await startDaemon({ directory, workers: 2 });
  for (const name of names) await first.request('POST', '/v1/config/tenants', { name });
  const acknowledged = new Map<string, string[]>(names.map((name) => [name, []]));
  // Refusals may all come before the first token: its answer waits for the record.
  let made = 0;
  const underWay = names.flatMap((name) =>
    Array.from({ length: 4 }, async () => {
      const answer = await first.exchange('POST', createRoot, { name });
      if (answer.status !== 200) return;
      acknowledged.get(name)?.push(tokenOf(answer));
      if (++made === 3) await first.kill();
    }),
  );
  await Promise.allSettled(underWay);

  const second = await startDaemon({ directory, workers: 2 });
  const outcomes = { acknowledged: 0, issued: 0, open: 0 };
  for (const [name, tokens] of acknowledged) {
    const { 'root-token-issued': issued } = (await second.request('GET', `/v1/state/tenants/${name}`)) as { 'root-token-issued': boolean };
    expect(tokens.length).toBeLessThanOrEqual(issued ? 1 : 0);
    const again = await second.exchange('POST', createRoot, { name });
    expect([again.status, issued ? codeOf(again) : 'made']).toEqual(issued ? [409, 'root-token-exists'] : [200, 'made']);
    const known = issued ? tokens : [tokenOf(again)];
    for (const token of known) expect(await tokensOf(second, token)).toHaveLength(1);
    outcomes[issued ? (tokens.length === 1 ? 'acknowledged' : 'issued') : 'open'] += 1;
  }
  expect(outcomes.acknowledged).toBeGreaterThan(0);
  expect(await second.stop()).toBe(0);
});
