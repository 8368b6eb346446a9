// Validates what a host says about its token: the module's library can corrupt the memory of the host that sends it.
import type { SessionCounts, TokenStatus } from '../api.ts';
import type { ReceivedMessage } from './wire.ts';

/** The host's description of its token after opening it. `isRemote`: its calls take so long that they run in parallel. */
export type Description = Pick<
  TokenStatus,
  'label' | 'serial' | 'manufacturer' | 'model' | 'keyTypes' | 'ivSource' | 'signatureVariants' | 'mechanisms'
> & {
  readonly isRemote: boolean;
};

/** Types of keys, and ways of signing, that a token offers because they were proven. */
export type Proven = Pick<Description, 'keyTypes' | 'signatureVariants'>;

/** Description of a token that has not been opened yet. */
export const unknownToken: Description = {
  ...{ label: '', serial: '', manufacturer: '', model: '' },
  ...{ keyTypes: [], ivSource: 'own', signatureVariants: [], mechanisms: [], isRemote: false },
};

/**
 * Adds the types that an earlier host has proven: one that opens the token in the middle of a fault proves fewer than the token has, and each key is
 * proven again when it is made.
 */
export function withKnownTypes(description: Description, known: Description['keyTypes']): Description {
  return { ...description, keyTypes: [...new Set([...known, ...description.keyTypes])] };
}

/** The host's answer to a ping; `memory` is its resident memory in octets. */
export type Counts = { readonly loadedKeys: number; readonly sessions: SessionCounts; readonly memory: number };

/** Throws RangeError or SyntaxError when the answer is malformed. */
export function readDescription(answer: ReceivedMessage): Description {
  const said = answer.json<Partial<Description> | null>(0);
  const texts = [said?.label, said?.serial, said?.manufacturer, said?.model, said?.ivSource];
  const lists = [said?.keyTypes, said?.signatureVariants, said?.mechanisms];
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
