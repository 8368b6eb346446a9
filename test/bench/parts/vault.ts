// Requests through the API of Vault against the same at ours: one appliance, one client, neighbouring turns.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Parts } from '../../../appliance/docs/performance/figures.ts';
import { allWorkers, type Part, payload } from '../measure/bench.ts';
import { formatLoad, formatRatio, microsOf, summariseOwn } from '../measure/formats.ts';
import { measureLoad, type Target } from '../measure/load.ts';
import { formatTable, inRounds, medianOf } from '../measure/rounds.ts';
import { type Appliance, startAppliance } from '../neighbours/appliance.ts';

const connections = [1, 64] as const;
const warmUpSeconds = 6;

export const vault: Part<'vault'> = {
  measures: "requests through the API of Vault against the same requests at /v1's own paths",
  seconds: ({ rounds, seconds }) => 12 + 2 * warmUpSeconds + connections.length * 4 * (rounds + 1) * 2 * (seconds + 0.15),
  async run({ directory, rounds, seconds }) {
    mkdirSync(directory, { recursive: true });
    const file = join(directory, 'keystored.yaml');
    writeFileSync(file, 'vault:\n  tenants:\n    system: {}\n');
    const appliance = await startAppliance({ directory: join(directory, 'data'), workers: allWorkers, args: ['--config', file] });
    const rows: Parts['vault']['rows'][number][] = [];
    try {
      const pairs = pairsOf(appliance);
      for (const target of pairs[0] === undefined ? [] : [pairs[0].own, pairs[0].vault])
        await measureLoad(appliance, target, { seconds: warmUpSeconds, connections: 64, directory });
      for (const many of connections)
        for (const { operation, own, vault: through } of pairs) {
          const options = { seconds, connections: many, directory };
          const found = await inRounds(rounds, async () => ({
            own: await measureLoad(appliance, own, options),
            vault: await measureLoad(appliance, through, options),
          }));
          rows.push({
            ...{ operation, connections: many },
            own: summariseOwn(found.map((turns) => turns.own)),
            vault: summariseOwn(found.map((turns) => turns.vault)),
            rateToOwn: medianOf(found, (turns) => turns.vault.perSecond / turns.own.perSecond),
            timeToOwn: medianOf(found, (turns) => microsOf(turns.own) / microsOf(turns.vault)),
          });
        }
    } finally {
      await appliance.stop();
    }
    return { rows };
  },
  format: ({ rows }) =>
    formatTable(
      ['operation', 'connections', 'own /s', 'p50 ms', 'p99 ms', 'µs', 'vault /s', 'p50 ms', 'p99 ms', 'µs', 'rate to own', 'time to own'],
      rows.map(({ operation, connections: many, own, vault: through, rateToOwn, timeToOwn }) => [
        ...[operation, many, ...formatLoad(own), ...formatLoad(through), formatRatio(rateToOwn), formatRatio(timeToOwn)],
      ]),
    ),
};

type PairOfTargets = { readonly operation: Parts['vault']['rows'][number]['operation']; readonly own: Target; readonly vault: Target };

function pairsOf({ daemon, token, targets, login }: Appliance): readonly PairOfTargets[] {
  const through = (path: string, body: object): Target => ({ url: `${daemon.url}/v1/${path}`, token, body: JSON.stringify(body) });
  const batch = Array.from({ length: 100 }, () => ({ plaintext: payload }));
  const logins = (login.bodies ?? []).map((body) => {
    const { 'role-id': role, 'secret-id': secret } = JSON.parse(body) as Readonly<Record<string, string>>;
    return JSON.stringify({ role_id: role, secret_id: secret });
  });
  return [
    { operation: 'encrypt', own: targets.encrypt, vault: through('transit/encrypt/aes', { plaintext: payload }) },
    { operation: 'encrypt x 100', own: targets['encrypt x 100'], vault: through('transit/encrypt/aes', { batch_input: batch }) },
    { operation: 'sign ecdsa-p256', own: targets['sign ecdsa-p256'], vault: through('transit/sign/ecdsa-p256', { input: payload }) },
    { operation: 'login', own: login, vault: { url: `${daemon.url}/v1/auth/approle/login`, body: logins[0] ?? '', bodies: logins } },
  ];
}
