// Acts of changes of a CA: its end, and who logs in by its certificates.
import type { Act } from '../../../core/approvals/acts.ts';
import type { ActChange } from '../../../core/http/resource/resource.ts';
import { tenantCas } from './lookup.ts';
import type { CaContext } from '../context.ts';

/** The acts of a creation, change or removal of a CA. Who changes how devices get its certificates changes who logs in by them. */
export function actsOfCa(
  context: CaContext,
  { call, names: [name = ''], before, after }: ActChange<{ readonly deletionAllowed: boolean }>,
): readonly Act[] {
  const ends = after === undefined || (after.deletionAllowed && before?.deletionAllowed !== true);
  return [
    ...(ends ? (['destroy'] as const) : []),
    ...(before !== undefined && logsIn(context, call.caller.tenantId, name) ? (['change-trust'] as const) : []),
  ];
}

/** Tells whether certificates of a CA log somebody in, or those for which devices get certificates that do. */
function logsIn(context: CaContext, tenantId: string, name: string): boolean {
  const cas = tenantCas(context, tenantId).map(({ record }) => record);
  const reached = new Set([name]);
  // A set that grows while it is walked: each CA that takes a reached one for first enrolments is reached as well.
  for (const one of reached) {
    if (context.logins.some((isNamed) => isNamed(tenantId, one))) return true;
    for (const { name: other, est } of cas) if (est.initialEnrollTrustCa === one) reached.add(other);
  }
  return false;
}
