// Names and values, a row each. Labels offer those that the entries of the same list have.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { fillPath, parentOf } from '../../address/path.ts';
import { useLoaded } from '../../parts/loaded.ts';
import type { Row } from '../draft.ts';
import { plainInput, type Control, type ControlProps, type FormPlace } from './control.ts';

type Controlled = ControlProps & { readonly control: Control };

export function MapControl({ control, typed, present, onType, field, place }: Controlled): ComponentChildren {
  const rows = (typed ?? present ?? []) as readonly Row[];
  const isUsed = useSignal(false);
  const known = useLabels(field.schema['x-form'] === 'labels' && isUsed.value ? place : undefined);
  const change = (index: number, row: Partial<Row>): void => onType(rows.map((one, at) => (at === index ? { ...one, ...row } : one)));
  const listOf = (what: string): string => `${control.id}-${what}`;
  return (
    <div class="map" id={control.id} role="group" tabIndex={-1} aria-label={field.path} onFocusIn={() => (isUsed.value = true)}>
      <Choices id={listOf('names')} values={[...known.keys()]} />
      {rows.map(({ key, value }, index) => (
        <div class="row" key={index}>
          <input
            type="text"
            {...plainInput}
            list={listOf('names')}
            aria-label={`Name ${index + 1} of ${field.path}`}
            value={key}
            onInput={(event) => change(index, { key: event.currentTarget.value })}
          />
          <input
            type="text"
            {...plainInput}
            list={listOf(`values-${index}`)}
            aria-label={`Value ${index + 1} of ${field.path}`}
            value={value}
            onInput={(event) => change(index, { value: event.currentTarget.value })}
          />
          <Choices id={listOf(`values-${index}`)} values={[...(known.get(key) ?? [])]} />
          <button
            type="button"
            aria-label={`Remove ${key === '' ? `row ${index + 1}` : key}`}
            onClick={() => onType(rows.filter((_, at) => at !== index))}
          >
            Remove
          </button>
        </div>
      ))}
      <button type="button" class="small" onClick={() => onType([...rows, { key: '', value: '' }])}>
        Add to {field.path}
      </button>
    </div>
  );
}

function Choices({ id, values }: { readonly id: string; readonly values: readonly string[] }): ComponentChildren {
  return (
    <datalist id={id}>
      {values.map((value) => (
        <option key={value} value={value} />
      ))}
    </datalist>
  );
}

/** Entries whose labels are looked at. */
const mostRead = 200;

/** Labels of the entries in the list that the form is about: names, each with its values. */
function useLabels(place: FormPlace | undefined): ReadonlyMap<string, ReadonlySet<string>> {
  const list = place === undefined ? undefined : place.template.endsWith('}') ? parentOf(place.template) : place.template;
  const request =
    list === undefined || place === undefined
      ? undefined
      : ({ method: 'GET', path: fillPath(list, place.names), query: { fields: 'labels', limit: String(mostRead) } } as const);
  const loaded = useLoaded(request).value;
  const known = new Map<string, Set<string>>();
  const rows = loaded.state === 'there' && Array.isArray(loaded.answer.body) ? (loaded.answer.body as readonly Labelled[]) : [];
  for (const { labels = {} } of rows)
    for (const [name, value] of Object.entries(labels)) known.set(name, (known.get(name) ?? new Set()).add(value));
  return known;
}

type Labelled = { readonly labels?: Readonly<Record<string, string>> };
