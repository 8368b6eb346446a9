// The navigation: the pages that people come for, by what they are about, and below them everything that the description has.
import type { ComponentChildren } from 'preact';
import { address, hrefOf } from '../address/router.ts';
import { may } from '../api/may.ts';
import { account, facts } from '../api/session.ts';
import { nameOf, groupName, type Catalog, type Group } from '../description/catalog.ts';
import { hrefOfPage, mainGroups, overviewIcon, type MainGroup, type MainPage } from './main-pages.ts';
import { isUtc, showUtc } from '../times/times.ts';
import { language, languageNames, languages, speak } from '../language/language.ts';

type NavigationProps = { readonly catalog: Catalog; readonly path: string; readonly isOpen: boolean };

export function Navigation({ catalog, path, isOpen }: NavigationProps): ComponentChildren {
  const groups = mainGroups.flatMap((group): readonly MainGroup[] => {
    const pages = group.pages.filter((page) => offerOf(catalog, page) !== 'no');
    return pages.length === 0 ? [] : [{ ...group, pages }];
  });
  const isKnown = (page: MainPage): boolean => offerOf(catalog, page) === 'yes';
  const isMain = path === '' || groups.some(({ pages }) => pages.some((page) => currentOf(path, page.path, page.does) !== undefined));
  return (
    <nav id="navigation" class={isOpen ? 'side open' : 'side'} aria-label="Parts of the appliance">
      <ul class="main-pages">
        <li>
          <a href={hrefOf('')} aria-current={currentOf(path, '')}>
            <Icon path={overviewIcon} />
            Overview
          </a>
        </li>
      </ul>
      {groups.map(({ title, icon, pages }) => (
        <div key={title} class={pages.some(isKnown) ? undefined : 'awaited'}>
          <h2 id={`group-${title}`}>
            <Icon path={icon} />
            {title}
          </h2>
          <ul class="main-pages" aria-labelledby={`group-${title}`}>
            {pages.map((page) => (
              <li key={page.label} class={isKnown(page) ? undefined : 'awaited'}>
                <a href={hrefOfPage(page)} aria-current={currentOf(path, page.path, page.does)}>
                  {page.label}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
      <details class="all-parts" open={!isMain}>
        <summary>Everything that the API has</summary>
        {catalog.groups().map((group) => (
          <NavigationGroup key={group.tag} group={group} path={path} />
        ))}
        <p>
          <a href="/v1/docs" data-server="">
            API description
          </a>
        </p>
      </details>
      <label class="utc">
        <input type="checkbox" checked={isUtc.value} onChange={(event) => showUtc(event.currentTarget.checked)} />
        Times in UTC
      </label>
      <LanguageChoice />
    </nav>
  );
}

/** Each language in its own words: who does not read the present one finds the own one. */
function LanguageChoice(): ComponentChildren {
  return (
    <p class="languages">
      {languages
        .filter((one) => one !== language)
        .map((one) => (
          <button key={one} type="button" class="link" lang={one} onClick={() => speak(one)}>
            {languageNames[one]}
          </button>
        ))}
    </p>
  );
}

function Icon({ path }: { readonly path: string }): ComponentChildren {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path fill="currentColor" fill-rule="evenodd" d={path} />
    </svg>
  );
}

/** Pages of which it is not known yet whether they are offered have their place already, out of sight, so that nothing moves when they are. */
function offerOf(catalog: Catalog, { path, operation, tenant, needsOwner }: MainPage): 'yes' | 'no' | 'unknown' {
  if ((needsOwner === true && facts.unclaimed !== undefined) || catalog.at(path) === undefined) return 'no';
  const said = may(operation, path).value;
  if (typeof said === 'object') return 'no';
  if (tenant === undefined) return said;
  return account.value === undefined ? 'unknown' : account.value.tenant === tenant ? said : 'no';
}

/** Tells whether a page is the current one. A path below a page belongs to it, in either tree. */
function currentOf(path: string, page: string, does?: string): 'page' | 'true' | undefined {
  const asked = address.value.query.get('do') ?? undefined;
  if (does !== undefined) return path === page && asked === does ? 'page' : undefined;
  const isOther = mainGroups.some(({ pages }) => pages.some((one) => one.path === path && one.does !== undefined && one.does === asked));
  if (isOther) return undefined;
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
      <summary>{groupName(group.tag)}</summary>
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
