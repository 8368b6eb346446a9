// Ranges of addresses, one a line: a text of another kind is named while one types, and each range says how much it covers.
import type { ComponentChildren } from 'preact';
import { visible } from '../../parts/visible.ts';
import { locale } from '../../language/language.ts';
import { plainInput, shown, type Control, type ControlProps } from './control.ts';

/** Usual ranges of private networks. */
const usual = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fd00::/8'] as const;

export function RangesControl(props: ControlProps & { readonly control: Control }): ComponentChildren {
  const { control, onType } = props;
  const text = shown(props);
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const add = (range: string): void => onType([...lines.filter((line) => line !== range), range].join('\n'));
  return (
    <>
      <textarea
        rows={3}
        {...plainInput}
        {...control}
        value={text}
        placeholder="10.1.0.0/16"
        onInput={(event) => onType(event.currentTarget.value)}
      />
      <div class="buttons" role="group" aria-label={`Usual ranges for ${props.field.path}`}>
        {usual
          .filter((range) => !lines.includes(range))
          .map((range) => (
            <button key={range} type="button" class="small" onClick={() => add(range)}>
              Add {range}
            </button>
          ))}
      </div>
      <ul class="plain quiet" aria-live="polite">
        {lines.map((line, index) => (
          <li key={index}>
            <code>{visible(line)}</code> {coveredBy(line)}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Tells people how much a range covers; the appliance decides whether it is one. */
function coveredBy(line: string): string {
  const [, address = '', , prefix] = /^([\d.]+|[0-9a-f:.]+)(\/(\d{1,3}))?$/i.exec(line) ?? [];
  if (address === '') return 'is neither an address nor a range';
  const bits = address.includes(':') ? 128 : 32;
  const length = prefix === undefined ? bits : Number(prefix);
  if (length > bits) return `has a prefix of more than ${bits} bits`;
  if (length === bits) return 'one address';
  const free = bits - length;
  return free <= 32 ? `${(2 ** free).toLocaleString(locale)} addresses` : `2^${free} addresses`;
}
