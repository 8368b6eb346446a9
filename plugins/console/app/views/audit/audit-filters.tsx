// The filters of the trail: how long back, who, what, where and with which result. All of them are in the address.
import type { ComponentChildren } from 'preact';
import type { Filters } from './records.ts';
import { dayOfRange, rangeOfDay } from './day.ts';
import { windows } from './windows.ts';
import { typedTexts, exact } from '../../parts/typed.ts';
import { isUtc } from '../../times/times.ts';
import { said } from '../../language/language.ts';

export type AuditFiltersProps = {
  readonly filters: Filters;
  readonly since: string;
  /** the time that was chosen in the histogram or as a day, which is not live */
  readonly chosen: { readonly fromMs: number; readonly toMs: number } | undefined;
  readonly isLive: boolean;
  readonly onChange: (part: Readonly<Record<string, string>>) => void;
  readonly onRefresh: () => void;
};

const results: readonly (readonly [value: string, label: string])[] = [
  ['', said('any')],
  ['done', said('done')],
  ['refused', 'refused (4xx)'],
  ['failed', 'failed (5xx)'],
];

const texts: readonly (readonly [name: 'who' | 'what' | 'where', label: string, hint: string])[] = [
  ['who', 'Who', 'user, tenant or address'],
  ['what', 'What', 'encrypt, POST, code'],
  ['where', 'Where', 'transit-keys/orders'],
];

/** Long because it is one form from left to right. */
export function AuditFilters({ filters, since, chosen, isLive, onChange, onRefresh }: AuditFiltersProps): ComponentChildren {
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
      <div class="filter">
        <label for="audit-day">{isUtc.value ? 'Or the day, in UTC' : 'Or the day'}</label>
        <input
          id="audit-day"
          type="date"
          value={chosen === undefined ? '' : dayOfRange(chosen.fromMs, chosen.toMs, isUtc.value)}
          onChange={({ currentTarget }) => {
            const range = rangeOfDay(currentTarget.value, isUtc.value);
            // An emptied field is the way back; while a date is typed it has no value either.
            if (range !== undefined) onChange(range);
            else if (chosen !== undefined && !currentTarget.validity.badInput) onChange({ from: '', to: '' });
          }}
        />
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
            {...exact}
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
          checked={filters.only !== 'all'}
          onChange={({ currentTarget }) => onChange({ only: currentTarget.checked ? '' : 'all' })}
        />{' '}
        without reads
      </label>
      <label class="tick">
        <input
          type="checkbox"
          checked={isLive}
          disabled={chosen !== undefined}
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
