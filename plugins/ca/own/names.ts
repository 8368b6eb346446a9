// The names of the CAs of the appliance in the tenant `system`, which no CA of people can take.
import { applianceCaName } from './listener-identity.ts';
import { memberCaNames } from './member-certificates.ts';

export const ownNames: ReadonlySet<string> = new Set([applianceCaName, ...Object.values(memberCaNames)]);
