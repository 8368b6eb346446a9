// Next updates of the revocation lists of the authorities, and how long OCSP answers hold.
import type { ComponentChildren } from 'preact';
import { hrefOf } from '../../address/router.ts';
import { DataTable } from '../../marks/data-table.tsx';
import { Chip } from '../../parts/chip.tsx';
import { visible } from '../../parts/visible.ts';
import { Moment } from '../../times/moments.tsx';
import { authorityPath } from '../authorities/state.ts';
import type { Authority } from './use-issued.ts';

const words = {
  title: 'Revocation lists and OCSP',
  about: 'Both say at once what is revoked: a list is signed again when it is asked for after a revocation, or a day after the last.',
  table: 'Next updates',
  never: 'nobody has asked for it yet',
  over: 'over: signed again when it is asked for',
} as const;

export function Freshness({ authorities }: { readonly authorities: readonly Authority[] }): ComponentChildren {
  return (
    <section class="card" aria-labelledby="freshness">
      <h2 id="freshness">{words.title}</h2>
      <p class="quiet">{words.about}</p>
      <DataTable
        label={words.table}
        isWhole
        columns={[
          {
            head: 'Authority',
            is: 'name',
            order: ({ name }) => name,
            cell: ({ name }) => (
              <a href={hrefOf(authorityPath(name))}>
                <bdi>{visible(name)}</bdi>
              </a>
            ),
          },
          {
            head: 'Next update of the list',
            order: (one) => one['crl-next-update'],
            cell: (one) => <NextUpdate at={one['crl-next-update']} />,
          },
          {
            head: 'An OCSP answer holds for',
            cell: (one) => one['ocsp-answers-hold'] !== undefined && visible(one['ocsp-answers-hold']),
          },
          { head: 'List', cell: (one) => one['crl-url'] !== undefined && <code>{visible(one['crl-url'])}</code> },
        ]}
        rows={authorities}
        keyOf={({ name }) => name}
      />
    </section>
  );
}

function NextUpdate({ at }: { readonly at: string | undefined }): ComponentChildren {
  if (at === undefined) return <span class="quiet">{words.never}</span>;
  if (Date.parse(at) <= Date.now()) return <Chip tone="warn">{words.over}</Chip>;
  return <Moment at={at} />;
}
