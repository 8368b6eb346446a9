// Describes slots, tokens and mechanisms of a module, for an administrator.
import { Module as GrapheneModule } from 'graphene-pk11';
import * as ck from '../pkcs11/constants.ts';
import { findLacks } from '../pkcs11/capabilities.ts';
import { keyTypesOf } from '../pkcs11/token-key-types.ts';
import { findTokenInfo } from '../engine/sessions.ts';
import { unpadded } from '../pkcs11/fixed-text.ts';
import { mechanismName, PkcsModule, type SlotHandle } from '../pkcs11/module.ts';
import { TokenError } from '../pkcs11/return-values.ts';
import type { KeyType } from '../api.ts';

/** A module, its slots and their tokens. */
export type ModuleDescription = {
  readonly path: string;
  readonly library: string;
  readonly version: string;
  readonly slots: readonly {
    readonly description: string;
    readonly label: string;
    readonly serial: string;
    readonly manufacturer: string;
    readonly model: string;
    readonly initialised: boolean;
    readonly userPinSet: boolean;
    readonly mechanisms: readonly string[];
    readonly keyTypes: readonly KeyType[];
    /** mechanisms that the appliance needs and this token does not offer; empty if it does not list its mechanisms yet */
    readonly lacks: readonly string[];
  }[];
};

/** Info of a token that does not describe itself. */
const silent = { label: '', serial: '', manufacturer: '', model: '', flags: 0 };

/** Describes a module in this process. */
export function describeModuleHere({
  module: path,
  libraryParameters,
}: {
  module: string;
  libraryParameters?: string | undefined;
}): ModuleDescription {
  // Initialises the module as every other task does, with the same errors when it does not load.
  const own = PkcsModule.load(path, libraryParameters);
  const { manufacturer, description, version } = own.info();
  const walked = GrapheneModule.load(path);
  return {
    path,
    library: `${manufacturer} ${description}`.trim(),
    version,
    slots: own.slots().map((slot, index) => {
      const mechanisms = findMechanisms(own, slot);
      const { label, serial, manufacturer: maker, model, flags } = findTokenInfo(() => own.tokenInfo(slot)) ?? silent;
      return {
        ...{ description: describeSlot(walked, index), label, serial, manufacturer: maker, model },
        initialised: (flags & ck.CKF_TOKEN_INITIALIZED) !== 0,
        userPinSet: (flags & ck.CKF_USER_PIN_INITIALIZED) !== 0,
        mechanisms: mechanisms.map(mechanismName),
        keyTypes: keyTypesOf(own, slot, new Set(mechanisms)),
        lacks: mechanisms.length === 0 ? [] : findLacks(mechanisms.map(mechanismName)),
      };
    }),
  };
}

/** Describes a slot; empty if it cannot be read, so that it does not hide the others. */
function describeSlot(module: GrapheneModule, index: number): string {
  try {
    return unpadded(module.getSlots(index, true).slotDescription);
  } catch {
    return '';
  }
}

/** Lists the mechanisms; empty if the token does not: some do only once they are initialised (kryoptic). */
function findMechanisms(module: PkcsModule, slot: SlotHandle): readonly number[] {
  try {
    return module.mechanisms(slot);
  } catch (error) {
    if (error instanceof TokenError) return [];
    throw error;
  }
}
