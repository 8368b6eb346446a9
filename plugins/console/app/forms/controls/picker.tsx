// Choice of one or several entries of a list: by search, by keyboard, and with the way to make a new one. What is typed counts, too: the
// appliance decides whether there is such an entry.
import { useSignal, type Signal } from '@preact/signals';
import type { ComponentChildren, TargetedKeyboardEvent } from 'preact';
import { useEffect } from 'preact/hooks';
import { may } from '../../api/may.ts';
import { send } from '../../api/request.ts';
import { visible } from '../../parts/visible.ts';
import { exampleOf, plainInput, shown, type Control, type ControlProps } from './control.ts';
import { offered, type NamedList, type Names } from './lists.ts';

/** Entries that are offered at once. */
const mostOffered = 8;
/** Names that are read of a list which the appliance does not search. */
const mostRead = 500;
/** Pause after the last key. */
const pauseMs = 120;

type Option = { readonly name: string; readonly more?: string | undefined };

type PickerProps = ControlProps & {
  readonly control: Control;
  readonly names: Names;
  readonly list: NamedList;
  /** true if the field has several */
  readonly isList?: boolean;
};

/** Long because it is one control from top to bottom. */
export function Picker(props: PickerProps): ComponentChildren {
  const { control, names, list, isList = false, onType, place, field } = props;
  const text = shown(props);
  const typed = useSignal('');
  // A text that is typed and not chosen counts, too: it is the last one.
  const pending = typed.value.trim();
  const chosen = isList
    ? text.split('\n').filter((name, index, all) => name !== '' && !(index === all.length - 1 && name === pending))
    : [];
  const isOpen = useSignal(false);
  const active = useSignal(-1);
  const sought = isList ? typed.value : text;
  const entries = useEntries(list, isOpen.value ? sought : undefined);
  const all = offered([...entries.value.keys()], names, (operation, path) => may(operation, path).value);
  const options: readonly Option[] = all
    .filter((name) => !chosen.includes(name))
    .slice(0, mostOffered)
    .map((name) => ({ name, more: entries.value.get(name) }));
  const mayMake = place.onMake !== undefined && may('create', list.path).value === 'yes' && list.path.startsWith('/v1/config/');
  const count = options.length + (mayMake ? 1 : 0);

  const take = (name: string): void => {
    if (name === '') return;
    onType(isList ? [...chosen.filter((one) => one !== name), name].join('\n') : name);
    typed.value = '';
    active.value = -1;
    isOpen.value = false;
  };
  const leave = (name: string): void => onType([...chosen.filter((one) => one !== name), pending].filter((one) => one !== '').join('\n'));
  const pick = (index: number): void => {
    const option = options[index];
    if (option !== undefined) return take(option.name);
    isOpen.value = false;
    place.onMake?.(list.path, take);
  };
  const press = (event: TargetedKeyboardEvent<HTMLInputElement>): void => {
    const isMove = event.key === 'ArrowDown' || event.key === 'ArrowUp';
    if (isMove) {
      event.preventDefault();
      if (!isOpen.value) isOpen.value = true;
      else if (count > 0) active.value = (active.value + (event.key === 'ArrowDown' ? 1 : active.value < 0 ? 0 : -1) + count) % count;
    } else if (event.key === 'Enter' && (active.value >= 0 || (isList && pending !== ''))) {
      event.preventDefault();
      if (active.value >= 0) pick(active.value);
      else take(pending);
    } else if (event.key === 'Escape' && isOpen.value) {
      event.preventDefault();
      event.stopPropagation();
      isOpen.value = false;
    } else if (event.key === 'Backspace' && isList && typed.value === '' && chosen.length > 0) leave(chosen.at(-1) ?? '');
  };
  const boxId = `${control.id}-choices`;
  const isShown = isOpen.value && count > 0;
  return (
    <div
      class="picker"
      onFocusOut={(event) => {
        if (event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget)) return;
        isOpen.value = false;
      }}
    >
      {chosen.length > 0 && (
        <ul class="plain chosen" aria-label={`Chosen for ${field.path}`}>
          {chosen.map((name) => (
            <li key={name}>
              <bdi>{visible(name)}</bdi>
              <button type="button" class="small" aria-label={`Remove ${visible(name)}`} onClick={() => leave(name)}>
                <span aria-hidden="true">×</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      <input
        type="text"
        role="combobox"
        {...plainInput}
        {...control}
        aria-expanded={isShown}
        aria-controls={boxId}
        aria-autocomplete="list"
        aria-activedescendant={isShown && active.value >= 0 ? `${boxId}-${active.value}` : undefined}
        value={isList ? typed.value : text}
        placeholder={isList ? 'search …' : exampleOf(props)}
        onFocus={() => (isOpen.value = true)}
        onClick={() => (isOpen.value = true)}
        onKeyDown={press}
        onInput={(event) => {
          const { value } = event.currentTarget;
          if (isList) typed.value = value;
          onType(isList ? [...chosen, value.trim()].filter((one) => one !== '').join('\n') : value);
          active.value = -1;
          isOpen.value = true;
        }}
      />
      <ul id={boxId} role="listbox" aria-label={`Entries for ${field.path}`} class="choices-box" hidden={!isShown}>
        {options.map(({ name, more }, index) => (
          <Choice key={name} id={`${boxId}-${index}`} active={active} index={index} onPick={pick}>
            <bdi>{visible(name)}</bdi>
            {more !== undefined && <span class="quiet"> {visible(more)}</span>}
          </Choice>
        ))}
        {mayMake && (
          <Choice id={`${boxId}-${options.length}`} active={active} index={options.length} onPick={pick}>
            Make a new one …
          </Choice>
        )}
      </ul>
    </div>
  );
}

type ChoiceProps = {
  readonly id: string;
  readonly index: number;
  readonly active: Signal<number>;
  readonly onPick: (index: number) => void;
  readonly children: ComponentChildren;
};

function Choice({ id, index, active, onPick, children }: ChoiceProps): ComponentChildren {
  return (
    <li
      id={id}
      role="option"
      aria-selected={active.value === index}
      // The field keeps the focus.
      onPointerDown={(event) => event.preventDefault()}
      onPointerMove={() => (active.value = index)}
      onClick={() => onPick(index)}
    >
      {children}
    </li>
  );
}

/** The entries with a text in their names, as the person types; undefined asks for nothing. */
function useEntries({ path, isSearched, more }: NamedList, text: string | undefined): Signal<ReadonlyMap<string, string | undefined>> {
  const entries = useSignal<ReadonlyMap<string, string | undefined>>(new Map());
  const asked = text === undefined || may('read', path).value !== 'yes' ? undefined : text.trim().toLowerCase();
  useEffect(() => {
    if (asked === undefined) return undefined;
    const controller = new AbortController();
    const searches = isSearched && asked !== '';
    const query = {
      ...(more === undefined ? { keys: 'true' } : { fields: `accessor,${more}` }),
      limit: String(isSearched ? mostOffered * 2 : mostRead),
      ...(searches ? { contains: asked } : {}),
    };
    const ask = async (): Promise<void> => {
      const { body } = await send({ method: 'GET', path, query }, controller.signal);
      const rows = Array.isArray(body) ? (body as readonly unknown[]) : [];
      const found = rows.map((row) => optionOf(row, more));
      const isMeant = (one: Option): boolean => searches || `${one.name} ${one.more ?? ''}`.toLowerCase().includes(asked);
      entries.value = new Map(found.filter(isMeant).map((one) => [one.name, one.more]));
    };
    // Without the list the field is what it was before: a text.
    const timer = setTimeout(() => void ask().catch(() => undefined), pauseMs);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [asked, path]);
  return entries;
}

function optionOf(row: unknown, more: string | undefined): Option {
  if (more === undefined || typeof row !== 'object' || row === null) return { name: String(row) };
  const { accessor = '', [more]: told = '' } = row as Readonly<Record<string, string>>;
  return { name: accessor, more: told };
}
