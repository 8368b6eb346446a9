// The search in the head: Ctrl-K or `/` opens it, arrows choose, Enter goes there. Pages are found at once, names as the appliance answers.
import { useSignal, type Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { go } from '../address/router.ts';
import type { Catalog } from '../description/catalog.ts';
import { visible } from '../parts/visible.ts';
import { idsFor, pagesFor, searchLists, type Hit } from './search-sources.ts';
import { exact } from '../parts/typed.ts';

const words = {
  open: 'Search',
  title: 'Search the appliance',
  hint: 'Name, serial number, accessor or request id',
  help: 'Arrows choose, Enter opens, Escape closes.',
  nothing: 'Nothing has this name.',
  looking: 'Looking …',
} as const;

export function Search({ catalog }: { readonly catalog: Catalog }): ComponentChildren {
  const isOpen = useSignal(false);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const isTyped = event.target instanceof HTMLElement && event.target.matches('input, textarea, select, [contenteditable]');
      const isAsked = (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) || (event.key === '/' && !isTyped);
      if (!isAsked || event.altKey || event.shiftKey || document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      isOpen.value = true;
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  return (
    <>
      <button
        type="button"
        class="search-button"
        aria-haspopup="dialog"
        aria-keyshortcuts="Control+K"
        onClick={() => (isOpen.value = true)}
      >
        {words.open} <kbd aria-hidden="true">Ctrl K</kbd>
      </button>
      {isOpen.value && <SearchDialog catalog={catalog} onClose={() => (isOpen.value = false)} />}
    </>
  );
}

type DialogProps = { readonly catalog: Catalog; readonly onClose: () => void };

function SearchDialog({ catalog, onClose }: DialogProps): ComponentChildren {
  const dialog = useRef<HTMLDialogElement>(null);
  const text = useSignal('');
  const chosen = useSignal(0);
  const { hits, isLooking } = useHits(catalog, text);
  // Before the next key: what is typed at once belongs here.
  useLayoutEffect(() => {
    dialog.current?.showModal();
    return () => dialog.current?.close();
  }, []);
  const at = Math.min(chosen.value, hits.length - 1);
  const open = (hit: Hit | undefined): void => {
    if (hit === undefined) return;
    onClose();
    go(hit.href);
  };
  const press = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && hits.length > 0) chosen.value = (at + step + hits.length) % hits.length;
    else if (event.key === 'Enter') open(hits[at]);
    else return;
    event.preventDefault();
  };
  const typed = text.value.trim();
  return (
    <dialog
      ref={dialog}
      class="search"
      aria-label={words.title}
      onCancel={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <input
        type="text"
        role="combobox"
        aria-label={words.title}
        aria-expanded={hits.length > 0}
        aria-controls="search-hits"
        aria-activedescendant={hits.length > 0 ? `hit-${at}` : undefined}
        aria-autocomplete="list"
        placeholder={words.hint}
        {...exact}
        maxLength={128}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          chosen.value = 0;
        }}
        onKeyDown={press}
      />
      <ul id="search-hits" role="listbox" aria-label="Found">
        {hits.map((hit, index) => (
          <li key={`${hit.kind} ${hit.href}`} id={`hit-${index}`} role="option" aria-selected={index === at} onClick={() => open(hit)}>
            <bdi>{visible(hit.label)}</bdi> <span class="quiet">{visible(hit.kind)}</span>
          </li>
        ))}
      </ul>
      <p class="quiet" role="status">
        {typed !== '' && hits.length === 0 ? (isLooking ? words.looking : words.nothing) : words.help}
      </p>
    </dialog>
  );
}

type Found = { readonly hits: readonly Hit[]; readonly isLooking: boolean };

/** Hits for a text as they come; those of the text before stay until the first one of the new text is there. */
function useHits(catalog: Catalog, text: Signal<string>): Found {
  const found = useSignal<ReadonlyMap<string, readonly Hit[]>>(new Map());
  const isLooking = useSignal(false);
  const typed = text.value.trim();
  useEffect(() => {
    if (typed === '') {
      found.value = new Map();
      return undefined;
    }
    const controller = new AbortController();
    isLooking.value = true;
    found.value = new Map([
      ['ids', idsFor(catalog, typed)],
      ['pages', pagesFor(catalog, typed)],
    ]);
    const look = async (): Promise<void> => {
      await searchLists(catalog, typed, controller.signal, (source, hits) => {
        if (!controller.signal.aborted) found.value = new Map([...found.value, [source, hits]]);
      });
      isLooking.value = false;
    };
    // At once: who types takes longer between two keys than any pause that is not felt. A search that another one has replaced ends without a word.
    void look().catch(() => undefined);
    return () => controller.abort();
  }, [typed]);
  return { hits: ordered(found.value, typed), isLooking: isLooking.value };
}

/** An exact name first, then those that begin with the text; pages before entries that only have it somewhere. */
function ordered(found: ReadonlyMap<string, readonly Hit[]>, text: string): readonly Hit[] {
  const wanted = text.toLowerCase();
  const rank = ({ label, kind }: Hit): number => {
    const name = (kind === 'page' ? (label.split(' › ').at(-1) ?? label) : label).toLowerCase();
    if (name === wanted) return 0;
    return name.startsWith(wanted) ? 1 : kind === 'page' ? 2 : 3;
  };
  return [...found.values()].flat().toSorted((left, right) => rank(left) - rank(right));
}
