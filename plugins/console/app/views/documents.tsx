// The documents of an entry: its settings, those that nobody has set behind a line, and its state.
import type { ComponentChildren } from 'preact';
import type { JsonSchema, OpenApiDocument } from '../../../../core/http/description/document.ts';
import { Refusal } from '../api/request.ts';
import type { Catalog, Entry } from '../description/catalog.ts';
import { outputOf, resolve, textOf } from '../description/schema.ts';
import type { Loaded } from '../parts/loaded.ts';
import { Loading } from '../parts/loading.tsx';
import { Problem } from '../parts/problem.tsx';
import { Text, Value } from '../parts/value.tsx';
import { visible } from '../parts/visible.ts';
import { inSentence, locale } from '../language/language.ts';

/** Document of the entry in one of the two trees: its settings, or its state. */
export type DocumentOf = { readonly show: Entry; readonly title: 'Settings' | 'State'; readonly loaded: Loaded };

type DocumentsProps = {
  readonly catalog: Catalog;
  readonly documents: readonly DocumentOf[];
  /** names of fields that a drawn view shows */
  readonly drawn: readonly string[];
};

/** Shows the settings and, without repeating them, the state. If neither can be shown, one says why. */
export function Documents({ catalog, documents, drawn }: DocumentsProps): ComponentChildren {
  const isSeen = documents.some(({ loaded }) => loaded.state === 'there');
  const [settings] = documents.filter(({ title }) => title === 'Settings');
  // A drawn view is made from the state.
  const isDrawn = documents.some(({ title, loaded }) => title === 'State' && loaded.state === 'there');
  const repeated = settings?.loaded.state === 'there' ? Object.keys(settings.loaded.answer.body ?? {}) : [];
  if (documents.some(({ loaded }) => loaded.state === 'loading')) return <Loading />;
  return documents.map(({ show, title, loaded }, index) => {
    if (loaded.state === 'loading') return null;
    if (loaded.state === 'there') {
      const { body } = loaded.answer;
      const without = title === 'State' ? [...repeated, ...drawn] : isDrawn ? drawn : [];
      return <Document key={title} catalog={catalog} show={show} title={title} body={body} without={without} />;
    }
    const { error } = loaded;
    if (isSeen && error instanceof Refusal && error.status === 403)
      return (
        <p key={title} class="quiet">
          You may not see its {inSentence(title)}: {visible(error.detail ?? '')}
        </p>
      );
    return isSeen || index === 0 ? <Problem key={title} error={error} /> : null;
  });
}

type DocumentProps = {
  readonly catalog: Catalog;
  readonly show: Entry;
  readonly title: string;
  readonly body: unknown;
  /** names of fields that are shown already */
  readonly without: readonly string[];
};

function Document({ catalog, show, title, body, without }: DocumentProps): ComponentChildren {
  const { document } = catalog;
  const isDocument = typeof body === 'object' && body !== null;
  const shown =
    isDocument && !Array.isArray(body) ? Object.fromEntries(Object.entries(body).filter(([name]) => !without.includes(name))) : body;
  if (title === 'State' && typeof shown === 'object' && shown !== null && Object.keys(shown).length === 0) return null;
  const schema = outputOf(show.operation, document);
  if (!isDocument || Array.isArray(shown))
    return (
      <section class="card">
        <h2>{title}</h2>
        {isDocument ? <Value value={shown} schema={schema} document={document} /> : <Text text={textOf(body)} />}
      </section>
    );
  const entries = Object.entries(shown as object);
  const usual = title === 'Settings' ? entries.filter(([name, value]) => isUsual(value, schema?.properties?.[name], document)) : [];
  const isFolded = usual.length >= leastFolded && usual.length < entries.length;
  const told = isFolded ? entries.filter((one) => !usual.includes(one)) : entries;
  return (
    <section class="card">
      <h2>{title}</h2>
      <Value value={Object.fromEntries(told)} schema={schema} document={document} />
      {isFolded && (
        <details class="panel">
          <summary>{usual.length.toLocaleString(locale)} settings with their usual values</summary>
          <Value value={Object.fromEntries(usual)} schema={schema} document={document} />
        </details>
      )}
    </section>
  );
}

/** Fewer are not worth a line of their own. */
const leastFolded = 4;

/** Tells whether nobody has set a value: it is what the description says, or nothing. */
function isUsual(value: unknown, property: JsonSchema | undefined, document: OpenApiDocument): boolean {
  const { schema } = resolve(property ?? {}, document);
  const usual = schema['x-default'] ?? schema.default;
  if (usual !== undefined) return JSON.stringify(value) === JSON.stringify(usual);
  if (value === null || value === false || value === '' || value === 0) return true;
  return typeof value === 'object' && Object.values(value).every((one: unknown) => isUsual(one, undefined, document));
}
