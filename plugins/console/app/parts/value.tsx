// A value of an answer: texts as text, secrets hidden until asked for, documents as lists of fields.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { JsonSchema, OpenApiDocument } from '../../../../core/http/description/document.ts';
import { titleOf } from '../description/catalog.ts';
import { resolve } from '../description/schema.ts';
import { CopyButton } from './copy-button.tsx';
import { Exact } from '../times/moments.tsx';
import { momentOf } from '../times/times.ts';
import { locale, said } from '../language/language.ts';
import { told } from '../language/told.ts';
import { visible } from './visible.ts';

export type ValueProps = { readonly value: unknown; readonly schema?: JsonSchema | undefined; readonly document: OpenApiDocument };

/** Longest text that is shown whole. */
const shownCharacters = 4_096;

/** Any value; what it is follows from the value, the schema adds whether it is secret. */
export function Value({ value, schema = {}, document }: ValueProps): ComponentChildren {
  const { schema: own } = resolve(schema, document);
  if (value === null || value === undefined) return <span class="quiet">none</span>;
  if (own['x-secret'] === true) return <Hidden text={typeof value === 'string' ? value : JSON.stringify(value)} />;
  if (typeof value === 'boolean') return said(value ? 'yes' : 'no');
  if (typeof value === 'number') return <span class="number">{value.toLocaleString(locale)}</span>;
  if (typeof value === 'string') return <Text text={value} />;
  if (Array.isArray(value)) return <Items values={value as readonly unknown[]} schema={own.items} document={document} />;
  return <Fields value={value} schema={own} document={document} />;
}

/** Fields in which the appliance says something in sentences of its own. */
const sentenceFields: ReadonlySet<string> = new Set(['message', 'fix']);

/** The fields of a document, in the order of the answer. */
export function Fields({ value, schema = {}, document }: ValueProps): ComponentChildren {
  const entries = Object.entries(value as Readonly<Record<string, unknown>>);
  if (entries.length === 0) return <span class="quiet">none</span>;
  return (
    <dl>
      {entries.map(([name, field]) => {
        const below =
          schema.properties?.[name] ?? (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);
        const label = schema.properties?.[name] === undefined ? visible(name) : titleOf(name);
        return [
          <dt key={`${name}:name`} title={below?.description}>
            <bdi>{label}</bdi>
          </dt>,
          <dd key={`${name}:value`}>
            <Value value={sentenceFields.has(name) && typeof field === 'string' ? told(field) : field} schema={below} document={document} />
          </dd>,
        ];
      })}
    </dl>
  );
}

function Items({
  values,
  schema,
  document,
}: {
  readonly values: readonly unknown[];
  readonly schema: JsonSchema | undefined;
  readonly document: OpenApiDocument;
}): ComponentChildren {
  if (values.length === 0) return <span class="quiet">none</span>;
  return (
    <ul class="plain">
      {values.slice(0, 200).map((value, index) => (
        <li key={index}>
          <Value value={value} schema={schema} document={document} />
        </li>
      ))}
      {values.length > 200 && <li class="quiet">and {(values.length - 200).toLocaleString(locale)} more</li>}
    </ul>
  );
}

/** A text of others: never markup and never a link. Addresses are for programs, and lead where somebody else has said. */
export function Text({ text }: { readonly text: string }): ComponentChildren {
  if (momentOf(text) !== undefined) return <Exact at={text} />;
  if (text === '') return <span class="quiet">empty</span>;
  const isLong = text.length > 120 || text.includes('\n');
  const shown = visible(text.slice(0, shownCharacters), 'lines');
  if (!isLong) return <bdi>{shown}</bdi>;
  return (
    <div class="long">
      <pre tabIndex={0} role="group" aria-label="Text">
        {shown}
        {text.length > shownCharacters && `\n… ${(text.length - shownCharacters).toLocaleString(locale)} more characters`}
      </pre>
      <CopyButton text={text} what="text" />
    </div>
  );
}

function Hidden({ text }: { readonly text: string }): ComponentChildren {
  const isShown = useSignal(false);
  return (
    <div class="secret">
      {isShown.value ? <code>{visible(text, 'lines')}</code> : <span aria-label="hidden">••••••••••••</span>}
      <div class="buttons">
        <button type="button" aria-pressed={isShown.value} onClick={() => (isShown.value = !isShown.value)}>
          {isShown.value ? 'Hide' : 'Show'}
        </button>
        <CopyButton text={text} what="secret" isSecret />
      </div>
    </div>
  );
}
