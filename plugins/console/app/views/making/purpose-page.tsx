// Making an entry by what it is for: the purposes first, then the few fields that it needs, then what comes of it. All other fields of the
// description are one line until somebody opens them.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { fillPath } from '../../address/path.ts';
import { go, hrefOf } from '../../address/router.ts';
import type { Answer } from '../../api/request.ts';
import { inputOf } from '../../description/schema.ts';
import { Form } from '../../forms/form.tsx';
import type { Outset } from '../../forms/outset.ts';
import type { DrawnProps } from '../../parts/drawn-props.ts';
import { Heading } from '../../parts/heading.tsx';
import '../../style/making.css';

export type Purpose = {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly outset: Outset;
};

export type PurposePageProps = DrawnProps & {
  readonly title: string;
  readonly intro: string;
  /** question that the purposes answer */
  readonly asks: string;
  readonly purposes: readonly Purpose[];
  readonly does: string;
  /** parts above the form, for the chosen purpose */
  readonly above?: (purpose: Purpose) => ComponentChildren;
  readonly onMade: (answer: Answer, purpose: Purpose) => void;
};

export function PurposePage(props: PurposePageProps): ComponentChildren {
  const { catalog, place, path, title, intro, asks, purposes, does, above, onMade } = props;
  const chosen = useSignal(purposes[0]?.id);
  const purpose = purposes.find(({ id }) => id === chosen.value);
  const create = place.entries.find(({ command }) => command.verb === 'create' && command.tree === 'config');
  if (create === undefined || purpose === undefined) return null;
  return (
    <>
      <Heading catalog={catalog} title={title} path={`${path}/new`}>
        <p class="quiet">
          {intro} <a href={hrefOf(fillPath(create.path, place.names))}>Back without creating</a>
        </p>
      </Heading>
      <section class="card making">
        <fieldset class="purposes">
          <legend>{asks}</legend>
          {purposes.map(({ id, title: name, text }) => (
            <label key={id} class="purpose">
              <input id={`purpose-${id}`} type="radio" name="purpose" checked={id === purpose.id} onChange={() => (chosen.value = id)} />
              <span>
                <strong>{name}</strong>
                <span class="quiet">{text}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {above?.(purpose)}
        <Form
          entry={create}
          names={place.names}
          input={inputOf(create.operation, catalog.document)}
          document={catalog.document}
          nameField="name"
          does={does}
          outset={purpose.outset}
          onDone={(answer) => onMade(answer, purpose)}
        />
      </section>
    </>
  );
}

/** Name in the answer to a creation. */
export function nameOfMade({ body }: Answer): string {
  const { name } = (body ?? {}) as { readonly name?: unknown };
  return typeof name === 'string' ? name : '';
}

type Next = { readonly below?: string; readonly query?: Readonly<Record<string, string>> };

/** Goes to the page of what was made; back leads to where the form was opened, not to a second one. */
export function openMade(list: string, answer: Answer, { below = '', query = {} }: Next = {}): void {
  const name = nameOfMade(answer);
  go(name === '' ? hrefOf(list) : hrefOf(`${list}/${encodeURIComponent(name)}${below}`, query), 'replace');
}
