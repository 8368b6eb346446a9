// The address of the page: `/ui` and a path of the API, read from the location and changed without loading the page again.
import { computed, signal } from '@preact/signals';

const prefix = '/ui';

/** Address of the current page. */
export type Address = {
  /** path of the API with encoded names, `/v1/config/keystore/transit-keys/orders`; empty for the overview */
  readonly path: string;
  readonly query: URLSearchParams;
};

const href = signal(location.href);

/** The present address. */
export const address = computed<Address>(() => {
  const { pathname, searchParams } = new URL(href.value);
  const path = pathname.startsWith(`${prefix}/`) ? pathname.slice(prefix.length).replace(/\/$/, '') : '';
  return { path, query: searchParams };
});

/** Pages that would lose what was typed ask before they are left. */
let guard: (() => boolean) | undefined;
export function guardLeaving(mayLeave: (() => boolean) | undefined): void {
  guard = mayLeave;
}

/** The address of a page in this application. */
export function hrefOf(path: string, query: Readonly<Record<string, string>> = {}): string {
  const text = new URLSearchParams(query).toString();
  return `${prefix}${path}${text === '' ? '' : `?${text}`}`;
}

/** Goes to a page of this application. Anything that is not one is ignored. */
export function go(target: string, how: 'push' | 'replace' = 'push'): void {
  const url = new URL(target, location.href);
  if (url.origin !== location.origin || !(url.pathname === prefix || url.pathname.startsWith(`${prefix}/`))) return;
  if (guard !== undefined && !guard()) return;
  guard = undefined;
  if (how === 'push') history.pushState(null, '', url);
  else history.replaceState(null, '', url);
  href.value = location.href;
  if (how === 'push') scrollTo(0, 0);
}

/** Follows the browser's history and clicks on links of this application. Called once. */
export function startRouter(): void {
  addEventListener('popstate', () => {
    href.value = location.href;
  });
  addEventListener('beforeunload', (event) => {
    if (guard !== undefined) event.preventDefault();
  });
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || link.target !== '' || link.hasAttribute('download') || link.dataset['server'] !== undefined) return;
    const url = new URL(link.href, location.href);
    if (url.origin !== location.origin || !(url.pathname === prefix || url.pathname.startsWith(`${prefix}/v1`))) return;
    if (url.pathname === location.pathname && url.search === location.search && url.hash !== '') return;
    event.preventDefault();
    go(url.href);
  });
}
