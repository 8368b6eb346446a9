// The faults of the drill: every function that the service calls with every CK_RV of the standard, then what else a module can do, drawn from a seed.
import type { Dice } from '../../fuzz/cases.ts';
import { returnValues } from '../../../hsm/pkcs11/return-values.ts';
import type { Fault, FaultKind } from '../token/faulty-module.ts';

/** What a function answers: octets, how many there are, handles. Decides what can be wrong with it. */
const answers: Readonly<Record<string, readonly FaultKind[]>> = {
  ...of(['flip', 'zero', 'short', 'long'], ['C_Encrypt', 'C_Decrypt', 'C_Sign', 'C_WrapKey', 'C_GetAttributeValue']),
  ...of(['flip', 'zero'], ['C_GenerateRandom', 'C_GetTokenInfo']),
  ...of(['short', 'long'], ['C_GetSlotList', 'C_GetMechanismList']),
  ...of(
    ['other-handle', 'bad-handle'],
    ['C_OpenSession', 'C_CreateObject', 'C_CopyObject', 'C_GenerateKey', 'C_GenerateKeyPair', 'C_UnwrapKey'],
  ),
  ...of(['short', 'other-handle', 'bad-handle'], ['C_FindObjects']),
  ...of([], ['C_Initialize', 'C_CloseSession', 'C_GetSessionInfo', 'C_Login', 'C_Logout', 'C_DestroyObject']),
  ...of([], ['C_FindObjectsInit', 'C_FindObjectsFinal', 'C_EncryptInit', 'C_DecryptInit', 'C_SignInit']),
};

function of(kinds: readonly FaultKind[], names: readonly string[]): Record<string, readonly FaultKind[]> {
  return Object.fromEntries(names.map((name) => [name, kinds]));
}

// The functions of which calls go wrong.
const faultyFunctions = Object.keys(answers);

const vendorDefined = [0x8000_0001, 0xdead_beef];
/** CKR_OK is no fault. */
const numbers = [...returnValues.keys()].filter((rv) => rv !== 0).concat(vendorDefined);

/** Each function with each CK_RV, once, in a drawn order; of several drills that share them, those of one. */
export function everyReturnValue(dice: Dice, { index, of: drills }: { readonly index: number; readonly of: number }): Fault[] {
  const all = faultyFunctions
    .flatMap((name) => numbers.map((argument): Fault => ({ name, kind: 'refuse', argument })))
    .filter((_, at) => at % drills === index);
  for (let at = all.length - 1; at > 0; at--) {
    const other = dice.below(at + 1);
    [all[at], all[other]] = [all[other] as Fault, all[at] as Fault];
  }
  return all;
}

/** Longer than any job may take. */
const foreverMilliseconds = 600_000;
/** A fault that stays until it is taken away. */
export const always = 1_000_000;

/** A fault of one of these functions: once mostly, sometimes at a later call, sometimes for good. */
export function drawFault(dice: Dice, names: readonly string[]): Fault {
  const name = dice.pick(names);
  const kind = drawKind(dice, answers[name] ?? []);
  const before = dice.chance(0.6) ? 0 : dice.below(4);
  const times = dice.chance(0.8) ? 1 : dice.chance(0.5) && !isWrongAnswer(kind) ? 2 : always;
  return { name, kind, argument: drawArgument(dice, kind), before, times: kind === 'crash' || kind === 'delay' ? 1 : times };
}

function drawKind(dice: Dice, wrong: readonly FaultKind[]): FaultKind {
  if (wrong.length > 0 && dice.chance(0.5)) return dice.pick(wrong);
  const drawn = dice.next();
  if (drawn < 0.55) return 'refuse';
  if (drawn < 0.8) return 'refuse-after';
  if (drawn < 0.9) return 'lose-sessions';
  return drawn < 0.95 ? 'delay' : 'crash';
}

function drawArgument(dice: Dice, kind: FaultKind): number {
  if (kind === 'refuse' || kind === 'refuse-after') return dice.pick(numbers);
  if (kind === 'delay') return dice.chance(0.1) ? foreverMilliseconds : 1 + dice.below(100);
  return dice.below(1 << 16);
}

/** Whether a fault gives an answer with CKR_OK that is wrong. */
export function isWrongAnswer(kind: FaultKind): boolean {
  return ['flip', 'zero', 'short', 'long', 'other-handle', 'bad-handle'].includes(kind);
}

/** For logs: all that is needed to see what happened. */
export function describeFault({ name, kind, argument = 0, before = 0, times = 1 }: Fault): string {
  return `${kind} ${name} argument ${argument} after ${before} calls, ${times === always ? 'for good' : `${times} times`}`;
}
