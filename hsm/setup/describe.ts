// Slots, tokens and mechanisms of a module, for an administrator.
import { Module as GrapheneModule } from 'graphene-pk11';
import * as ck from '../pkcs11/constants.ts';
import { findKeyTypes } from '../pkcs11/capabilities.ts';
import { mechanismName, PkcsModule } from '../pkcs11/module.ts';
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
  }[];
};

/** Describes a module in this process. */
export function describeModuleHere({
  module: path,
  libraryParameters,
}: {
  module: string;
  libraryParameters?: string | undefined;
}): ModuleDescription {
  // Initialises the module as every other task does, with the same errors when it does not load.
  PkcsModule.load(path, libraryParameters);
  const module = GrapheneModule.load(path);
  const { manufacturerID, libraryDescription, libraryVersion } = module.lib.C_GetInfo();
  const slots = module.getSlots(true);
  return {
    path,
    library: `${manufacturerID.trim()} ${libraryDescription.trim()}`.trim(),
    version: `${libraryVersion.major}.${libraryVersion.minor}`,
    slots: Array.from({ length: slots.length }, (_, index) => {
      const slot = slots.items(index);
      const token = slot.getToken();
      const mechanisms = module.lib.C_GetMechanismList(slot.handle);
      return {
        description: slot.slotDescription.trim(),
        label: token.label.trim(),
        serial: token.serialNumber.trim(),
        manufacturer: token.manufacturerID.trim(),
        model: token.model.trim(),
        initialised: (token.flags & ck.CKF_TOKEN_INITIALIZED) !== 0,
        userPinSet: (token.flags & ck.CKF_USER_PIN_INITIALIZED) !== 0,
        mechanisms: mechanisms.map(mechanismName),
        keyTypes: findKeyTypes(new Set(mechanisms)),
      };
    }),
  };
}
