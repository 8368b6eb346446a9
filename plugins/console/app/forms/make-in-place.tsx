// Making an entry without leaving the form that needs it: the form of its list, over the other one.
import type { ComponentChildren, FunctionComponent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { JsonSchema, OpenApiDocument } from '../../../../core/http/description/document.ts';
import type { Answer } from '../api/request.ts';
import type { Entry } from '../description/catalog.ts';
import { inputOf } from '../description/schema.ts';

export type Making = { readonly list: string; readonly onMade: (name: string) => void };

/** Properties of the form, which itself makes entries in place. */
type InnerProps = {
  readonly entry: Entry;
  readonly names: readonly string[];
  readonly input: JsonSchema | undefined;
  readonly document: OpenApiDocument;
  readonly nameField: string;
  readonly does: string;
  readonly isAbove: true;
  readonly onDone: (answer: Answer) => void;
};

export type Maker = FunctionComponent<{ readonly document: OpenApiDocument; readonly onMade: (name: string) => void }>;

const makers = new Map<string, Maker>();

/** Sets what makes entries of a list in place of their form: a view that knows them better. */
export function makeInPlaceBy(list: string, maker: Maker): void {
  makers.set(list, maker);
}

type MakeInPlaceProps = {
  readonly document: OpenApiDocument;
  readonly making: Making;
  readonly Inner: FunctionComponent<InnerProps>;
  readonly onEnd: () => void;
};

export function MakeInPlace({ document, making: { list, onMade }, Inner, onEnd }: MakeInPlaceProps): ComponentChildren {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const operation = document.paths[list]?.post;
  const command = operation?.['x-command'];
  const Own = makers.get(list);
  if (operation === undefined || command === undefined) return null;
  const end = (): void => {
    dialog.current?.close();
    onEnd();
  };
  const made = (name: string): void => {
    if (name !== '') onMade(name);
    end();
  };
  return (
    <dialog ref={dialog} class="wide" aria-labelledby="make-in-place" onClose={onEnd}>
      <h2 id="make-in-place">{operation.summary}</h2>
      {Own !== undefined && <Own document={document} onMade={made} />}
      {Own === undefined && (
        <Inner
          entry={{ method: 'POST', path: list, operation, command, names: [] }}
          names={[]}
          input={inputOf(operation, document)}
          document={document}
          nameField="name"
          does="Create"
          isAbove
          onDone={({ body }) => {
            const { name } = (body ?? {}) as { readonly name?: unknown };
            made(typeof name === 'string' ? name : '');
          }}
        />
      )}
      <div class="buttons">
        <button type="button" onClick={end}>
          Back without creating
        </button>
      </div>
    </dialog>
  );
}
