// What the appliance does now: requests, signatures, encryptions and refusals a second, and how long requests take.
import type { ComponentChildren } from 'preact';
import { quantilesOf, rateOf, type Picks, type Reading } from '../../api/metrics.ts';
import { Spark } from '../../charts/spark.tsx';
import { presence } from '../../parts/presence.ts';
import { everySeconds, mostReadings, readings } from './readings.ts';

const requests = 'keystored_http_requests_total';
const durations = 'keystored_http_request_seconds';

type Rate = { readonly title: string; readonly note: string; readonly picks: Picks };

const succeeded: Picks = ({ status = '' }) => status.startsWith('2');
const endsWith = (...actions: readonly string[]): Picks => {
  const picked = new Set(actions.flatMap((action) => [action, `${action}-batch`]));
  return (labels) => succeeded(labels) && picked.has(labels['route']?.split('/').at(-1) ?? '');
};

const rates: readonly Rate[] = [
  { title: 'Requests', note: 'of the API and EST', picks: () => true },
  { title: 'Signatures', note: 'requests to sign; a batch is one', picks: endsWith('sign', 'hmac', 'sign-csr', 'openpgp-sign') },
  {
    title: 'Encryptions',
    note: 'requests to encrypt, decrypt or rewrap',
    picks: endsWith('encrypt', 'decrypt', 'rewrap', 'generate-data-key'),
  },
  { title: 'Refusals', note: 'answered with 4xx or 5xx', picks: ({ status = '' }) => /^[45]/.test(status) },
];

/** Topics that are followed last until somebody ends them. */
const isBrief: Picks = ({ route = '' }) => !route.endsWith('/{topic}');

export function Activity(): ComponentChildren {
  const all = readings.value;
  const newest = all.at(-1);
  if (newest === undefined) return null;
  const pairs = all.slice(1).map((after, index) => [all[index] as Reading, after] as const);
  const [since, sinceStart] = [quantilesBetween(all.length > 1 ? all[0] : undefined, newest), quantilesBetween(undefined, newest)];
  const [median, slow] = since ?? sinceStart ?? [];
  return (
    <section class="card" aria-labelledby="activity-title">
      <div class="card-head">
        <h2 id="activity-title">Now</h2>
        <p class="quiet">
          {presence.value ? `every ${everySeconds} seconds, on whatever page you are` : 'paused: nobody did anything here for five minutes'}
        </p>
      </div>
      <div class="sparks">
        {rates.map(({ title, note, picks }) => {
          const values = pairs.map(([before, after]) => rateOf(before, after, requests, picks));
          const last = values.at(-1);
          return (
            <Spark
              key={title}
              title={title}
              note={note}
              now={last === undefined ? '…' : `${figure(last)} a second`}
              values={values}
              most={mostReadings - 1}
            />
          );
        })}
        <Spark
          title="Time of a request"
          now={median === undefined ? 'no requests yet' : milliseconds(median)}
          note={slow === undefined ? undefined : `in the median; 99 % within ${milliseconds(slow)}`}
          values={pairs.map(([before, after]) => quantilesBetween(before, after)?.[0])}
          most={mostReadings - 1}
        />
      </div>
    </section>
  );
}

function quantilesBetween(before: Reading | undefined, after: Reading): readonly number[] | undefined {
  return quantilesOf(before, after, durations, [0.5, 0.99], isBrief);
}

function figure(value: number): string {
  return value.toLocaleString(undefined, value >= 10 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 2 });
}

function milliseconds(seconds: number): string {
  return `${(seconds * 1_000).toLocaleString(undefined, { maximumSignificantDigits: 2 })} ms`;
}
