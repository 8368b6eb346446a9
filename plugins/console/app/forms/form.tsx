// A form for one operation: its fields, what is wrong, the commands that do the same, and the request when it is sent.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { JsonSchema, OpenApiDocument } from '../../../../core/http/description/document.ts';
import { guardLeaving } from '../address/router.ts';
import { fillPath } from '../address/path.ts';
import { may } from '../api/may.ts';
import { Refusal, send, type Answer, type Request } from '../api/request.ts';
import { CopyAsCommand } from '../commands/copy-as-command.tsx';
import { titleOf, type Entry } from '../description/catalog.ts';
import { Problem } from '../parts/problem.tsx';
import { ConfirmName, isConfirmed, type Confirm } from './confirm-name.tsx';
import { isSame, readDraft, typedOf, valueAt, type Draft, type FieldProblem, type Typed } from './draft.ts';
import { FieldRow, idOf, isMadeFixed } from './field.tsx';
import { fieldsIn, type Field } from './fields.ts';
import { OneWay } from './one-way.tsx';
import type { FormPlace } from './controls/control.ts';
import { MakeInPlace, type Making } from './make-in-place.tsx';
import { withOutset, type Outset } from './outset.ts';
import { takePrepared } from './prepared.ts';

export type FormProps = {
  readonly entry: Entry;
  readonly names: readonly string[];
  readonly input: JsonSchema | undefined;
  readonly document: OpenApiDocument;
  /** the entry as it was read, to change it; absent for creations and actions */
  readonly present?: { readonly value: unknown; readonly etag: string | undefined } | undefined;
  readonly nameField?: string | undefined;
  /** text on the button */
  readonly does: string;
  /** name that has to be typed before the form is sent, because it ends something permanently */
  readonly confirm?: Confirm | undefined;
  readonly onDone: (answer: Answer) => void;
  /** called after somebody else changed the entry (412), with the body that was sent */
  readonly onStale?: ((sent: object) => void) | undefined;
  /** knowledge of the page that the description has not */
  readonly outset?: Outset | undefined;
  /** true if the form lies over another one, which guards its own values */
  readonly isAbove?: boolean;
};

