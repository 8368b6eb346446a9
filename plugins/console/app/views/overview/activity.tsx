// Activity of the appliance in the last hour: requests, signatures, encryptions and refusals a second, and the time that requests took.
import type { ComponentChildren } from 'preact';
import { may } from '../../api/may.ts';
import { Spark } from '../../charts/spark.tsx';
import { useLoaded, useSteady } from '../../parts/loaded.ts';
import { Loading } from '../../parts/loading.tsx';
import { Problem } from '../../parts/problem.tsx';
import { locale } from '../../language/language.ts';

export const activityPath = '/v1/state/system/activity';

/** Half minutes of an hour. */
const mostPoints = 120;

type Times = { readonly 'median-milliseconds'?: number; readonly 'p99-milliseconds'?: number };
type Rates = { readonly requests: number; readonly signatures: number; readonly encryptions: number; readonly refusals: number };
type Activity = Times & { readonly points: readonly (Rates & Times)[] };

const rates: readonly (readonly [field: keyof Rates, title: string, note: string])[] = [
  ['requests', 'Requests', 'of the API and EST'],
  ['signatures', 'Signatures', 'requests to sign; a batch is one'],
  ['encryptions', 'Encryptions', 'requests to encrypt, decrypt or rewrap'],
  ['refusals', 'Refusals', 'answered with 4xx or 5xx'],
];

/** Draws nothing for a person who may not see it. */
export function ActivityCard({ turn }: { readonly turn: number }): ComponentChildren {
  const said = may('read', activityPath).value;
  const isAllowed = said === 'yes';
  const loaded = useSteady(useLoaded(isAllowed ? { method: 'GET', path: activityPath } : undefined, turn).value);
  if (said === 'unknown') return <Loading />;
  if (!isAllowed) return null;
  if (loaded.state === 'failed') return <Problem error={loaded.error} />;
  const activity: Activity = loaded.state === 'there' ? (loaded.answer.body as Activity) : { points: [] };
  const { points, 'median-milliseconds': median, 'p99-milliseconds': slow } = activity;
  const now = points.at(-1);
  return (
    <section class="card" aria-labelledby="activity-title">
      <div class="card-head">
        <h2 id="activity-title">The last hour</h2>
        <p class="quiet">figures are of the last half minute, times of the hour</p>
      </div>
      <div class="sparks">
        {rates.map(([field, title, note]) => (
          <Spark
            key={field}
            title={title}
            note={note}
            now={now === undefined ? '…' : figure(now[field])}
            unit="a second"
            values={points.map((point) => point[field])}
            most={mostPoints}
          />
        ))}
        <Spark
          title="Latency"
          now={median === undefined ? 'no requests yet' : milliseconds(median)}
          note={slow === undefined ? undefined : `of a request in the median; 99 % within ${milliseconds(slow)}`}
          values={points.map((point) => point['median-milliseconds'])}
          most={mostPoints}
        />
      </div>
    </section>
  );
}

function figure(value: number): string {
  return value.toLocaleString(locale, value >= 10 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 2 });
}

function milliseconds(value: number): string {
  return `${value.toLocaleString(locale, { maximumSignificantDigits: 2 })} ms`;
}
