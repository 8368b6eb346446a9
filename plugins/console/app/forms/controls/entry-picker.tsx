// A picker outside of the forms that are made from the description: for pages that ask for an entry by themselves.
import type { ComponentChildren } from 'preact';
import type { OpenApiDocument } from '../../../../../core/http/description/document.ts';
import { listOf } from './lists.ts';
import { Picker } from './picker.tsx';

export type EntryPickerProps = {
  readonly id: string;
  /** id of the text that explains it */
  readonly help: string;
  /** list of the entries below its tree, as `x-names` has it: `policy/policies` */
  readonly resource: string;
  readonly document: OpenApiDocument;
  /** the name, or names with line ends between them */
  readonly value: string;
  readonly isList?: boolean;
  readonly onChange: (value: string) => void;
};

/** Draws nothing if the description has no such list. */
export function EntryPicker({ id, help, resource, document, value, isList = false, onChange }: EntryPickerProps): ComponentChildren {
  const names = { resource, needs: [] };
  const place = { document, template: '', names: [], isAbove: false };
  const list = listOf(place, { 'x-names': names });
  if (list === undefined) return null;
  return (
    <Picker
      field={{ path: id, kind: 'text', schema: {}, required: true, nullable: false }}
      typed={value}
      present={undefined}
      isChange={false}
      onType={(typed) => onChange(typeof typed === 'string' ? typed : '')}
      place={place}
      control={{ id, 'aria-describedby': help }}
      names={names}
      list={list}
      isList={isList}
    />
  );
}