/** Long because it is one view from top to bottom. */
export function Form(props: FormProps): ComponentChildren {
  const { entry, names, input, document, present, does, confirm, nameField, isAbove = false } = props;
  const fields = useMemo(() => (input === undefined ? [] : fieldsIn(input, document).filter(({ path }) => path !== encodedField)), [input]);
  const prepared = useMemo(() => (props.present === undefined ? takePrepared(fillPath(entry.path, names)) : new Map<string, string>()), []);
  const typed = useSignal<Draft>(prepared);
  const making = useSignal<Making | undefined>(undefined);
  const typedName = useSignal('');
  const understood = useSignal<ReadonlySet<string>>(new Set());
  const error = useSignal<unknown>(undefined);
  const problems = useSignal<readonly FieldProblem[]>([]);
  const isSending = useSignal(false);
  const summary = useRef<HTMLElement>(null);
  const isChange = present !== undefined;
  const draft: Draft = props.outset === undefined ? typed.value : withOutset(props.outset, typed.value);
  const read = readDraft(fields, draft, !isChange);

  useEffect(() => {
    if (isAbove) return undefined;
    guardLeaving(typed.value.size === 0 ? undefined : () => confirmLeaving());
    return () => guardLeaving(undefined);
  }, [typed.value.size === 0]);
  useEffect(() => {
    if (error.value !== undefined || problems.value.length > 0) summary.current?.focus();
  }, [error.value, problems.value]);

  const change = (field: Field, value: Typed | undefined): void => {
    const next = new Map(typed.value);
    if (value === undefined || (isChange && isSame(value, typedOf(field, valueAt(present.value, field.path))))) next.delete(field.path);
    else next.set(field.path, value);
    typed.value = next;
  };
  const request = requestOf(props, read.body);
  const said = may(entry.operation['x-operation'], request.path).value;
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    error.value = undefined;
    problems.value = read.problems;
    if (read.problems.length > 0 || isSending.value) return;
    isSending.value = true;
    try {
      const answer = await send(request);
      typed.value = new Map();
      if (!isAbove) guardLeaving(undefined);
      props.onDone(answer);
    } catch (thrown) {
      error.value = thrown;
      if (thrown instanceof Refusal && thrown.status === 412) props.onStale?.(read.body);
    } finally {
      isSending.value = false;
    }
  };
  const problemOf = (path: string): string | undefined =>
    problems.value.find((one) => one.path === path)?.message ??
    (error.value instanceof Refusal ? error.value.findings.find(({ info }) => pathOf(info) === path)?.message : undefined);
  const linkTo = (info: string): string | undefined => {
    const path = pathOf(info);
    return fields.some((field) => field.path === path) ? `#${idOf(path ?? '', isAbove)}` : undefined;
  };
  const forGood = fields.filter(({ path, schema }) => schema['x-one-way'] === true && draft.get(path) === 'true');
  const mayBeSent = isConfirmed(confirm, typedName) && forGood.every(({ path }) => understood.value.has(path));
  const hasSecrets = fields.some(({ kind, schema, path }) => (kind === 'secret' || schema['x-secret'] === true) && draft.has(path));
  const commanded = read.problems.length > 0 ? undefined : { entry, names, request, nameField, hasSecrets };
  // The typed values are kept: another sign-in may be allowed to send them.
  if (typeof said === 'object') return <p class="quiet">Not allowed: {said.no}</p>;
  const presentOf = (field: Field): Exclude<Typed, null> | undefined =>
    isChange ? typedOf(field, valueAt(present.value, field.path)) : undefined;
  const isInUse = (field: Field): boolean => presentOf(field) !== undefined || problemOf(field.path) !== undefined;
  const place: FormPlace = {
    document,
    template: entry.path,
    names,
    isAbove,
    ...(isAbove ? {} : { onMake: (list, onMade) => (making.value = { list, onMade }) }),
  };
  const rowOf = (field: Field): ComponentChildren => (
    <FieldRow
      key={field.path}
      field={field}
      typed={draft.get(field.path)}
      present={presentOf(field)}
      isChange={isChange}
      problem={problemOf(field.path)}
      onType={(value) => change(field, value)}
      place={place}
      words={props.outset?.first.includes(field.path) === true ? props.outset.words?.[field.path] : undefined}
    />
  );
  const first = (props.outset?.first ?? []).flatMap((path) => fields.filter((field) => field.path === path));
  const fixed = isChange ? fields.filter(isMadeFixed) : [];
  const others = fields.filter((field) => !first.includes(field) && !fixed.includes(field));
  const drawn = (some: readonly Field[]): ComponentChildren =>
    groupsOf(ordered(some, nameField)).map(({ title, members }) =>
      title === undefined ? (
        members.map(rowOf)
      ) : (
        <details key={title} class="panel" open={members.some(isInUse)}>
          <summary>{titleOf(title)}</summary>
          {members.map(rowOf)}
        </details>
      ),
    );
  const form = (
    <form onSubmit={(event) => void submit(event)} noValidate autocomplete="off">
      {error.value !== undefined && <Problem error={error.value} linkTo={linkTo} focus={summary} />}
      {problems.value.length > 0 && (
        <section class="problem" role="alert" tabIndex={-1} ref={summary}>
          <h2>Not sent yet</h2>
          <ul>
            {problems.value.map(({ path, message }) => (
              <li key={path}>
                <a href={`#${idOf(path, isAbove)}`}>{path}</a> {message}
              </li>
            ))}
          </ul>
        </section>
      )}
      {first.map((field) => rowOf(narrowed(field, props.outset)))}
      {props.outset?.beside}
      {first.length === 0 ? (
        drawn(others)
      ) : (
        <details class="panel more" open={others.some((field) => isInUse(field) || typed.value.has(field.path))}>
          <summary>More settings</summary>
          <p class="quiet">All of them have usual values: leave alone what you do not know.</p>
          {drawn(others)}
        </details>
      )}
      {fixed.length > 0 && (
        <details class="panel">
          <summary>Fixed when it was made</summary>
          {fixed.map(rowOf)}
        </details>
      )}
      {props.outset?.review?.(read.body)}
      {forGood.map(({ path }) => (
        <OneWay key={path} path={path} understood={understood} />
      ))}
      {confirm !== undefined && <ConfirmName confirm={confirm} typed={typedName} />}
      <div class="buttons">
        <button type="submit" class={confirm === undefined ? 'primary' : 'danger'} disabled={!mayBeSent} aria-busy={isSending.value}>
          {does}
        </button>
        {isChange && (
          <span class="quiet">
            {typed.value.size === 0 ? 'Nothing is changed yet.' : `Only what you changed is sent: ${[...typed.value.keys()].join(', ')}.`}
          </span>
        )}
      </div>
      <CopyAsCommand commanded={commanded} />
    </form>
  );
  return (
    <>
      {form}
      {making.value !== undefined && (
        <MakeInPlace
          key={making.value.list}
          document={document}
          making={making.value}
          Inner={Form}
          onEnd={() => (making.value = undefined)}
        />
      )}
    </>
  );
}

