// GET …/distribution: the appliances and tokens that hold one version of a key, as each of them answers.
import { z } from 'zod';
import { defined } from '../../../core/base/defined.ts';
import { type AnyEndpoint, defineEndpoint } from '../../../core/http/endpoint.ts';
import { readVersion, versionParameter } from '../../../core/http/request/version-parameter.ts';
import type { Key } from '../records/keyring.ts';
import { keyActionsTag } from '../tags.ts';
import { type DistributionParts, findHoldings, type Found } from './holdings.ts';

const appliance = z.object({
  name: z
    .string()
    .optional()
    .meta({ description: 'Name of the appliance in its cluster; absent for one that stands alone.', example: 'plant-a' }),
  id: z.string().optional().meta({ description: 'Its identity there.', example: '0f3c9a52-7d0e-4c35-9d53-7a1c26a5b1ee' }),
  self: z.boolean().describe('`true` for the one that answers.'),
  state: z
    .enum(['holds', 'lacks', 'silent', 'away'])
    .meta({ typeName: 'DistributionState' })
    .describe(
      '`holds`: its store has the version, and its token has opened it just now. `lacks`: `reason` says why. `silent`: it did not say in time. `away`: it is out of the cluster, and was not asked.',
    ),
  token: z.string().optional().meta({ description: 'Token that opened it, by its name in the configuration.', example: 'main' }),
  tokenSerial: z.string().optional().meta({ description: 'Serial number that this token says it has.', example: 'a81cd5f3b1e29f04' }),
  reason: z.string().optional().meta({ description: 'Why it lacks the version.', example: 'the store of the appliance does not have it' }),
});

const outputSchema = z.object({
  keyVersion: z.int().describe('Version of the key that it is about.'),
  complete: z.boolean().describe('`true` if every appliance that was not removed holds it.'),
  appliances: z.array(appliance).describe('Every appliance that was not removed, by name.'),
});

/** Reads only: the questions and answers that it writes are removed when it has answered. */
export function distribution(parts: DistributionParts): AnyEndpoint {
  return defineEndpoint<unknown, z.output<typeof outputSchema>, Key>({
    method: 'GET',
    path: '/v1/state/keystore/transit-keys/{name}/distribution',
    tag: keyActionsTag,
    named: 'KeyDistribution',
    summary: 'Which appliances and tokens hold a key version',
    description:
      'Asks every appliance of the cluster: each opens the version in its own token and says whether it could. An appliance that has not answered after ten seconds, or is out, is named as such. Ask within `activate-after` of a rotation: the new version is not used before.',
    access: 'token',
    operation: 'read',
    audit: 'required',
    query: { version: versionParameter('The version that it is about: `latest` (default) or a number.') },
    output: outputSchema,
    errors: ['version-unknown'],
    find: (call) => parts.keyring.require(call),
    async run(call, _input, key) {
      const version = parts.keyring.version(key, readVersion(call, 'version', key.record.latest));
      call.noteAudit({ keyVersion: version.number });
      const found = await findHoldings(parts, key, version);
      const appliances = found.map(shown);
      return { keyVersion: version.number, complete: appliances.every(({ state }) => state === 'holds'), appliances };
    },
  });
}

function shown({ appliance: one, isSelf: self, holding }: Found): z.output<typeof appliance> {
  const named = { ...defined({ name: one?.name, id: one?.id }), self };
  if (typeof holding === 'string') return { ...named, state: holding };
  if (!holding.isHeld) return { ...named, state: 'lacks', reason: holding.reason };
  return { ...named, state: 'holds', ...defined({ token: holding.token?.name, tokenSerial: holding.token?.serial }) };
}
