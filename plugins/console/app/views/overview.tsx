// The first page: who is signed in, and the parts of the appliance that this person may look at.
import type { ComponentChildren } from 'preact';
import { hrefOf } from '../address/router.ts';
import { may } from '../api/may.ts';
import { nameOf, titleOf, type Catalog } from '../description/catalog.ts';
import { Heading } from '../parts/heading.tsx';
import { Prose } from '../parts/prose.tsx';

export function OverviewView({ catalog }: { readonly catalog: Catalog }): ComponentChildren {
  return (
    <>
      <Heading title="Overview" path="" />
      <div class="cards">
        {catalog.groups().map(({ tag, description, entries }) => {
          const shown = entries.filter(({ operation, path }) => typeof may(operation['x-operation'], path).value !== 'object');
          if (shown.length === 0) return null;
          return (
            <section class="card" key={tag}>
              <h2>{titleOf(tag)}</h2>
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
    </>
  );
}