/** A field with the choices that a page offers of it. */
function narrowed(field: Field, outset: Outset | undefined): Field {
  const choices = outset?.choices?.[field.path];
  return choices === undefined ? field : { ...field, kind: 'choice', schema: { ...field.schema, enum: choices } };
}

/** Says how payloads are written, which the fields of payloads know themselves. */
const encodedField = 'base64-encoded';

function confirmLeaving(): boolean {
  // The browser's own question: it works by keyboard and with screen readers, and nothing of it can be forged by the page.
  return window.confirm('What you typed here was not sent. Leave the page?');
}

/** The name first, then what is required. */
function ordered(fields: readonly Field[], nameField: string | undefined): readonly Field[] {
  const rank = ({ path, required }: Field): number => (path === nameField ? 0 : required ? 1 : 2);
  return fields.toSorted((left, right) => rank(left) - rank(right));
}

type FieldGroup = { readonly title: string | undefined; readonly members: readonly Field[] };

/** Containers that a person may leave alone are one line until they are opened; anything else is a field by itself. */
function groupsOf(fields: readonly Field[]): readonly FieldGroup[] {
  const containerOf = ({ path }: Field): string | undefined => (path.includes('/') ? path.slice(0, path.indexOf('/')) : undefined);
  const isFolded = (container: string): boolean => {
    const members = fields.filter((field) => containerOf(field) === container);
    return members.length >= leastFolded && !members.some(({ required }) => required);
  };
  const titles = new Set<string>();
  return fields.flatMap((field): readonly FieldGroup[] => {
    const container = containerOf(field);
    if (container === undefined || !isFolded(container)) return [{ title: undefined, members: [field] }];
    if (titles.has(container)) return [];
    titles.add(container);
    return [{ title: container, members: fields.filter((one) => containerOf(one) === container) }];
  });
}

/** Smaller containers are not worth a line of their own. */
const leastFolded = 3;

/** The field that a refusal means: `rules[0].path` is about `rules`. */
function pathOf(info: string | undefined): string | undefined {
  return info?.replaceAll('.', '/').replace(/\[.*$/, '');
}

function requestOf({ entry, names, input, present }: FormProps, body: object): Request {
  const { method, operation } = entry;
  const takesLists = method === 'PATCH' && operation.parameters.some(({ name }) => name === 'lists');
  const needsBody = operation.requestBody?.required === true || Object.keys(body).length > 0;
  return {
    method,
    path: fillPath(entry.path, names),
    // The form shows whole lists, so what it sends is whole lists.
    ...(takesLists ? { query: { lists: 'replace' } } : {}),
    ...(present?.etag === undefined ? {} : { headers: { 'If-Match': present.etag } }),
    ...(input !== undefined && needsBody ? { body } : {}),
  };
}
