// Making, changing and deleting an entry.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { fillPath, parentOf } from '../address/path.ts';
import { go, hrefOf } from '../address/router.ts';
import type { Catalog, Entry } from '../description/catalog.ts';
import { nameOf } from '../description/catalog.ts';
import { inputOf, outputOf } from '../description/schema.ts';
import { Form } from '../forms/form.tsx';
import { Meanwhile } from '../forms/meanwhile.tsx';
import { Heading } from '../parts/heading.tsx';
import { Loading } from '../parts/loading.tsx';
import { useLoaded } from '../parts/loaded.ts';
import { Problem } from '../parts/problem.tsx';
import { Fields } from '../parts/value.tsx';
import { makingOf } from '../description/purposes.ts';
import { visible } from '../parts/visible.ts';

type ChangeProps = { readonly catalog: Catalog; readonly entry: Entry; readonly names: readonly string[] };

export function CreateView({ catalog, entry, names }: ChangeProps): ComponentChildren {
  const path = fillPath(entry.path, names);
  const made = useSignal<unknown>(undefined);
  const nameField = catalog.entries
    .find(({ command }) => command.verb === 'replace' && command.resource === entry.command.resource)
    ?.names.at(-1);
  if (made.value !== undefined) return <Made catalog={catalog} entry={entry} path={path} nameField={nameField} value={made.value} />;
  return (
    <>
      <Heading catalog={catalog} title={makingOf(entry)} path={`${path}/new`}>
        <p class="quiet">
          What you leave out gets its usual value. <a href={hrefOf(path)}>Back without creating</a>
        </p>
      </Heading>
      <section class="card">
        <Form
          entry={entry}
          names={names}
          input={inputOf(entry.operation, catalog.document)}
          document={catalog.document}
          nameField={nameField}
          does="Create"
          onDone={({ body }) => {
            // A page that is loaded again must not offer to make a second one.
            history.replaceState(null, '', hrefOf(path, { do: 'created' }));
            made.value = body ?? {};
          }}
        />
      </section>
    </>
  );
}

/** Shows the answer to a creation: secrets in it are shown this once. */
function Made({
  catalog,
  entry,
  path,
  nameField,
  value,
}: {
  readonly catalog: Catalog;
  readonly entry: Entry;
  readonly path: string;
  readonly nameField: string | undefined;
  readonly value: unknown;
}): ComponentChildren {
  const name = nameField === undefined ? undefined : (value as Readonly<Record<string, unknown>>)[nameField];
  const schema = outputOf(entry.operation, catalog.document);
  return (
    <>
      <Heading catalog={catalog} title="Created" path={`${path}/new`}>
        <div class="buttons">
          {typeof name === 'string' && (
            <a class="button primary" href={hrefOf(`${path}/${encodeURIComponent(name)}`)}>
              Open {visible(name)}
            </a>
          )}
          <a class="button" href={hrefOf(path)}>
            All {nameOf(entry)}
          </a>
        </div>
      </Heading>
      <section class="card">
        <p class="quiet">What is secret here is shown this once.</p>
        <Fields value={value} schema={schema} document={catalog.document} />
      </section>
    </>
  );
}

export function EditView({ catalog, entry, names }: ChangeProps): ComponentChildren {
  const path = fillPath(entry.path, names);
  const turn = useSignal(0);
  const loaded = useLoaded({ method: 'GET', path }, turn.value).value;
  const stale = useSignal<{ readonly before: unknown; readonly yours: object } | undefined>(undefined);
  const kept = useSignal<{ readonly value: unknown; readonly etag: string | undefined } | undefined>(undefined);
  if (loaded.state === 'there') {
    const etag = loaded.answer.headers.get('etag') ?? undefined;
    if (kept.peek()?.etag !== etag || kept.peek() === undefined) kept.value = { value: loaded.answer.body, etag };
  }
  const title = `Edit ${names.at(-1) ?? nameOf(entry)}`;
  return (
    <>
      <Heading catalog={catalog} title={title} path={`${path}/edit`}>
        <p class="quiet">
          Only what you change is sent. <a href={hrefOf(path)}>Back without changes</a>
        </p>
      </Heading>
      {loaded.state === 'failed' && <Problem error={loaded.error} />}
      {stale.value !== undefined && kept.value !== undefined && <Meanwhile {...stale.value} now={kept.value.value} />}
      {kept.value === undefined ? (
        loaded.state === 'loading' && <Loading />
      ) : (
        <section class="card">
          <Form
            entry={entry}
            names={names}
            input={inputOf(entry.operation, catalog.document)}
            document={catalog.document}
            present={kept.value}
            does="Save"
            onDone={() => go(hrefOf(path))}
            onStale={(yours) => {
              stale.value = { before: kept.value?.value, yours };
              turn.value += 1;
            }}
          />
        </section>
      )}
    </>
  );
}

export function DeleteView({ catalog, entry, names }: ChangeProps): ComponentChildren {
  const path = fillPath(entry.path, names);
  const name = names.at(-1) ?? nameOf(entry);
  const loaded = useLoaded({ method: 'GET', path }).value;
  // Somebody who may not look may still delete: then the appliance answers.
  const isKept = loaded.state === 'there' && (loaded.answer.body as Settings | null)?.['deletion-allowed'] === false;
  return (
    <>
      <Heading catalog={catalog} title={`Delete ${name}`} path={`${path}/delete`}>
        <p class="quiet">
          <a href={hrefOf(path)}>Keep it</a>
        </p>
      </Heading>
      {loaded.state === 'loading' && <Loading />}
      {isKept && (
        <section class="card">
          <p>Its settings do not allow that it is deleted, so that nobody does it by mistake.</p>
          <div class="buttons">
            <a class="button primary" href={hrefOf(path, { do: 'edit' })}>
              Change “Deletion allowed” first
            </a>
          </div>
        </section>
      )}
      {!isKept && loaded.state !== 'loading' && (
        <section class="card">
          <Form
            entry={entry}
            names={names}
            input={undefined}
            document={catalog.document}
            does="Delete"
            confirm={{ name: visible(name), what: whatEnds(entry, name) }}
            onDone={() => go(hrefOf(parentOf(path)), 'replace')}
          />
        </section>
      )}
    </>
  );
}

type Settings = { readonly 'deletion-allowed'?: unknown };

function whatEnds({ command, operation }: Entry, name: string): string {
  // The page has no way to ask for a check alone.
  const description = operation.description.replace(/ ?With `validate=true` [^.]*\./, '');
  return `This ${command.ends ?? `deletes ${visible(name)} for good`}. ${description}`;
}
