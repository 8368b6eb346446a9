// Query and DiscoverVersions: what this server is.
import { enumerationNameOf, type EnumerationWord } from '../ttlv/enumerations.ts';
import { boolean, enumeration, type Item, structure, text } from '../ttlv/item.ts';
import { keptTypes } from '../messages/managed-object.ts';
import { compare, isFrom, readVersion, type Version, versions, writeVersion } from '../messages/versions.ts';
import type { Operation } from './operation.ts';

export const discoverVersions: Operation = {
  since: 1,
  keepsPlaceholder: true,
  run: (_asked, payload) => {
    const known = payload.values('ProtocolVersion', 'structure').map(readVersion);
    const common = known.length === 0 ? versions : versions.filter((one) => known.some((other) => compare(one, other) === 0));
    return { payload: common.map(writeVersion) };
  },
};

/** Makes Query for a table of operations. */
export function queryOf(offered: (version: Version) => readonly EnumerationWord<'Operation'>[]): Operation {
  const answers: Readonly<Partial<Record<EnumerationWord<'QueryFunction'>, (version: Version) => readonly Item[]>>> = {
    QueryOperations: (version) => offered(version).map((word) => enumeration('Operation', word)),
    QueryObjects: (version) => keptTypes(version).map((word) => enumeration('ObjectType', word)),
    QueryServerInformation: () => [text('VendorIdentification', 'keystored'), structure('ServerInformation')],
    QueryCapabilities: () => [
      structure(
        'CapabilityInformation',
        boolean('StreamingCapability', false),
        boolean('AsynchronousCapability', false),
        boolean('AttestationCapability', false),
        boolean('BatchUndoCapability', true),
        boolean('BatchContinueCapability', true),
      ),
    ],
  };
  /** Order of the fields in the answer, whatever that of the questions is. */
  const order = Object.keys(answers) as readonly EnumerationWord<'QueryFunction'>[];
  return {
    keepsPlaceholder: true,
    run: ({ version }, payload) => {
      const asked = new Set(payload.values('QueryFunction', 'enumeration').map((value) => enumerationNameOf('QueryFunction', value)));
      const taken = order.filter((word) => asked.has(word) && (word !== 'QueryCapabilities' || isFrom(version, 3)));
      return { payload: taken.flatMap((word) => answers[word]?.(version) ?? []) };
    },
  };
}
