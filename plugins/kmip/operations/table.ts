// The operations that are offered, in every version that has them.
import type { Version } from '../messages/versions.ts';
import { isFrom } from '../messages/versions.ts';
import { type EnumerationWord, enumerations } from '../ttlv/enumerations.ts';
import { addAttribute, deleteAttribute, getAttributeList, getAttributes, modifyAttribute, setAttribute } from './attributes.ts';
import { activate, destroy, revoke } from './life.ts';
import { create, createKeyPair, register, reKey } from './making.ts';
import type { Operation } from './operation.ts';
import { check, get, locate } from './reading.ts';
import { decrypt, encrypt, mac, macVerify, sign, signatureVerify } from './cryptography.ts';
import { discoverVersions, queryOf } from './server.ts';

type Name = EnumerationWord<'Operation'>;

const rows: Readonly<Partial<Record<Name, Operation>>> = {
  ...{ Create: create, CreateKeyPair: createKeyPair, Register: register, ReKey: reKey, Locate: locate, Check: check, Get: get },
  ...{ GetAttributes: getAttributes, GetAttributeList: getAttributeList },
  ...{ AddAttribute: addAttribute, ModifyAttribute: modifyAttribute, SetAttribute: setAttribute, DeleteAttribute: deleteAttribute },
  ...{ Activate: activate, Revoke: revoke, Destroy: destroy },
  ...{ Encrypt: encrypt, Decrypt: decrypt, Sign: sign, SignatureVerify: signatureVerify, MAC: mac, MACVerify: macVerify },
  ...{ Query: queryOf(offered), DiscoverVersions: discoverVersions },
};

/** Finds the operation; undefined where the version has none of this name, or it is not offered. */
export function operationOf(name: Name | undefined, version: Version): Operation | undefined {
  const row = name === undefined ? undefined : rows[name];
  return row !== undefined && isFrom(version, row.since ?? 0) ? row : undefined;
}

/** Names of the operations that a version has, in the order of their numbers. */
function offered(version: Version): readonly Name[] {
  const names = Object.keys(rows) as readonly Name[];
  return names
    .filter((name) => operationOf(name, version) !== undefined)
    .toSorted((one, other) => enumerations.Operation[one] - enumerations.Operation[other]);
}
