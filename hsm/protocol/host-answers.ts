// Validates what a host says about its token: the module's library can corrupt the memory of the host that sends it.
import type { SessionCounts, TokenStatus } from '../api.ts';
import type { ReceivedMessage } from './wire.ts';

/** The host's description of its token after opening it. `isRemote`: its calls take so long that they run in parallel. */
export type Description = Pick<TokenStatus, 'label' | 'serial' | 'manufacturer' | 'model' | 'keyTypes' | 'mechanisms'> & {
  readonly isRemote: boolean;
};

/** The host's answer to a ping; `memory` is its resident memory in octets. */
export type Counts = { readonly loadedKeys: number; readonly sessions: SessionCounts; readonly memory: number };

/** Throws RangeError or SyntaxError when the answer is malformed. */
export function readDescription(answer: ReceivedMessage): Description {
  const said = answer.json<Partial<Description> | null>(0);
  const texts = [said?.label, said?.serial, said?.manufacturer, said?.model];
  const lists = [said?.keyTypes, said?.mechanisms];
  const isSound =
    texts.every(isText) && lists.every((list) => Array.isArray(list) && list.every(isText)) && typeof said?.isRemote === 'boolean';
  if (!isSound) throw new RangeError('the description of the token is malformed');
  return said as Description;
}

/** Throws RangeError or SyntaxError when the answer is malformed. */
export function readCounts(answer: ReceivedMessage): Counts {
  const said = answer.json<Partial<Counts> | null>(0);
  const { size, busy, waiting } = said?.sessions ?? {};
  if (![said?.loadedKeys, said?.memory, size, busy, waiting].every(Number.isSafeInteger))
    throw new RangeError('the counts of the token are malformed');
  return said as Counts;
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}
