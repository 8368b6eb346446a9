// Field of a form: label, control, its text from the description, and its problem.
import type { ComponentChildren, TargetedInputEvent } from 'preact';
import { useSignal } from '@preact/signals';
import { titleOf } from '../description/catalog.ts';
import { textOf } from '../description/schema.ts';
import { sizeOf } from '../marks/progress.tsx';
import { Prose } from '../parts/prose.tsx';
import { visible } from '../parts/visible.ts';
import type { Octets, Row, Typed } from './draft.ts';
import type { Field } from './fields.ts';
import { isChosen } from './named-choice.ts';
import { NamedEntries } from './named-entries.tsx';

export type FieldProps = {
  readonly field: Field;
  /** typed value; undefined: untouched */
  readonly typed: Typed | undefined;
  /** value of the document, as the field shows it */
  readonly present: Exclude<Typed, null> | undefined;
  /** true if an entry is changed, false if it is made */
  readonly isChange: boolean;
  readonly problem: string | undefined;
  readonly onType: (typed: Typed | undefined) => void;
};

/** Id of the control, for links from the summary of problems. */
export function idOf(path: string): string {
  return `field-${path.replaceAll(/[^A-Za-z0-9_-]/g, '-')}`;
}

type Control = { readonly id: string; readonly 'aria-describedby': string; readonly 'aria-invalid'?: true; readonly required?: true };

export function FieldRow(props: FieldProps): ComponentChildren {
  const { field, problem, isChange, present, typed, onType } = props;
  const { path, schema, required, nullable, kind } = field;
  const id = idOf(path);
  const isFixed = isChange && schema['x-creation-only'] === true;
  const isLocked = isChange && schema['x-one-way'] === true && present === 'true';
  const control: Control = {
    id,
    'aria-describedby': `${id}-help${problem === undefined ? '' : ` ${id}-problem`}`,
    ...(problem === undefined ? {} : { 'aria-invalid': true }),
    ...(required && !isChange ? { required: true } : {}),
  };
  const label = path.split('/').map(titleOf).join(' › ');
  const help = (
    <p class="help" id={`${id}-help`}>
      <Prose text={schema.description ?? ''} /> <span>{rulesOf(field, isChange)}</span>
    </p>
  );
  if (isFixed || isLocked) {
    return (
      <div class="field">
        <span class="label">{label}</span>
        <p class="fixed">
          {isLocked ? 'yes' : typeof present === 'string' ? visible(yesOrNo(present)) : 'not set'}{' '}
          <span class="quiet">{isLocked ? 'This cannot be taken back.' : 'Fixed when it was made.'}</span>
        </p>
      </div>
    );
  }
  return (
    <div class={problem === undefined ? 'field' : 'field wrong'}>
      <label for={id}>
        {label}
        {required && !isChange && <span class="needed"> (required)</span>}
      </label>
      {help}
      {typed === null ? <p class="fixed">It is removed when you save.</p> : controls[kind](props, control)}
      {isChange && nullable && present !== undefined && (
        <button type="button" class="small" onClick={() => onType(typed === null ? undefined : null)}>
          {typed === null ? 'Keep it' : 'Remove it'}
        </button>
      )}
      {problem !== undefined && (
        <p class="field-problem" id={`${id}-problem`}>
          {visible(problem)}
        </p>
      )}
      {schema['x-one-way'] === true && typed === 'true' && <p class="notice">Once saved, this can never be taken back.</p>}
    </div>
  );
}

/** Limits and defaults in words. */
function rulesOf({ schema, kind }: Field, isChange: boolean): string {
  const { minimum, maximum, 'x-default': usual = schema.default, format } = schema;
  const isTime = format === 'duration' || /duration|90d|8h/.test(textOf(schema.examples?.[0]));
  return [
    kind === 'number' && minimum !== undefined && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER
      ? `From ${minimum} to ${maximum}.`
      : '',
    kind === 'lines' ? 'One a line.' : '',
    kind === 'json' ? 'As JSON.' : '',
    isTime ? 'Such as 90m, 8h or 90d.' : '',
    usual !== undefined && !isChange && typeof usual !== 'object' && kind !== 'boolean' && kind !== 'choice'
      ? `Unless given: ${textOf(usual)}.`
      : '',
  ]
    .filter((part) => part !== '')
    .join(' ');
}

type DrawControl = (props: FieldProps, control: Control) => ComponentChildren;

/** Returns the shown text: the typed one, else that of the document. */
function shown({ typed, present }: FieldProps): string {
  const value = typed ?? present;
  return typeof value === 'string' ? value : '';
}

const plainInput = { autocomplete: 'off', autocapitalize: 'none', spellcheck: false } as const;

const controls: Readonly<Record<Field['kind'], DrawControl>> = {
  text: (props, control) => {
    const names = isChosen(props.field.schema) ? props.field.schema['x-names'] : undefined;
    const listId = `${control.id}-entries`;
    return (
      <>
        <input
          type="text"
          {...plainInput}
          {...control}
          {...(names === undefined ? {} : { list: listId })}
          value={shown(props)}
          placeholder={exampleOf(props)}
          onInput={(event) => props.onType(event.currentTarget.value)}
        />
        {names !== undefined && <NamedEntries id={listId} names={names} />}
      </>
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
  lines: (props, control) => (
    <textarea rows={4} {...plainInput} {...control} value={shown(props)} onInput={(event) => props.onType(event.currentTarget.value)} />
  ),
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
  boolean: (props, control) => choose(props, control, ['true', 'false'], (value) => (value === 'true' ? 'yes' : 'no')),
  choice: (props, control) => choose(props, control, (props.field.schema.enum ?? []).map(String), (value) => value),
  secret: (props, control) => <SecretControl {...props} control={control} />,
  octets: (props, control) => <OctetsControl {...props} control={control} />,
  map: (props, control) => <MapControl {...props} control={control} />,
};

function exampleOf({ field, isChange }: FieldProps): string | undefined {
  const [example] = field.schema.examples ?? [];
  return isChange || example === undefined || typeof example === 'object' ? undefined : `for example ${textOf(example)}`;
}

function choose(props: FieldProps, control: Control, values: readonly string[], labelOf: (value: string) => string): ComponentChildren {
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

type Controlled = FieldProps & { readonly control: Control };

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
    onType({ text: new Uint8Array(await file.arrayBuffer()).toBase64(), as: 'base64' });
    note.value = `${sizeOf(file.size)} were read.`;
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

function MapControl({ control, typed, present, onType, field }: Controlled): ComponentChildren {
  const rows = (typed ?? present ?? []) as readonly Row[];
  const change = (index: number, row: Partial<Row>): void => onType(rows.map((one, at) => (at === index ? { ...one, ...row } : one)));
  return (
    <div class="map" id={control.id} role="group" tabIndex={-1} aria-label={field.path}>
      {rows.map(({ key, value }, index) => (
        <div class="row" key={index}>
          <input
            type="text"
            {...plainInput}
            aria-label={`Name ${index + 1} of ${field.path}`}
            value={key}
            onInput={(event) => change(index, { key: event.currentTarget.value })}
          />
          <input
            type="text"
            {...plainInput}
            aria-label={`Value ${index + 1} of ${field.path}`}
            value={value}
            onInput={(event) => change(index, { value: event.currentTarget.value })}
          />
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

function yesOrNo(text: string): string {
  return text === 'true' ? 'yes' : text === 'false' ? 'no' : text;
}
