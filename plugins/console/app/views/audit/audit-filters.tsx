// The filters of the trail: how long back, who, what, where and with which result. All of them are in the address.
import type { ComponentChildren } from 'preact';
import type { Filters } from './records.ts';
import { windows } from './windows.ts';
import { typedTexts } from '../../parts/typed.ts';

export type AuditFiltersProps = {
  readonly filters: Filters;
  readonly since: string;
  /** true if a time was chosen in the histogram, which is not live */
  readonly isChosen: boolean;
  readonly isLive: boolean;
  readonly onChange: (part: Readonly<Record<string, string>>) => void;
  readonly onRefresh: () => void;
};

const results: readonly (readonly [value: string, label: string])[] = [
  ['', 'any'],
  ['done', 'done'],
  ['refused', 'refused (4xx)'],
  ['failed', 'failed (5xx)'],
];

const texts: readonly (readonly [name: 'who' | 'what' | 'where', label: string, hint: string])[] = [
  ['who', 'Who', 'user, tenant or address'],
  ['what', 'What', 'encrypt, POST, code'],
  ['where', 'Where', 'transit-keys/orders'],
];

export function AuditFilters({ filters, since, isChosen, isLive, onChange, onRefresh }: AuditFiltersProps): ComponentChildren {
  const submit = (event: Event): void => {
    event.preventDefault();
    const typed = typedTexts(event.currentTarget as HTMLFormElement);
    onChange(Object.fromEntries(typed.filter(([name]) => texts.some(([text]) => text === name))));
  };
  return (
    <form class="filters" role="search" aria-label="Filters" onSubmit={submit}>
      <div class="filter">
        <label for="audit-since">Within the last</label>
        <select id="audit-since" value={since} onChange={({ currentTarget }) => onChange({ since: currentTarget.value, from: '', to: '' })}>
          {Object.entries(windows).map(([value, { label }]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </div>
      {texts.map(([name, label, hint]) => (
        <div class="filter" key={name}>
          <label for={`audit-${name}`}>{label}</label>
          <input
            key={filters[name]}
            id={`audit-${name}`}
            name={name}
            type="text"
            defaultValue={filters[name]}
            placeholder={hint}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
          />
        </div>
      ))}
      <div class="filter">
        <label for="audit-result">Result</label>
        <select id="audit-result" value={filters.result} onChange={({ currentTarget }) => onChange({ result: currentTarget.value })}>
          {results.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </div>
      <label class="tick">
        <input
          type="checkbox"
          checked={filters.only === 'changes'}
          onChange={({ currentTarget }) => onChange({ only: currentTarget.checked ? 'changes' : '' })}
        />{' '}
        without reads
      </label>
      <label class="tick">
        <input
          type="checkbox"
          checked={isLive}
          disabled={isChosen}
          onChange={({ currentTarget }) => onChange({ live: currentTarget.checked ? '' : 'no' })}
        />{' '}
        live
      </label>
      <div class="buttons">
        <button type="submit">Filter</button>
        {!isLive && (
          <button type="button" onClick={onRefresh}>
            Refresh
          </button>
        )}
      </div>
    </form>
  );
}
