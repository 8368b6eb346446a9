// Runs the cases of the KMIP profiles of OASIS against an appliance, over TLS, and compares each answer with theirs.
import { beforeAll, describe, expect, test } from 'vitest';
import { differences, itemOf, type Variables } from '../harness/kmip/case-items.ts';
import type { KmipClient } from '../harness/kmip/client.ts';
import { type KmipCase, kmipCases } from '../vectors/kmip.ts';
import { type KmipAppliance, startKmipAppliance } from '../plugins/kmip/kmip-appliance.ts';

let appliance: KmipAppliance;
beforeAll(async () => {
  appliance = await startKmipAppliance();
});

/** Cases of a profile that go on with the objects of the one before them share a space. */
const sharing = /^(?:SASED|TL)/;
/** Cases that need what is not offered, with what that is. */
const notOffered: readonly (readonly [cases: RegExp, what: string])[] = [
  [/^SKFF.O.[123].1[01]/, 'keys for DES, 3DES of one key, and SKIPJACK'],
  [/^SKFF.O.6.11/, 'an Object Group that the server gives'],
];

const profiles = new Map<string, readonly KmipCase[]>();
for (const one of kmipCases()) {
  const profile = `${one.name.split(/[-_]/)[0]} of ${one.version}`;
  profiles.set(profile, [...(profiles.get(profile) ?? []), one]);
}

describe.each([...profiles])('%s', (profile, cases) => {
  const shared = profile.toLowerCase().replaceAll(/[^a-z0-9]/g, '-');
  test.each(cases)('$name', async ({ name, version, messages }) => {
    const space = sharing.test(name) ? shared : `s-${name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')}`.slice(0, 60);
    const client = await clientOf(space, version);
    const found = await run(client, messages);
    const fails = notOffered.some(([which]) => which.test(name));
    // A list of what fails must not outlive the failures.
    expect(fails ? found.length > 0 : found).toEqual(fails ? true : []);
  });
});

const known = new Map<string, Promise<KmipClient>>();
async function clientOf(space: string, version: string): Promise<KmipClient> {
  const made = known.get(space) ?? make(space, version);
  known.set(space, made);
  return made;
}

async function make(space: string, version: string): Promise<KmipClient> {
  await appliance.makeSpace(space);
  return appliance.connect(await appliance.makeClient(space, space), version);
}

async function run(client: KmipClient, messages: KmipCase['messages']): Promise<readonly string[]> {
  const variables: Variables = new Map();
  const found: string[] = [];
  for (let at = 0; at + 1 < messages.length; at += 2) {
    const [request, expected] = [messages[at], messages[at + 1]];
    if (request === undefined || expected === undefined) break;
    const now = Math.floor(appliance.clock.now().epochMilliseconds / 1_000);
    const answer = await client.exchange(itemOf(request, variables, now));
    found.push(...differences(expected, answer, variables, `${at / 2}`));
  }
  return found;
}
