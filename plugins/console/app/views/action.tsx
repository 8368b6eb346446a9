// An action: its form, and its answer below it.
import type { ComponentChildren } from 'preact';
import { fillPath } from '../address/path.ts';
import { hrefOf } from '../address/router.ts';
import { octetsOf } from '../api/base64.ts';
import type { Answer } from '../api/request.ts';
import type { Catalog, Entry } from '../description/catalog.ts';
import { nameOf } from '../description/catalog.ts';
import { inputOf, outputOf, textOf } from '../description/schema.ts';
import { Form } from '../forms/form.tsx';
import { SaveButton } from '../marks/save-button.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Heading } from '../parts/heading.tsx';
import { Prose } from '../parts/prose.tsx';
import { Fields, Text } from '../parts/value.tsx';
import { visible } from '../parts/visible.ts';
import { useUntilEnd } from '../marks/until-end.ts';

const tokenPath = '/v1/state/keystore/token/create';
const applications = '/v1/config/keystore/authentication/approles';

export function ActionView({
  catalog,
  entry,
  names,
}: {
  readonly catalog: Catalog;
  readonly entry: Entry;
  readonly names: readonly string[];
}): ComponentChildren {
  const { operation, command } = entry;
  const { document } = catalog;
  const path = fillPath(entry.path, names);
  const answer = useUntilEnd<Answer>();
  const input = inputOf(operation, document);
  const isOther = operation.requestBody !== undefined && input === undefined;
  const ends =
    command.ends === undefined ? undefined : { name: visible(names.at(-1) ?? command.action ?? ''), what: `This ${command.ends}.` };
  return (
    <>
      <Heading catalog={catalog} title={nameOf(entry)} path={path}>
        <p class="quiet">
          <Prose text={operation.description} />
        </p>
      </Heading>
      <section class="card">
        {entry.path === tokenPath && (
          <p class="notice">
            A token that is made here ends with this session, when you sign out at the latest, whatever time you give it. A program that
            goes on logs in as an <a href={hrefOf(applications)}>application</a>.
          </p>
        )}
        {isOther ? (
          <p>
            It takes a file that this page cannot send yet.{' '}
            <code>
              keystorectl {command.verb} {command.resource} {command.action} --in FILE
            </code>{' '}
            can.
          </p>
        ) : (
          <Form
            entry={entry}
            names={names}
            input={input}
            document={document}
            does={nameOf(entry)}
            confirm={ends}
            onDone={(done) => (answer.value = done)}
          />
        )}
      </section>
      {answer.value !== undefined && <Answered answer={answer.value} entry={entry} catalog={catalog} />}
    </>
  );
}

function Answered({
  answer: { body },
  entry,
  catalog,
}: {
  readonly answer: Answer;
  readonly entry: Entry;
  readonly catalog: Catalog;
}): ComponentChildren {
  const { operation, command } = entry;
  const result =
    command.out === undefined || typeof body !== 'object' || body === null
      ? undefined
      : (body as Readonly<Record<string, unknown>>)[command.out];
  const isOctets = outputOf(operation, catalog.document)?.properties?.[command.out ?? '']?.contentEncoding === 'base64';
  const fileName = [command.resource, command.action, command.out].filter((word) => word !== undefined).join('-');
  return (
    <section class="card" role="status" aria-label="Answer">
      <h2>Answer</h2>
      {body === undefined ? (
        <p>Done.</p>
      ) : body instanceof Blob ? (
        <SaveButton content={body} name={fileName}>
          Save the file
        </SaveButton>
      ) : typeof body === 'object' && body !== null ? (
        <Fields value={body} schema={outputOf(operation, catalog.document)} document={catalog.document} />
      ) : (
        <Text text={textOf(body)} />
      )}
      {typeof result === 'string' && (
        <div class="buttons">
          <CopyButton text={result} what={command.out ?? 'answer'} />
          <SaveButton content={isOctets ? new Blob([octetsOf(result)]) : result} name={fileName}>
            Save as a file
          </SaveButton>
        </div>
      )}
    </section>
  );
}
