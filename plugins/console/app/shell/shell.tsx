// Frame of every page: skip link, the signed-in person, navigation by the groups of the description, and the page itself.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { address, hrefOf } from '../address/router.ts';
import { may } from '../api/may.ts';
import { account, standing } from '../api/session.ts';
import { nameOf, titleOf, type Catalog, type Group } from '../description/catalog.ts';
import { AccountBar } from './account.tsx';
import { Claim } from './claim.tsx';
import { mainPages } from './main-pages.ts';
import { SignInAgain } from './sign-in-again.tsx';

export function Shell({ catalog, children }: { readonly catalog: Catalog; readonly children: ComponentChildren }): ComponentChildren {
  const isOpen = useSignal(false);
  const { path } = address.value;
  useEffect(() => {
    isOpen.value = false;
  }, [path]);
  // The person whose session has ended may be gone, and somebody else may be looking now.
  const isCovered = standing.value !== 'signed-in';
  return (
    <>
      <div hidden={isCovered}>
        <a class="skip" href="#main">
          Skip to the page
        </a>
        <header class="bar">
          <a class="brand" href={hrefOf('')}>
            <svg viewBox="0 0 24 24" aria-hidden="true">
              <path
                fill="currentColor"
                fill-rule="evenodd"
                d="M12 1.5 3.5 5v6.2c0 5.2 3.6 9.4 8.5 11.3 4.9-1.9 8.5-6.1 8.5-11.3V5zM12 7.7a2.6 2.6 0 0 1 1.2 4.9v3.9h-2.4v-3.9a2.6 2.6 0 0 1 1.2-4.9z"
              />
            </svg>
            keystored
          </a>
          <button
            type="button"
            class="menu"
            aria-expanded={isOpen.value}
            aria-controls="navigation"
            onClick={() => (isOpen.value = !isOpen.value)}
          >
            Menu
          </button>
          <AccountBar />
        </header>
        <div class="frame">
          <nav id="navigation" class={isOpen.value ? 'side open' : 'side'} aria-label="Parts of the appliance">
            <MainPages catalog={catalog} path={path} />
            {catalog.groups().map((group) => (
              <NavigationGroup key={group.tag} group={group} path={path} />
            ))}
            <p>
              <a href="/v1/docs" data-server="">
                API description
              </a>
            </p>
          </nav>
          <main id="main" tabIndex={-1}>
            <Claim catalog={catalog} />
            {children}
          </main>
        </div>
      </div>
      {standing.value === 'none' && <SignInAgain />}
    </>
  );
}

/** The pages that people come for, as far as this person may look at them. */
function MainPages({ catalog, path }: { readonly catalog: Catalog; readonly path: string }): ComponentChildren {
  const shown = mainPages.filter(
    (page) =>
      catalog.at(page.path) !== undefined &&
      may(page.operation, page.path).value === 'yes' &&
      (page.tenant === undefined || page.tenant === account.value?.tenant),
  );
  return (
    <ul class="main-pages">
      {[{ label: 'Overview', path: '' }, ...shown].map((page) => (
        <li key={page.path}>
          <a href={hrefOf(page.path)} aria-current={currentOf(path, page.path)}>
            {page.label}
          </a>
        </li>
      ))}
    </ul>
  );
}

/** Tells whether a page is the current one. A path below a page belongs to it, in either tree. */
function currentOf(path: string, page: string): 'page' | 'true' | undefined {
  if (path === page) return 'page';
  const belowTree = (one: string): string => one.replace(/^\/v1\/(?:config|state)\//, '/');
  return page !== '' && belowTree(path).startsWith(`${belowTree(page)}/`) ? 'true' : undefined;
}

/** Groups of which nothing may be looked at are left out; single entries too. */
function NavigationGroup({ group, path }: { readonly group: Group; readonly path: string }): ComponentChildren {
  const shown = group.entries.filter((entry) => may(entry.operation['x-operation'], entry.path).value === 'yes');
  if (shown.length === 0) return null;
  const isHere = (template: string): boolean => path === template || path.startsWith(`${template}/`);
  return (
    <details open={shown.some((entry) => isHere(entry.path))}>
      <summary>{titleOf(group.tag)}</summary>
      <ul>
        {shown.map((entry) => (
          <li key={`${entry.method} ${entry.path}`}>
            <a href={hrefOf(entry.path)} aria-current={path === entry.path ? 'page' : undefined}>
              {nameOf(entry)}
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}
