// The filters of a list in one form. Set filters are part of the address, so that a filtered list can be kept, sent and gone back to.
import type { ComponentChildren } from 'preact';
import { address, go, hrefOf } from '../address/router.ts';
import { titleOf } from '../description/catalog.ts';
import type { FilterField } from './query.ts';
import { typedTexts, exact } from '../parts/typed.ts';
import { inSentence, said } from '../language/language.ts';

/** Prefix of the names of controls: one with the name of a member of the form, as `contains`, would replace that. */
const prefix = 'filter-';

export function FilterBar({ path, fields }: { readonly path: string; readonly fields: readonly FilterField[] }): ComponentChildren {
  const { query } = address.value;
  if (fields.length === 0) return null;
  const apply = (form: HTMLFormElement): void => {
    const typed = typedTexts(form).map(([name, text]) => [name.slice(prefix.length), text] as const);
    const isMoved = typed.some(([name, value]) => name !== 'after' && value !== (query.get(name) ?? ''));
    // Other entries have other pages.
    const wanted = typed.filter(([name, value]) => value !== '' && !(name === 'after' && isMoved && value === query.get('after')));
    go(hrefOf(path, Object.fromEntries(wanted)));
  };
  const isSet = fields.some(({ name }) => query.has(name));
  const first = fields.filter(({ name }) => name !== 'after').slice(0, mostSeen);
  const others = fields.filter((field) => !first.includes(field));
  const buttons = (
    <div class="buttons">
      <button type="submit">Filter</button>
      {isSet && <a href={hrefOf(path)}>Without filters</a>}
    </div>
  );
  const control = (field: FilterField): ComponentChildren => (
    <FilterControl key={field.name} field={field} value={query.get(field.name) ?? ''} onChoose={apply} />
  );
  return (
    <form
      class="filters"
      role="search"
      aria-label="Filters"
      onSubmit={(event) => {
        event.preventDefault();
        apply(event.currentTarget);
      }}
    >
      {first.map(control)}
      {first.length > 0 && buttons}
      {others.length > 0 && (
        <details class="more-filters" open={others.some(({ name }) => query.has(name))}>
          <summary>{first.length > 0 ? 'More filters' : 'Filters'}</summary>
          <div class="filters">
            {others.map(control)}
            {first.length === 0 && buttons}
          </div>
        </details>
      )}
    </form>
  );
}

/** Filters that are seen at once; the others are behind a line, as the place to begin at always is: pages are gone through by their links. */
const mostSeen = 4;

type FilterControlProps = { readonly field: FilterField; readonly value: string; readonly onChoose: (form: HTMLFormElement) => void };

/**
 * A choice takes effect when it is made, a text when the form is sent. Typed text stays while the list loads: the controls are not bound.
 */
function FilterControl({ field: { name, label, hint, values }, value, onChoose }: FilterControlProps): ComponentChildren {
  const id = `filter-${name}`;
  const shared = { id, name: `${prefix}${name}` };
  return (
    <div class="filter">
      <label for={id}>{label}</label>
      {values === undefined ? (
        <input key={value} {...shared} type="text" defaultValue={value} placeholder={hint} {...exact} />
      ) : (
        <select key={value} {...shared} onChange={({ currentTarget: { form } }) => form !== null && onChoose(form)}>
          <option value="">any</option>
          {values.map((one) => (
            <option key={one} value={one} selected={one === value}>
              {wordOf(one)}
            </option>
          ))}
        </select>
      )}
    </div>
  );
}

function wordOf(value: string): string {
  if (value === 'true') return said('yes');
  if (value === 'false') return said('no');
  return /\d/.test(value) ? value : inSentence(titleOf(value));
}
