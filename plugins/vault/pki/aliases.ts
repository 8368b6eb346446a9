// Certificates: every route of a path at which they are issued.
import type { Alias } from '../../../core/http/alias.ts';
import type { Facade } from '../facade.ts';
import { intermediateAliases } from './intermediate.ts';
import { issuingAliases } from './issuing.ts';
import type { PkiMount } from './mount.ts';
import { publishedAliases } from './published.ts';
import { recordAliases } from './records.ts';

export function pkiAliases(facade: Facade, mount: PkiMount): readonly Alias[] {
  return [
    ...issuingAliases(facade, mount),
    ...intermediateAliases(facade, mount),
    ...recordAliases(facade, mount),
    ...publishedAliases(facade, mount),
  ];
}
