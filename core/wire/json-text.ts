// JSON that is written once: the text of an answer made from its values, without making the answer in wire form first.
import { formatValue, type Shape } from './schema.ts';

/** A value in wire form, as its JSON text. The pipeline sends it as it is. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** The same text as JSON.stringify(formatValue(shape, value)), for objects with few and plain fields. */
export function formatText(shape: Shape, value: object): string {
  if (shape.kind !== 'object') return JSON.stringify(formatValue(shape, value));
  let members = '';
  for (const camel of Object.keys(value)) {
    const field = shape.byCamel.get(camel);
    const one = (value as Readonly<Record<string, unknown>>)[camel];
    if (field === undefined || one === undefined) continue;
    members += `${members === '' ? '' : ','}"${field.wire}":${JSON.stringify(formatValue(field.shape, one))}`;
  }
  return `{${members}}`;
}
