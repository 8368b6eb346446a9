// Certificate authorities as a tree: each with its issuer, its end, and a mark if devices may enrol there.
import type { ComponentChildren } from 'preact';
import { Chip } from '../../parts/chip.tsx';
import { Life } from '../../charts/life.tsx';
import { hrefOf } from '../../address/router.ts';
import { useLoaded, useSteady } from '../../parts/loaded.ts';
import { Loading } from '../../parts/loading.tsx';
import { visible } from '../../parts/visible.ts';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { locale } from '../../language/language.ts';
import { authorityPath, keyOf, type AuthorityState } from './state.ts';
import { treeOf, type Branch } from './tree.ts';

/** Limit above which they are not drawn: nobody has a picture of so many. */
const mostDrawn = 500;
const fields = 'name,subject,issuing-ca,cert-key-type,cert-key-curve,cert-key-bits,trust-only,not-before,not-after,est/enabled';

/** Draws nothing without a hierarchy, or if the state may not be read: the list below says so. */
export function HierarchyView({ turn }: DrawnProps): ComponentChildren {
  const query = { limit: String(mostDrawn), fields };
  const loaded = useSteady(useLoaded({ method: 'GET', path: '/v1/state/keystore/tls/ca', query }, turn).value);
  if (loaded.state === 'loading') return <Loading />;
  if (loaded.state !== 'there') return null;
  const all = loaded.answer.body as readonly AuthorityState[];
  const total = Number(loaded.answer.headers.get('total-count') ?? all.length);
  if (all.length === 0) return null;
  return (
    <section class="card" aria-labelledby="hierarchy">
      <h2 id="hierarchy">Hierarchy</h2>
      {total > all.length && (
        <p class="notice">
          The first {all.length.toLocaleString(locale)} of {total.toLocaleString(locale)} are drawn. The list below has all of them.
        </p>
      )}
      <Branches branches={treeOf(all)} />
    </section>
  );
}

function Branches({ branches }: { readonly branches: readonly Branch<AuthorityState>[] }): ComponentChildren {
  return (
    <ul class="tree">
      {branches.map(({ authority, below }) => (
        <li key={authority.name}>
          <Node authority={authority} />
          {below.length > 0 && <Branches branches={below} />}
        </li>
      ))}
    </ul>
  );
}

function Node({ authority }: { readonly authority: AuthorityState }): ComponentChildren {
  const { name, subject = '', est } = authority;
  return (
    <div class="node">
      <a href={hrefOf(authorityPath(name))}>
        <bdi>{visible(name)}</bdi>
      </a>
      <span class="badges">
        <Chip tone="quiet">{rankOf(authority)}</Chip>
        {est.enabled === true && <Chip tone="good">EST</Chip>}
        <Life of={authority} />
      </span>
      <span class="quiet">
        <bdi>{visible(subject)}</bdi>
        {!authority['trust-only'] && `${subject === '' ? '' : ' · '}${keyOf(authority)}`}
      </span>
    </div>
  );
}

function rankOf({ 'trust-only': isTrustOnly, 'issuing-ca': issuer }: AuthorityState): string {
  if (isTrustOnly) return 'Trusted only';
  return issuer === undefined ? 'Root' : 'Intermediate';
}
