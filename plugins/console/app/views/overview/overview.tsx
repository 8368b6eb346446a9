// The first page: whether the appliance works, what it does now, what wants a person soon, and the parts that this person may look at.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { hrefOf } from '../../address/router.ts';
import { may } from '../../api/may.ts';
import { nameOf, groupName, type Catalog } from '../../description/catalog.ts';
import { useRepeated } from '../../marks/repeated.ts';
import { Heading, Refresh } from '../../parts/heading.tsx';
import { Loading } from '../../parts/loading.tsx';
import { presence } from '../../parts/presence.ts';
import { Problem } from '../../parts/problem.tsx';
import { Prose } from '../../parts/prose.tsx';
import { ActivityCard, activityPath } from './activity.tsx';
import { ClusterCard, clusterPath } from './cluster.tsx';
import { EndingCard, KeysCard } from './ending.tsx';
import { FirstHour, useFirstHour } from './first-hour.tsx';
import { HealthCard, healthPath } from './health.tsx';
import { MachineCard } from './machine.tsx';
import { OpenKey } from './open-key.tsx';
import { metricsPath, useMetrics } from './readings.ts';

/** The appliance sums up what it does as often. */
const everySeconds = 30;

export function OverviewView({ catalog }: { readonly catalog: Catalog }): ComponentChildren {
  const turn = useSignal(0);
  /** Counts the repeated readings of values that change by themselves. */
  const beat = useSignal(0);
  const saidOfMetrics = catalog.at(metricsPath) === undefined ? undefined : may('read', metricsPath).value;
  const readsMetrics = saidOfMetrics === 'yes';
  useRepeated(presence.value, everySeconds * 1_000, () => (beat.value += 1));
  const firstHour = useFirstHour(catalog);
  const now = turn.value + beat.value;
  const { newest, error } = useMetrics(readsMetrics, now);
  const isAwaited = firstHour === 'unknown' || saidOfMetrics === 'unknown' || (readsMetrics && newest === undefined && error === undefined);
  return (
    <>
      <Heading title="Overview" path="">
        <div class="buttons">
          <Refresh turn={turn} />
        </div>
      </Heading>
      {isAwaited && <Loading />}
      <div class="page-body">
        {catalog.at(healthPath) !== undefined && <HealthCard turn={turn.value} />}
        {typeof firstHour === 'object' && <FirstHour facts={firstHour.facts} />}
        {catalog.at(clusterPath) !== undefined && <ClusterCard turn={turn.value} />}
        {error !== undefined && <Problem error={error} />}
        {catalog.at(activityPath) !== undefined && <ActivityCard turn={now} />}
        <div class="pair">
          {newest !== undefined && <MachineCard newest={newest} turn={turn.value} />}
          <div class="stack">
            <OpenKey />
            <KeysCard turn={turn.value} />
            <EndingCard newest={newest} awaits={readsMetrics && newest === undefined} turn={turn.value} />
          </div>
        </div>
        <Everything catalog={catalog} />
      </div>
    </>
  );
}

/** The way to what no view draws: the tags of the description. */
function Everything({ catalog }: { readonly catalog: Catalog }): ComponentChildren {
  return (
    <details class="everything">
      <summary>
        <h2>Everything that the API has</h2>
      </summary>
      <div class="cards">
        {catalog.groups().map(({ tag, description, entries }) => {
          const shown = entries.filter(({ operation, path }) => typeof may(operation['x-operation'], path).value !== 'object');
          if (shown.length === 0) return null;
          return (
            <section class="card" key={tag}>
              <h3>{groupName(tag)}</h3>
              <p class="quiet">
                <Prose text={description} />
              </p>
              <ul class="plain">
                {shown.map((entry) => (
                  <li key={`${entry.method} ${entry.path}`}>
                    <a href={hrefOf(entry.path)}>{nameOf(entry)}</a>
                  </li>
                ))}
              </ul>
            </section>
          );
        })}
      </div>
    </details>
  );
}
