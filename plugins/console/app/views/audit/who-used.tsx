// Uses of a thing, or by a token: the last week of the trail in one request, as sums by person and day, with the way into the trail.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { hrefOf } from '../../address/router.ts';
import { may } from '../../api/may.ts';
import { account } from '../../api/session.ts';
import type { Catalog } from '../../description/catalog.ts';
import { DataTable } from '../../marks/data-table.tsx';
import { Problem } from '../../parts/problem.tsx';
import { visible } from '../../parts/visible.ts';
import { Moment } from '../../times/moments.tsx';
import { dayText } from '../../times/times.ts';
import { useTopic } from '../../topics/use-topic.ts';
import { locale } from '../../language/language.ts';
import { isAbout, usesIn, type Subject } from './uses.ts';

const trailPath = '/v1/state/topics/system:audit-trail-log';
/** Records of a week that are looked at. */
const mostRecords = 5_000;

const words = {
  title: 'Who used it',
  reading: 'Reading the trail of the last week …',
  nobody: 'Nobody used or changed it in the last week.',
  cut: 'There was more than a page holds: these are the latest.',
  nobodyLately: 'There was more than a page holds, and nobody used or changed it in the latest of it.',
  trail: 'All of it in the audit trail',
} as const;

export type WhoUsedProps = {
  readonly catalog: Catalog;
  readonly filter: Subject;
  readonly title?: string;
};

/** Nothing for a person who may not read the trail. It is read when the panel is opened. */
export function WhoUsed({ catalog, filter, title = words.title }: WhoUsedProps): ComponentChildren {
  const isOpen = useSignal(false);
  if (catalog.at(trailPath) === undefined || may('read', trailPath).value !== 'yes') return null;
  return (
    <section class="card">
      <details class="panel" onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
        <summary>{title}</summary>
        {isOpen.value && <Uses filter={filter} />}
      </details>
    </section>
  );
}

function Uses({ filter }: Pick<WhoUsedProps, 'filter'>): ComponentChildren {
  const filters = { ...filter, reads: 'false' };
  const { records, state, isCut, error } = useTopic({
    path: trailPath,
    begin: { since: '7d' },
    filters,
    isLive: false,
    most: mostRecords,
  }).value;
  const tenant = account.value?.tenant;
  const uses = tenant === undefined ? [] : usesIn(records.filter((record) => isAbout(record, filter, tenant)));
  const linkTo = (more: Readonly<Record<string, string>>): string => hrefOf(trailPath, { since: '7d', ...filter, ...more });
  if (error !== undefined) return <Problem error={error} />;
  const isRead = state === 'read' && tenant !== undefined;
  const all = (
    <p>
      <a href={linkTo({})}>{words.trail}</a>
    </p>
  );
  if (uses.length === 0 && isRead && isCut)
    return (
      <>
        <p class="quiet">{words.nobodyLately}</p>
        {all}
      </>
    );
  if (uses.length === 0) return <p class="quiet">{isRead ? words.nobody : words.reading}</p>;
  return (
    <>
      {isCut && <p class="quiet">{words.cut}</p>}
      <DataTable
        label={words.title}
        columns={[
          { head: 'Who', is: 'name', cell: ({ user }) => <bdi>{visible(user)}</bdi> },
          {
            head: 'Day',
            cell: ({ fromMs, toMs, user }) => (
              <a
                href={linkTo({
                  who: 'where' in filter ? user : filter.who,
                  from: new Date(fromMs).toISOString(),
                  to: new Date(toMs).toISOString(),
                })}
              >
                {dayText(fromMs)}
              </a>
            ),
          },
          { head: 'Done', is: 'amount', cell: ({ done }) => done.toLocaleString(locale) },
          { head: 'Refused', is: 'amount', cell: ({ refused }) => (refused === 0 ? '' : refused.toLocaleString(locale)) },
          { head: 'Actions', cell: ({ actions }) => actions.map((one) => visible(one)).join(', ') },
          { head: 'From', cell: ({ addresses }) => addresses.map((one) => visible(one)).join(', ') },
          { head: 'Last', cell: ({ lastMs }) => <Moment at={new Date(lastMs).toISOString()} /> },
        ]}
        rows={uses}
        keyOf={({ user, fromMs }) => `${fromMs} ${user}`}
      />
      {all}
    </>
  );
}
