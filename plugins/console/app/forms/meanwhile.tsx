// What somebody else changed between the opening of a form and its sending: each field as it was, as it is, and as it was to be sent.
import type { ComponentChildren } from 'preact';
import { titleOf } from '../description/catalog.ts';
import { textOf } from '../description/schema.ts';
import { visible } from '../parts/visible.ts';
import { changedPaths } from './changed-paths.ts';
import { valueAt } from './draft.ts';

export type MeanwhileProps = {
  /** the document as the form showed it */
  readonly before: unknown;
  readonly now: unknown;
  /** what the person wanted to send */
  readonly yours: unknown;
};

export function Meanwhile(props: MeanwhileProps): ComponentChildren {
  const { before, now, yours } = props;
  const paths = changedPaths(before, now);
  if (paths.length === 0) return null;
  return (
    <section class="card" aria-labelledby="meanwhile">
      <h2 id="meanwhile">Changed by somebody else meanwhile</h2>
      <p class="quiet">The form below has the present values, and yours where you typed. Look at both, then save again.</p>
      <div class="table" role="region" tabIndex={0} aria-label="Fields that differ">
        <table>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">When you opened it</th>
              <th scope="col">Now</th>
              <th scope="col">Yours</th>
            </tr>
          </thead>
          <tbody>
            {paths.map((path) => (
              <tr key={path}>
                <th scope="row">{path.split('/').map(titleOf).join(' › ')}</th>
                {[before, now, yours].map((document, index) => (
                  <td key={index}>
                    <Version value={valueAt(document, path)} isYours={index === 2} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Version({ value, isYours }: { readonly value: unknown; readonly isYours: boolean }): ComponentChildren {
  if (value === undefined) return <span class="quiet">{isYours ? 'not changed' : 'not set'}</span>;
  if (value === null) return <span class="quiet">removed</span>;
  return <bdi>{visible(textOf(value), 'lines')}</bdi>;
}
