// The audit trail: live, over a time that is chosen in a histogram, filtered by who, what, where and result.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { address, go, hrefOf } from '../../address/router.ts';
import { Histogram, type Bin } from '../../charts/histogram.tsx';
import { Chip } from '../../parts/chip.tsx';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { Heading } from '../../parts/heading.tsx';
import { Loading } from '../../parts/loading.tsx';
import { isDenied } from '../../parts/loaded.ts';
import { Problem } from '../../parts/problem.tsx';
import { timeOf } from '../../topics/read-topic.ts';
import { useTopic, type Topic } from '../../topics/use-topic.ts';
import { locale } from '../../language/language.ts';
import { AuditFilters } from './audit-filters.tsx';
import { Chains } from './chains.tsx';
import { noFilters, queryOf, resultOf, type Filters, type TrailRecord } from './records.ts';
import { Export } from './export.tsx';
import { AuditRows } from './rows.tsx';
import { SavedFilters } from './saved-filters.tsx';
import { usualWindow, windows } from './windows.ts';
import '../../style/audit.css';

const barsShown = 60;
/** Records that the page holds. */
const mostRecords = 20_000;
/** Shorter times are not drawn. */
const shortestMs = 1_000;

/** Long because it is one view from top to bottom. */
export function AuditView({ catalog, path }: DrawnProps): ComponentChildren {
  const { query } = address.value;
  const filters = Object.fromEntries(Object.keys(noFilters).map((name) => [name, query.get(name) ?? ''])) as Filters;
  const turn = useSignal(0);
  const [from, to] = [Date.parse(query.get('from') ?? ''), Date.parse(query.get('to') ?? '')];
  const isChosen = to - from >= shortestMs;
  const asked = query.get('since') ?? usualWindow;
  const since = Object.hasOwn(windows, asked) ? asked : usualWindow;
  const isLive = !isChosen && query.get('live') !== 'no';
  const begin = { since: isChosen ? new Date(from).toISOString() : since };
  const asks = queryOf(filters);
  const isFiltered = Object.keys(asks).length > 0;
  const isNarrowed = Object.keys(filters).some((name) => name !== 'only' && query.has(name));
  const trail = useTopic({ path, begin, filters: asks, untilMs: isChosen ? to : undefined, isLive, most: mostRecords }, turn.value);
  const records = trail.value.records as readonly TrailRecord[];
  const seconds = windows[since]?.seconds ?? 0;
  const endMs = isChosen ? to : presentOf(records, seconds);
  const startMs = isChosen ? from : endMs - seconds * 1_000;
  const change = (part: Readonly<Record<string, string>>, how: 'push' | 'replace' = 'push'): void => {
    const next = { ...Object.fromEntries(query), ...part };
    go(hrefOf(path, Object.fromEntries(Object.entries(next).filter(([, value]) => value !== ''))), how);
  };
  const { error } = trail.value;
  const heading = (
    <Heading catalog={catalog} title="Audit trail" path={path}>
      <p class="quiet">Who did what, as it was written before each answer.</p>
    </Heading>
  );
  if (isDenied(error))
    return (
      <>
        {heading}
        <Problem error={error} />
      </>
    );
  return (
    <>
      {heading}
      <AuditFilters
        filters={filters}
        since={since}
        chosen={isChosen ? { fromMs: from, toMs: to } : undefined}
        isLive={isLive}
        onChange={change}
        onRefresh={() => (turn.value += 1)}
      />
      <SavedFilters path={path} />
      <Export
        path={path}
        filters={asks}
        range={() => (isChosen ? { fromMs: from, toMs: to } : { fromMs: Date.now() - seconds * 1_000, toMs: Date.now() })}
      />
      {error !== undefined && <Problem error={error} />}
      <section class="card" aria-labelledby="when-title">
        <div class="card-head">
          <h2 id="when-title">{isChosen ? 'The time you chose' : `The last ${windows[since]?.label ?? ''}`}</h2>
          <StateOf trail={trail.value} />
        </div>
        <Histogram
          key={isChosen ? `${from} ${to}` : since}
          label="Records over time"
          bins={binsOf(records, startMs, endMs)}
          fromMs={startMs}
          toMs={endMs}
          onChoose={(fromMs, toMs) => change({ from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() })}
        />
        {isChosen && (
          <div class="buttons">
            <button type="button" onClick={() => change({ from: '', to: '' })}>
              Back to the last {windows[since]?.label}
            </button>
          </div>
        )}
      </section>
      {records.length === 0 && trail.value.state === 'reading' && error === undefined && <Loading />}
      {records.length > 0 ? (
        <AuditRows
          catalog={catalog}
          records={records.toReversed()}
          open={query.get('record') ?? ''}
          onOpen={(id) => change({ record: id }, 'replace')}
        />
      ) : (
        trail.value.state !== 'reading' &&
        error === undefined && (
          <p class="empty">{isNarrowed ? 'No record of this time fits the filters.' : 'Nobody changed or used anything in this time.'}</p>
        )
      )}
      <Chains records={isFiltered ? undefined : records} turn={turn.value} />
    </>
  );
}

function StateOf({ trail: { state, records, isCut } }: { readonly trail: Topic }): ComponentChildren {
  return (
    <p class="quiet">
      {state === 'live' && <Chip tone="good">live</Chip>}
      {state === 'interrupted' && <Chip tone="warn">interrupted, trying again</Chip>} {state === 'reading' && 'reading … '}
      {records.length.toLocaleString(locale)} {records.length === 1 ? 'record' : 'records'}
      {isCut && `; older ones of this time are left out, because a page holds ${mostRecords.toLocaleString(locale)}: choose a shorter time`}
    </p>
  );
}

function binsOf(records: readonly TrailRecord[], fromMs: number, toMs: number): readonly Bin[] {
  const bins = Array.from({ length: barsShown }, () => ({ good: 0, bad: 0 }));
  for (const record of records) {
    const bin = bins[Math.floor(((timeOf(record) - fromMs) / (toMs - fromMs)) * barsShown)];
    if (bin === undefined) continue;
    const result = resultOf(record);
    if (result === 'refused' || result === 'failed') bin.bad += 1;
    else bin.good += 1;
  }
  return bins;
}

/** The end of a window that ends now. The appliance’s clock counts: where it is far from the browser’s, its newest record is now. */
function presentOf(records: readonly TrailRecord[], seconds: number): number {
  const now = Date.now();
  const last = records.at(-1);
  const newest = last === undefined ? now : timeOf(last);
  return newest > now || newest < now - seconds * 1_000 ? newest + 1 : now;
}
