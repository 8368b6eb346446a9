// Rotations of the wrapping key: among faults, while an appliance is away, and when all is over.
import { isDeepStrictEqual } from 'node:util';
import type { Answer } from '../../harness/client.ts';
import { numbersIn } from '../../harness/token/carrying.ts';
import { type Drill, until, untilServing } from './drill.ts';
import { ask, type Place } from './places.ts';

type WrappingKey = { readonly number: number; readonly state: string; readonly failed: number };

const rotation = '/v1/state/system/rotate-wrapping-key';
/** With a token in each it needs every one of them. */
const refusals = { shared: ['conflict'], own: ['conflict', 'operation-refused'] };

/** At any moment: it begins, or is refused for what is so then. */
export async function rotateAmongFaults({ tokens, losses }: Drill, place: Place): Promise<void> {
  const answer = await ask(place, 'POST', rotation, {});
  if (answer === undefined || answer.status === 503 || answer.status === 200) return;
  if (answer.status !== 409 || !refusals[tokens].includes(answer.body.code))
    losses.push(`a rotation by ${place.name} was answered ${said(answer)}`);
}

/** One token that all reach gets the next key without it, and the one that comes back opens everything; its own token has to be there. */
export async function rotateWhileAway(drill: Drill, place: Place): Promise<void> {
  const { members, places, tokens, losses } = drill;
  await untilRotated(places);
  await place.kill();
  const others = places.filter((one) => one !== place);
  const answer = await decided(drill, others);
  if (tokens === 'own' && (answer.status === 200 || !answer.text.includes(`\\"${place.name}\\"`)))
    losses.push(`a rotation without ${place.name}, which has a token of its own, was answered ${said(answer)}`);
  if (tokens === 'shared') {
    if (answer.status !== 200) losses.push(`a rotation without ${place.name}, whose token the others reach, was answered ${said(answer)}`);
    await untilRotated(others, answer.body.number);
  }
  await place.start(members);
  await untilServing(drill);
  await rotate(drill);
}

/**
 * The wrapping key is rotated once more; then every token has that one and no other, whatever rotations before have left in it. Answers its
 * number.
 */
export async function rotate(drill: Drill): Promise<number> {
  const { places } = drill;
  let number = 0;
  let refusal = '';
  await until(
    () => `the wrapping key is rotated, but ${refusal}`,
    async () => {
      const answer = await decided(drill, places);
      refusal = said(answer);
      number = Number(answer.body.number);
      return answer.status === 200;
    },
  );
  await untilRotated(places, number);
  for (const { name, token } of places) {
    let has: readonly number[] = [];
    await until(
      () => `the token of ${name} has wrapping key ${number}, but it has ${has.join()}`,
      async () => isDeepStrictEqual((has = await numbersIn(token.config()).catch(() => [])), [number]),
    );
  }
  return number;
}

/** What one of them says that does not wait for another rotation or a connection. */
async function decided({ dice }: Drill, places: readonly Place[]): Promise<Answer> {
  let answer: Answer | undefined;
  await until('a rotation is begun or refused', async () => {
    answer = await ask(dice.pick(places), 'POST', rotation, {});
    return answer !== undefined && answer.status !== 503 && answer.body.code !== 'conflict';
  });
  return answer as Answer;
}

/** No key is under another wrapping key, and all of them say so. Without `number` it is any. */
async function untilRotated(places: readonly Place[], number?: number): Promise<void> {
  let seen: readonly (WrappingKey | undefined)[] = [];
  await until(
    () => `wrapping key ${number ?? ''} is in use, but they say ${JSON.stringify(seen)}`,
    async () => {
      seen = await Promise.all(places.map(wrappingKeyAt));
      return seen.every((one) => one?.state === 'in-use' && one.number === (number ?? seen[0]?.number));
    },
  );
}

async function wrappingKeyAt(place: Place): Promise<WrappingKey | undefined> {
  const answer = await ask(place, 'GET', '/v1/state/system/hsm');
  return answer?.status === 200 ? (answer.body.tokens[0]?.['wrapping-key'] as WrappingKey) : undefined;
}

function said({ status, text }: Answer): string {
  return `${status} ${text}`;
}
