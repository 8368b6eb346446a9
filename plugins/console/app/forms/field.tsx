// Field of a form: label, control, its text from the description, and its problem.
import type { ComponentChildren } from 'preact';
import { titleOf } from '../description/catalog.ts';
import { resolve, textOf } from '../description/schema.ts';
import { Prose } from '../parts/prose.tsx';
import { visible } from '../parts/visible.ts';
import { said } from '../language/language.ts';
import type { Field } from './fields.ts';
import type { Control, ControlProps } from './controls/control.ts';
import { controls } from './controls/controls.tsx';
import { listOf } from './controls/lists.ts';

export type FieldProps = ControlProps & {
  readonly problem: string | undefined;
  /** label and text in place of those of the description */
  readonly words?: FieldWords | undefined;
};

/** Words for a field where a page knows what it is for. */
export type FieldWords = { readonly label?: string; readonly help?: string };

/** Id of the control, for links from the summary of problems. A form above another one has ids of its own. */
export function idOf(path: string, isAbove = false): string {
  return `${isAbove ? 'above' : 'field'}-${path.replaceAll(/[^A-Za-z0-9_-]/g, '-')}`;
}

/** Tells whether a field has the value for good that it was made with. */
export function isMadeFixed({ schema }: Field): boolean {
  return schema['x-creation-only'] === true;
}

export function FieldRow(props: FieldProps): ComponentChildren {
  const { field, problem, isChange, present, typed, onType, words = {} } = props;
  const { path, schema, required, nullable, kind } = field;
  const id = idOf(path, props.place.isAbove);
  const isFixed = isChange && isMadeFixed(field);
  const isLocked = isChange && schema['x-one-way'] === true && present === 'true';
  const control: Control = {
    id,
    'aria-describedby': `${id}-help${problem === undefined ? '' : ` ${id}-problem`}`,
    ...(problem === undefined ? {} : { 'aria-invalid': true }),
    ...(required && !isChange ? { required: true } : {}),
  };
  const label = words.label ?? path.split('/').map(titleOf).join(' › ');
  const help = (
    <p class="help" id={`${id}-help`}>
      <Prose text={words.help ?? schema.description ?? ''} /> <span>{rulesOf(props)}</span>
    </p>
  );
  if (isFixed || isLocked) {
    return (
      <div class="field">
        <span class="label">{label}</span>
        <p class="fixed">
          {isLocked ? 'yes' : typeof present === 'string' ? visible(yesOrNo(present)) : 'not set'}{' '}
          {isLocked && <span class="quiet">This cannot be taken back.</span>}
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
function rulesOf({ field: { schema, kind }, isChange, place }: FieldProps): string {
  const { minimum, maximum, 'x-default': usual = schema.default, 'x-form': form } = schema;
  return [
    kind === 'number' && minimum !== undefined && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER
      ? `From ${minimum} to ${maximum}.`
      : '',
    kind === 'lines' && listOf(place, resolve(schema.items ?? {}, place.document).schema) === undefined ? 'One a line.' : '',
    kind === 'json' ? 'As JSON.' : '',
    form === 'duration' ? 'Such as 90m, 8h or 90d.' : '',
    usual !== undefined && usual !== '' && !isChange && typeof usual !== 'object' && kind !== 'boolean' && kind !== 'choice'
      ? `Unless given: ${textOf(usual)}.`
      : '',
  ]
    .filter((part) => part !== '')
    .join(' ');
}

function yesOrNo(text: string): string {
  return text === 'true' ? said('yes') : text === 'false' ? said('no') : text;
}
