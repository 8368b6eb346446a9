// Numbers of certificates of an authority by their end. They are counted page by page, ten thousand at a time, so that no size stops the
// page.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { hrefOf } from '../../address/router.ts';
import { may } from '../../api/may.ts';
import { send } from '../../api/request.ts';
import { secret } from '../../api/session.ts';
import { Columns } from '../../charts/columns.tsx';
import { Progress } from '../../marks/progress.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { statusWords } from './status-badge.tsx';
import { locale } from '../../language/language.ts';
import { columnsOf, type Ending } from './expiry.ts';
import { certificatesPath, type CertificateState } from './state.ts';

/** Number of certificates in one answer. */
const pageSize = 1_000;
const countedAtOnce = 10_000;

type Counted = {
  readonly endings: readonly Ending[];
  readonly total: number;
  readonly after?: string | undefined;
  readonly isCounting: boolean;
  readonly error?: unknown;
};

const nothing: Counted = { endings: [], total: 0, isCounting: true };

export function ExpiryCard({ name, turn }: { readonly name: string; readonly turn: number }): ComponentChildren {
  const counted = useSignal<Counted>(nothing);
  const goal = useSignal(countedAtOnce);
  const said = may('read', certificatesPath(name)).value;
  const isAllowed = said === 'yes';
  useEffect(() => {
    if (!isAllowed || secret.value === undefined) return undefined;
    const controller = new AbortController();
    goal.value = countedAtOnce;
    void count(name, nothing, countedAtOnce, controller.signal, (now) => (counted.value = now));
    return () => controller.abort();
  }, [name, turn, secret.value, isAllowed]);
  useEffect(() => {
    if (goal.value === countedAtOnce) return undefined;
    const controller = new AbortController();
    void count(name, counted.peek(), goal.value, controller.signal, (now) => (counted.value = now));
    return () => controller.abort();
  }, [goal.value]);
  const { endings, total, after, isCounting, error } = counted.value;
  if (error !== undefined) return <Problem error={error} />;
  if (said === 'unknown' || (isAllowed && total === 0 && isCounting)) return <Loading />;
  if (total === 0) return null;
  const number = (status: Ending['status']): number => endings.filter((one) => one.status === status).length;
  return (
    <section class="card" aria-labelledby="expiry">
      <h2 id="expiry">When they end</h2>
      <ul class="figures">
        {(['valid', 'expired', 'revoked'] as const).map((status) => (
          <li key={status}>
            <a href={hrefOf(certificatesPath(name), { status })}>
              <strong>{number(status).toLocaleString(locale)}</strong> {statusWords[status]}
            </a>
          </li>
        ))}
      </ul>
      {number('valid') > 0 && (
        <Columns title="Valid certificates by their end" unit="certificates" columns={columnsOf(endings, new Date())} />
      )}
      {isCounting && (
        <Progress label="Counting" done={endings.length} total={total}>
          Counted {endings.length.toLocaleString(locale)} of {total.toLocaleString(locale)}
        </Progress>
      )}
      {!isCounting && after !== undefined && (
        <div class="buttons">
          <p class="quiet">
            Of the first {endings.length.toLocaleString(locale)} of {total.toLocaleString(locale)}.
          </p>
          <button type="button" onClick={() => (goal.value = endings.length + countedAtOnce)}>
            Count the next {countedAtOnce.toLocaleString(locale)}
          </button>
        </div>
      )}
    </section>
  );
}

/** Reads page after page until there are `goal`, and tells after each. */
async function count(name: string, from: Counted, goal: number, signal: AbortSignal, tell: (counted: Counted) => void): Promise<void> {
  let now: Counted = { ...from, isCounting: true };
  tell(now);
  try {
    while (now.isCounting) {
      const query = {
        limit: String(pageSize),
        fields: 'serial,not-before,not-after,status',
        ...(now.after === undefined ? {} : { after: now.after }),
      };
      const { body, headers } = await send({ method: 'GET', path: certificatesPath(name), query }, signal);
      if (signal.aborted) return;
      const page = body as readonly (Ending & Pick<CertificateState, 'serial'>)[];
      const endings = [...now.endings, ...page];
      const after = headers.has('link') ? page.at(-1)?.serial : undefined;
      const total = Number(headers.get('total-count') ?? endings.length);
      now = { endings, total, after, isCounting: after !== undefined && endings.length < goal };
      tell(now);
    }
  } catch (error) {
    if (!signal.aborted) tell({ ...now, isCounting: false, error });
  }
}
