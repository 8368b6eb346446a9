// The appliances that share the store: which of them answer, how far each has followed, and which one this is.
import type { ComponentChildren } from 'preact';
import { may } from '../../api/may.ts';
import { DataTable, type Column } from '../../marks/data-table.tsx';
import { Chip, type Tone } from '../../parts/chip.tsx';
import { useLoaded, useSteady } from '../../parts/loaded.ts';
import { Loading } from '../../parts/loading.tsx';
import { fromNow } from '../../times/moments.tsx';
import { Problem } from '../../parts/problem.tsx';
import { visible } from '../../parts/visible.ts';
import { locale, said } from '../../language/language.ts';

export const clusterPath = '/v1/state/system/cluster';

type Member = {
  readonly name: string;
  readonly id: string;
  readonly version: string;
  readonly state: 'in' | 'expelled' | 'out';
  readonly self: boolean;
  readonly 'leads-jobs': boolean;
  readonly behind: number;
  readonly 'silent-milliseconds': number;
};

type Cluster = {
  readonly shape: 'alone' | 'cluster';
  readonly 'cut-off'?: boolean;
  readonly 'public-url'?: string;
  readonly members: readonly Member[];
  readonly warnings?: readonly string[];
};

const states: Readonly<Record<Member['state'], readonly [tone: Tone, words: string]>> = {
  in: ['good', said('answers')],
  expelled: ['bad', 'expelled: it did not apply what it should'],
  out: ['bad', 'does not answer'],
};

/** Revisions that a member may lack between two heartbeats. */
const ordinaryLag = 100;

/** Draws nothing for a single appliance, and for a person who may not see the others. */
export function ClusterCard({ turn }: { readonly turn: number }): ComponentChildren {
  const said = may('read', clusterPath).value;
  const isAllowed = said === 'yes';
  const loaded = useSteady(useLoaded(isAllowed ? { method: 'GET', path: clusterPath } : undefined, turn).value);
  if (said === 'unknown' || (isAllowed && loaded.state === 'loading')) return <Loading />;
  if (!isAllowed || loaded.state === 'loading') return null;
  if (loaded.state === 'failed') return <Problem error={loaded.error} />;
  const { shape, members, warnings = [], ...rest } = loaded.answer.body as Cluster;
  if (shape === 'alone') return null;
  return (
    <section class="card" aria-labelledby="cluster-title">
      <h2 id="cluster-title">Appliances {rest['cut-off'] === true && <Chip tone="bad">cut off: as it was</Chip>}</h2>
      {warnings.map((warning) => (
        <p key={warning} class="notice">
          {visible(warning)}
        </p>
      ))}
      <DataTable label="Appliances of the cluster" columns={columns} rows={members} keyOf={({ id }) => id} />
      {rest['public-url'] !== undefined && (
        <p class="quiet">
          Certificates and links of all name <code>{visible(rest['public-url'])}</code>.
        </p>
      )}
    </section>
  );
}

const columns: readonly Column<Member>[] = [
  {
    head: 'Name',
    is: 'name',
    cell: ({ name, self }) => (
      <>
        <bdi>{visible(name)}</bdi> {self && <span class="quiet">this one</span>}
      </>
    ),
  },
  {
    head: 'State',
    cell: ({ state }) => {
      const [tone, words] = states[state];
      return <Chip tone={tone}>{words}</Chip>;
    },
  },
  {
    head: 'Behind',
    cell: ({ behind }) => {
      const words = behind === 0 ? 'nothing' : `${behind.toLocaleString(locale)} ${behind === 1 ? 'revision' : 'revisions'}`;
      return behind > ordinaryLag ? <Chip tone="warn">{words}</Chip> : words;
    },
  },
  { head: 'Last sign', cell: (member) => fromNow(-member['silent-milliseconds'], 0) },
  { head: 'Jobs', cell: (member) => member['leads-jobs'] && 'runs those of all' },
  { head: 'Version', cell: ({ version }) => visible(version) },
];
