// Controls of the fields of a form, by kind.
import type { ComponentChildren, TargetedInputEvent } from 'preact';
import { useSignal } from '@preact/signals';
import { base64Of } from '../../api/base64.ts';
import { resolve, textOf } from '../../description/schema.ts';
import { sizeOf } from '../../marks/progress.tsx';
import type { Octets } from '../draft.ts';
import type { Field } from '../fields.ts';
import { said } from '../../language/language.ts';
import { exampleOf, plainInput, shown, type Control, type ControlProps } from './control.ts';
import { DurationControl } from './duration.tsx';
import { listOf } from './lists.ts';
import { MapControl } from './map.tsx';
import { Picker } from './picker.tsx';
import { RangesControl } from './ranges.tsx';

type DrawControl = (props: ControlProps, control: Control) => ComponentChildren;

export const controls: Readonly<Record<Field['kind'], DrawControl>> = {
  text: (props, control) => {
    const { field, place } = props;
    const { 'x-form': form, 'x-names': names } = field.schema;
    if (form === 'duration') return <DurationControl {...props} control={control} />;
    const list = listOf(place, field.schema);
    if (names !== undefined && list !== undefined) return <Picker {...props} control={control} names={names} list={list} />;
    return (
      <input
        type="text"
        {...plainInput}
        {...control}
        value={shown(props)}
        placeholder={exampleOf(props)}
        onInput={(event) => props.onType(event.currentTarget.value)}
      />
    );
  },
  number: (props, control) => (
    <input
      type="text"
      inputMode="numeric"
      {...plainInput}
      {...control}
      value={shown(props)}
      onInput={(event) => props.onType(event.currentTarget.value)}
    />
  ),
  long: (props, control) => (
    <textarea
      rows={props.field.schema.examples?.some((one) => textOf(one).includes('-----BEGIN')) === true ? 7 : 3}
      {...plainInput}
      {...control}
      value={shown(props)}
      onInput={(event) => props.onType(event.currentTarget.value)}
    />
  ),
  lines: (props, control) => {
    const { field, place } = props;
    const { 'x-form': form, items: raw = {} } = field.schema;
    if (form === 'ranges') return <RangesControl {...props} control={control} />;
    const items = resolve(raw, place.document).schema;
    const list = listOf(place, items);
    const { 'x-names': names } = items;
    if (names !== undefined && list !== undefined) return <Picker {...props} control={control} names={names} list={list} isList />;
    return (
      <textarea rows={4} {...plainInput} {...control} value={shown(props)} onInput={(event) => props.onType(event.currentTarget.value)} />
    );
  },
  json: (props, control) => (
    <textarea
      class="code"
      rows={8}
      {...plainInput}
      {...control}
      value={shown(props)}
      onInput={(event) => props.onType(event.currentTarget.value)}
    />
  ),
  boolean: (props, control) => choose(props, control, ['true', 'false'], (value) => said(value === 'true' ? 'yes' : 'no')),
  choice: (props, control) => choose(props, control, (props.field.schema.enum ?? []).map(String), (value) => value),
  secret: (props, control) => <SecretControl {...props} control={control} />,
  octets: (props, control) => <OctetsControl {...props} control={control} />,
  map: (props, control) => <MapControl {...props} control={control} />,
};

function choose(props: ControlProps, control: Control, values: readonly string[], labelOf: (value: string) => string): ComponentChildren {
  const { isChange, present, onType, typed } = props;
  const value = typeof typed === 'string' ? typed : typeof present === 'string' ? present : '';
  return (
    <select {...control} value={value} onChange={(event) => onType(event.currentTarget.value)}>
      {(!isChange || present === undefined) && <option value="">{isChange ? 'not set' : usualOf(props.field, labelOf)}</option>}
      {values.map((one) => (
        <option key={one} value={one} selected={one === value}>
          {labelOf(one)}
        </option>
      ))}
    </select>
  );
}

/** Text for the value that is used if nothing is chosen. */
function usualOf({ schema }: Field, labelOf: (value: string) => string): string {
  const usual = schema['x-default'] ?? schema.default;
  return usual === undefined ? 'not chosen' : `${labelOf(textOf(usual))} (usual)`;
}

type Controlled = ControlProps & { readonly control: Control };

function SecretControl(props: Controlled): ComponentChildren {
  const { isChange, control, onType } = props;
  const isShown = useSignal(false);
  const input = {
    ...plainInput,
    ...control,
    autocomplete: 'new-password',
    value: shown(props),
    placeholder: isChange ? 'leave empty to keep what is set' : '',
    onInput: (event: TargetedInputEvent<HTMLInputElement>) =>
      onType(event.currentTarget.value === '' ? undefined : event.currentTarget.value),
  };
  return (
    <div class="with-button">
      {isShown.value ? <input type="text" {...input} /> : <input type="password" {...input} />}
      <button
        type="button"
        aria-pressed={isShown.value}
        aria-label={`${isShown.value ? 'Hide' : 'Show'} ${props.field.path}`}
        onClick={() => (isShown.value = !isShown.value)}
      >
        {isShown.value ? 'Hide' : 'Show'}
      </button>
    </div>
  );
}

/** Largest file for a field that says nothing of its length: in base64 it fits into a body of the usual size. */
const usualFileBytes = 3 * 1024 * 1024;

function OctetsControl({ control, typed, present, onType, field }: Controlled): ComponentChildren {
  const note = useSignal('');
  const { text, as } = (typed ?? present ?? { text: '', as: 'text' }) as Octets;
  const read = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    const mostBytes = Math.max(usualFileBytes, Math.floor((field.schema.maxLength ?? 0) / 4) * 3);
    if (file.size > mostBytes) {
      note.value = `The file is larger than ${sizeOf(mostBytes)}.`;
      return;
    }
    try {
      onType({ text: base64Of(new Uint8Array(await file.arrayBuffer())), as: 'base64' });
      note.value = `${sizeOf(file.size)} were read.`;
    } catch {
      note.value = 'The browser could not read the file: choose it again.';
    }
  };
  const name = field.path;
  return (
    <div class="octets">
      <textarea rows={4} {...plainInput} {...control} value={text} onInput={(event) => onType({ text: event.currentTarget.value, as })} />
      <div class="buttons">
        <label>
          <input type="radio" name={`${control.id}-as`} checked={as === 'text'} onChange={() => onType({ text, as: 'text' })} /> text
        </label>
        <label>
          <input type="radio" name={`${control.id}-as`} checked={as === 'base64'} onChange={() => onType({ text, as: 'base64' })} /> base64
        </label>
        <label class="file">
          from a file <input type="file" aria-label={`File for ${name}`} onChange={(event) => void read(event.currentTarget.files?.[0])} />
        </label>
      </div>
      <p role="status" class="quiet">
        {note.value}
      </p>
    </div>
  );
}
