// What a cluster promises (the design counts them 1 to 11) and no single caller sees: looked for when the faults are over.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Acknowledged } from '../../harness/kills/connection.ts';
import { findLacking, findUnverified } from '../../harness/kills/whole-check.ts';
import { clusterState } from '../own-members.ts';
import type { Drill } from './drill.ts';
import { ask } from './places.ts';

type State = { readonly members: readonly { readonly name: string; readonly 'leads-jobs': boolean }[]; readonly level: number };

/** Each that does not hold. The appliances are stopped meanwhile. `acknowledged`: ids of requests that the trails must have. */
export async function brokenPromises(drill: Drill, acknowledged: Acknowledged): Promise<string[]> {
  const { places } = drill;
  const broken: string[] = [];
  const states = await Promise.all(places.map(async (place) => (await ask(place, 'GET', clusterState))?.body as State));
  const leaders = new Set(
    states.map(({ members }) =>
      members
        .filter((one) => one['leads-jobs'])
        .map(({ name }) => name)
        .join(' and '),
    ),
  );
  if (leaders.size !== 1 || [...leaders].some((name) => name === '' || name.includes(' ')))
    broken.push(`the background jobs are run by ${[...leaders].map((name) => name || 'nobody').join(', or by ')}`);
  if (states.some(({ level }) => level !== drill.level))
    broken.push(`the levels are ${states.map(({ level }) => level).join()}, not ${drill.level}`);
  const rootTokens = places.filter((place) => existsSync(join(place.data, 'root-token')));
  if (rootTokens.length > 1) broken.push('several appliances have made a root token');
  const secret = places[0]?.daemon?.rootToken ?? '';
  for (const place of places) {
    const code = await place.stop();
    if (code !== 0) broken.push(`${place.name} ended with ${code}`);
  }
  for (const place of places) {
    const { status } = spawnSync('grep', [
      '--recursive',
      '--files-with-matches',
      '--fixed-strings',
      '--',
      secret,
      join(place.data, 'member'),
    ]);
    if (status !== 1) broken.push(`a secret is in clear in the etcd of ${place.name}`);
  }
  const trails = [...places.map((place) => join(place.data, 'audit')), ...places.flatMap(({ formerTrails }) => formerTrails)];
  broken.push(...(await findUnverified(trails)), ...findLacking(trails, acknowledged));
  return broken;
}
