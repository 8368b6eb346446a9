// Pages that an entry has no use for as it is set: folded away, with the setting that has to be switched on first.
import type { ComponentChildren } from 'preact';
import { fillPath } from '../address/path.ts';
import { hrefOf } from '../address/router.ts';
import { nameOf, titleOf, type Entry } from '../description/catalog.ts';
import { locale } from '../language/language.ts';
import { AllowedLink } from '../parts/allowed.tsx';

export type SwitchedOffProps = {
  readonly entries: readonly Entry[];
  readonly names: readonly string[];
  /** the operation that changes the settings */
  readonly merge: Entry | undefined;
};

export function SwitchedOff({ entries, names, merge }: SwitchedOffProps): ComponentChildren {
  if (entries.length === 0) return null;
  return (
    <section class="card">
      <details class="panel switched-off">
        <summary>
          {entries.length.toLocaleString(locale)} {entries.length === 1 ? 'page' : 'pages'} for what is switched off
        </summary>
        <dl>
          {entries.map((entry) => [
            <dt key={`${entry.path}:name`}>
              <a href={hrefOf(fillPath(entry.path, names))}>{nameOf(entry)}</a>
            </dt>,
            <dd key={`${entry.path}:with`}>needs {(entry.operation['x-useful-with'] ?? []).map(labelOf).join(' or ')}</dd>,
          ])}
        </dl>
        {merge !== undefined && (
          <AllowedLink
            operation={merge.operation['x-operation']}
            path={fillPath(merge.path, names)}
            href={hrefOf(fillPath(merge.path, names), { do: 'edit' })}
          >
            Switch it on
          </AllowedLink>
        )}
      </details>
    </section>
  );
}

/** The label of a setting in the form that changes it. */
function labelOf(setting: string): string {
  return setting.split('/').map(titleOf).join(' › ');
}
