// Records of the trail as rows, the newest first; one row opens with everything that the record has.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { hrefOf } from '../../address/router.ts';
import type { Catalog, Entry } from '../../description/catalog.ts';
import { DataTable } from '../../marks/data-table.tsx';
import { moreOf } from '../../marks/more-of.ts';
import { Chip, type Tone } from '../../parts/chip.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Fields } from '../../parts/value.tsx';
import { visible } from '../../parts/visible.ts';
import { timeOf } from '../../topics/read-topic.ts';
import { idOf, resultOf, wordsOf, type Result, type TrailRecord } from './records.ts';
import { sentenceOf } from './sentences.ts';
import { clockText, isSameDay, timeText } from '../../times/times.ts';

const shownAtOnce = 100;
const tones: Readonly<Record<Result, Tone>> = { done: 'good', refused: 'warn', failed: 'bad', note: 'quiet' };

export type RowsProps = {
  readonly catalog: Catalog;
  /** the newest first */
  readonly records: readonly TrailRecord[];
  /** the record that is open */
  readonly open: string;
  readonly onOpen: (id: string) => void;
};

export function AuditRows({ catalog, records, open, onOpen }: RowsProps): ComponentChildren {
  const count = useSignal(shownAtOnce);
  const shown = records.slice(0, count.value);
  // A link to a record shows it, however far down it is.
  const linked = shown.some((record) => idOf(record) === open) ? undefined : records.find((record) => idOf(record) === open);
  const isOpen = (record: TrailRecord): boolean => idOf(record) === open && open !== '';
  return (
    <>
      <DataTable
        label="Records of the audit trail, the newest first"
        columns={[
          { head: 'Time', is: 'name', cell: (record) => <Opener record={record} isOpen={isOpen(record)} onOpen={onOpen} /> },
          { head: 'Who', cell: (record) => <Who record={record} /> },
          { head: 'What', cell: (record) => <What catalog={catalog} record={record} /> },
          { head: 'Result', cell: (record) => <ResultOf record={record} /> },
        ]}
        rows={[...(linked === undefined ? [] : [linked]), ...shown]}
        keyOf={idOf}
        below={(record) =>
          isOpen(record) ? { id: `record-${idOf(record)}`, content: <Whole catalog={catalog} record={record} /> } : undefined
        }
      />
      {records.length > count.value && (
        <div class="buttons">
          <button type="button" onClick={() => (count.value += shownAtOnce)}>
            {moreOf(shownAtOnce, records.length - count.value)}
          </button>
        </div>
      )}
    </>
  );
}

type OpenerProps = { readonly record: TrailRecord; readonly isOpen: boolean; readonly onOpen: (id: string) => void };

function Opener({ record, isOpen, onOpen }: OpenerProps): ComponentChildren {
  const id = idOf(record);
  return (
    <button
      type="button"
      class="link"
      aria-expanded={isOpen}
      aria-controls={isOpen ? `record-${id}` : undefined}
      onClick={() => onOpen(isOpen ? '' : id)}
    >
      <span class="unseen">Record of </span>
      {clockOf(timeOf(record))}
    </button>
  );
}

type RecordProps = { readonly record: TrailRecord };

function Who({ record: { user, tenant, path, via } }: RecordProps): ComponentChildren {
  return (
    <>
      {user === undefined ? <span class="quiet">{path === undefined ? 'the appliance' : 'not known'}</span> : <bdi>{visible(user)}</bdi>}
      {tenant !== undefined && (
        <div class="quiet">
          in <bdi>{visible(tenant)}</bdi>
          {via === 'console' && ', in the console'}
        </div>
      )}
    </>
  );
}

function What({ catalog, record }: RecordProps & { readonly catalog: Catalog }): ComponentChildren {
  const { method = '', path, kind = '' } = record;
  const { entry, names } = path === undefined ? { entry: undefined, names: [] } : operationOf(catalog, method, path);
  const sentence = sentenceOf(record, entry, names);
  return (
    <>
      {wordsOf(record) ?? (sentence === undefined ? visible(kind) : visible(sentence))}
      {path !== undefined && (
        <div class="quiet">
          {visible(method)} <code>{visible(path)}</code>
        </div>
      )}
    </>
  );
}

function ResultOf({ record }: RecordProps): ComponentChildren {
  const { status, code } = record;
  return (
    <Chip tone={tones[resultOf(record)]}>
      {status ?? 'note'} {code !== undefined && <span class="quiet">{visible(code)}</span>}
    </Chip>
  );
}

/** Everything of a record, and ways to what it is about. */
function Whole({ catalog, record }: { readonly catalog: Catalog; readonly record: TrailRecord }): ComponentChildren {
  const { path, accessor } = record;
  const target = path === undefined || catalog.at(path) === undefined ? undefined : hrefOf(path);
  return (
    <div class="whole">
      <Fields value={record} document={catalog.document} />
      <div class="buttons">
        {target !== undefined && (
          <a class="button" href={target}>
            Open what it is about
          </a>
        )}
        {accessor !== undefined && (
          <a class="button" href={hrefOf('/v1/state/topics/system:audit-trail-log', { since: '24h', who: accessor })}>
            All of this token within a day
          </a>
        )}
        <CopyButton text={JSON.stringify(record, undefined, 2)} what="record as JSON" />
      </div>
    </div>
  );
}

type Found = { readonly entry: Entry | undefined; readonly names: readonly string[] };
const found = new Map<string, Found>();

/** The operation of a record in the description; needed for each row of a trail, and so kept. */
function operationOf(catalog: Catalog, method: string, path: string): Found {
  const key = `${method} ${path}`;
  const known = found.get(key);
  if (known !== undefined) return known;
  if (found.size > 5_000) found.clear();
  const tree = path.split('/')[2];
  const place = catalog.at(path);
  const fitting = place?.entries.filter((entry) => entry.method === method);
  const one = { entry: fitting?.find((entry) => entry.path.split('/')[2] === tree) ?? fitting?.[0], names: place?.names ?? [] };
  found.set(key, one);
  return one;
}

function clockOf(atMs: number): string {
  return isSameDay(atMs, Date.now()) ? clockText(atMs) : timeText(atMs);
}
