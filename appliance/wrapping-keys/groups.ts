// Groups of tokens: the next own keys are carried to all of a group, and a token that has not those in use is brought in by a rotation.
import type { Job, Log } from '../../core/base/context.ts';
import { isOvertaken } from '../../core/base/errors.ts';
import { type Hsm, HsmError, isUnprepared, type TokenConfig, type TokenStatus } from '../../hsm/api.ts';
import { carryToGroup } from '../../hsm/setup/carry-group.ts';
import type { CarryKeys, WrappingRotation } from './rotation.ts';

const lookEverySeconds = 2;
/** Pause after a carrying in which a token did not take part. */
const patienceMs = 20_000;

/** Carries keys to the tokens of a group, and logs which did not take them. `tokens`: those that were opened, with their PINs. */
export function carryByConfiguration(tokens: readonly TokenConfig[], log: Log): CarryKeys {
  return async (group, inUse) => {
    const { left, ...next } = await carryToGroup(
      tokens.filter((token) => token.group === group),
      inUse,
    );
    for (const { token, reason } of left) log.warn('a token did not take the wrapping key of its group', { token, group, reason });
    return next;
  };
}

/** Begins a rotation when a token of a group works and has not the wrapping key in use: it is new, or was away during the last one. */
export function bringingInJob({ hsm, rotation, log }: { readonly hsm: Hsm; readonly rotation: WrappingRotation; readonly log: Log }): Job {
  const triedAt = new Map<string, number>();
  return {
    name: 'token-groups',
    everySeconds: lookEverySeconds,
    whileClockInDoubt: true,
    async run() {
      const outside = hsm
        .status()
        .filter((token) => isOutside(token) && performance.now() - (triedAt.get(token.name) ?? -Infinity) > patienceMs);
      for (const group of new Set(outside.flatMap((token) => token.group?.name ?? []))) {
        if (rotation.state(group).state === 'rewrapping') continue;
        for (const { name } of outside.filter((token) => token.group?.name === group)) triedAt.set(name, performance.now());
        log.info('a token is brought into its group: the wrapping key is rotated', { group });
        await rotation.begin(group).catch((error: unknown) => {
          if (!(error instanceof HsmError) && !isOvertaken(error)) throw error;
          log.warn('a token could not be brought into its group', { group, reason: (error as Error).message });
        });
      }
    },
  };
}

function isOutside({ state, reason, group }: TokenStatus): boolean {
  return group !== undefined && !group.opensKeys && (state === 'up' || isUnprepared(reason));
}
