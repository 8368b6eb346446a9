// Band above every page of an open tenant: whose it is, why it is open, until when, and the way out.
import type { ComponentChildren } from 'preact';
import { endVisit, visit } from '../api/visit.ts';
import { visible } from '../parts/visible.ts';
import { Moment } from '../times/moments.tsx';

export function VisitBand(): ComponentChildren {
  if (visit.value === undefined) return null;
  const { tenant, reason, expires } = visit.value;
  return (
    <div class="visit" role="region" aria-label="Open tenant">
      <p>
        You read the tenant{' '}
        <strong>
          <bdi>{visible(tenant)}</bdi>
        </strong>{' '}
        and can change nothing. It closes <Moment at={expires} />. Reason: <bdi>{visible(reason)}</bdi>
      </p>
      <button type="button" onClick={() => void endVisit()}>
        Leave
      </button>
    </div>
  );
}
